"""Saboteur by rule: each fault is found by the rule that is meant for it.

The correct agent and the reference actions break no rule in any bundled task, so what is found is due to the saboteur.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from talks import bundled, talks

from pytest_tau.capabilities.policy_rules import capability
from pytest_tau.participants import FAULTY_AGENTS, domain_agent
from pytest_tau.policy import PolicyReport

if TYPE_CHECKING:
    from pytest_tau.models import Simulation

pytestmark = pytest.mark.exhaustive

#: The rules of which one finds a saboteur, by domain and kind. Some faults no sentence of a policy can decide from the
#: conversation: a write that is left undone and a document that is out of date show in the final state, a loop and a
#: delay at the limits, an insult to a judge, and in the bank another account of the same customer in the final state.
SERVICE = {
    "skips-confirmation": {"confirmation"},
    "leaks": {"own-records"},
    "transfers-too-soon": {"transfer-notice"},
    "wrong-item": {"stated-details", "seen-version", "stated-version", "read-before-write"},
    "forgets-last-write": {"done-claims"},
}
MEANT: dict[str, dict[str, set[str]]] = {
    "airline": SERVICE,
    "retail": SERVICE,
    "telecom": {
        "wrong-item": {"named-line", "own-records"},
        "skips-confirmation": {"confirmation", "bill-stated"},
        "leaks": {"own-records"},
        "transfers-too-soon": {"transfer"},
    },
    "banking_knowledge": {
        "skips-confirmation": {"confirmation"},
        "leaks": {"own-records"},
        "transfers-too-soon": {"transfer"},
        "unlocks-without-need": {"needed-tools"},
        "acts-before-reading": {"unlocked-tools"},
    },
}
OTHERWISE = {"forgets-last-write", "loops", "obeys-tool-results", "rude", "slow", "trusts-stale-document"}
CAUGHT = 0.95


def report(simulation: Simulation) -> PolicyReport:
    found: PolicyReport | None = capability.read(simulation.facts)
    assert found is not None
    assert not found.problems
    return found


def essence(simulation: Simulation) -> list[Any]:
    messages = [each for each in simulation.messages if each.role != "tool"]
    return [(each.role, each.content, [(c.name, c.arguments) for c in each.tool_calls or ()]) for each in messages]


def acted(domain: str, kind: str) -> list[str]:
    """Return the tasks in which a saboteur does something else than the agent that it spoils."""
    clean, spoiled = talks(domain, "rules"), talks(domain, f"saboteur:{kind}")
    found = [task_id for task_id in clean if essence(clean[task_id]) != essence(spoiled[task_id])]
    if kind != "leaks":
        return found
    # A stranger is no stranger in tasks of its own.
    strangers = domain_agent("rules", bundled(domain)[0].spec.agents).foreign_records
    leaked = {
        task_id: [
            c.result.content
            for c in spoiled[task_id].calls
            if c.result and (c.call.name, c.call.arguments) in strangers
        ]
        for task_id in found
    }
    own = {task_id: {c.result.content for c in clean[task_id].calls if c.result} for task_id in found}
    return [task_id for task_id in found if not own[task_id] & {*leaked[task_id]}]


@pytest.mark.parametrize("domain", MEANT)
def test_the_correct_agent_breaks_no_rule(domain: str) -> None:
    found = {task_id: report(talk).counts for task_id, talk in talks(domain, "rules").items()}
    assert {task_id: counts for task_id, counts in found.items() if counts} == {}


@pytest.mark.parametrize("domain", [*MEANT, "mock"])
def test_the_reference_actions_break_no_rule(domain: str) -> None:
    gold = talks(domain, "gold")
    found = {task_id: report(talk).counts for task_id, talk in gold.items()}
    assert {task_id: counts for task_id, counts in found.items() if counts} == {}


@pytest.mark.parametrize(("domain", "kind"), [(domain, kind) for domain in MEANT for kind in MEANT[domain]])
def test_a_saboteur_is_found_by_the_rule_that_is_meant_for_it(domain: str, kind: str) -> None:
    spoiled = talks(domain, f"saboteur:{kind}")
    tasks = acted(domain, kind)
    missed = [task_id for task_id in tasks if not MEANT[domain][kind] & {*report(spoiled[task_id]).counts}]
    assert len(tasks) >= 50
    assert len(missed) <= (1 - CAUGHT) * len(tasks), missed


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_a_skipped_confirmation_is_a_breach_where_the_reward_is_1(domain: str) -> None:
    spoiled = talks(domain, "saboteur:skips-confirmation").values()
    assert sum(each.reward == 1 and "confirmation" in report(each).counts for each in spoiled) > 50


@pytest.mark.parametrize("domain", ["airline", "retail"])
@pytest.mark.parametrize(("kind", "rules"), [("rude", {"transfer-notice"}), ("loops", set())])
def test_a_saboteur_without_a_rule_is_not_accused_of_another_fault(domain: str, kind: str, rules: set[str]) -> None:
    """An insult before the notice of a transfer is something added to it."""
    assert {rule for each in talks(domain, f"saboteur:{kind}").values() for rule in report(each).counts} == rules


def test_each_saboteur_is_in_the_table_or_has_another_check() -> None:
    assert set(FAULTY_AGENTS) == {kind for kinds in MEANT.values() for kind in kinds} | OTHERWISE
