"""Settings of this repository's own test run; nothing that a user of the plugin needs."""

from __future__ import annotations

import ast
import functools
import gc
import importlib.metadata
import os
import signal
import sys
from typing import Any

import pytest
from _pytest._code import code as pytest_code
from _pytest.pytester import SysModulesSnapshot

#: What pytester keeps imported after a run in this process. litellm imports parts of itself as it needs them, and a
#: part that is imported anew does not know the rest. Of our own packages, classes of two imports would not be the same,
#: and building pydantic models afresh for each run would be slow; and they need the pydantic that they were built with.
_KEPT = frozenset(
    {
        *("litellm", "openai", "httpx", "httpcore", "aiohttp", "tiktoken", "tokenizers", "tenacity"),
        *("pytest_tau", "pytest_tau_domains", "pytest_tau_tasks", "pydantic", "pydantic_core"),
    }
)

# A shell without job control starts background processes such that they ignore Ctrl-C, which some tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests start some hundred processes. Without bytecode each of them would compile the whole project anew, which takes
# half of its time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was imported and collected, which stays until the end."""
    gc.collect()
    gc.freeze()


class _Distribution:
    """An installed distribution whose entry points are read once."""

    def __init__(self, distribution: importlib.metadata.Distribution) -> None:
        self._distribution = distribution

    def __getattr__(self, name: str) -> Any:
        return getattr(self._distribution, name)

    @functools.cached_property
    def entry_points(self) -> Any:
        return self._distribution.entry_points


_find_distributions = importlib.metadata.distributions


@functools.cache
def _distributions_on(path: tuple[str, ...]) -> tuple[_Distribution, ...]:
    return tuple(map(_Distribution, _find_distributions(path=list(path))))


_statement_range = pytest_code.getstatementrange_ast


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> ast.AST:
    return ast.parse(text, "source", "exec")


def _cached_statement_range(lineno: int, source: Any, assertion: bool = False, astnode: Any = None) -> Any:
    return _statement_range(lineno, source, assertion, _parsed(str(source)) if astnode is None else astnode)


@pytest.fixture(autouse=True)
def _no_official_data_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a developer's TAU_DATA from deciding what the tests run on."""
    monkeypatch.delenv("TAU_DATA", raising=False)
    for name in [name for name in os.environ if name.startswith("PYTEST_ADDOPTS")]:
        monkeypatch.delenv(name)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return pytest's own, which keeps libraries imported that must not be imported twice."""
    # A test may change a module between two runs within a second: its bytecode would seem to be up to date.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    # Each run would read the entry points of everything that is installed, and parse pytest's own modules for the
    # traceback of an interruption.
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: _distributions_on(tuple(sys.path)))
    monkeypatch.setattr(pytest_code, "getstatementrange_ast", _cached_statement_range)

    def is_kept(name: str) -> bool:
        # A run may have blocked a library, by None.
        return name.partition(".")[0] in _KEPT and sys.modules[name] is not None

    def snapshot() -> SysModulesSnapshot:
        return SysModulesSnapshot(preserve=is_kept)

    # Private names of pytester's. It has taken the first snapshot already, which it restores at the end of the test.
    setattr(pytester, "_sys_modules_snapshot", snapshot())  # noqa: B010
    setattr(pytester, "_Pytester__take_sys_modules_snapshot", snapshot)  # noqa: B010
    return pytester
