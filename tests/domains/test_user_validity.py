"""Users that are right by construction make no fault: gold, and the scripted user with the rule-based agent."""

from __future__ import annotations

import pytest
from talks import bundled, talk

from pytest_tau.validity import UserValidity

#: Tasks in which the agent asks what the user cannot know, or has misunderstood it before.
NOT_UNDERSTOOD = {
    "cancel-business-refund",
    "cancel-refused-after-a-day",
    "close-early-and-pay-the-fee",
    "move-the-rest-and-close",
}
PAIRS = [("gold", "gold"), ("rules", "scripted")]


@pytest.mark.parametrize(("agent", "user"), PAIRS)
@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "banking_knowledge", "mock"])
def test_no_fault_is_found(name: str, agent: str, user: str) -> None:
    domain, tasks = bundled(name)
    if agent == "rules" and agent not in domain.spec.agents:
        pytest.skip(f"{name} has no rule-based agent")
    checked = 0
    for task in tasks.values():
        if task.needs_judge:
            continue
        simulation = talk(name, task.id, agent)
        assert (simulation.conditions or {})["user"] == user
        found = UserValidity.of(simulation)
        if found and found.checks == ("not-understood",) and task.id in NOT_UNDERSTOOD:
            found = None
        assert found is None, (task.id, [each.text for each in found.findings], found.problem)
        checked += 1
    assert checked
