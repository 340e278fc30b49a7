"""What a run reports of what it did not see: model calls of an agent's own, and tools that the agent executes itself."""

from __future__ import annotations

import json

import pytest

from .test_html_report import shown

#: An agent with a client of its own, whose provider does not answer.
OWN = """
import openai

class Agent:
    def respond(self, message):
        raise ConnectionError("connection error")
"""
#: The same agent, answered by its provider.
ANSWERED = """
def late():
    from anthropic import Anthropic

class Agent:
    def respond(self, message):
        if message.role == "user":
            return {"tool_calls": [{"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}]}
        return "Done."
"""
RULES = ANSWERED.replace("    from anthropic import Anthropic", "    import json")
UNSEEN = "made no model call through pytest-tau"
CURE = (
    "the base_url of the trial (pytest_tau.own_loop), or use the fixture tau_agent_client or the parameter model; calls in "
    "a thread without the trial's context (ThreadPoolExecutor) are not seen"
)


@pytest.fixture
def own(project, a_task):
    """Runs a task with an agent of the given source."""

    def run(source, *args):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("own.py", source)
        return project.run("--tau-agent", "own.py:Agent", *args)

    return run


class TestUnseenCalls:
    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    @pytest.mark.parametrize(
        ("option", "ignored"),
        [
            ("--tau-record", "not recorded"),
            ("--tau-record=all", "not recorded"),
            ("--tau-replay", "not replayed"),
            ("--tau-budget=5", "not counted in the budget"),
            ("--tau-gate=cost<=0.01", "not counted by the gate on cost"),
        ],
    )
    def test_a_run_that_misses_them_says_so_in_a_line(self, own, option, ignored, workers):
        run = own(ANSWERED, option, *workers)
        run.outcomes(passed=1)
        expected = f"tau: agent own.py:Agent {UNSEEN}: model calls of its own are {ignored}; give its client (anthropic) {CURE}"
        assert run.line(UNSEEN) == expected
        assert run.text.count(UNSEEN) == 1

    def test_without_a_client_there_is_no_cure(self, own):
        line = own(RULES, "--tau-record", "--tau-budget=5").line(UNSEEN)
        assert line.endswith("model calls of its own are not recorded, not counted in the budget")

    def test_a_run_that_misses_nothing_says_nothing(self, own):
        own(ANSWERED).lacks(UNSEEN)

    def test_an_agent_that_raises_before_its_first_call_is_not_named(self, own):
        source = "import openai\n\ndef Agent(messages, tools):\n    raise RuntimeError('no key')\n"
        run = own(source, "--tau-record")
        run.outcomes(failed=1)
        run.lacks(UNSEEN)

    @pytest.mark.parametrize("agent", ["gold", "noop"])
    def test_agents_that_are_built_in_are_known(self, project, a_task, agent):
        project.tasks("mock/t.tau.json", [a_task()])
        project.run("--tau-agent", agent, "--tau-record").lacks(UNSEEN)

    def test_costs_of_others_are_not_taken_for_all(self, models, project):
        project.write("own.py", ANSWERED)
        args = ["--tau-agent", "own.py:Agent", "--tau-user-llm", "fake/user", "--tau-html", "r.html"]
        run = project.run(*args, "--tau-markdown", "page.md")
        run.outcomes(passed=1)
        line = f"agent own.py:Agent {UNSEEN}"
        run.line(f"tau: {line}: model calls of its own are not in the costs; give its client (anthropic)")
        assert f"| not in the costs | agent own.py:Agent {UNSEEN}; give its client (anthropic)" in (
            project.path / "page.md"
        ).read_text(encoding="utf-8")
        about = dict(shown(project.path / "r.html")["runs"][0]["about"])
        assert about["Not in the costs"].startswith(f"{line}; give its client (anthropic)")

    def test_an_agent_with_the_parameter_model_is_seen(self, models, project):
        source = """
            import openai

            class Agent:
                def __init__(self, model, tools):
                    self.model, self.tools, self.said = model, [tool.openai_schema for tool in tools], []

                async def respond(self, message):
                    self.said.append({"role": message.role, "content": message.content})
                    return (await self.model.complete(self.said, self.tools)).message
            """
        project.write("own.py", source)
        for option in ("--tau-record", "--tau-replay"):
            run = models.run("--tau-agent", "own.py:Agent", option)
            run.outcomes(passed=1)
            run.lacks(UNSEEN)

    def test_a_request_that_the_replay_refuses_is_seen(self, models, project):
        project.write(
            "own.py",
            "class Agent:\n    def __init__(self, model): self.model = model\n"
            "    async def respond(self, message):\n"
            "        return (await self.model.complete([{'role': 'user', 'content': 'Hi'}])).message\n",
        )
        for caller, run in (
            ("user", models.run("--tau-agent", "own.py:Agent", "--tau-replay")),  # before the agent has a turn
            ("agent", project.run("--tau-agent", "own.py:Agent", "--tau-agent-llm", "fake/agent", "--tau-replay")),
        ):
            run.outcomes(errors=1)
            run.line(f"no such cassette, but the {caller} calls a model")
            run.lacks(UNSEEN)
            run.lacks("model calls of the agent's own")
            run.lacks("the agent's fault")

    def test_a_failed_replay_names_the_client(self, own):
        run = own(OWN, "--tau-replay")
        run.outcomes(failed=1)
        run.line(f"model calls of the agent's own are not replayed; give its client (openai) {CURE}"[:100])
        own(OWN, "--tau-record").lacks("model calls of the agent's own")

    def test_agents_that_fixtures_make(self, project, own):
        fixture = "import httpx\nimport pytest\n\n@pytest.fixture\ndef tau_agent():\n    return lambda messages, tools: 'Hi'\n"
        project.write("conftest.py", fixture)
        project.tasks("mock/t.tau.json", [])
        run = own(RULES, "--tau-budget=5")
        run.line(UNSEEN, "give its client (httpx)")

    def test_it_is_stored_with_the_simulation(self, own, project):
        own(ANSWERED, "--tau-record")
        (file,) = project.path.glob(".tau/runs/*/*.jsonl")
        stored = file.read_text(encoding="utf-8")
        assert json.loads(stored.splitlines()[-1]) and '"clients":["anthropic"]' in stored.replace(" ", "")


#: An application whose functions share one state, and the domain over them.
APPLICATION = """
ORDERS = {"o1": {"status": "paid"}}

def cancel(order_id: str) -> str:
    "Cancel an order."
    ORDERS[order_id]["status"] = "cancelled"
    return "cancelled"

def load(orders):
    ORDERS.clear()
    ORDERS.update(orders)
"""
OF_FUNCTIONS = """
import app
import pytest_tau

def pytest_tau_domains():
    tools, snapshot = [app.cancel], lambda: app.ORDERS
    return [pytest_tau.domain_of("shop", tools=tools, snapshot=snapshot, restore=app.load, tasks="tasks.json")]
"""


def shop_task(task_id, actions):
    scenario = {"instructions": "You want to cancel your order o1."}
    return {
        "id": task_id,
        "user_scenario": scenario,
        "evaluation_criteria": {"actions": actions, "reward_basis": ["DB"]},
    }


class TestOutsideChanges:
    CONFTEST = """
        import pytest

        @pytest.fixture
        def tau_agent(tau_env):
            def agent(messages, tools):
                if messages[-1]["role"] == "user" and len(messages) == 3:
                    tau_env.call("create_task", {"user_id": "user_1", "title": "Buy milk"})
                return "Done."
            return agent
        """

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_tools_on_tau_env_are_reported_as_what_they_are(self, project, a_task, workers):
        project.write("conftest.py", self.CONFTEST)
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run(*workers)
        run.outcomes(failed=1)
        run.line(
            "the environment was changed outside of the conversation's calls; executed on it directly: create_task"
        )
        run.line("  agent side: tasks/task_3  not expected", "Buy milk")
        run.line("looks like the harness's fault")
        run.line("tau: changes outside of the conversations' calls, not replayed by grading: create_task (1 trial)")

    def test_trials_that_passed_are_counted_too(self, project, a_task):
        project.write("conftest.py", self.CONFTEST)
        criteria = {"actions": [], "communicate_info": ["done"], "reward_basis": ["COMMUNICATE"]}
        project.tasks("mock/t.tau.json", [a_task(name, criteria=criteria) for name in ("one", "two")])
        run = project.run()
        run.outcomes(passed=2)
        run.line("not replayed by grading: create_task (2 trials)")

    def test_a_state_that_a_fixture_changes_is_in_the_report_of_the_failure_only(self, project, a_task):
        fixture = """
            import pytest

            @pytest.fixture
            def tau_env(tau_env):
                tau_env.call("create_task", {"user_id": "user_1", "title": "Before"})
                return tau_env
            """
        project.write("conftest.py", fixture)
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("--tau-agent", "noop")
        run.line("the environment was changed before the conversation; executed on it directly: create_task")
        run.lacks("not replayed by grading")

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_an_agent_that_calls_the_functions_behind_the_domain_itself(self, project, workers):
        project.write("app.py", APPLICATION)
        project.write("conftest.py", OF_FUNCTIONS)
        project.write("own.py", "import app\n\ndef agent(messages, tools):\n    return app.cancel('o1')\n")
        wanted = [{"action_id": "c", "name": "cancel", "arguments": {"order_id": "o1"}}]
        project.write("tasks.json", json.dumps([shop_task("cancel", wanted), shop_task("refuse", [])]))
        run = project.run("--tau-domain", "shop", "--tau-agent", "own.py:agent", *workers)
        run.outcomes(passed=1, failed=1)
        run.line("  agent side: o1/status  expected ", '"paid"', '"cancelled"')
        run.line("looks like the harness's fault")
        run.line("outside of the conversations' calls, not replayed by grading: other code (2 trials)")
        run.line(
            "no tool call was made by agent own.py:agent: functions that an agent calls itself are not graded; give"
        )


class TestNoCall:
    """The line about an agent of one's own that made no tool call."""

    LINE = "tau: no tool call was made by agent own.py:agent"

    def run(self, project, agent, *tasks, options=()):
        project.write("own.py", f"def agent(messages, tools):\n    return {agent}\n")
        project.tasks("mock/t.tau.json", list(tasks))
        return project.run("--tau-agent", "own.py:agent", "--tau-user", "scripted", *options)

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_it_is_named_once(self, project, a_task, workers):
        run = self.run(project, "'Done.'", a_task("one"), a_task("two"), options=workers)
        run.outcomes(failed=2)
        assert run.text.count(self.LINE) == 1
        run.lacks("functions that an agent calls itself")  # nothing of the kind was seen

    def test_not_if_it_made_a_call_in_another_trial(self, project, a_task):
        call = "{'tool_calls': [{'name': 'get_users', 'arguments': {}}]}"
        other = a_task("other", user_scenario={"instructions": "Say 'Hello' to me."})
        run = self.run(
            project, f"{call} if 'Buy milk' in str(messages[:4]) and len(messages) < 4 else 'No.'", a_task(), other
        )
        run.outcomes(failed=2)
        run.lacks("no tool call was made")

    def test_not_if_it_failed_with_an_error(self, project, a_task):
        run = self.run(project, "1 / 0", a_task())
        run.outcomes(failed=1)
        run.lacks("no tool call was made")

    def test_not_if_all_trials_passed(self, project, a_task):
        criteria = {"actions": [], "communicate_info": ["done"], "reward_basis": ["COMMUNICATE"]}
        run = self.run(project, "'Done.'", a_task(criteria=criteria))
        run.outcomes(passed=1)
        run.lacks("no tool call was made")

    def test_not_for_a_built_in_agent(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("--tau-agent", "noop")
        run.outcomes(failed=1)
        run.lacks("no tool call was made")


class TestErrors:
    def test_after_a_replay_mismatch_the_agent_is_not_blamed(self, models):
        models.run("--tau-record").outcomes(passed=1)
        models.script("""
            def answer(role, request):
                return "###STOP###" if role == "user" else "No."
            """)
        models.run("--tau-replay").outcomes(passed=1)
        # A conversation that ends early leaves recorded calls, which is found after the verdict.
        models._project.write(
            "own.py",
            "class Agent:\n    is_stop = lambda self, message: True\n    respond = lambda self, message: 'No.'\n",
        )
        run = models.run("--tau-agent", "own.py:Agent", "--tau-replay")
        run.outcomes(errors=1)
        run.line("ReplayError")
        run.line("neither side failed: the recording does not match")
        run.lacks("the agent's fault")
        run.lacks("turning point")


class TestTheHeader:
    def test_the_data_of_a_project_s_domain_are_not_bundled(self, shelf, a_task):
        run = shelf.run("--tau-domain", "shelf")
        run.line("tau: domain shelf, seed 300, agent gold")
        run.lacks("bundled data")
        shelf.run("--tau-domain", "shelf", "--tau-domain", "mock", "--tau-num-tasks", "1").line("bundled data")
        shelf.run("--tau-domain", "shelf", "-n", "2").lacks("bundled data")

    def test_those_of_others_are(self, project):
        project.run("--tau-domain", "mock", "--tau-num-tasks", "1").line(
            "tau: domain mock, seed 300, bundled data, agent gold"
        )
