"""anyio's plugin: trials run on the event loop on which an async fixture has made what the agent uses."""

from __future__ import annotations

import contextlib

import pytest
from inner_runs import quick_options

from pytest_tau.plugin.run.compat import anyio_loop

from .conftest import Run

plugin = pytest.importorskip("anyio.pytest_plugin")

TESTS = """
    import asyncio

    import pytest

    from pytest_tau.testing import call

    class Agent:
        def __init__(self, loop):
            self.loop = loop
            self.replies = [call("create_task", user_id="user_1", title="Order new chairs"), "Done."]

        async def respond(self, message):
            assert asyncio.get_running_loop() is self.loop, "another event loop"
            return self.replies.pop(0)

    @pytest.fixture(scope="session")
    def anyio_backend():
        return "asyncio"

    @pytest.fixture(scope=SCOPE)
    async def loop(anyio_backend):
        yield asyncio.get_running_loop()

    @pytest.fixture
    FIXTURE

    pytestmark = pytest.mark.tau(domain="mock", tasks="create-task")

    @pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
    def test_plain(tau_simulation):
        assert tau_simulation.reward == 1

    @pytest.mark.anyio
    async def test_async(tau_simulation):
        assert tau_simulation.reward == 1

    @pytest.mark.anyio
    async def test_awaited(tau_run):
        assert (await tau_run()).reward == 1
"""
SYNC = """def tau_agent(loop):
        return Agent(loop)"""
ASYNC = """async def tau_agent(loop):
        yield Agent(loop)"""


@pytest.fixture
def run(project, pytester):
    def run_tests(source, *args, kept=("anyio",)):
        project.write("test_own.py", source)
        return Run(pytester.runpytest_inprocess(*quick_options(*kept), "--tau-user", "gold", "test_own.py", *args))

    return run_tests


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize("scope", ["function", "session"])
@pytest.mark.parametrize("fixture", [SYNC, ASYNC], ids=["sync", "async"])
def test_a_trial_runs_on_the_loop_of_the_fixtures(run, scope, fixture, workers):
    source = TESTS.replace("SCOPE", repr(scope)).replace("FIXTURE", fixture)
    run(source, "--tau-concurrency", "4", *workers).outcomes(passed=4)


def test_fixtures_of_both_plugins_are_refused(run, project):
    source = TESTS.replace("SCOPE", "'session'").replace("FIXTURE", ASYNC)
    other = """
    import pytest_asyncio

    @pytest_asyncio.fixture
    async def tau_user():
        yield "gold"
    """
    project.ini("asyncio_default_fixture_loop_scope = function")
    found = run(source + other, "-k", "test_plain", kept=("anyio", "asyncio"))
    found.line("several event loops: tau_agent (anyio), tau_user (function)", "let one plugin run these fixtures")


def test_trio_is_refused_with_the_way_out(run, monkeypatch):
    class Runner:
        """The runner of trio, which has no event loop of asyncio."""

    @contextlib.contextmanager
    def get_runner(name, options):
        yield Runner()

    class Request:
        @staticmethod
        def getfixturevalue(name):
            return "trio"

    with monkeypatch.context() as patched:
        patched.setattr(plugin, "get_runner", get_runner)
        assert anyio_loop(Request()) is None
    monkeypatch.setattr("pytest_tau.plugin.run.asyncio_fixtures.anyio_loop", lambda request: None)
    source = TESTS.replace("SCOPE", "'session'").replace("FIXTURE", ASYNC)
    found = run(source, "-k", "test_plain")
    found.line(
        "the async fixture tau_agent runs on trio, and trials run on asyncio: let the fixture anyio_backend return"
    )
