"""Every bundled domain: its tools accept any arguments, its simulations share only unchanged data, its tasks are sound."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import pytest_tau
from pytest_tau import Domain, Evaluation, Limits, Simulation, SimulationSettings
from pytest_tau.cli import main
from pytest_tau.evaluation import BUILT_IN_JUDGES
from pytest_tau.models import Requestor, ToolMessage

pytestmark = pytest.mark.exhaustive

NAMES = ("airline", "banking_knowledge", "mock", "retail", "telecom")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(params=NAMES)
def domain(request: pytest.FixtureRequest) -> Domain:
    return pytest_tau.load_domain(request.param)


@pytest.fixture
def untouched(domain: Domain) -> list[str]:
    """The data before anything is called: an example must not change it for any other, either."""
    return data_of(domain)


def data_of(domain: Domain) -> list[str]:
    """Return the databases that a simulation begins with as JSON, which takes a tenth of the time of their digests."""
    environment = domain.environment()
    return [db.model_dump_json() for db in (environment.agent_db, environment.user_db) if db is not None]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_arguments_get_an_answer_and_affect_no_other_simulation(
    domain: Domain, untouched: list[str], data: st.DataObject
) -> None:
    environment = domain.environment()
    sides: list[Any] = ["assistant", "user"] if environment.user_db is not None else ["assistant"]
    for _ in range(data.draw(st.integers(1, 5))):
        side = data.draw(st.sampled_from(sides))
        tool = data.draw(st.sampled_from(environment.tools(side)))
        names = list(tool.parameters["properties"])
        arguments = data.draw(
            st.fixed_dictionaries(dict.fromkeys(names, JSON)) | st.dictionaries(st.text(), JSON) | JSON
        )
        answer = environment.call(tool.name, arguments, side)
        assert isinstance(answer, ToolMessage)
        assert answer.model_dump_json()
    assert json.dumps(environment.dump())
    assert data_of(domain) == untouched


def test_the_order_of_simulations_changes_no_verdict_and_no_data(domain: Domain) -> None:
    """All of them share the base data and what they did not touch of it."""
    before, tasks = data_of(domain), domain.tasks(None)
    judged = SimulationSettings(evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))
    random.Random(1).shuffle(tasks)
    sample = tasks[:60]
    for agent, reward in (("gold", 1.0), ("noop", 0.0), ("gold", 1.0)):
        random.Random(agent).shuffle(sample)
        rewards = [pytest_tau.simulate(task, domain=domain, agent=agent, settings=judged).reward for task in sample]
        assert set(rewards) == {reward}
    assert data_of(domain) == before


#: The tools by which a side of the bank gets a hidden tool of the same side, with the argument that names it.
REVEALS: dict[Requestor, tuple[str, str]] = {
    "assistant": ("unlock_discoverable_agent_tool", "agent_tool_name"),
    "user": ("give_discoverable_user_tool", "discoverable_tool_name"),
}


def test_a_conversation_that_calls_every_tool_has_the_verdict_of_its_stored_form(domain: Domain) -> None:
    task = next(task for task in domain.tasks() if task.criteria.actions and not task.needs_judge)
    environment = domain.environment(task)
    said: dict[Requestor, list[Any]] = {"assistant": [], "user": []}
    for side, hidden in zip(said, [*environment.hidden_tools(), []], strict=False):
        for tool in [*hidden, *environment.tools(side)]:
            if tool in hidden:
                reveal, argument = REVEALS[side]
                said["assistant"].append({"tool_calls": [{"name": reveal, "arguments": {argument: tool.name}}]})
            arguments = dict.fromkeys(tool.parameters.get("required", ()), "x")
            said[side].append({"tool_calls": [{"name": tool.name, "arguments": arguments}]})
    said["assistant"].append("Your turn.")
    said["user"] = ["Begin.", *said["user"], "###STOP###"]
    agent, user = iter(said["assistant"]), iter(said["user"])
    simulation = pytest_tau.simulate(
        task,
        domain=domain,
        agent=lambda messages, tools: next(agent),
        user=lambda messages, tools: next(user),
        settings=SimulationSettings(limits=Limits(max_steps=1000, max_errors=1000)),
    )
    assert (simulation.termination_reason, simulation.error) == ("user_stop", None)
    stored = Simulation.model_validate_json(simulation.model_dump_json())
    assert pytest_tau.evaluate(task, stored.messages, domain=domain) == simulation.reward_info


def test_the_task_set_is_sound(domain: Domain, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["lint", "--split", "all", domain.name])
    assert (status, f"{domain.name}: " in capsys.readouterr().out) == (0, True)
