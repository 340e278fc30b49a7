"""Checking many tasks keeps nothing of each of them."""

from __future__ import annotations

import asyncio
import gc

from pytest_tau import load_domain
from pytest_tau.environment import Environment
from pytest_tau.environment.reference_states import shared_reference
from pytest_tau.lint import lint_domain
from pytest_tau.models import parse_task


def task(number):
    title = f"Order chair {number}"
    return parse_task(
        {
            "id": f"chair-{number}",
            "user_scenario": {"instructions": f"You are Ada Moreno, user_1. You want a new task, titled {title!r}."},
            "evaluation_criteria": {
                "actions": [
                    {"action_id": "0", "name": "create_task", "arguments": {"user_id": "user_1", "title": title}}
                ]
            },
        }
    )


def environments_after(domain, numbers):
    """Return how many environments are kept after tasks were checked."""
    report = asyncio.run(lint_domain(domain, None, [task(number) for number in numbers]))
    assert not report.findings
    gc.collect()
    return sum(type(each) is Environment for each in gc.get_objects())


def test_no_reference_state_of_a_checked_task_is_kept():
    domain = load_domain("mock")
    few = environments_after(domain, range(5))
    assert environments_after(domain, range(5, 45)) == few


def test_what_is_forgotten_of_a_task_is_made_again():
    domain, chair = load_domain("mock"), task(0)
    first = shared_reference(domain, chair)
    assert shared_reference(domain, chair) is first
    domain.forget(chair)
    again = shared_reference(domain, chair)
    assert again is not first
    assert again.equals(first)
    domain.forget(task(1))  # nothing is kept of it
