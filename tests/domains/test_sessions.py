"""The bundled tasks of several sessions: each saboteur fails exactly the tasks that need what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.capabilities.sessions.saboteurs import Forgets, TellsOthers, TrustsStaleMemory

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
