"""What the scripted user makes of the official tasks, which have prose and no script."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import pytest_tau
from pytest_tau.lint import lint_users
from pytest_tau.participants import script_of, unread_prose

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize(("name", "played", "unread"), [("airline", 47, 23), ("retail", 109, 18)])
def test_most_tasks_are_played_to_the_end(official_data: Path, name: str, played: int, unread: int) -> None:
    domain = pytest_tau.load_domain(name, data_dir=official_data)
    report = asyncio.run(lint_users(domain, "base"))
    assert (report.played or 0) >= played
    tasks = {rule: {each.task_id for each in report.findings if each.rule == rule} for rule in ("unread-prose",)}
    assert len(tasks["unread-prose"]) <= unread
    assert Counter(each.rule for each in report.findings).keys() <= {"not-played", "script-silent", "unread-prose"}


def test_the_user_of_telecom_has_no_conditions(official_data: Path) -> None:
    """Its prose has some about its device, which are read elsewhere."""
    domain = pytest_tau.load_domain("telecom", data_dir=official_data)
    for task in domain.tasks("full")[::29]:
        made = script_of(task, [], domain.spec.spoken)
        assert (len(made.requests), made.answers, made.requests[0].fallback) == (1, [], None)
        assert unread_prose(task) == []
