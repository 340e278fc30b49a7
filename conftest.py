"""Settings of this repository's own test run; nothing that a user of the plugin needs."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import importlib.metadata
import importlib.util
import os
import signal
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A shell without job control starts background processes such that they ignore Ctrl-C, which some tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests start some hundred processes. Without bytecode each of them would compile the whole project anew, which takes
# half of its time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# This backport, a requirement of OpenTelemetry, takes the place of the standard library's finder of installed packages.
# pytester undoes one half of that if it is imported in a run in this process: nothing would be installed any more.
with contextlib.suppress(ImportError):
    importlib.import_module("importlib_metadata")


# A client of HTTP reads the certificates of the system when it is made, which takes longer than most tests of clients.
# Their servers are here, without encryption.
ssl.create_default_context = functools.cache(ssl.create_default_context)


def _provide(file: str) -> Any:
    """Import a module or a package of the checkout that is not installed, and make it importable.

    Not by ``sys.path``: pytest would find the egg-info of an editable installation there, and rewrite its modules.
    """
    path = Path(__file__).parent / file
    name = path.parent.name if path.name == "__init__.py" else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_provide("benchmarks/__init__.py")
inner_runs, forked_processes = _provide("tests/inner_runs.py"), _provide("tests/forked_processes.py")
warm_process = _provide("tests/warm_process.py")
_provide("tests/warm_tool_servers.py")
_provide("tests/talks.py")
_provide("tests/trial_records.py")
_provide("tests/for_each.py")
_provide("tests/import_file.py")


# Next to nothing of what importing and collecting make is garbage, and the collector would look at it again and again.
gc.set_threshold(100_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that chooses the tier."""
    parser.addoption("--exhaustive", action="store_true", help="run the exhaustive tier of tests, not the quick one")


def pytest_report_header(config: pytest.Config) -> str:
    """Show the tier."""
    other = "the quick one is run without" if config.option.exhaustive else "the exhaustive one is run with"
    return f"tests: {'exhaustive' if config.option.exhaustive else 'quick'} tier ({other} --exhaustive)"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of the other tier; a test that the command line names is run in any case."""
    named = any("::" in argument for argument in config.args)
    other = [item for item in items if _is_exhaustive(item) is not config.option.exhaustive]
    if other and not named:
        config.hook.pytest_deselected(items=other)
        gone = set(other)
        items[:] = [item for item in items if item not in gone]


def _is_exhaustive(item: pytest.Item) -> bool:
    """Return whether a test is marked, or is the twin of another one with workers of pytest-xdist."""
    call = getattr(item, "callspec", None)
    twin = call is not None and bool(call.params.get("workers"))
    return twin or item.get_closest_marker("exhaustive") is not None


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was imported and collected, which stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Let the garbage collector pass over what a module has left behind, which only grows, after one look at it."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Collect the garbage of the tests once, for pytest to report what is wrong in it; Python would do so again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_official_data_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a developer's TAU_DATA from deciding what the tests run on."""
    monkeypatch.delenv("TAU_DATA", raising=False)
    for name in [name for name in os.environ if name.startswith("PYTEST_ADDOPTS")]:
        monkeypatch.delenv(name)


#: What workers of pytest-xdist import sooner or later. Those of the exhaustive tier import litellm too.
_WORKERS_IMPORT = [
    *("_pytest.*", "xdist.*", "pydantic", "pytest_tau.plugin.*", "pytest_tau.runner.*", "pytest_tau.evaluation.*"),
    *("pytest_tau.participants.*", "pytest_tau.runs.*", "pytest_tau.analysis.*", "pytest_tau.diagnosis.*"),
    *(f"pytest_tau_domains.{name}" for name in ("airline", "mock", "retail", "telecom")),
]


@pytest.fixture(scope="session")
def _warm(request: pytest.FixtureRequest) -> Iterator[Callable[[Any], Any]]:
    """Return a function that returns a process with these modules for an environment, or None."""
    made: list[Any] = []  # without litellm, and with it

    def process_for(environment: Any) -> Any:
        if not hasattr(os, "fork"):
            return None
        with_litellm = request.config.option.exhaustive and sys.modules.get("litellm") is not None
        if not made:
            made.append(warm_process.WarmProcess(_WORKERS_IMPORT))
        if with_litellm and len(made) == 1:
            more = ["litellm", "tenacity"], {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
            made.append(warm_process.WarmerProcess(made[0], *more))
        process = made[with_litellm]
        return process if process.can_become(environment) else None

    yield process_for
    for process in reversed(made):
        process.close()


@pytest.fixture
def _warm_workers(_warm: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs in this process have workers of pytest-xdist that are forked."""
    forked_processes.fork_workers(monkeypatch, _warm)


@pytest.fixture
def warm_processes(_warm: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the processes of pytest and ``tau`` that a test starts and that is not about starting."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--assert=plain", prepend=" ")
    forked_processes.fork_processes(monkeypatch, _warm)


@pytest.fixture
def pytester(pytester: pytest.Pytester, _warm_workers: None, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return pytest's own, which keeps libraries imported that must not be imported twice."""
    # A test may change a module between two runs within a second: its bytecode would seem to be up to date.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    inner_runs.quicken(monkeypatch)
    # A run of thousands of items would look through all objects of the run of these tests, which takes seconds.
    monkeypatch.setattr(gc, "unfreeze", lambda: None)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "collect", lambda *_: 0)

    def is_kept(name: str) -> bool:
        # A library imports parts of itself as it needs them, and a part that is imported anew does not know the rest.
        # Of our own packages, classes of two imports would not be the same. A run may have blocked a library, by None.
        # The folder of tasks is imported by a run that collects it, and others would warn that they did not import it.
        file = getattr(sys.modules[name], "__file__", None)
        return file is not None and name != "tasks" and not file.startswith(str(pytester.path))

    def snapshot() -> inner_runs.ModulesSnapshot:
        return inner_runs.ModulesSnapshot(is_kept)

    # Private names of pytester's. It has taken the first snapshot already, which it restores at the end of the test.
    setattr(pytester, "_sys_modules_snapshot", snapshot())  # noqa: B010
    setattr(pytester, "_Pytester__take_sys_modules_snapshot", snapshot)  # noqa: B010
    return pytester
