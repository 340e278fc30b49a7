"""Options and ini keys: their declaration, and their values. Command line beats ini, ini beats default."""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..capability import bundled_options
from ..plain import json
from ..run_settings.types import difficulty, persona, provider_limits
from ..settings import flag, json_object, model_arguments, options_of, quoted
from .compat import hide_ini_keys, ini_keys, known_ini_keys, native_ini
from .options_table import OPTIONS, OPTIONS_OF_GROUPS, outcome_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..capability import Capability
    from ..settings import Option

MARKER = (
    "tau(domain, tasks, split, num_tasks, trials, at_least, stop_early, agent, user): run the test on each selected "
    "task and trial"
)
#: The name of the plugin that has the options of capabilities.
CAPABILITIES = "tau-capabilities"
#: The group of ``pytest --help``; the options that are not in it are many, and ``tau options`` shows them.
_GROUP = "tau"
_TITLE = "tau: agent evaluation (pytest-tau); 'tau options' lists the other options"
#: The title of the options that everybody needs.
COMMON = "common"
#: The ini keys that are not options, with their help.
INI_KEYS = {
    "tau_files": "patterns of task files (default: *.tau.json)",
    "tau_tasks": "folders in which every JSON file is a task file",
}
#: Patterns of files that are collected as tasks wherever they are found.
DEFAULT_FILES = ("*.tau.json",)
#: Types whose values TOML has as tables: of JSON, or of names and numbers; and as lists.
JSON_TABLES, PAIRS, LISTS = (model_arguments, json_object, persona), (difficulty, provider_limits), (outcome_names,)


def add_options(parser: pytest.Parser) -> None:
    """Add the ``--tau-…`` options of the core and their ``tau_…`` ini keys."""
    parser.getgroup(_GROUP, _TITLE)
    for title, options in OPTIONS_OF_GROUPS.items():
        for option in options:
            add_option(parser, option, title)
    parser.addini("tau_files", INI_KEYS["tau_files"], type="args", default=list(DEFAULT_FILES))
    parser.addini("tau_tasks", INI_KEYS["tau_tasks"], type="paths", default=[])


def add_option(parser: pytest.Parser, option: Option, title: str, *, is_bundled: bool = True) -> None:
    """Add an option and its ini key.

    Args:
        parser: pytest's parser.
        option: The option.
        title: The title of its group.
        is_bundled: ``--help`` shows the option only if everybody needs it, and then among those.
    """
    is_shown = option.common or not is_bundled
    # pytest compares a new option with each of its group: small groups take less time.
    group = parser.getgroup(_GROUP if is_bundled and option.common else f"tau: {title}")
    # Without argparse's own ``type``, ``choices`` and ``default``: values come from the ini file as well.
    keywords: dict[str, Any] = {"dest": option.dest, "default": None}
    keywords["help"] = option.full_help if is_shown else argparse.SUPPRESS
    if option.type is flag:
        keywords |= {"action": "store_true"}
    else:
        keywords |= {"metavar": option.metavar, "action": "append" if option.repeat else "store"}
    if option.bare:
        keywords |= {"nargs": "?", "const": option.bare}
    group.addoption(f"--tau-{option.name}", **keywords)
    kind: Any = "args" if option.repeat else "bool" if option.type is flag else "string"
    parser.addini(option.dest, f"default of --tau-{option.name}", type=kind, default=None)


def option_groups(capabilities: Iterable[Capability]) -> dict[str, list[Option]]:
    """Return the options of the core and of capabilities by the title of their group, first those everybody needs."""
    groups: dict[str, list[Option]] = {COMMON: []}
    for title, options in [
        *OPTIONS_OF_GROUPS.items(),
        *((capability.label, options_of(capability.settings)) for capability in capabilities if capability.settings),
    ]:
        for option in options:
            groups.setdefault(COMMON if option.common else title, []).append(option)
    return groups


def hide_from_help(config: pytest.Config) -> None:
    """Remove the ini keys of the options that ``--help`` does not show; nothing may ask for their values later."""
    hide_ini_keys(config, [option.dest for option in _declared_options(config).values() if not option.common])


def check_names(parser: pytest.Parser, config: pytest.Config, args: Sequence[str]) -> None:
    """Check that there are the ``--tau-…`` options of a command line.

    Raises:
        pytest.UsageError: One of them is not known; the text proposes the nearest name.
    """
    names = [arg.partition("=")[0] for arg in args if arg.startswith("--tau-")]
    known = {f"--tau-{option.name}": option.name for option in run_options(config).values()} if names else {}
    if all(name in known for name in names):
        return
    # Other plugins may have such options, too.
    for arg in parser.parse_known_and_unknown_args(args)[1]:
        if arg.startswith("--tau-"):
            from ..errors import suggestion

            name = arg.partition("=")[0]
            # Without what all of them begin with.
            hint = suggestion(name.removeprefix("--tau-"), known.values(), shown="--tau-{}".format)
            raise pytest.UsageError(f"unknown option {name}{hint}\n'tau options' lists all options")


def check_ini_keys(config: pytest.Config) -> None:
    """Check that there are the ``tau_…`` keys of the ini file; those of other plugins count.

    Raises:
        pytest.UsageError: One of them is not known; the text proposes the nearest name.
    """
    known = known_ini_keys(config)
    for key in ini_keys(config):
        spelt = _as_ini_key(key)
        if spelt.startswith("tau_") and key not in known:
            from ..errors import suggestion

            own_keys = [name.removeprefix("tau_") for name in known if name.startswith("tau_")]
            hint = suggestion(spelt.removeprefix("tau_"), own_keys, shown="tau_{}".format)
            file = config.inipath.name if config.inipath else "-o"
            raise pytest.UsageError(f"{file}: unknown key {key}{hint}\n'tau options' lists all options")


def _as_ini_key(name: str) -> str:
    """Return a name of an ini file as ini keys are spelt: ``tau_trials`` for ``Tau-trials``."""
    return name.lower().replace("-", "_")


def run_options(config: pytest.Config) -> dict[str, Option]:
    """Return the options of a run by key: those of the core, and those of its capabilities."""
    if capabilities := config.pluginmanager.get_plugin(CAPABILITIES):
        capabilities.add_bundled()
    return _declared_options(config)


def _declared_options(config: pytest.Config) -> dict[str, Option]:
    return {**OPTIONS, **getattr(config.pluginmanager.get_plugin(CAPABILITIES), "options", {})}


def may_have_options(config: pytest.Config) -> bool:
    """Return whether a run, whose command line was not read yet, may have an option."""
    from_environment = os.environ.get("PYTEST_ADDOPTS", "").split()
    keys = ini_keys(config)
    return (
        any(map(_may_be_option, [*map(str, config.invocation_params.args), *from_environment]))
        or any(_as_ini_key(key).startswith("tau_") for key in keys)
        or "tau" in str(keys.get("addopts", ""))
        # A worker has the values of its controller.
        or any(name.startswith("tau_") and value is not None for name, value in vars(config.option).items())
    )


def _may_be_option(argument: str) -> bool:
    """Return whether an argument is an option, ``-o tau_…`` or a file of arguments."""
    return argument.startswith(("--tau-", "@")) or "tau_" in argument


class OptionValues:
    """The values of the options of a run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config, self._options = config, run_options(config)

    def has(self, name: str) -> bool:
        """Return whether the run has an option."""
        return name in self._options

    def given(self, name: str) -> Any:
        """Return what the user wrote on the command line, else in the ini file; None if neither has the option."""
        option = self._options[name]
        written = self._config.getoption(option.dest, None)
        if written is not None:
            return written
        native = native_ini(self._config, option.dest)
        return (self._config.getini(option.dest) if native is None else _as_written(option, native)) or None

    def get(self, name: str) -> Any:
        """Return the value of an option, of the type that the table has for it, else its default.

        Raises:
            pytest.UsageError: The type or the choices do not allow it.
        """
        option, written = self._options[name], self.given(name)
        # An empty path is that of an unset variable of a CI job.
        if written is None or (option.type is Path and not written):
            return option.default
        if option.choices:
            return self._choice(option, written)
        if option.type is Path:
            return self.folder(name) / written
        try:
            return option.type(written)
        except ValueError as error:
            # Those of Python are not written for users.
            number = "a whole number" if option.type is int else "a number" if option.type is float else None
            problem = f"expected {number}, got {quoted(written)}" if number else str(error)
            # Without the cause, whose traceback could show a key.
            raise pytest.UsageError(f"{self.label(name)}: {problem}") from None

    def of(self, settings: type) -> dict[str, Any]:
        """Return the values of the options of a settings class that the run has, by field.

        Raises:
            pytest.UsageError: A value cannot be used.
        """
        return {option.field: self.get(option.key) for option in options_of(settings) if self.has(option.key)}

    @contextlib.contextmanager
    def naming(self, name: str) -> Iterator[None]:
        """Make an error about what an option names a usage error that begins with the option.

        Raises:
            pytest.UsageError: There was a ``ConfigurationError``.
        """
        from ..errors import ConfigurationError

        try:
            yield
        except ConfigurationError as error:
            raise pytest.UsageError(f"{self.label(name)}: {error}") from None

    def _choice(self, option: Option, written: str) -> str:
        if written in option.choices:
            return written
        if not written and option.default is not None:  # such as an unset variable of a CI job
            return str(option.default)
        label = self.label(option.key)
        example = f" (write {label}={option.example})" if option.example else ""
        raise pytest.UsageError(f"{label}: expected {' or '.join(option.choices)}, got {written!r}{example}")

    def from_ini(self, name: str) -> bool:
        """Return whether the command line does not have the option."""
        return self._config.getoption(self._options[name].dest, None) is None

    def label(self, name: str) -> str:
        """Return the name of an option as the user wrote it: the option, or the ini key if it is from there."""
        option = self._options[name]
        return option.dest if self.from_ini(name) else f"--tau-{option.name}"

    def folder(self, name: str) -> Path:
        """Return the folder from which a relative path in the value starts."""
        if self.from_ini(name):
            return self._config.inipath.parent if self._config.inipath else self._config.rootpath
        return Path(self._config.invocation_params.dir)


def _as_written(option: Option, value: Any) -> Any:
    """Return a native value of a TOML file in the form in which the command line has it.

    Raises:
        pytest.UsageError: The option does not take such a value.
    """
    if option.type is flag:
        if not isinstance(value, bool):
            raise pytest.UsageError(f"{option.dest}: expected true or false, got {value!r}")
        return value
    if option.repeat:
        return [_text_of(option, part) for part in (value if isinstance(value, list) else [value])]
    if isinstance(value, bool) and option.bare is not None:
        return option.bare if value else None
    return _text_of(option, value)


def _text_of(option: Option, value: Any) -> str:
    if isinstance(value, dict) and option.type in JSON_TABLES:
        return json.dumps(value, default=str)
    if isinstance(value, dict) and option.type in PAIRS:
        return ",".join(f"{name}={number}" for name, number in value.items())
    if isinstance(value, list) and option.type in LISTS:
        return ",".join(map(str, value))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        kinds = {bool: "a boolean", list: "a list", dict: "a table"}
        kind = kinds.get(type(value), type(value).__name__)
        raise pytest.UsageError(f"{option.dest}: expected a string or a number, got {kind}")
    return str(value)


def path_options() -> frozenset[str]:
    """Return the options with values that may be paths that exist."""
    options = [*OPTIONS.values(), *bundled_options().values()]
    return frozenset(f"--tau-{option.name}" for option in options if option.path)


def options_given(config: pytest.Config) -> bool:
    """Return whether the command line has any option of the plugin: the user wants to run tasks."""
    return any(config.getoption(option.dest, None) is not None for option in _declared_options(config).values())


def asks_for_trials(config: pytest.Config) -> bool:
    """Return whether the settings or the arguments may ask for trials, before anything is collected.

    The controller of workers collects nothing: only they find out whether there are trials.
    """
    distributed = getattr(config.option, "dist", "no") != "no"
    in_ini = any(_as_ini_key(key).startswith("tau_") for key in ini_keys(config))
    return distributed or in_ini or options_given(config) or any(map(_may_name_tasks, config.args))


def task_files_given(config: pytest.Config) -> bool:
    """Return whether the command line names a JSON file."""
    return any(argument.partition("::")[0].endswith(".json") for argument in config.args)


def _may_name_tasks(argument: str) -> bool:
    """Return whether an argument is a JSON file, or may be a node id below a domain, whose name has no dot."""
    path, separator, _ = argument.partition("::")
    return path.endswith(".json") or bool(separator and "." not in Path(path).name)


def runs_no_test(config: pytest.Config) -> bool:
    """Return whether the session only collects or plans its tests (``--collect-only``, ``--setup-plan``)."""
    return bool(config.option.collectonly or getattr(config.option, "setupplan", False))


def repetitions(config: pytest.Config) -> int | None:
    """Return how often pytest-repeat repeats each test (``--count``); None if it is not active."""
    if not any(config.pluginmanager.has_plugin(name) for name in ("repeat", "pytest_repeat")):
        return None
    return max(1, int(getattr(config.option, "count", 1)))


def named_domains(config: pytest.Config) -> tuple[str, ...]:
    """Return the domains that options or ini name, in order, each once."""
    names: tuple[str, ...] = OptionValues(config).get("domain")
    return names


def paths_given(config: pytest.Config) -> bool:
    """Return whether the command line names paths or node ids."""
    return config.args_source is pytest.Config.ArgsSource.ARGS


def excluded_tests(config: pytest.Config) -> str | None:
    """Return the note that the command line names domains, so that the project's own tests are not collected.

    None if they are collected, or if there seem to be none: only the folder itself is looked at.
    """
    names = config.getoption("tau_domain")
    if names is None or paths_given(config) or not _has_tests(config):
        return None
    return (
        f"the project's own tests are not run, as --tau-domain names what is run; 'pytest . --tau-domain "
        f"{','.join(names)}' runs both"
    )


def _has_tests(config: pytest.Config) -> bool:
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        return True
    patterns = config.getini("python_files")
    return any(
        path.name in ("test", "tests") if path.is_dir() else any(map(path.match, patterns))
        for path in config.invocation_params.dir.iterdir()
    )
