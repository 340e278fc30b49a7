"""Failed, error, usage error: the party at fault decides. Summary and exit status."""

from __future__ import annotations

import pytest

FAULTS = """
import asyncio
import sys
import time


class Empty:
    def respond(self, message):
        return ""


class Blank:
    def respond(self, message):
        return {"content": "  ", "tool_calls": []}


class Nothing:
    def respond(self, message):
        return None


class Nonsense:
    def respond(self, message):
        return 42


class BadContent:
    def respond(self, message):
        return {"content": ["x", 7], "tool_calls": [{"name": "get_users"}, 3]}


class Nameless:
    def respond(self, message):
        return {"tool_calls": [{"arguments": {}}]}


class CallsNoList:
    def respond(self, message):
        return {"tool_calls": {"name": "get_users"}}


class Raises:
    def respond(self, message):
        raise ValueError("out of ideas")


class RaisesLater:
    async def respond(self, message):
        await asyncio.sleep(0)
        raise KeyError("async")


class Exits:
    def respond(self, message):
        sys.exit("bye")


class Hangs:
    def respond(self, message):
        time.sleep(60)


class HangsAsync:
    async def respond(self, message):
        await asyncio.sleep(30)


class Unbuildable:
    def __init__(self):
        raise RuntimeError("no licence")

    def respond(self, message):
        return "never"


class SlowToBuild:
    def __init__(self):
        time.sleep(2)

    def respond(self, message):
        return "never"


class BadStop:
    def respond(self, message):
        return "Hello."

    def is_stop(self, message):
        raise TypeError("is_stop is broken")


def function(messages, tools):
    raise OSError("function failed")


class Stateful:
    def get_init_state(self, message_history=None):
        raise LookupError("no state")

    def generate_next_message(self, message, state):
        return "never", state


class NoPair:
    def get_init_state(self, message_history=None):
        return {}

    def generate_next_message(self, message, state):
        return "not a pair"
"""

#: Each fault with the message that must be shown.
MESSAGES = {
    "Empty": "respond() returned an empty reply: no text and no tool calls",
    "Blank": "respond() returned an empty reply: no text and no tool calls",
    "Nothing": "respond() returned None; expected ",
    "Nonsense": "respond() returned int 42; expected ",
    "BadContent": "respond() returned tool call int 3; expected a name and arguments",
    "Nameless": "respond() returned tool call dict {'arguments': {}}; expected a name and arguments",
    "CallsNoList": "respond() returned tool_calls dict {'name': 'get_users'}; expected a list",
    "Raises": "ValueError: out of ideas",
    "RaisesLater": "KeyError: 'async'",
    "Exits": "SystemExit: bye",
    "Hangs": "no end after 0.3 s",
    "HangsAsync": "no end after 0.3 s",
    "Unbuildable": "could not be created: RuntimeError: no licence",
    "SlowToBuild": "was not created in time",
    "BadStop": "TypeError: is_stop is broken",
    "function": "OSError: function failed",
    "Stateful": "LookupError: no state",
    "NoPair": "ValueError",
}
#: Those that need a short time limit; on a busy machine the others need more than that.
SLOW = ("Hangs", "HangsAsync", "SlowToBuild")


@pytest.fixture
def faults(project, a_task):
    """Runs one task with participants that are at fault."""
    project.write("faults.py", FAULTS)
    project.tasks("mock/t.tau.json", [a_task()])

    return lambda *args, timeout=60: project.run("--tau-timeout", str(timeout), *args)


@pytest.mark.parametrize("slow", [False, True], ids=["at once", "too slow"])
@pytest.mark.parametrize("side", ["agent", "user"])
def test_a_fault_of_the_agent_is_a_failure_and_one_of_the_user_an_error(faults, project, a_task, side, slow):
    """Each task is played by the fault that it is called after."""
    made = f"def pytest_tau_make_{side}(task):\n    return getattr(faults, task.id)\n"
    project.write("conftest.py", f"import faults\n\n{made}")
    names = [name for name in MESSAGES if (name in SLOW) == slow]
    project.tasks("mock/t.tau.json", [a_task(name) for name in names])
    run = faults(timeout=0.3 if slow else 60)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    if side == "agent":
        run.outcomes(failed=len(names))
        run.line("tau: mock: ", f"{len(names)} failed; pass^1 0.000")
    else:
        run.outcomes(errors=len(names))
        run.line("tau: mock: ", f"{len(names)} errors; no rate")
    title = "_ {}[trial-0] _" if side == "agent" else "_ ERROR at setup of {}[trial-0] _"
    for name in names:
        report = run.text.partition(title.format(name))[2].partition("[trial-0] _")[0]
        assert MESSAGES[name] in " ".join(report.split()), name


def test_exception_is_reported_with_the_agents_line(faults, project):
    line = FAULTS[: FAULTS.index("out of ideas")].count("\n") + 1
    run = faults("--tau-agent", "faults.py:Raises")
    run.line("ValueError: out of ideas", f"line {line} of {project.path}/faults.py")


CALL = '{"tool_calls": [{"id": "1", "function": {"name": "create_task", "arguments": %s}}]}'
OBJECT = "arguments of 'create_task' must be a JSON object"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (CALL % "'[1, 2]'", f"{OBJECT}, got [1, 2]"),
        (CALL % "'{not json'", f"{OBJECT}, got "),
        (
            CALL % '{"dates": [{"due": __import__("datetime").date(2026, 1, 2)}]}',
            f"{OBJECT}: dates.0.due: datetime.date",
        ),
        (
            CALL % '{"deep": __import__("functools").reduce(lambda inner, _: [inner], range(900), [])}',
            f"{OBJECT}, got ",
        ),
        ('call("no_such_tool", a=1)', "Tool 'no_such_tool' not found."),
        ('call("create_task", nobody="x")', "unexpected keyword argument 'nobody'"),
    ],
    ids=["a list", "no JSON", "a date", "deep", "unknown", "wrong"],
)
def test_a_bad_call_is_a_tool_error_and_the_conversation_goes_on(faults, scripted, call, error):
    run = faults("--tau-agent", scripted(call, '"Sorry."'))
    run.outcomes(failed=1)
    run.line("= Error: ", error)
    run.line("agent  Sorry.")
    good = 'call("create_task", user_id="user_1", title="Buy milk")'
    faults("--tau-agent", scripted(call, good, '"Done."')).outcomes(passed=1)


def test_faults_of_both_kinds_are_counted_apart(project, a_task):
    project.tasks("mock/t.tau.json", [a_task("a"), a_task("b"), a_task("c")])
    project.write(
        "users.py",
        """
        class User:
            def __init__(self, task):
                self.task, self.said = task.id, False

            def respond(self, message):
                if self.task == "b":
                    raise ConnectionError("provider down")
                self.said, before = True, self.said
                return "###STOP###" if before else "Buy milk, please."
        """,
    )
    run = project.run("--tau-user", "users.py:User", "-rfE")
    run.outcomes(passed=2, errors=1)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("tau: mock: 3 tasks, 3 trials; 2 passed, 1 error; pass^1 1.000")
    run.line("errors are excluded; counting them as failures, pass^1 is 0.667")
    run.line("ERROR mock/t.tau.json::b[trial-0]", "ConnectionError: provider down")


class TestSummary:
    """The line of each domain."""

    def test_no_k_is_omitted_silently(self, project):
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "--tau-trials", "10")
        run.line("tau: mock: 1 task, 10 trials; 10 passed;", "pass^1 1.000", "pass^8 1.000", "pass^10 1.000")

    def test_trials_that_differ_in_number(self, project):
        chosen = ["-k", "trial-0 or description"]
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "2", "--tau-trials", "3", *chosen)
        rates = "pass^1 1.000 pass^2 0.500 to 1.000 pass^3 0.500 to 1.000"
        run.line(f"tau: mock: 2 tasks, 4 trials; 4 passed; {rates}; 1 task with fewer than 3 trials")

    def test_pass_hat_k_is_a_mean_over_tasks(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a"), a_task("b")])
        project.write(
            "agent.py",
            """
            from pytest_tau.testing import ScriptedParticipant, call

            class Agent(ScriptedParticipant):
                def __init__(self, task, seed):
                    fails = task.id == "b" and seed == 373753
                    super().__init__([call("get_users") if fails else call("create_task", user_id="user_1", title="Buy milk"), "Done."])
            """,
        )
        run = project.run("--tau-trials", "3", "--tau-agent", "agent.py:Agent")
        run.outcomes(passed=5, failed=1)
        run.line("2 tasks, 6 trials; 5 passed, 1 failed; pass^1 0.833 pass^2 0.667 pass^3 0.500")


class TestExitStatus:
    """Nothing executed is never 0."""

    def test_passed(self, project):
        assert project.run("--tau-domain", "mock", "--tau-num-tasks", "1").ret == pytest.ExitCode.OK

    @pytest.mark.parametrize("args", [["-k", "nonesuch"], ["-m", "not tau"], ["--deselect", "mock"]])
    def test_all_deselected(self, project, args):
        run = project.run("--tau-domain", "mock", *args)
        run.outcomes(deselected=16)
        assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED

    def test_all_skipped_in_a_conftest(self, project):
        project.write(
            "conftest.py",
            """
            import pytest

            def pytest_collection_modifyitems(items):
                for item in items:
                    item.add_marker(pytest.mark.skip(reason="not today"))
            """,
        )
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1")
        run.outcomes(skipped=1)
        assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED

    def test_an_empty_file(self, project):
        project.tasks("mock/t.tau.json", [])
        run = project.run("mock/t.tau.json")
        run.usage_error("there are no tasks")
        run.line("ERROR collecting mock/t.tau.json")

    def test_collecting_only_is_fine(self, project):
        assert project.run("--tau-domain", "mock", "--collect-only").ret == pytest.ExitCode.OK

    def test_setup_plan_is_fine(self, project):
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "--setup-plan")
        assert run.ret == pytest.ExitCode.OK
        run.line("SETUP", "tau_simulation")
