"""Every bundled domain: its tools accept any arguments, its simulations share only unchanged data, its tasks are sound."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import pytest_tau
from pytest_tau import Domain, Environment, Evaluation, Limits, Simulation, SimulationSettings
from pytest_tau.cli import main
from pytest_tau.evaluation import BUILT_IN_JUDGES, STRICT
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


@st.composite
def calls(draw: st.DrawFn, domain: Domain, environment: Environment) -> list[tuple[Requestor, str, Any]]:
    """Calls with arguments of the reference actions of one task, in any combination, and calls with any others."""
    task = draw(st.sampled_from([task for task in domain.tasks(None) if task.criteria.actions]))
    reference = [(action.requestor, action.name, action.arguments) for action in task.criteria.actions or []]
    known = [value for *_, arguments in reference for value in arguments.values()] or [None]
    sides: list[Requestor] = ["assistant", "user"] if environment.user_db is not None else ["assistant"]
    tools = [(side, tool) for side in sides for tool in environment.tools(side)]
    found: list[tuple[Requestor, str, Any]] = []
    for _ in range(draw(st.integers(1, 8))):
        if draw(st.booleans()):
            side, name, arguments = draw(st.sampled_from(reference))
            spoiled = st.dictionaries(st.sampled_from([*arguments, "x"]), JSON, max_size=1)
            found.append((side, name, {**arguments, **draw(st.just({}) | spoiled)}))
        else:
            side, tool = draw(st.sampled_from(tools))
            right = st.fixed_dictionaries(dict.fromkeys(tool.parameters["properties"], st.sampled_from(known) | JSON))
            found.append((side, tool.name, draw(right | st.dictionaries(st.text(), JSON) | JSON)))
    return found


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_call_gets_an_answer_reads_change_nothing_and_no_other_simulation_is_affected(
    domain: Domain, untouched: list[str], data: st.DataObject
) -> None:
    environment, fresh = domain.environment(), domain.environment()
    for side, name, arguments in data.draw(calls(domain, environment)):
        before = environment.agent_db.fork()
        answer = environment.call(name, arguments, side)
        assert isinstance(answer, ToolMessage)
        assert isinstance(answer.content, str)
        assert answer.model_dump_json()
        if not environment.mutates(name, side):
            assert before.changes(environment.agent_db) == [], name
    for db, initial in ((environment.agent_db, fresh.agent_db), (environment.user_db, fresh.user_db)):
        assert (db is None and initial is None) or db.equals(initial) is (db.digest() == initial.digest())
    assert json.dumps(environment.dump())
    assert data_of(domain) == untouched


def test_every_tool_and_parameter_is_described(domain: Domain) -> None:
    environment = domain.environment()
    for tool in [*environment.tools("assistant"), *environment.tools("user")]:
        assert tool.description
        assert all(p.get("description") for p in tool.parameters["properties"].values()), tool.name


def test_gold_passes_under_the_strict_profile(domain: Domain) -> None:
    strict = SimulationSettings(evaluation=Evaluation(STRICT, BUILT_IN_JUDGES["accept"]))
    rewards = {
        task.id: pytest_tau.simulate(task, domain=domain, agent="gold", settings=strict).reward
        for task in domain.tasks(None)
    }
    assert {task_id for task_id, reward in rewards.items() if reward != 1} == set()


def test_the_files_are_small_enough_to_ship(domain: Domain) -> None:
    files = [*domain.folder.glob("*.json"), *domain.spec.tasks.glob("*.json")]
    assert files
    assert max(file.stat().st_size for file in files) < 2_000_000
    assert sum(file.stat().st_size for file in domain.folder.rglob("*.json")) < 2_500_000


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
