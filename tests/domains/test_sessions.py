"""The bundled tasks of several sessions: each saboteur fails exactly the tasks that need what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.capabilities.sessions.saboteurs import Forgets, TellsOthers, TrustsStaleMemory
from pytest_tau.cli import main
from pytest_tau.environment import Difficulty
from pytest_tau.lint.generated import generated_tasks
from pytest_tau.models import parse_task
from pytest_tau.references import breaches_in, carried_out
from pytest_tau.testing import ScriptedParticipant, call

if TYPE_CHECKING:
    from pytest_tau.models import Task

#: The tasks that need what an agent knows from earlier sessions, current facts, and discretion, by domain.
NEEDS: dict[str, dict[str, set[str]]] = {
    "mock": {
        "memory": {"told-yesterday", "wish-taken-back", "one-of-two-wishes", "three-calls"},
        "current facts": {"new-on-the-list"},
        "discretion": {"secret-from-ben"},
    },
    "retail": {
        "memory": {
            "address-told-before",
            "order-thought-over",
            "address-taken-back",
            "one-of-two-orders",
            "same-address-for-another-order",
        },
        "current facts": {"delivered-since", "price-has-changed", "card-added-since"},
        "discretion": {"another-customer-asks", "neighbour-asks"},
    },
    "airline": {
        "memory": {
            "name-told-before",
            "married-name",
            "name-taken-back",
            "wedding-called-off",
            "reservation-told-before",
        },
        "current facts": {"flight-cancelled-since", "called-off-overnight", "card-added-since"},
        "discretion": {"another-customer-asks", "colleague-asks"},
    },
}
AGENTS = {"memory": Forgets, "current facts": TrustsStaleMemory, "discretion": TellsOthers}


def failed(tasks: list[Task], domain: Any, agent: Any, user: str = "gold") -> set[str]:
    ended = {task.id: pytest_tau.simulate(task, domain=domain, agent=agent, user=user, seed=1) for task in tasks}
    assert "error" not in {simulation.outcome for simulation in ended.values()}
    return {name for name, simulation in ended.items() if simulation.outcome == "failed"}


@pytest.mark.parametrize("name", NEEDS)
def test_each_task_needs_what_it_is_about(name: str) -> None:
    domain = pytest_tau.load_domain(name)
    tasks = domain.tasks(split="sessions")
    assert {task.id for task in tasks} == set().union(*NEEDS[name].values())
    assert failed(tasks, domain, "gold") == set()
    assert failed(tasks, domain, "noop") == {task.id for task in tasks}
    assert {what: failed(tasks, domain, agent) for what, agent in AGENTS.items()} == NEEDS[name]


@pytest.mark.parametrize("name", NEEDS)
def test_the_scripts_of_all_sessions_open_them(name: str) -> None:
    """The scripted user says in each session what it wants in it."""
    domain = pytest_tau.load_domain(name)
    for task in domain.tasks(split="sessions"):
        simulation = pytest_tau.simulate(task, domain=domain, agent="gold", user="scripted", seed=1)
        said = "\n".join(message.text for message in simulation.messages if message.role == "user")
        assert [scenario.script.requests[0].say in said for scenario in task.scenarios if scenario.script] == [
            True
        ] * len(task.scenarios), task.id


@pytest.mark.parametrize(("hours", "cancelled"), [(2, True), (30, False)])
def test_the_airline_counts_the_hours_since_a_booking_by_the_clock_of_the_trial(hours: float, cancelled: bool) -> None:
    """A reservation can be cancelled for a day; the agent by rules and the rule of the policy go by the time that is."""
    airline = pytest_tau.load_domain("airline")
    wish = "My user id is david_walker_5750. Please cancel reservation EDB63B, my plans have changed."
    scenario = {"instructions": "x", "script": {"requests": [{"say": wish}]}}
    sessions = [
        {"id": "greets", "user_scenario": {"instructions": "x", "script": {"requests": [{"say": "###STOP###"}]}}},
        {"id": "cancels", "hours": hours, "user_scenario": scenario},
    ]
    task = parse_task({"id": "t", "sessions": sessions})

    def ended(agent: Any) -> Any:
        return pytest_tau.simulate(task, domain=airline, agent=agent, user="scripted")

    calls = [call.call.name for call in ended("rules").calls]
    assert ("cancel_reservation" in calls) == cancelled
    force = ScriptedParticipant([call("cancel_reservation", reservation_id="EDB63B"), "It is cancelled."])
    broken = {breach["rule"] for breach in ended(force).facts["policy_rules"]["breaches"]}
    assert ("cancel-conditions" in broken) != cancelled, broken


@pytest.mark.parametrize("name", NEEDS)
def test_the_reference_breaks_no_rule(name: str) -> None:
    domain = pytest_tau.load_domain(name)
    ended = (pytest_tau.simulate(t, domain=domain, user="gold", seed=1) for t in domain.tasks(split="sessions"))
    assert {simulation.task_id: simulation.facts["policy_rules"]["breaches"] for simulation in ended} == {
        task.id: [] for task in domain.tasks(split="sessions")
    }


@pytest.mark.parametrize("name", NEEDS)
def test_lint_finds_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The checks know what begins a session, and what the user says and is told in each."""
    file = pytest_tau.load_domain(name).tasks_folder / "sessions.json"
    assert main(["lint", str(file)]) == 0
    assert "0 errors, 0 warnings, 0 notes" in " ".join(capsys.readouterr().out.split())  # a long path moves the break


@pytest.mark.parametrize("name", ["retail", "airline", "telecom", "banking_knowledge"])
def test_generated_tasks_of_two_sessions_are_proved(name: str) -> None:
    """Nothing but what was said in the first session tells what is wanted in the second."""
    domain = pytest_tau.load_domain(name)
    tasks = generated_tasks(domain, 6, 7, Difficulty(), sessions=True)
    assert tasks == generated_tasks(domain, 6, 7, Difficulty(), sessions=True, verify=False)
    assert {len(task.scenarios) for task in tasks} == {2}
    assert {request.say for task in tasks for request in task.scenarios[1].script.requests} == {
        "I have called before and said what I want. Please do it now."
    }
    ended = [pytest_tau.simulate(task, domain=domain, user="gold", seed=1) for task in tasks]
    assert [simulation.reward for simulation in ended] == [1] * 6
    assert [breach for simulation in ended for breach in simulation.facts["policy_rules"]["breaches"]] == []
    assert failed(tasks, domain, "noop") == {task.id for task in tasks}


def test_the_time_between_generated_sessions_keeps_the_reference_right() -> None:
    """A booking that can be cancelled for a day is cancelled in time."""
    airline = pytest_tau.load_domain("airline")
    tasks = generated_tasks(airline, 40, 1, Difficulty(), sessions=True, verify=False)
    assert {task.sessions[1].hours for task in tasks if task.sessions} == {3, 26, 50}
    assert failed(tasks, airline, "gold", "scripted") == set()
    assert [task.id for task in tasks if breaches_in(carried_out(task, airline), task, airline)] == []
