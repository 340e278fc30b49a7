"""The domains and evaluators of a project: those of its pytest plugins and its ``conftest.py`` files.

pytest itself finds and loads them: it is configured as for a run, with its settings, entry points and initial
``conftest.py`` files, and ends before it collects anything.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..capability.calls import changing_domains, spec_in_run
from ..domains import domain_names, domain_spec, load_domain
from ..errors import ConfigurationError, TauError, unknown_name
from .options import add_options
from .output import RUN_HELP

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from ..capability import ActiveCapability, Capability
    from ..environment import Domain, DomainSpec
    from ..evaluation import Evaluator
    from ..settings import Option

T = TypeVar("T")
#: Arguments of pytest with which it loads installed plugins, whatever the settings of this project are.
_NO_PROJECT = ["--noconftest", "-c", os.devnull]


def add_project_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where domains and evaluators come from."""
    group = parser.add_argument_group("domains and evaluators")
    add_options(group, "plugin", "rootdir", "data")


def project_of(args: argparse.Namespace, files: Sequence[str] = ()) -> Project:
    """Return the project that the options name.

    Args:
        args: The options of :func:`add_project_options`.
        files: As :class:`Project` takes them.

    Raises:
        ConfigurationError: A folder is missing or has another layout.
    """
    return Project(data_dir(args.data), args.plugins, args.rootdir, files)


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that reads the simulations of several runs, each with its domain."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help=RUN_HELP)
    add_options(
        parser.add_argument_group("selection"),
        "domain",
        help="the domain of the runs (default: the one that they name, or the one whose tools they call)",
    )


def project_of_runs(args: argparse.Namespace) -> Project:
    """Return the project that the options name, with the domain of the runs if it is given.

    Args:
        args: The options of :func:`add_runs` and :func:`add_project_options`.

    Raises:
        ConfigurationError: A folder is missing or has another layout, or there is no such domain.
    """
    project = project_of(args)
    if args.domain is not None:
        project.load(args.domain)
    return project


def data_dir(given: str | None) -> Path | None:
    """Return the folder of official data; None for the bundled data.

    Raises:
        ConfigurationError: The folder is missing or has another layout.
    """
    source = "--data" if given is not None else "$TAU_DATA"
    given = given if given is not None else os.environ.get("TAU_DATA")
    if not given:
        return None
    from ..protocol import data_folder, not_data

    path = Path(given).resolve()
    folder = data_folder(path)
    if folder is None:
        raise ConfigurationError(f"{source}: {not_data(path)}")
    return folder


class Provided(NamedTuple):
    """What the plugins of a project provide.

    Attributes:
        domains: Domains by name.
        evaluators: Reward components.
        selected: The names of the domains that the settings select (``tau_domain``).
        capabilities: The capabilities, bundled and installed ones included.
    """

    domains: dict[str, DomainSpec]
    evaluators: tuple[Evaluator, ...]
    selected: tuple[str, ...]
    capabilities: tuple[Capability, ...]


class Project:
    """The domains and evaluators of a project; plugins are loaded at the first use.

    Args:
        data: The folder of official data; None for the bundled data.
        plugins: Names of pytest plugins to load, as ``pytest -p`` takes them.
        rootdir: The folder of the project; None to let pytest find it.
        files: Files that pytest would be given, so that the ``conftest.py`` files next to them are loaded.
    """

    def __init__(
        self, data: Path | None, plugins: Sequence[str] = (), rootdir: str | None = None, files: Sequence[str] = ()
    ) -> None:
        self._data = data
        self._arguments = [argument for plugin in plugins for argument in ("-p", plugin)]
        if rootdir is not None:
            if not Path(rootdir).is_dir():
                raise ConfigurationError(f"--rootdir: expected a folder, got {rootdir}")
            self._arguments += ["--rootdir", rootdir, rootdir]
        self._arguments += files
        #: By name, and by what a stored run has changed of them.
        self._domains: dict[tuple[str, tuple[ActiveCapability, ...]], Domain] = {}

    def names(self) -> list[str]:
        """Return the names of all domains, sorted: those of the project and the installed ones."""
        return sorted({*self._provided.domains, *self._installed})

    def selected_names(self) -> tuple[str, ...]:
        """Return the names of the domains that the project's settings select (``tau_domain``)."""
        return self._provided.selected

    def own_names(self) -> list[str]:
        """Return the names of the domains that plugins and ``conftest.py`` files provide, in their order."""
        return list(self._provided.domains)

    def bundled_names(self) -> frozenset[str]:
        """Return the names of the domains that have their bundled data."""
        return frozenset() if self._data else frozenset(self.names()) - {*self.own_names()}

    def load(self, name: str, run: Mapping[str, Any] | None = None) -> Domain:
        """Return a domain; one of the project takes precedence over an installed one.

        Args:
            name: Its name.
            run: The manifest of the stored run that it is loaded for; None for none.

        Raises:
            ConfigurationError: There is no domain of this name, its data is missing, or the plugins cannot be loaded.
        """
        own_domains = self._provided.domains
        if name not in own_domains and name not in self._installed:
            raise ConfigurationError(unknown_name("domain", name, self.names()))
        changing = changing_domains(run or {}, self._provided.capabilities)
        if (name, changing) not in self._domains:
            if changing:
                loaded = spec_in_run(own_domains.get(name) or domain_spec(name), self._data, changing).load(self._data)
            else:
                loaded = own_domains[name].load(self._data) if name in own_domains else load_domain(name, self._data)
            self._domains[name, changing] = loaded
        return self._domains[name, changing]

    @functools.cached_property
    def _installed(self) -> list[str]:
        return domain_names()

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """The capabilities, bundled and installed ones included.

        Raises:
            ConfigurationError: The plugins cannot be loaded, or a hook fails.
        """
        return self._provided.capabilities

    @property
    def evaluators(self) -> tuple[Evaluator, ...]:
        """The reward components that plugins and ``conftest.py`` files provide.

        Raises:
            ConfigurationError: The plugins cannot be loaded, or a hook fails.
        """
        return self._provided.evaluators

    @property
    def _provided(self) -> Provided:
        provided = self._found
        if isinstance(provided, ConfigurationError):
            raise provided
        return provided

    @functools.cached_property
    def _found(self) -> Provided | ConfigurationError:
        # An error is kept as well: whoever can do without a domain goes on, and asks again for the next one.
        try:
            return _load(self._arguments)
        except ConfigurationError as error:
            return error


def _load(arguments: list[str]) -> Provided:
    """Let pytest load the plugins, and ask them.

    Raises:
        ConfigurationError: They cannot be loaded, or a hook fails.
    """
    return _ask(arguments, lambda plugin, config: Provided(*plugin.provided(config)))


def options_schema() -> dict[str, Any]:
    """Return the JSON Schema of the plugin's options, which the plugin itself makes.

    Raises:
        ConfigurationError: pytest cannot load its plugins.
    """
    return _ask(_NO_PROJECT, lambda plugin, config: plugin.schema_of_options(config))


def option_groups() -> dict[str, list[Option]]:
    """Return the plugin's options by the title of their group.

    Raises:
        ConfigurationError: pytest cannot load its plugins.
    """
    return _ask(_NO_PROJECT, lambda plugin, config: plugin.groups_of_options(config))


def _ask(arguments: list[str], ask: Callable[[Any, Any], T]) -> T:
    """Let pytest load its plugins, and return what a function asks of the module ``for_commands`` of ours.

    Raises:
        ConfigurationError: The plugins cannot be loaded, or the function raises one.
    """
    import pytest

    answers: list[T] = []

    class Reader:
        @pytest.hookimpl(tryfirst=True)
        def pytest_cmdline_main(self, config: pytest.Config) -> int:
            """End pytest before it collects."""
            plugin: Any = config.pluginmanager.get_plugin("tau")
            try:
                answers.append(ask(plugin.load_for_commands(), config))
            except pytest.UsageError as error:
                raise ConfigurationError(str(error)) from error
            return 0

    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            # "-p tau" loads this project's plugin also if the settings or the environment keep plugins from loading. No
            # test runs, and this package is imported already: rewriting its assertions would be a warning.
            status = pytest.main(["-p", "tau", "--assert=plain", "--capture=no", *arguments], plugins=[Reader()])
    except TauError:
        raise
    except (Exception, SystemExit) as error:  # code of a plugin may raise anything
        raise ConfigurationError(_failure("pytest cannot load the plugins of this project", error)) from error
    if not answers:
        text = output.getvalue().strip().removeprefix("ERROR: ") or f"pytest ended with status {int(status)}"
        raise ConfigurationError(f"pytest cannot load the plugins of this project:\n{text}")
    return answers[0]


def _failure(what: str, error: BaseException) -> str:
    """Return the text for an exception of foreign code, with the line that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{what}: {type(error).__name__}: {error} ({last.filename}, line {last.lineno})"
