"""Settings of this repository's own test run; nothing that a user of the plugin needs."""

from __future__ import annotations

import ast
import functools
import gc
import importlib.metadata
import importlib.util
import os
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code import code as pytest_code
from _pytest.fixtures import FixtureFunctionDefinition, FixtureManager
from _pytest.pytester import SysModulesSnapshot

try:
    # Before any run in this process, or each would have one of its own.
    from execnet import gateway_io
except ImportError:
    gateway_io = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def _provide(package: Path) -> None:
    """Make a package of the checkout importable that is not installed.

    Not by ``sys.path``: pytest would find the egg-info of an editable installation there, and rewrite its modules.
    """
    spec = importlib.util.spec_from_file_location(package.name, package / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules[package.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


_provide(Path(__file__).parent / "benchmarks")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was imported and collected, which stays until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)


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
#: A test adds folders of its own, in which it may install something.
_PATH = frozenset(sys.path)


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


_parse_fixtures = FixtureManager.parsefactories


@functools.cache
def _has_fixtures(holder: ModuleType | type) -> bool:
    parts = holder.__mro__ if isinstance(holder, type) else (holder,)
    return any(isinstance(value, FixtureFunctionDefinition) for part in parts for value in vars(part).values())


def _parse_fixtures_of(self: Any, *args: Any, **named: Any) -> None:
    """Skip plugins of pytest without fixtures, which is most of them: each run would look at all that is in them."""
    holder = named.get("holder", args[0] if args else None)
    kind = holder if isinstance(holder, ModuleType) else type(holder)
    name = kind.__name__ if isinstance(kind, ModuleType) else kind.__module__
    is_known = name.partition(".")[0] in ("_pytest", "xdist", "pytest_tau") and not isinstance(holder, pytest.Collector)
    if not is_known or _has_fixtures(kind):
        _parse_fixtures(self, *args, **named)


#: What workers of pytest-xdist import sooner or later. litellm is added once this process has imported it.
_WORKERS_IMPORT = [
    *("_pytest.*", "xdist.*", "pydantic", "pytest_tau.plugin.*", "pytest_tau.runner.*", "pytest_tau.evaluation.*"),
    *("pytest_tau.participants.*", "pytest_tau.runs.*", "pytest_tau.analysis.*", "pytest_tau.diagnosis.*"),
    *(f"pytest_tau_domains.{name}" for name in ("airline", "mock", "retail", "telecom")),
]


@pytest.fixture(scope="session")
def _fork_worker() -> Iterator[Callable[[str], Any]]:
    """Return a function that forks a worker from a process with these modules; it returns None if it cannot."""
    spec = importlib.util.spec_from_file_location("warm_process", Path(__file__).parent / "tests" / "warm_process.py")
    assert spec is not None
    assert spec.loader is not None
    warm_process = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(warm_process)
    made: dict[bool, Any] = {}

    def fork(code: str) -> Any:
        with_litellm = sys.modules.get("litellm") is not None
        if with_litellm not in made:
            modules = [*_WORKERS_IMPORT, *(["litellm", "tenacity"] if with_litellm else [])]
            made[with_litellm] = warm_process.WarmProcess(modules, {"LITELLM_LOCAL_MODEL_COST_MAP": "True"})
        return made[with_litellm].fork(code) if made[with_litellm].can_become(os.environ) else None

    yield fork
    for process in made.values():
        process.close()


@pytest.fixture
def _warm_workers(_fork_worker: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs in this process have workers of pytest-xdist that are forked."""
    if gateway_io is None or not hasattr(os, "fork"):
        return
    started = gateway_io.Popen2IOMaster.__init__
    plain = [[sys.executable, "-u", *options, "-c", gateway_io.popen_bootstrapline] for options in ([], ["-B"])]

    def start(self: Any, args: list[str], execmodel: Any) -> None:
        forked = _fork_worker(gateway_io.popen_bootstrapline) if args in plain else None
        if forked is None:
            started(self, args, execmodel)
            return
        self.popen = forked
        super(gateway_io.Popen2IOMaster, self).__init__(forked.stdin, forked.stdout, execmodel=execmodel)

    monkeypatch.setattr(gateway_io.Popen2IOMaster, "__init__", start)


@pytest.fixture
def pytester(pytester: pytest.Pytester, _warm_workers: None, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return pytest's own, which keeps libraries imported that must not be imported twice."""
    # A test may change a module between two runs within a second: its bytecode would seem to be up to date.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    # Each run would read the entry points of everything that is installed, look for fixtures in all modules of pytest,
    # and parse them for the traceback of an interruption.
    monkeypatch.setattr(importlib.metadata, "distributions", _distributions)
    monkeypatch.setattr(FixtureManager, "parsefactories", _parse_fixtures_of)
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
