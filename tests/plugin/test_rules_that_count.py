"""Rules that the file of a policy names itself, and domains in which rules are a part of the verdict."""

from __future__ import annotations

import json

import pytest

import pytest_tau
from pytest_tau.environment import domain_of
from pytest_tau.errors import ConfigurationError
from pytest_tau.policy import load_rules

POLICY = """# Bikes

You rent bikes.

1. Before you change anything, say what you will do,
   and wait for a yes. <!-- rule: confirmation -->
2. Change only what the user asks for. <!-- rule: asked-writes -->
"""

CONFTEST = """
from pathlib import Path
import pytest_tau

class Desk:
    def __init__(self):
        self.bikes = {{"bike-1": "red", "bike-2": "green"}}

    def find(self, bike: str) -> str:
        '''Show a bike.'''
        return '{{"id": "%s", "colour": "%s"}}' % (bike, self.bikes[bike])

    def rent(self, bike: str) -> str:
        '''Rent a bike.'''
        return self.bikes.pop(bike)

def pytest_tau_domains():
    desk = {{"make": Desk, "tools": [Desk.find, Desk.rent], "reads": {{"find"}}, "snapshot": vars}}
    return [pytest_tau.domain_of("desk", policy=Path("policy.md"), tasks="tasks.json", rules_count={counts}, **desk)]
"""

SIDES = """
from pytest_tau.testing import ScriptedParticipant, call

class Asks(ScriptedParticipant):
    def __init__(self):
        super().__init__(["I will rent bike-1 for you. Do you agree?", call("rent", bike="bike-1"), "Done."])

class Forgets(ScriptedParticipant):
    def __init__(self):
        super().__init__(["Hello!", call("rent", bike="bike-1"), "Done."])

class User(ScriptedParticipant):
    def __init__(self):
        super().__init__(["I want to rent bike-1.", "{answer}", "###STOP###"])
"""


@pytest.fixture
def run(project):
    def run(agent: str, *args: str, counts: bool = True, policy: str = POLICY, answer: str = "Yes, please."):
        criteria = {"actions": [{"action_id": "r", "name": "rent", "arguments": {"bike": "bike-1"}}]}
        task = {"id": "t", "user_scenario": {"instructions": "Rent bike-1."}, "evaluation_criteria": criteria}
        project.write("policy.md", policy)
        project.write("conftest.py", CONFTEST.format(counts=counts))
        project.write("sides.py", SIDES.replace("{answer}", answer))
        project.tasks("tasks.json", [task])
        sides = ("--tau-user", "sides.py:User") if agent != "gold" else ()
        named = agent if agent == "gold" else f"sides.py:{agent}"
        return project.run("--tau-domain", "desk", "--tau-agent", named, *sides, *args)

    return run


def test_an_agent_that_forgets_to_ask_fails_if_rules_count(run) -> None:
    found = run("Forgets", answer="Which bikes do you have?")
    found.outcomes(failed=1)
    found.line("reward 0 = DB 1 x COMMUNICATE 1 x POLICY 0")
    found.line("POLICY 0: broke confirmation (message 4)")
    found.lacks("policy: broke")
    found.line("looks like the agent's fault: it broke the rule 'confirmation' of the policy (message 4)")


def test_an_agent_that_asks_passes(run) -> None:
    run("Asks").outcomes(passed=1)


def test_the_reference_needs_no_conversation(run) -> None:
    run("gold").outcomes(passed=1)


def test_rules_do_not_count_by_default(run) -> None:
    found = run("Forgets", counts=False, answer="Which bikes do you have?")
    found.outcomes(passed=1)
    found.line("broken rules: confirmation (1 trial, 1 breach)")


def test_with_workers(run) -> None:
    run("Forgets", "-n", "2", "--tau-trials", "2", answer="Which bikes do you have?").outcomes(failed=2)


def test_a_stored_run_is_graded_again_as_it_was(run, project, capsys) -> None:
    from pytest_tau.cli import main

    run("Forgets", answer="Which bikes do you have?")
    (stored,) = project.path.glob(".tau/runs/*/simulations.jsonl")
    assert json.loads(stored.read_text(encoding="utf-8"))["reward_info"]["reward_basis"][-1] == "POLICY"
    capsys.readouterr()
    assert main(["regrade", stored.parent.name]) == 0
    assert "1 of 1" in capsys.readouterr().out.replace("1 simulation", "1 of 1")


def test_the_agent_is_not_given_the_names_of_rules(tmp_path) -> None:
    (tmp_path / "policy.md").write_text(POLICY, encoding="utf-8")
    spec = domain_of("desk", tools=[find], reads={"find"}, policy=tmp_path / "policy.md", folder=tmp_path)
    assert [(rule.name, rule.sentence) for rule in load_rules(spec)] == [
        ("confirmation", "Before you change anything, say what you will do, and wait for a yes."),
        ("asked-writes", "Change only what the user asks for."),
    ]
    policy = spec.load().environment().policy
    assert "rule:" not in policy
    assert "wait for a yes.\n2. Change" in policy


def find(bike: str) -> str:
    """Show a bike."""
    return bike


def test_an_unknown_rule_is_a_usage_error(run) -> None:
    run("Asks", policy="Ask. <!-- rule: confirmatoin -->").usage_error("unknown rule 'confirmatoin'", "confirmation")


def test_a_text_may_name_rules(tmp_path) -> None:
    spec = domain_of(
        "desk", tools=[find], reads={"find"}, policy="Ask first. <!-- rule: confirmation -->", folder=tmp_path
    )
    assert [rule.name for rule in load_rules(spec)] == ["confirmation"]
    again = domain_of("desk", tools=[find], reads={"find"}, policy="Be brief. <!-- rule: one-call -->", folder=tmp_path)
    assert [rule.name for rule in load_rules(again)] == ["one-call"]


CONVERSATIONS = {
    "named by the user": ("I want bike-1.", None, "bike-1", 0),
    "named by the agent": ("A bike, please.", "Shall I rent bike-1?", "bike-1", 0),
    "described by the user": ("The red one, please.", None, "bike-1", 0),
    "another one": ("The red one, please.", None, "bike-2", 1),
}


@pytest.mark.parametrize("case", CONVERSATIONS)
def test_what_the_conversation_is_not_about(case) -> None:
    from pytest_tau.policy import Trajectory, asked_writes

    said, proposed, bike, breaches = CONVERSATIONS[case]
    domain = domain_of("desk", make=Desk, tools=[Desk.find, Desk.rent], reads={"find"}, snapshot=vars).load()
    environment = domain.environment()

    def made(name: str, number: str) -> list:
        call = {"id": name, "name": name, "arguments": {"bike": number}}
        reply = environment.call(name, {"bike": number}, call_id=name)
        return [{"role": "assistant", "tool_calls": [call]}, reply]

    texts = [{"role": "user", "content": said}, *([{"role": "assistant", "content": proposed}] if proposed else [])]
    messages = pytest_tau.models.parse_messages([*texts, *made("find", bike), *made("rent", bike)])
    trajectory = Trajectory.of(messages, environment.tool_infos)
    assert len(list(asked_writes("Change only what is asked for.").check(trajectory))) == breaches


class Desk:
    def __init__(self) -> None:
        self.bikes = {"bike-1": "red", "bike-2": "green"}

    def find(self, bike: str) -> dict:
        """Show a bike."""
        return {"id": bike, "colour": self.bikes[bike]}

    def rent(self, bike: str) -> str:
        """Rent a bike."""
        return self.bikes.pop(bike)


def test_an_unknown_rule_names_the_others(tmp_path) -> None:
    spec = domain_of("desk", tools=[find], reads={"find"}, policy="Ask. <!-- rule: x -->", folder=tmp_path)
    with pytest.raises(ConfigurationError, match="unknown rule 'x'"):
        load_rules(spec)
