"""What the rules agents of the service domains have in common: what they solve, and how they take their turns."""

from __future__ import annotations

import pytest
from talks import base_talks, bundled

from pytest_tau import Simulation, simulate
from pytest_tau.models import AssistantMessage, UserMessage
from pytest_tau.participants import domain_agent

#: The share of the bundled base set that an agent solves at least.
FLOOR = 0.95
SERVICE = ("airline", "retail")


def turns_of(simulation: Simulation) -> list[AssistantMessage]:
    return [message for message in simulation.messages if isinstance(message, AssistantMessage)]


@pytest.mark.parametrize("name", [*SERVICE, "banking_knowledge", pytest.param("telecom", marks=pytest.mark.exhaustive)])
def test_it_solves_what_the_floor_says(name: str) -> None:
    simulations = base_talks(name, "rules")
    failed = [task_id for task_id, simulation in simulations.items() if simulation.reward != 1]
    assert 1 - len(failed) / len(simulations) >= FLOOR, failed


@pytest.mark.parametrize("name", SERVICE)
def test_it_writes_only_after_a_yes_to_a_summary(name: str) -> None:
    simulations, kinds = base_talks(name, "rules"), bundled(name)[0].environment().tool_infos
    written = 0
    for task_id, simulation in simulations.items():
        agent_said = user_said = ""
        for message in simulation.messages:
            if isinstance(message, AssistantMessage) and message.tool_calls:
                writes = [call.name for call in message.tool_calls if kinds[call.name].kind == "write"]
                written += len(writes)
                assert not writes or user_said.startswith("Yes"), (task_id, user_said)
                assert not writes or agent_said.endswith("Do you confirm? (yes/no)"), (task_id, agent_said)
            elif isinstance(message, AssistantMessage):
                agent_said = message.content or ""
            elif isinstance(message, UserMessage):
                user_said = message.content or ""
    assert written > len(simulations) / 2


@pytest.mark.parametrize("name", SERVICE)
def test_a_turn_is_one_message_or_one_call(name: str) -> None:
    turns = [turn for simulation in base_talks(name, "rules").values() for turn in turns_of(simulation)]
    assert all(bool(turn.content) is not bool(turn.tool_calls) for turn in turns)
    assert all(len(turn.tool_calls or [1]) == 1 for turn in turns)


@pytest.mark.parametrize(("name", "task_id"), [("airline", "several-fresh"), ("retail", "everything-about-an-order")])
def test_it_says_the_same_again(name: str, task_id: str) -> None:
    domain, tasks = bundled(name)
    first, second = (simulate(tasks[task_id], domain=domain, agent="rules", user="scripted") for _ in range(2))
    assert [message.content for message in first.messages] == [message.content for message in second.messages]


@pytest.mark.parametrize("name", [*SERVICE, "banking_knowledge", "telecom"])
def test_the_strangers_that_it_names_are_two_callers(name: str) -> None:
    domain = bundled(name)[0]
    shown = [domain.environment().call(*each) for each in domain_agent("rules", domain.spec.agents).foreign_records]
    assert not any(reply.error for reply in shown)
    assert len({reply.content for reply in shown}) >= 2
