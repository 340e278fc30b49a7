"""The user that plays if none is named: it listens to every agent but gold."""

from __future__ import annotations

import pytest

OWN = "from pytest_tau_domains.retail.agent.rules_agent import RulesAgent as Agent\n"
#: Makes the one call of the task, then says so.
MILK = """
class Agent:
    def respond(self, message):
        print("hears:", getattr(message, "content", None))
        if message.role == "user":
            call = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
            return {"tool_calls": [call]}
        return "I have created the task."
"""
SILENT = {"instructions": ""}
SCRIPT = {"requests": [{"say": "Put 'Buy milk' on my list."}]}


@pytest.fixture
def own(project, a_task):
    """Runs a task with an agent of one's own."""
    project.write("own.py", MILK)

    def run(*args, **changes):
        project.tasks("mock/t.tau.json", [a_task(**changes)])
        return project.run("-s", *args)

    return run


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_correct_agent_passes(project, workers):
    project.write("own.py", OWN)
    run = project.run("--tau-domain", "retail", "--tau-split", "small", "--tau-agent", "own.py:Agent", *workers)
    run.outcomes(passed=12)
    run.line("agent own.py:Agent, user scripted")


def test_prose_is_read(own):
    run = own("--tau-agent", "own.py:Agent")
    run.outcomes(passed=1)
    run.line("hears: Have 'Buy milk' put on my list.")


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_task_without_a_request_is_refused(own, workers):
    run = own("--tau-agent", "own.py:Agent", *workers, user_scenario=SILENT)
    run.usage_error(
        "the scripted user cannot play 1 task",
        "'buy-milk'",
        "--tau-user-llm",
        "user_scenario.script",
        "--tau-user scripted runs",
    )
    run.lacks("hears:")


def test_the_ways_out(own, project):
    own("--tau-agent", "own.py:Agent", user_scenario=SILENT | {"script": SCRIPT}).outcomes(passed=1)
    run = own("--tau-agent", "own.py:Agent", "--tau-user", "gold", user_scenario=SILENT)
    run.outcomes(passed=1)
    run.line(
        "tau: user gold plays the reference actions and ignores what the agent says; --tau-user scripted answers the agent"
    )
    project.write("user.py", "def user(messages, tools):\n    return '###STOP###' if messages[3:] else 'Milk!'\n")
    own("--tau-agent", "own.py:Agent", "--tau-user", "user.py:user", user_scenario=SILENT).outcomes(passed=1)


@pytest.mark.parametrize("agent", ["gold", "noop"])
def test_agents_that_do_not_listen_are_not_refused(own, agent):
    own("--tau-agent", agent, user_scenario=SILENT).outcomes(**{"passed" if agent == "gold" else "failed": 1})


class TestMadeByCode:
    """An agent that a hook or a fixture makes."""

    HOOK = "from own import Agent\n\ndef pytest_tau_make_agent(item):\n    return Agent()\n"
    FIXTURE = "import pytest\nfrom own import Agent\n\n@pytest.fixture\ndef tau_agent():\n    return Agent()\n"

    @pytest.mark.parametrize("code", [HOOK, FIXTURE])
    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_it_talks_to_the_scripted_user(self, project, own, code, workers):
        project.ini("pythonpath = .")
        project.write("conftest.py", code)
        own(*workers).outcomes(passed=1)
        run = own(*workers, user_scenario=SILENT)
        run.usage_error("the scripted user cannot play 1 task", "'buy-milk'")

    def test_the_header_names_the_user(self, project, own):
        project.ini("pythonpath = .")
        project.write("conftest.py", self.HOOK)
        own().line("tau: ", "user scripted")

    def test_a_user_made_by_code_is_never_refused(self, project, own):
        project.ini("pythonpath = .")
        user = "\n@pytest.fixture\ndef tau_user():\n    return lambda messages, tools: '###STOP###' if messages[3:] else 'Hi'\n"
        project.write("conftest.py", self.FIXTURE + user)
        own(user_scenario=SILENT).outcomes(passed=1)

    def test_where_a_hook_makes_none_gold_talks_to_gold(self, project, own):
        project.write("conftest.py", "def pytest_tau_make_agent(item):\n    return None\n")
        own("--tau-domain", "mock").outcomes(passed=16)


class TestProseThatIsNotRead:
    """The line about sentences of the prose that the scripted user does not go by."""

    PROSE = "Buy milk, please. If it costs more than $5, the agent shall leave it."
    LINE = "tau: the scripted user does not go by 1 sentence in the prose of 1 of 2 tasks: tau lint mock --scripted-user lists them"

    def run(self, project, a_task, *options):
        project.write("own.py", "def agent(messages, tools):\n    return 'Done.'\n")
        one, two = a_task("one", user_scenario={"instructions": self.PROSE}), a_task("two")
        project.tasks("mock/t.tau.json", [one, two])
        return project.run("--tau-agent", "own.py:agent", *options)

    def test_it_is_shown_once(self, project, a_task):
        assert self.run(project, a_task, "--tau-trials", "2").text.count(self.LINE) == 1

    def test_not_for_another_user(self, project, a_task):
        self.run(project, a_task, "--tau-user", "gold").lacks("does not go by")
