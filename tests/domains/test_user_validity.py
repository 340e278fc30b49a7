"""Users that are right by construction make no fault: gold, and the scripted user with the rule-based agent."""

from __future__ import annotations

import pytest
from talks import bundled, talk

from pytest_tau.capabilities.user_validity import capability

#: Tasks in which the agent asks what the user cannot know, or has misunderstood it before.
NOT_UNDERSTOOD = {
    "cancel-business-refund",
    "cancel-refused-after-a-day",
    "close-early-and-pay-the-fee",
    "move-the-rest-and-close",
}
PAIRS = [("gold", "gold"), ("rules", "scripted")]


@pytest.mark.parametrize(("agent", "user"), PAIRS)
@pytest.mark.parametrize(
    "name",
    [
        "airline",
        "mock",
        *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("retail", "telecom", "banking_knowledge")),
    ],
)
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
        found = capability.read(simulation.facts)
        understood = found.checks == ("not-understood",) and task.id in NOT_UNDERSTOOD
        assert (found.valid or understood) and not found.unchecked, (task.id, found)
        checked += 1
    assert checked
