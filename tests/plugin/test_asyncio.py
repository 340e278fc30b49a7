"""pytest-asyncio: trials run on the event loop on which an async fixture has made what the agent uses."""

from __future__ import annotations

import textwrap

import pytest
from inner_runs import quick_options

from .conftest import Run

pytest.importorskip("pytest_asyncio")

MODES = ("auto", "strict")
SCOPES = ("function", "class", "module", "package", "session")

#: A client that can be used on the loop alone on which it was opened, and an agent that passes with it.
CONFTEST = """
import asyncio
import logging

import pytest
import pytest_asyncio

from pytest_tau.testing import call

events = []


class Client:
    def __init__(self):
        self.loop, self.lock, self.closed = asyncio.get_running_loop(), asyncio.Lock(), False

    async def ask(self):
        assert asyncio.get_running_loop() is self.loop, "the client is used on another loop"
        assert not self.closed, "the client is closed"
        # A lock that is waited for binds itself to a loop, as pools of connections do.
        await asyncio.gather(self.use(), self.use())

    async def use(self):
        async with self.lock:
            await asyncio.sleep(0.001)

    async def close(self):
        assert asyncio.get_running_loop() is self.loop, "the client is closed on another loop"
        self.closed = True
        events.append("closed")


class Agent:
    def __init__(self, client):
        self.client, self.replies = client, [call("create_task", user_id="user_1", title="Buy milk"), "Done."]

    async def respond(self, message):
        await self.client.ask()
        logging.getLogger("agent").warning("replies")
        events.append("replies")
        return self.replies.pop(0) if self.replies else "Done."


def pytest_sessionfinish():
    print()
    print("events:", *events)


FIXTURES
"""
CLIENT = """
@{decorator}
async def client():
    client = Client()
    yield client
    await client.close()
"""
AGENT = """
@pytest.fixture
def tau_agent(client):
    return Agent(client)
"""


class AsyncProject:
    """A project whose agent uses a client that an async fixture has made."""

    def __init__(self, project, a_task):
        self.project, self._task = project, a_task

    def ini(self, mode="strict", scope="function"):
        self.project.ini(f"asyncio_mode = {mode}", f"asyncio_default_fixture_loop_scope = {scope}")

    def conftest(self, *fixtures):
        self.project.write("conftest.py", CONFTEST.replace("FIXTURES", "\n".join(map(textwrap.dedent, fixtures))))

    def tasks(self, *names, file="mock/t.tau.json"):
        self.project.tasks(file, [self._task(name) for name in names])

    def tests(self, source, file="test_own.py", scope=None):
        """Tests on the first of the project's tasks."""
        mark = "" if scope is None else f", pytest.mark.asyncio(loop_scope={scope!r})"
        head = f"""
            import asyncio

            import pytest

            from conftest import Agent, Client

            pytestmark = [pytest.mark.tau(domain="mock", tasks="create-task"){mark}]
            """
        self.project.write(file, textwrap.dedent(head) + textwrap.dedent(source))

    def run(self, *args, user="gold", blocked=False):
        quick = quick_options(*([] if blocked else ["asyncio"]))
        users = ("--tau-user", user) if user else ()
        return Run(self.project._pytester.runpytest_inprocess(*quick, "-s", *users, *args))


@pytest.fixture
def asyncio_project(project, a_task, monkeypatch):
    monkeypatch.syspath_prepend(project.path)
    made = AsyncProject(project, a_task)
    made.ini()
    return made


def decorator(mode, scope):
    given = f'scope="{scope}", loop_scope="{scope}"'
    return f"pytest.fixture(scope={scope!r})" if mode == "auto" else f"pytest_asyncio.fixture({given})"


def checks(run, trials, closed):
    run.outcomes(passed=trials)
    for word in ("different loop", "Traceback", "never awaited", "INTERNALERROR"):
        run.lacks(word)
    events = run.line("events:").partition("events: ")[2].split()
    assert events.count("closed") == closed
    assert events[-1] == "closed"
    return events


class TestTaskItems:
    """Tasks of files: a fixture makes their agent."""

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("concurrency", ["1", "4"])
    @pytest.mark.parametrize("scope", SCOPES)
    @pytest.mark.parametrize("mode", MODES)
    def test_the_client_is_used_on_its_loop(self, asyncio_project, mode, scope, concurrency):
        asyncio_project.ini(mode, "fixture-scope")
        asyncio_project.conftest(CLIENT.format(decorator=decorator(mode, scope)), AGENT)
        asyncio_project.tasks("a", "b")
        run = asyncio_project.run("--tau-concurrency", concurrency)
        # A class contains no task: its scope is the test.
        checks(run, 2, closed=2 if scope in ("function", "class") else 1)

    @pytest.mark.parametrize("mode", MODES)
    def test_the_agent_itself_is_an_async_fixture(self, asyncio_project, mode):
        asyncio_project.ini(mode)
        fixture = CLIENT.format(decorator=decorator(mode, "function"))
        asyncio_project.conftest(
            fixture.replace("def client", "def tau_agent").replace("yield client", "yield Agent(client)")
        )
        asyncio_project.tasks("a", "b")
        events = checks(asyncio_project.run(), 2, closed=2)
        assert events == ["replies", "replies", "closed"] * 2

    def test_a_client_behind_other_fixtures(self, asyncio_project):
        behind = """
            @pytest.fixture
            def settings(client):
                return {"client": client}

            @pytest.fixture
            def tau_agent(settings):
                return Agent(settings["client"])
            """
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), behind)
        asyncio_project.tasks("a")
        checks(asyncio_project.run(), 1, closed=1)

    def test_a_client_that_is_requested_at_run_time(self, asyncio_project):
        late = """
            @pytest.fixture
            def tau_agent(request):
                return Agent(request.getfixturevalue("client"))
            """
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), late)
        asyncio_project.tasks("a")
        checks(asyncio_project.run(), 1, closed=1)

    @pytest.mark.parametrize("concurrency", ["1", "4"])
    @pytest.mark.parametrize("scope", ["function", "session"])
    def test_an_agent_of_a_hook(self, asyncio_project, scope, concurrency):
        hook = """
            @pytest.fixture(autouse=True)
            def _keep(client):
                global kept
                kept = client

            def pytest_tau_make_agent(item):
                return Agent(kept)
            """
        asyncio_project.conftest(CLIENT.format(decorator=decorator("strict", scope)), hook)
        asyncio_project.tasks("a", "b")
        run = asyncio_project.run("--tau-concurrency", concurrency)
        checks(run, 2, closed=2 if scope == "function" else 1)

    def test_a_client_of_the_user(self, asyncio_project):
        user = """
            class User:
                def __init__(self, client):
                    self.client, self.replies = client, ["Buy milk, please.", "###STOP###"]

                async def respond(self, message):
                    await self.client.ask()
                    return self.replies.pop(0)

            @pytest.fixture
            def tau_user(client):
                return User(client)
            """
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), user)
        asyncio_project.tasks("a")
        run = asyncio_project.run("--tau-agent", "gold")
        run.outcomes(passed=1)

    def test_several_loops_are_refused_before_the_conversation(self, asyncio_project):
        two = """
            @pytest_asyncio.fixture(scope="session", loop_scope="session")
            async def pool():
                return Client()

            @pytest.fixture
            def tau_agent(client, pool):
                return Agent(client)
            """
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), two)
        asyncio_project.tasks("a")
        run = asyncio_project.run()
        run.outcomes(errors=1)
        run.line(
            "async fixtures on several event loops: client (function), pool (session): give these fixtures the same"
        )
        run.line('such as @pytest_asyncio.fixture(loop_scope="session")')
        assert run.line("events:").split() == ["events:", "closed"]

    def test_fixtures_that_have_no_part_in_the_agent_do_not_matter(self, asyncio_project):
        others = """
            @pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
            async def database():
                return Client()
            """
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), AGENT, others)
        asyncio_project.tasks("a", "b")
        checks(asyncio_project.run("--tau-concurrency", "4"), 2, closed=2)

    def test_without_async_fixtures_trials_run_concurrently_from_the_first(self, asyncio_project):
        hook = """
            class Meeting:
                async def respond(self, message):
                    events.append("met")
                    while events.count("met") < 2:
                        await asyncio.sleep(0.001)
                    return "Done."

            def pytest_tau_make_agent():
                return Meeting
            """
        asyncio_project.conftest(hook)
        asyncio_project.tasks("a", "b")
        run = asyncio_project.run("--tau-concurrency", "4", "--tau-timeout", "5")
        run.outcomes(failed=2)
        assert run.line("events:").split() == ["events:", "met", "met"]
        run.lacks("in the setup of the test")

    def test_the_summary_names_the_fixture_because_of_which_trials_are_not_prefetched(self, asyncio_project):
        autouse = CLIENT.format(decorator='pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)')
        asyncio_project.conftest(autouse)
        asyncio_project.tasks("a", "b")
        run = asyncio_project.run("--tau-concurrency", "4")
        run.outcomes(passed=2)
        run.line("tau: 2 trials were", "in the setup of the test, because of fixtures: client (2)")

    @pytest.mark.exhaustive
    def test_under_xdist(self, asyncio_project):
        pytest.importorskip("xdist")
        asyncio_project.conftest(CLIENT.format(decorator=decorator("strict", "session")), AGENT)
        asyncio_project.tasks(*"abcd")
        run = asyncio_project.run("-n", "2", "--tau-concurrency", "4")
        run.outcomes(passed=4)
        run.lacks("different loop")

    def test_an_error_of_the_agent_is_its_failure(self, asyncio_project):
        broken = """
            class Broken:
                def __init__(self, client):
                    pass

                async def respond(self, message):
                    raise KeyboardInterrupt

            @pytest.fixture
            def tau_agent(client):
                return Broken(client)
            """
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), broken)
        asyncio_project.tasks("a", "b")
        run = asyncio_project.run()
        run.outcomes(failed=2)
        run.line("KeyboardInterrupt")
        assert run.line("events:").split() == ["events:", "closed", "closed"]

    def test_an_agent_that_hangs_is_cut_off(self, asyncio_project):
        hanging = """
            class Hanging:
                def __init__(self, client):
                    pass

                async def respond(self, message):
                    await asyncio.Event().wait()

            @pytest.fixture
            def tau_agent(client):
                return Hanging(client)
            """
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), hanging)
        asyncio_project.tasks("a")
        run = asyncio_project.run("--tau-timeout", "0.2")
        run.outcomes(failed=1)
        assert run.line("events:").split() == ["events:", "closed"]

    def test_without_the_plugin_everything_else_works(self, asyncio_project):
        asyncio_project.conftest()
        asyncio_project.tasks("a")
        asyncio_project.project.ini()
        asyncio_project.run(blocked=True).outcomes(passed=1)


class TestTestFunctions:
    """Marked tests, sync and async."""

    @pytest.mark.parametrize("scope", SCOPES)
    @pytest.mark.parametrize("mode", MODES)
    def test_tau_simulation(self, asyncio_project, mode, scope):
        asyncio_project.ini(mode, "fixture-scope")
        asyncio_project.conftest(CLIENT.format(decorator=decorator(mode, scope)), AGENT)
        asyncio_project.tests(
            """
            class TestIt:
                async def test_async(self, tau_simulation, client):
                    assert asyncio.get_running_loop() is client.loop
                    assert tau_simulation.termination_reason == "user_stop", tau_simulation.error
                    await client.ask()
            """,
            scope=scope,
        )
        asyncio_project.tests(
            """
            def test_sync(tau_simulation, client):
                assert tau_simulation.termination_reason == "user_stop", tau_simulation.error
            """,
            file="test_sync.py",
        )
        run = asyncio_project.run("--tau-concurrency", "4")
        checks(run, 2, closed=1 if scope in ("package", "session") else 2)

    @pytest.mark.parametrize("scope", SCOPES)
    @pytest.mark.parametrize("mode", MODES)
    def test_tau_run(self, asyncio_project, mode, scope):
        asyncio_project.ini(mode, "fixture-scope")
        asyncio_project.conftest(CLIENT.format(decorator=decorator(mode, scope)), AGENT)
        asyncio_project.tests(
            """
            class TestIt:
                async def test_of_the_fixture(self, tau_run, client):
                    simulation = await tau_run()
                    assert simulation.termination_reason == "user_stop", simulation.error
                    await client.ask()

                async def test_of_the_test(self, tau_run):
                    client = Client()
                    simulation = await tau_run(agent=Agent(client))
                    assert simulation.called("create_task")
                    await client.close()
            """,
            scope=scope,
        )
        # The client of the second test is closed, too.
        checks(asyncio_project.run(), 2, closed=3 if scope == "function" else 2)

    def test_a_trial_of_tau_run_is_stored_and_observed(self, asyncio_project):
        hooks = """
            def pytest_tau_simulation_started(task, trial):
                events.append("started")

            def pytest_tau_message(message):
                events.append(message.role)

            def pytest_tau_simulation_finished(simulation):
                events.append("finished")
            """
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), AGENT, hooks)
        asyncio_project.tests("async def test_it(tau_run):\n    await tau_run()\n", scope="function")
        run = asyncio_project.run("--junitxml=junit.xml")
        events = checks(run, 1, closed=1)
        assert [events.count(each) for each in ("started", "finished", "closed", "tool")] == [1, 1, 1, 1]
        assert events.index("started") < events.index("assistant") < events.index("tool") < events.index("finished")
        run.line("tau: mock: 1 task, 1 trial")
        assert 'name="tau_reward"' in (asyncio_project.project.path / "junit.xml").read_text()
        assert len(list(asyncio_project.project.path.glob(".tau/runs/*/simulations.jsonl"))) == 1

    def test_the_default_user_listens_to_an_agent_of_tau_run(self, asyncio_project):
        asyncio_project.conftest()
        asyncio_project.tests(
            """
            async def test_own(tau_run):
                simulation = await tau_run(agent=lambda messages, tools: "Which title?")
                assert any("I am not sure" in (message.content or "") for message in simulation.messages)

            async def test_gold(tau_run):
                assert (await tau_run()).reward == 1
            """,
            scope="function",
        )
        asyncio_project.run(user=None).outcomes(passed=2)

    @pytest.mark.parametrize(
        ("test", "problem"),
        [
            ("async def test_it(tau_run):\n    pass", "the test requests tau_run but does not await tau_run()"),
            (
                "async def test_it(tau_run):\n    asyncio.create_task(tau_run())",
                "the test requests tau_run but does not await tau_run()",
            ),
            ("def test_it(tau_run):\n    pass", "tau_run is for async tests: request tau_simulation"),
            ("async def test_it(tau_run, tau_simulation):\n    pass", "run the same trial: request one of them"),
            ("async def test_it(tau_run):\n    await tau_run()\n    await tau_run()", "tau_run runs one trial"),
            (
                "async def test_it(request):\n    request.getfixturevalue('tau_simulation')",
                "tau_simulation cannot be requested while the event loop of the test runs",
            ),
        ],
    )
    def test_mistakes(self, asyncio_project, test, problem):
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), AGENT)
        mark = "@pytest.mark.asyncio\n" if test.startswith("async") else ""
        test = test.replace("(request)", "(request, tau_task, tau_trial, client)")
        asyncio_project.tests(mark + test)
        run = asyncio_project.run()
        assert run.ret == pytest.ExitCode.TESTS_FAILED, run.text
        run.line(problem)

    def test_a_client_of_another_loop_is_refused_before_the_conversation(self, asyncio_project):
        asyncio_project.conftest(CLIENT.format(decorator=decorator("strict", "session")), AGENT)
        asyncio_project.tests("async def test_it(tau_run):\n    await tau_run()\n", scope="function")
        run = asyncio_project.run()
        run.outcomes(failed=1)
        run.line(
            "the async fixture client is on the loop of another scope", 'pytest.mark.asyncio(loop_scope="session")'
        )
        assert run.line("events:").split() == ["events:", "closed"]

    def test_a_timeout_of_the_test_cancels_the_trial(self, asyncio_project):
        asyncio_project.conftest()
        asyncio_project.tests(
            """
            async def test_it(tau_run):
                async def hang(messages, tools):
                    try:
                        await asyncio.sleep(60)
                    finally:
                        print("cancelled")

                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(tau_run(agent=hang), 0.2)
            """,
            scope="function",
        )
        run = asyncio_project.run()
        run.outcomes(passed=1)
        run.line("cancelled")

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["here", "workers"])
    def test_trials_of_tau_run_that_were_not_run_are_counted(self, asyncio_project, workers):
        asyncio_project.conftest()
        asyncio_project.project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks=["create-task", "complete-task", "two-requests"])
            @pytest.mark.asyncio
            async def test_it(tau_run, tau_task):
                if tau_task.id == "complete-task":
                    pytest.skip("not today")
                assert tau_task.id != "two-requests"
                await tau_run(agent="gold")
            """,
        )
        run = asyncio_project.run("test_own.py", *workers)
        run.outcomes(passed=1, skipped=1, failed=1)
        run.line(
            "tau: 3 tasks x 1 trial planned: 1 run,",
            "1 not run (not today)",
            "1 not run (the test ended without it)",
        )
        run = asyncio_project.run("test_own.py", "-k", "not create", "-x", *workers)
        run.line("tau: ", "excluded: 1 deselected")

    def test_what_the_agent_logs_is_in_caplog(self, asyncio_project):
        asyncio_project.conftest(CLIENT.format(decorator="pytest_asyncio.fixture"), AGENT)
        asyncio_project.tests(
            """
            @pytest.mark.asyncio
            async def test_run(tau_run, caplog):
                await tau_run()
                assert [record.getMessage() for record in caplog.records] == ["replies", "replies"]

            def test_simulation(tau_simulation, caplog):
                assert [record.getMessage() for record in caplog.get_records("setup")] == ["replies", "replies"]
            """
        )
        asyncio_project.run().outcomes(passed=2)
