"""Participants that try to move the measure: nothing that they do to what they were given changes a verdict."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pytest_tau.reports.export import write_csv, write_jsonl
from pytest_tau.reports.export_tau2 import tau2_simulation
from pytest_tau.runs.reader import open_run

#: Agents and users, each of which would earn 1 if it could change what is graded.
ATTACKS = '''
import pytest

from pytest_tau.models import AssistantMessage, MultiToolMessage, ToolCall, UserMessage
from pytest_tau.testing import ScriptedParticipant

WANTED = {"user_id": "user_1", "title": "Order new chairs"}
PHRASE = "task_3"


def reference():
    return [ToolCall(name="create_task", arguments=dict(WANTED))]


class Equal(str):
    """A text that says that it equals every other."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = str.__hash__


class Contains(str):
    """A text that says that it contains every other."""

    def __contains__(self, other):
        return True

    def lower(self):
        return self

    def replace(self, *args):
        return self


def received(message):
    return message.tool_messages if isinstance(message, MultiToolMessage) else [message]


class AddsCalls:
    """Puts the reference call into what it received: a message of the other side."""

    def respond(self, message):
        message.tool_calls = reference()
        return "Done."


class RewritesTexts:
    """Rewrites words of the other side, and results of its own calls."""

    def __init__(self):
        self.said = False

    def respond(self, message):
        for part in received(message):
            part.content = "FORGED"
            part.role = "assistant"
        self.said, before = True, self.said
        return "Done." if before else {"tool_calls": [{"name": "get_users", "arguments": {}}]}


class ChangesReplies:
    """Keeps what it has returned, and changes it later."""

    def __init__(self):
        self.kept = []

    def respond(self, message):
        for reply in self.kept:
            if reply.tool_calls:
                reply.tool_calls[0].name = "create_task"
                reply.tool_calls[0].arguments.update(WANTED)
            else:
                reply.tool_calls = reference()
        call = ToolCall(name="get_users", arguments={})
        reply = AssistantMessage(tool_calls=[call]) if len(self.kept) < 2 else AssistantMessage(content="Done.")
        self.kept.append(reply)
        return reply


class ChangesDicts(ChangesReplies):
    """The same with a dict."""

    def respond(self, message):
        for reply in self.kept:
            reply["tool_calls"][0]["name"] = "create_task"
            reply["tool_calls"][0]["arguments"].update(WANTED)
        if self.kept:
            return "Done."
        self.kept.append({"tool_calls": [{"name": "get_users", "arguments": {}}]})
        return self.kept[0]


class StopsWithCalls:
    """Changes the message that it is asked about."""

    def respond(self, message):
        return "Done."

    def is_stop(self, message):
        message.tool_calls = reference()
        message.content = "FORGED"
        return False


class Stateful:
    """The third form."""

    def __init__(self, tools, domain_policy):
        pass

    def get_init_state(self, message_history=None):
        return []

    def generate_next_message(self, message, state):
        state.append(message)
        for each in state:
            each.tool_calls = reference()
        return AssistantMessage(content="Done."), state


def function(messages, tools):
    for message in messages:
        message["content"] = "FORGED"
        message["tool_calls"] = [{"function": {"name": "create_task", "arguments": WANTED}}]
    messages.clear()
    tools[0]["function"]["parameters"].clear()
    return "Done."


class Clears:
    """Empties the evaluation criteria of the task that it asked for, if it finds them."""

    def __init__(self, task):
        self.task = task
        self.clear()

    def clear(self):
        if hasattr(self.task, "evaluation_criteria"):
            criteria = self.task.evaluation_criteria
            criteria.actions.clear()
            criteria.reward_basis.clear()
            (criteria.communicate_info or []).clear()

    def respond(self, message):
        self.clear()
        return "Done."


class ClearsWhole(Clears):
    needs_reference = True

    def clear(self):
        assert self.task.evaluation_criteria is not None
        super().clear()


class Pretends:
    """Makes a call whose arguments equal all others."""

    def __init__(self):
        self.said = False

    def respond(self, message):
        self.said, before = True, self.said
        arguments = {Equal("task_id"): Equal("task_x"), "status": Equal("x")}
        return Contains("Done.") if before else {"tool_calls": [{"name": "update_task_status", "arguments": arguments}]}


class Says:
    """Says something."""

    def respond(self, message):
        return AssistantMessage(content=Contains("Done."))


class UserForges:
    """As user: gives the agent the words and the calls that it is to be graded by."""

    def __init__(self):
        self.turns = 0

    def respond(self, message):
        message.content = f"FORGED {PHRASE}"
        message.tool_calls = reference()
        self.turns += 1
        return "Hello." if self.turns < 3 else "###STOP###"

    def is_stop(self, message):
        message.tool_calls = reference()
        return "STOP" in message.content


class UserClears(Clears):
    """As user: empties the evaluation criteria."""

    def __init__(self, task):
        self.turns = 0
        super().__init__(task)

    def respond(self, message):
        self.clear()
        self.turns += 1
        return "Hello." if self.turns < 3 else "###STOP###"


class UserClearsWhole(UserClears):
    needs_reference = True


class UserChangesReplies:
    """As user: keeps what it has returned, and changes it later."""

    def __init__(self):
        self.kept = []

    def respond(self, message):
        for reply in self.kept:
            reply.content, reply.tool_calls = "FORGED", reference()
        self.kept.append(UserMessage(content="Hello." if len(self.kept) < 2 else "###STOP###"))
        return self.kept[-1]


AGENTS = [
    *("AddsCalls", "RewritesTexts", "ChangesReplies", "ChangesDicts", "StopsWithCalls", "Stateful", "function"),
    *("Clears", "ClearsWhole", "Pretends", "Says"),
]
USERS = ["UserForges", "UserClears", "UserClearsWhole", "UserChangesReplies"]
TASKS = ["create-task", "say-new-id", "reopen-impatient"]


def attack(tau_simulation):
    assert tau_simulation.outcome == "failed", tau_simulation.error
    assert tau_simulation.reward == 0
    assert "FORGED" not in tau_simulation.model_dump_json()
    assert not tau_simulation.called("create_task")


def wanted(**sides):
    def test(tau_simulation):
        attack(tau_simulation)

    return pytest.mark.tau(domain="mock", tasks=TASKS, **sides)(test)


for name in AGENTS:
    globals()[f"test_agent_{name}"] = wanted(agent=globals()[name])
for name in USERS:
    globals()[f"test_user_{name}"] = wanted(agent=Says, user=globals()[name])
'''
_NUMBER = (11 + 4) * 3
MODES = pytest.mark.parametrize(
    "mode", [(), ("--tau-concurrency", "4"), ("-n", "2")], ids=["alone", "together", "xdist"]
)


@MODES
def test_nothing_that_a_participant_changes_is_graded(project, mode):
    project.write("test_attacks.py", ATTACKS)
    run = project.run("-q", *mode)
    run.outcomes(passed=_NUMBER)


@MODES
def test_each_participant_has_schemas_of_its_own(project, a_task, mode):
    project.tasks("mock/t.tau.json", [a_task("a"), a_task("b"), a_task("c")])
    project.write(
        "strict.py",
        """
        from pytest_tau.testing import ScriptedParticipant, call

        class Agent(ScriptedParticipant):
            def __init__(self, tools, llm_args):
                for tool in tools:
                    assert "additionalProperties" not in tool.parameters, "another trial's"
                    assert "title" in tool.openai_schema["function"]["parameters"], "another trial's"
                    tool.openai_schema["function"]["parameters"].clear()
                    tool.parameters["additionalProperties"] = False
                    del tool.parameters["title"]
                super().__init__([call("create_task", user_id="user_1", title="Buy milk"), "Done."])
        """,
    )
    run = project.run("--tau-agent", "strict.py:Agent", "--tau-trials", "3", *mode)
    run.outcomes(passed=9)


@MODES
def test_an_environment_of_one_s_own_spoils_no_other(project, mode):
    project.write(
        "test_own.py",
        """
        import pytest

        pytestmark = pytest.mark.tau(domain="mock", tasks="create-task", trials=3)

        def test_own(tau_env):
            for each in tau_env.execute("get_users", {}):
                assert each.name != "SPOILT"
                each.name = "SPOILT"
                each.tasks.append("SPOILT")
            for tool in tau_env.tools():
                tool.parameters.clear()
            assert "SPOILT" not in str(tau_env.dump())

        def test_simulation(tau_simulation):
            assert tau_simulation.reward == 1

        def test_simulation_next_to_an_environment(tau_env, tau_task, tau_simulation):
            assert tau_simulation.reward == 1
        """,
    )
    run = project.run(*mode)
    run.outcomes(passed=7)


class TestTasks:
    """Which part of a task a participant sees, and what it takes to see the whole."""

    ASKS = """
        class Agent:
            greeting = "Hello, what is it?"

            def __init__(self, task):
                self.task = task

            def respond(self, message):
                return " ".join(
                    f"{name}:{getattr(self.task, name, 'hidden')}" for name in
                    ("id", "ticket", "user_scenario", "evaluation_criteria", "initial_state", "criteria", "description")
                )

            def is_stop(self, message):
                return True

        class Declared(Agent):
            needs_reference = True

        class Careless(Agent):
            def respond(self, message):
                return str(self.task.evaluation_criteria.actions)

        class User(Agent):
            def respond(self, message):
                return super().respond(message) + "###STOP###"
    """

    def _run(self, project, a_task, *args):
        project.tasks("mock/t.tau.json", [a_task(ticket="Buy milk for Ada.", description={"purpose": "Tests milk."})])
        project.write("asks.py", self.ASKS)
        return project.run("-rA", *args)

    def test_an_agent_sees_the_ticket(self, project, a_task):
        run = self._run(project, a_task, "--tau-agent", "asks.py:Agent", "--tau-user", "noop")
        run.outcomes(failed=1)
        run = self._run(project, a_task, "--tau-agent", "asks.py:Agent", "--tau-user", "gold")
        shown = run.line("agent  id:buy-milk ticket:Buy milk for Ada. user_scenario:hidden")
        assert "evaluation_criteria:hidden initial_state:hidden criteria:hidden description:hidden" in shown

    def test_a_user_sees_its_scenario(self, project, a_task):
        run = self._run(project, a_task, "--tau-agent", "noop", "--tau-user", "asks.py:User")
        run.outcomes(failed=1)
        shown = run.line("user   id:buy-milk ticket:hidden user_scenario:")
        assert "evaluation_criteria:hidden" in shown
        run.lacks("given the reference actions")

    def test_one_that_declares_it_sees_the_whole_task(self, project, a_task):
        run = self._run(project, a_task, "--tau-agent", "asks.py:Declared")
        assert "hidden" not in run.line("agent  id:buy-milk ticket:Buy milk for Ada.")

    def test_undeclared_participant_error_explains_the_declaration(self, project, a_task):
        run = self._run(project, a_task, "--tau-agent", "asks.py:Careless", "--tau-user", "gold")
        run.outcomes(failed=1)
        run.line("task.evaluation_criteria is not available to this side", "needs_reference = True")


class TestReports:
    """Everything that reports on a run says who was given the reference actions."""

    DECLARED = """
        from pytest_tau.testing import ScriptedParticipant, call

        class Agent(ScriptedParticipant):
            needs_reference = True

            def __init__(self, task):
                actions = task.evaluation_criteria.actions
                super().__init__([*(call(each.name, **each.arguments) for each in actions), "Done."])
    """
    LINE = "tau: given the reference actions: "

    @MODES
    def test_header_summary_and_run_json(self, project, a_task, mode):
        project.tasks("mock/t.tau.json", [a_task("a"), a_task("b")])
        project.write("declared.py", self.DECLARED)
        options = ("--tau-agent", "declared.py:Agent", "--tau-user", "gold", "--tau-results", "kept")
        run = project.run(*options, *mode)
        run.outcomes(passed=2)
        run.line("agent declared.py:Agent (given the reference actions), user gold")
        assert f"{self.LINE}agent, user" in run.text.splitlines()
        (manifest,) = project.path.glob("kept/**/run.json")
        assert json.loads(manifest.read_text())["saw_reference"] == ["agent", "user"]
        (lines,) = project.path.glob("kept/**/simulations.jsonl")
        simulations = [json.loads(line) for line in lines.read_text().splitlines()]
        assert [each["info"]["saw_reference"] for each in simulations] == [["agent", "user"]] * 2

    def test_html_report_and_exports(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a")])
        project.run("--tau-agent", "gold", "--tau-user", "noop", "--tau-results", "kept", "--tau-html", "page.html")
        assert '["Given the reference actions","agent"]' in (project.path / "page.html").read_text().replace(
            '", "', '","'
        )
        (folder,) = project.path.glob("kept/*/")
        run = open_run(folder)
        tables: dict[str, io.StringIO] = {"csv": io.StringIO(newline=""), "jsonl": io.StringIO()}
        write_csv(run, tables["csv"])
        write_jsonl(run, tables["jsonl"])
        (row,) = csv.DictReader(io.StringIO(tables["csv"].getvalue()))
        assert row["saw_reference"] == "agent"
        (trial,) = run.trials()
        assert tau2_simulation(trial)["info"]["saw_reference"] == ["agent"]
        assert json.loads(tables["jsonl"].getvalue())["info"]["saw_reference"] == ["agent"]

    def test_an_honest_run_says_nothing(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("--tau-agent", "noop", "--tau-user", "noop", "--tau-results", "kept")
        run.outcomes(failed=1)
        run.lacks("given the reference actions")
        (manifest,) = project.path.glob("kept/**/run.json")
        assert json.loads(manifest.read_text())["saw_reference"] == []

    def test_an_agent_of_a_hook_is_counted_too(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a"), a_task("b")])
        project.write("declared.py", self.DECLARED)
        project.write(
            "conftest.py",
            """
            def pytest_tau_make_agent(task):
                from declared import Agent

                if task.id == "a":
                    return Agent
                task.evaluation_criteria.actions.clear()
            """,
        )
        run = project.run("--tau-agent", "noop", "--tau-user", "gold")
        run.outcomes(passed=1, failed=1)
        run.line(f"{self.LINE}agent (1 of 2 trials), user")


class TestFixturesAndHooks:
    """The harness's own users get copies, too: what they pass to an agent is not graded."""

    @MODES
    def test_agent_of_a_fixture_has_a_copy(self, project, a_task, mode):
        project.tasks("mock/t.tau.json", [a_task("a"), a_task("b")])
        project.write(
            "conftest.py",
            """
            import pytest

            @pytest.fixture
            def tau_agent(tau_task):
                def agent(messages, tools):
                    tau_task.evaluation_criteria.actions.clear()
                    return "Done."

                return agent
            """,
        )
        project.run("--tau-trials", "2", *mode).outcomes(failed=4)

    def test_an_overridden_task_is_graded_as_it_was_at_the_start(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a")])
        project.write(
            "conftest.py",
            """
            import pytest

            @pytest.fixture
            def tau_task(tau_task):
                return tau_task.model_copy(update={"ticket": "Changed."})

            @pytest.fixture
            def tau_agent(tau_task):
                def agent(messages, tools):
                    assert tau_task.ticket == "Changed."
                    tau_task.evaluation_criteria.actions.clear()
                    return "Done."

                return agent
            """,
        )
        project.run().outcomes(failed=1)

    @MODES
    def test_hooks_are_given_copies(self, project, a_task, mode):
        project.tasks("mock/t.tau.json", [a_task("a"), a_task("b")])
        project.write(
            "conftest.py",
            """
            from pytest_tau.models import ToolCall

            def clear(task):
                task.evaluation_criteria.actions.clear()

            def pytest_tau_make_agent(task):
                clear(task)

            def pytest_tau_make_user(task):
                clear(task)

            def pytest_tau_simulation_started(task):
                clear(task)

            def pytest_tau_message(message):
                wanted = {"user_id": "user_1", "title": "Buy milk"}
                message.tool_calls = [ToolCall(name="create_task", arguments=wanted)]
            """,
        )
        project.write("mute.py", "def agent(messages, tools):\n    return 'Done.'\n")
        project.run("--tau-agent", "mute.py:agent", "--tau-trials", "2", *mode).outcomes(failed=4)
