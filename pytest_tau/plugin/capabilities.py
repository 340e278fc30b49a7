"""The capabilities of a run: the bundled ones, those of plugins, and their options.

Every run of pytest imports this module, which imports nothing heavy.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from ..capability import ActiveCapability, Capability, bundled, bundled_at_start, installed
from ..settings import check_fields, options_of
from .options import CAPABILITIES, OptionValues, add_option, may_have_options
from .options_table import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..analysis.gates import Gate
    from ..settings import Option

#: Names that are keys of facts and parts of ``-p no:tau_NAME``.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")

#: The place of the bundled capabilities.
_BUNDLED = "pytest_tau"


def register(parser: pytest.Parser, manager: pytest.PytestPluginManager) -> None:
    """Add the options of the bundled capabilities; those of plugins follow when a plugin is registered."""
    manager.register(RunCapabilities(parser, manager), CAPABILITIES)


class RunCapabilities:
    """The capabilities of a run, except for those of entry points.

    A run that has nothing to do with this package imports none but ``AT_START``.

    Attributes:
        found: The capabilities that were added, in the order of their registration.
        options: Their options, by key.
        begun: Whether the command line was read.
    """

    def __init__(self, parser: pytest.Parser, manager: pytest.PytestPluginManager) -> None:
        self._parser, self._manager = parser, manager
        self.found: list[Capability] = []
        self.options: dict[str, Option] = {}
        self.begun = False
        self._known_hooks = 0
        self._are_all_added = False
        config: Any = manager.get_plugin("pytestconfig")
        if may_have_options(config):
            self.add_bundled()
        else:
            for capability in bundled_at_start():
                self._add(capability, _BUNDLED)

    def add_bundled(self) -> None:
        """Add the bundled capabilities, unless they were added."""
        if self._are_all_added:
            return
        self._are_all_added = True
        added = {capability.name for capability in self.found}
        for capability in bundled():
            if capability.name not in added:
                self._add(capability, _BUNDLED)
        self.found.sort(key=list(bundled()).index)
        settings = [capability.settings for capability in self.found if capability.settings]
        self.options = {option.key: option for kind in settings for option in options_of(kind)}

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Add the capabilities of a plugin.

        Raises:
            pytest.UsageError: They cannot be used, or a hook of the plugin is not known; names the file.
        """
        provide = getattr(plugin, "pytest_tau_capabilities", None)
        if callable(provide) or _is_about_trials(plugin):
            self.add_bundled()
        self._check_hooks()
        if not callable(provide):
            return
        place = getattr(plugin, "__file__", None) or type(plugin).__name__
        if self.begun:
            raise pytest.UsageError(
                f"{place}: pytest_tau_capabilities is called before the command line is read: move it to the "
                "conftest.py of the root directory, or to a plugin"
            )
        try:
            wants = "config" in inspect.signature(provide).parameters
            provided = provide(**{"config": self._manager.get_plugin("pytestconfig")} if wants else {}) or ()
        except TypeError as error:
            raise pytest.UsageError(f"{place}: pytest_tau_capabilities: {error}") from error
        if not isinstance(provided, list | tuple):
            expected = f"expected a list of Capability, got {type(provided).__name__}"
            raise pytest.UsageError(f"{place}: pytest_tau_capabilities: {expected}")
        for capability in provided:
            self._add(capability, place)

    def _check_hooks(self) -> None:
        # pytest ignores misspelt hooks of a conftest.py that it loads late, and in a command of tau.
        if len(vars(self._manager.hook)) == self._known_hooks:
            return
        if self._unknown_hooks():
            self.add_bundled()  # some of them declare hooks
        if unknown := self._unknown_hooks():
            from .hook_calls import check_names

            check_names(unknown)
        self._known_hooks = len(vars(self._manager.hook))

    def _unknown_hooks(self) -> list[Any]:
        hooks = vars(self._manager.hook).items()
        return [hook for name, hook in hooks if name.startswith("pytest_tau_") and not hook.has_spec()]

    def pytest_configure(self) -> None:
        """Add no further capabilities."""
        self.begun = True

    def _add(self, capability: object, place: str) -> None:
        if not isinstance(capability, Capability):
            raise pytest.UsageError(f"{place}: pytest_tau_capabilities: expected a Capability, got {capability!r}")
        name = capability.name
        if not _NAME.fullmatch(name):
            raise pytest.UsageError(
                f"{place}: capability {name!r}: expected a name of lower-case letters, digits and _"
            )
        if self._manager.is_blocked(f"tau_{name}"):
            return
        if any(other.name == name for other in self.found):
            raise pytest.UsageError(f"{place}: there are two capabilities of the name {name!r}")
        if problem := _problem_of(capability):
            raise pytest.UsageError(f"{place}: capability {name!r}: {problem}")
        self.found.append(capability)
        if capability.fixtures is not None:
            with naming(capability, "fixtures"):
                fixtures = capability.fixtures()
            self._manager.register(fixtures, f"tau_{name}_fixtures")
        options = options_of(capability.settings) if capability.settings else ()
        for option in options:
            if option.key in OPTIONS or option.key in self.options:
                raise pytest.UsageError(f"{place}: capability {name!r}: there are two options --tau-{option.name}")
            self.options[option.key] = option
            add_option(self._parser, option, capability.label, is_bundled=place == _BUNDLED)
            if self.begun:  # it is not given
                config: Any = self._manager.get_plugin("pytestconfig")
                setattr(config.option, option.dest, None)


def _is_about_trials(plugin: object) -> bool:
    """Return whether a module of others, such as a ``conftest.py``, has our hooks, our fixtures or imports us."""
    if not isinstance(plugin, ModuleType) or plugin.__name__.startswith("pytest_tau."):
        return False
    return any(name.startswith(("pytest_tau", "tau_")) for name in vars(plugin))


def _problem_of(capability: Capability) -> str | None:
    """Return what is wrong with the settings or the columns of a capability; None if nothing is."""
    try:
        if capability.settings:
            check_fields(capability.settings)
    except TypeError as error:
        return str(error)
    # Facts are a model, or any function.
    known = {**getattr(capability.facts, "model_fields", {}), **getattr(capability.facts, "model_computed_fields", {})}
    for column in capability.columns if known else ():
        field = (column.field or column.name).removesuffix(".*")
        if field not in known:
            return f"column {column.name!r}: the facts have no field {field!r} (they have {', '.join(known)})"
    return None


def capabilities_of(config: pytest.Config) -> tuple[Capability, ...]:
    """Return the capabilities of a run, those of entry points last.

    Raises:
        ConfigurationError: An entry point cannot be loaded.
    """
    manager = config.pluginmanager
    state: Any = manager.get_plugin(CAPABILITIES)
    state.add_bundled()
    names = {capability.name for capability in state.found}
    others = (capability for capability in installed()[len(bundled()) :] if capability.name not in names)
    return (*state.found, *(other for other in others if not manager.is_blocked(f"tau_{other.name}")))


def active_capabilities(config: pytest.Config) -> tuple[ActiveCapability, ...]:
    """Return the capabilities that the settings switch on, each with its settings.

    Raises:
        pytest.UsageError: A value of an option cannot be used.
    """
    values = OptionValues(config)
    configured = (ActiveCapability(capability, _settings(capability, values)) for capability in capabilities_of(config))
    return tuple(candidate for candidate in configured if _is_on(candidate))


def _is_on(active: ActiveCapability) -> bool:
    with naming(active.capability, "on"):
        return bool(active.capability.is_on(active.settings))


@contextlib.contextmanager
def naming(capability: Capability, stage: str) -> Iterator[None]:
    """Make an exception of a capability, before the run, an error of usage that names it.

    Raises:
        pytest.UsageError: The capability raised an exception; an error of this package says itself what is wrong.
    """
    try:
        yield
    except BaseException as error:
        from ..capability.containing import is_contained, problem_of
        from ..errors import TauError

        if isinstance(error, TauError):
            raise pytest.UsageError(str(error)) from error
        if isinstance(error, pytest.UsageError) or not is_contained(error):
            raise
        raise pytest.UsageError(f"capability {capability.name!r}: {problem_of(error, stage)}") from error


def register_hooks(config: pytest.Config) -> None:
    """Register the objects with hooks of the capabilities that are switched on.

    Raises:
        pytest.UsageError: Settings cannot be used.
    """
    for active in active_capabilities(config):
        capability = active.capability
        if capability.hooks is None:
            continue
        with naming(capability, "hooks"):
            plugin = capability.hooks(config, active.settings)
        if plugin is not None:
            config.pluginmanager.register(plugin, f"tau_{capability.name}")


def gates_of(config: pytest.Config) -> list[Gate]:
    """Return the gates of a run, whose metrics may be columns of capabilities.

    Raises:
        pytest.UsageError: An expression is not a gate.
    """
    from ..analysis.gates import Gate
    from ..capability.calls import columns_of

    values = OptionValues(config)
    columns = columns_of(capabilities_of(config))
    with values.naming("gate"):
        return [Gate.parse(text, columns) for text in values.get("gate")]


def _settings(capability: Capability, values: OptionValues) -> Any:
    if capability.settings is None:
        return None
    fields = values.of(capability.settings)
    with naming(capability, "settings"):
        return capability.settings(**fields)
