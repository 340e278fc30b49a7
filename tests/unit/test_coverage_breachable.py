"""The rules that some conversation of a task can break."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_tau import load_domain
from pytest_tau.capabilities.coverage.breachable import breachable
from pytest_tau.policy import Breach, Rule
from pytest_tau.references import stated_rules

AIRLINE = load_domain("airline")


def never(name, check=lambda _: []):
    return Rule(name, "Ask for the user id first.", check, bounded=True)


def test_a_rule_that_nothing_breaks_is_not_found_and_another_is():
    task = next(task for task in AIRLINE.tasks() if task.criteria.actions)
    always = never("always", lambda trajectory: [Breach(1, "always")])
    assert breachable(task, AIRLINE, [never("never"), always]) == {"always"}
    assert breachable(task, AIRLINE, []) == frozenset()


@pytest.mark.parametrize(
    ("rule", "tool"),
    [("bags-paid", "update_reservation_baggages"), ("bags-added-only", "update_reservation_baggages")],
)
def test_a_task_with_a_call_can_break_the_rule_about_it(rule, tool):
    task = next(each for each in AIRLINE.tasks() if any(tool == action.name for action in each.criteria.actions or ()))
    assert rule in breachable(task, AIRLINE)


def test_a_refused_cancellation_can_break_its_conditions():
    refused = [each for each in AIRLINE.tasks() if "cancel" in each.id and not any(
        action.name == "cancel_reservation" for action in each.criteria.actions or ())]  # fmt: skip
    assert refused
    assert any("cancel-conditions" in breachable(task, AIRLINE) for task in refused)


@pytest.mark.parametrize(
    ("name", "unknown"), [("mock", {"deletion"}), ("retail", {"stated-version"}), ("telecom", {"verified-payment"})]
)
def test_what_the_tasks_of_a_domain_can_break(name, unknown):
    domain = load_domain(name)
    left = list(stated_rules(domain))
    for task in domain.tasks():
        broken = breachable(task, domain, left)
        left = [rule for rule in left if rule.name not in broken]
        if {rule.name for rule in left} == unknown:
            break
    assert {rule.name for rule in left} == unknown


def test_rules_that_a_policy_does_not_state_are_not_those_of_a_domain():
    other = Rule("other", "No policy says so.", lambda _: [Breach(1, "always")])
    spec = replace(AIRLINE.spec, rules=[never("stated"), other])
    assert [rule.name for rule in stated_rules(spec.load())] == ["stated"]
