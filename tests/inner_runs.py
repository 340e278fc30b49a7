"""What runs of pytest in this process need not find out again: each test of the plugin makes one or more of them.

A run registers some sixty plugins, and pytest and pluggy look for hooks and fixtures at everything that is in each of
them. In modules of pytest, xdist and this project they find the same names every time.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pluggy._manager
from _pytest import fixtures
from _pytest._code import code
from _pytest.config.argparsing import OptionGroup

if TYPE_CHECKING:
    import pytest

#: A test adds folders of its own to the path, in which it may install something.
_PATH = frozenset(sys.path)
_find_distributions = importlib.metadata.distributions
_find_hook = getattr(pluggy._manager, "_static_hook_attr", None)
_find_statement = code.getstatementrange_ast


def quicken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the runs of one test use what others have found."""
    monkeypatch.setattr(importlib.metadata, "distributions", _distributions)
    # The functions of these modules that look for something call ``dir``.
    monkeypatch.setattr(pluggy._manager, "dir", _names_of_hooks, raising=False)
    monkeypatch.setattr(fixtures, "dir", _names_of_fixtures, raising=False)
    if _find_hook is not None:
        monkeypatch.setattr(pluggy._manager, "_static_hook_attr", _hook)
    monkeypatch.setattr(OptionGroup, "addoption", _add_option)
    monkeypatch.setattr(code, "getstatementrange_ast", _statement)


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
    def metadata(self) -> Any:
        return self._distribution.metadata

    @functools.cached_property
    def files(self) -> Any:
        return self._distribution.files


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


def _is_known(module: object) -> bool:
    """Return whether this is a module that a test cannot have written."""
    return isinstance(module, ModuleType) and module.__name__.partition(".")[0] in ("_pytest", "xdist", "pytest_tau")


def _names_of_hooks(plugin: object) -> list[str]:
    """Return the names of a plugin that may be hooks: pytest looks at no others."""
    return _cached_names_of_hooks(plugin) if _is_known(plugin) else dir(plugin)


@functools.cache
def _cached_names_of_hooks(plugin: object) -> list[str]:
    return [name for name in dir(plugin) if name.startswith("pytest_")]


def _hook(plugin: Any, name: str) -> Any:
    """Return what pluggy's own function does, at once for a function of a module."""
    found = vars(plugin).get(name) if isinstance(plugin, ModuleType) else None
    return (found, found) if isinstance(found, FunctionType) else _find_hook(plugin, name)


def _names_of_fixtures(holder: object) -> list[str]:
    """Return the names of a plugin that may be fixtures."""
    if _is_known(holder):
        return _cached_names_of_fixtures(holder)
    kind = type(holder)
    is_plugin = _is_known(sys.modules.get(kind.__module__)) and not isinstance(holder, ModuleType | type)
    return _cached_names_of_fixtures(kind) if is_plugin else dir(holder)


@functools.cache
def _cached_names_of_fixtures(holder: Any) -> list[str]:
    parts = holder.__mro__ if isinstance(holder, type) else (holder,)
    return sorted({name for part in parts for name, value in vars(part).items() if _is_fixture(value)})


def _is_fixture(value: object) -> bool:
    return isinstance(getattr(value, "__func__", value), fixtures.FixtureFunctionDefinition)


def _add_option(self: OptionGroup, *names: str, **settings: Any) -> None:
    """Add an option; the run of these tests has compared the names with those of all other options."""
    self._addoption_inner(names, settings, allow_reserved=False)


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> ast.AST:
    return ast.parse(text, "source", "exec")


def _statement(lineno: int, source: Any, assertion: bool = False, astnode: Any = None) -> Any:
    """Return the range of a statement; a traceback asks for it in the same few files, as for an interruption."""
    return _find_statement(lineno, source, assertion, _parsed(str(source)) if astnode is None else astnode)
