"""What runs of pytest in this process need not find out again: each test of the plugin makes one or more of them.

A run registers some sixty plugins, and pytest and pluggy look for hooks and fixtures at everything that is in each of
them. In modules of pytest, xdist and this project they find the same names every time.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import inspect
import sys
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import pluggy._manager
from _pytest import fixtures, pytester
from _pytest._code import code
from _pytest.config import PytestPluginManager
from _pytest.config.argparsing import OptionGroup

try:
    from pluggy import _impl as _implementations
except ImportError:  # of an older release
    from pluggy import _hooks as _implementations

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

#: A test cannot have written, nor can it have changed, what is in them.
_PACKAGES = ("_pytest", "xdist", "pytest_tau", "pytest_tau_domains")
#: A test adds folders of its own to the path, in which it may install something.
_PATH = frozenset(sys.path)
_find_distributions = importlib.metadata.distributions
_find_hook = getattr(pluggy._manager, "_static_hook_attr", None)
_find_source = inspect.getsource
_cached_source = functools.cache(inspect.getsource)
_find_statement = code.getstatementrange_ast
_installed_version = functools.cache(importlib.metadata.version)
_find_parameters_of_hook = _implementations.varnames
_find_options = PytestPluginManager.parse_hookimpl_opts
_verify = pluggy._manager.PluginManager._verify_hook
#: The options of hook implementations of these packages, and those that were found to fit their specifications.
_options: dict[FunctionType, Any] = {}
_verified: set[tuple[FunctionType, str, Any]] = set()
_find_parameters_of_fixture = fixtures.getfuncargnames


def quicken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the runs of one test use what others have found."""
    monkeypatch.setattr(importlib.metadata, "distributions", _distributions)
    monkeypatch.setattr(importlib.metadata, "version", _version)
    # The functions of these modules that look for something call ``dir``.
    monkeypatch.setattr(pluggy._manager, "dir", _names_of_hooks, raising=False)
    monkeypatch.setattr(fixtures, "dir", _names_of_fixtures, raising=False)
    if _find_hook is not None:
        monkeypatch.setattr(pluggy._manager, "_static_hook_attr", _hook)
    monkeypatch.setattr(_implementations, "varnames", _parameters_of_hook)
    monkeypatch.setattr(PytestPluginManager, "parse_hookimpl_opts", _options_of_hook)
    monkeypatch.setattr(pluggy._manager.PluginManager, "_verify_hook", _verify_hook)
    monkeypatch.setattr(fixtures, "getfuncargnames", _parameters_of_fixture)
    monkeypatch.setattr(pytester.HookRecorder, "__init__", _record_interruptions)
    if hasattr(OptionGroup, "_addoption_inner"):  # not in older releases
        monkeypatch.setattr(OptionGroup, "addoption", _add_option)
    monkeypatch.setattr(inspect, "getsource", _source)
    monkeypatch.setattr(code, "getstatementrange_ast", _statement)


def quick_options(*kept: str) -> list[str]:
    """Return options for a run without other people's plugins, except for some, and without rewriting assertions.

    Assertions would take a third of a run's time. The name of a plugin is an argument of its own: argparse compares one
    that follows a short option with the names of all options.
    """
    others = {entry.name for entry in importlib.metadata.entry_points(group="pytest11")} - {"tau", "xdist", *kept}
    return ["--assert=plain", *(word for name in sorted(others) for word in ("-p", f"no:{name}"))]


class _Distribution:
    """An installed distribution whose files are read once."""

    def __init__(self, distribution: importlib.metadata.Distribution) -> None:
        self._distribution = distribution

    def __getattr__(self, name: str) -> Any:
        return getattr(self._distribution, name)

    @functools.cached_property
    def entry_points(self) -> Any:
        return self._distribution.entry_points

    @functools.cached_property
    def files(self) -> Any:
        return self._distribution.files

    @functools.cached_property
    def metadata(self) -> Any:
        return self._distribution.metadata

    @functools.cached_property
    def version(self) -> Any:
        return self._distribution.version

    @functools.cached_property
    def _normalized_name(self) -> Any:
        return self._distribution._normalized_name


@functools.cache
def _distributions_in(entry: str) -> tuple[_Distribution, ...]:
    return tuple(map(_Distribution, _find_distributions(path=[entry])))


def _distributions() -> list[Any]:
    """Return what is installed in the entries of the path, in their order."""
    return [
        distribution
        for entry in sys.path
        for distribution in (_distributions_in(entry) if entry in _PATH else _find_distributions(path=[entry]))
    ]


def _version(name: str) -> str:
    """Return the version of a distribution, which each run shows in its first lines."""
    own = [entry for entry in sys.path if entry not in _PATH]
    found = next((distribution.version for distribution in _find_distributions(name=name, path=own)), None)
    return found or _installed_version(name)


def _is_known(part: Any) -> bool:
    """Return whether this is a module of these packages, or a class or a function in one."""
    name = part.__name__ if isinstance(part, ModuleType) else getattr(part, "__module__", None) or ""
    return name.partition(".")[0] in _PACKAGES


def _names_of_hooks(plugin: Any) -> list[str]:
    """Return the names of a plugin that may be hooks: pytest looks at no others."""
    kind = plugin if isinstance(plugin, ModuleType | type) else type(plugin)
    if not _is_known(kind):
        return dir(plugin)
    return (
        _hooks_in(kind)
        if kind is plugin
        else [*_hooks_in(kind), *filter(_may_be_hook, getattr(plugin, "__dict__", ()))]
    )


def _may_be_hook(name: str) -> bool:
    return name.startswith("pytest_")


@functools.cache
def _hooks_in(kind: Any) -> list[str]:
    return list(filter(_may_be_hook, dir(kind)))


def _hook(plugin: Any, name: str) -> Any:
    """Return what pluggy's own function does, at once for a function of a module and for a method."""
    if isinstance(plugin, ModuleType):
        found = vars(plugin).get(name)
        if isinstance(found, FunctionType):
            return found, found
    elif not isinstance(plugin, type) and name not in getattr(plugin, "__dict__", ()):
        found = next((vars(kind)[name] for kind in type(plugin).__mro__ if name in vars(kind)), None)
        if isinstance(found, FunctionType):
            return found, found.__get__(plugin, type(plugin))
    return _find_hook(plugin, name)


def _parameters_of_hook(function: Any) -> Any:
    """Return the names of the parameters of a hook, without the one that is bound, and those with defaults."""
    if isinstance(function, MethodType) and _is_known(function):
        return _known_parameters_of_hook(function.__func__, bound=True)
    if isinstance(function, FunctionType) and _is_known(function):
        return _known_parameters_of_hook(function, bound=False)
    return _find_parameters_of_hook(function)


@functools.cache
def _known_parameters_of_hook(function: Any, *, bound: bool) -> Any:
    return _find_parameters_of_hook(MethodType(function, object()) if bound else function)


def _options_of_hook(self: PytestPluginManager, plugin: Any, name: str) -> Any:
    """Return the options of a hook implementation, which its function has."""
    kind = plugin if isinstance(plugin, ModuleType | type) else type(plugin)
    found = getattr(kind, name, None)
    is_own = kind is not plugin and name in getattr(plugin, "__dict__", ())
    if is_own or not isinstance(found, FunctionType) or not _is_known(found):
        return _find_options(self, plugin, name)
    if found not in _options:
        _options[found] = _find_options(self, plugin, name)
    return _options[found]


def _verify_hook(self: Any, hook: Any, implementation: Any) -> None:
    """Check an implementation against the specification, once if both are of these packages."""
    function = getattr(implementation.function, "__func__", implementation.function)
    if not (isinstance(function, FunctionType) and _is_known(function) and _is_known(hook.spec.namespace)):
        _verify(self, hook, implementation)
    elif (function, hook.name, hook.spec.namespace) not in _verified:
        _verify(self, hook, implementation)
        _verified.add((function, hook.name, hook.spec.namespace))


def _parameters_of_fixture(function: Any, **settings: Any) -> Any:
    is_known = isinstance(function, FunctionType) and _is_known(function)
    return (_known_parameters_of_fixture if is_known else _find_parameters_of_fixture)(function, **settings)


_known_parameters_of_fixture = functools.cache(fixtures.getfuncargnames)


def _names_of_fixtures(holder: Any) -> list[str]:
    """Return the names of a plugin that may be fixtures."""
    kind = holder if isinstance(holder, ModuleType | type) else type(holder)
    return _fixtures_in(kind) if _is_known(kind) else dir(holder)


@functools.cache
def _fixtures_in(kind: Any) -> list[str]:
    parts = kind.__mro__ if isinstance(kind, type) else (kind,)
    return sorted({name for part in parts for name, value in vars(part).items() if _is_fixture(value)})


def _is_fixture(value: object) -> bool:
    return isinstance(getattr(value, "__func__", value), fixtures.FixtureFunctionDefinition)


def _source(of: Any) -> str:
    """Return the source of a function or a class; a manifest has those of all tools."""
    return _cached_source(of) if _is_known(of) else _find_source(of)


def _add_option(self: OptionGroup, *names: str, **settings: Any) -> None:
    """Add an option; the run of these tests has compared the names with those of all other options."""
    self._addoption_inner(names, settings, allow_reserved=False)


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> ast.AST:
    return ast.parse(text, "source", "exec")


def _statement(lineno: int, source: Any, assertion: bool = False, astnode: Any = None) -> Any:
    """Return the range of a statement; a traceback asks for it in the same few files, as for an interruption."""
    return _find_statement(lineno, source, assertion, _parsed(str(source)) if astnode is None else astnode)


class ModulesSnapshot:
    """What pytester's own is: it looks at those modules only that are not as they were, of some thousands."""

    def __init__(self, is_kept: Callable[[str], bool]) -> None:
        self._is_kept, self._saved = is_kept, dict(sys.modules)

    def restore(self) -> None:
        """Import again what was imported, and nothing else, except for what is kept."""
        saved = self._saved
        changed = [name for name, module in sys.modules.items() if saved.get(name) is not module]
        saved.update((name, sys.modules[name]) for name in changed if self._is_kept(name))
        sys.modules.clear()
        sys.modules.update(saved)


class _Interruptions:
    """Hook implementations that record what pytester itself asks a run for: whether Ctrl-C ended it."""

    def __init__(self, calls: list[Any]) -> None:
        self._calls = calls

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self._calls.append(pytester.RecordedHookCall("pytest_keyboard_interrupt", {"excinfo": excinfo}))


def _record_interruptions(self: Any, pluginmanager: Any, *, _ispytest: bool = False) -> None:
    """Make a recorder of a run, which otherwise wraps each call of a hook."""
    self._pluginmanager, self.calls, self.ret = pluginmanager, [], None
    recorder = _Interruptions(self.calls)
    pluginmanager.register(recorder)
    self._undo_wrapping = functools.partial(pluginmanager.unregister, recorder)
