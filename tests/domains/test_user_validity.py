"""Users that are right by construction make no fault: gold, and the scripted user with the rule-based agent."""

from __future__ import annotations

import pytest

import pytest_tau
from pytest_tau.validity import UserValidity

PAIRS = [("gold", "gold"), ("rules", "scripted")]


@pytest.mark.parametrize(("agent", "user"), PAIRS)
@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "banking_knowledge", "mock"])
def test_no_fault_is_found(name: str, agent: str, user: str) -> None:
    domain = pytest_tau.load_domain(name)
    if agent == "rules" and agent not in domain.spec.agents:
        pytest.skip(f"{name} has no rule-based agent")
    checked = 0
    for task in domain.tasks(split=None):
        if task.needs_judge:
            continue
        simulation = pytest_tau.simulate(task, domain=domain, agent=agent, user=user, seed=300)
        found = UserValidity.of(simulation)
        assert found is None, (task.id, [each.text for each in found.findings], found.problem)
        checked += 1
    assert checked
