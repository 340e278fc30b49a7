"""``tau lint --scripted-user``: what the scripted user makes of tasks."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.lint import LintReport, lint_users

from .tiny import action, task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Task

    from .commands import Tau

RENAME = action("rename", item_id="lamp", name="Evening Star")


def a_task(known: str = "", rules: str = "", actions: Any = (RENAME,), **script: Any) -> Task:
    given = {
        "domain": "tiny",
        "reason_for_call": "You want to rename the lamp.",
        "known_info": known,
        "task_instructions": rules,
    }
    scenario = {"instructions": given, **({"script": script} if script else {})}
    return task({"actions": list(actions), "reward_basis": ["DB"]}, user_scenario=scenario)


def lint(domain: Domain, *tasks: Task) -> LintReport:
    return asyncio.run(lint_users(domain, None, list(tasks)))


def found(report: LintReport) -> list[tuple[str, str]]:
    return [(each.rule, each.text) for each in report.findings]


def test_a_task_that_is_played_to_the_end(domain: Domain) -> None:
    given = {"requests": [{"say": "I want to rename the lamp."}], "facts": {"name": "Evening Star"}}
    report = lint(domain, a_task("Its name is Evening Star.", **given))
    assert (found(report), report.played, report.tasks) == ([], 1, 1)


def test_a_fact_that_the_user_does_not_give(domain: Domain) -> None:
    report = lint(domain, a_task("The new one shall be evening star."))
    assert report.played == 0
    (stopped, text), (silent, lacks) = found(report)
    assert (stopped, silent) == ("not-played", "script-silent")
    assert text.startswith("asked for name 'Evening Star', it said ")
    assert lacks == "action 0 (rename): the script lacks name 'Evening Star', which the prose states"


def test_a_change_that_the_user_declines(domain: Domain) -> None:
    given = {"requests": [{"say": "I want to sit."}], "declines": ["rename"]}
    report = lint(domain, a_task("The lamp is Evening Star.", facts={"name": "Evening Star"}, **given))
    assert ("not-played", "asked to confirm rename (item id: lamp, name: Evening Star), it said 'No, thank you.'") in (
        found(report)
    )


def test_a_condition_that_is_not_read(domain: Domain) -> None:
    rules = "If the price is above $5, you do not want it."
    report = lint(domain, a_task(rules=rules, actions=()))
    assert (found(report), report.played) == ([("unread-prose", rules)], 1)
    assert report.count("note") == 1


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_command(tau: Tau, form: tuple[str, ...]) -> None:
    result = tau("lint", "mock", "--scripted-user", *form)
    assert result.status == 0
    if form:
        (document,) = json.loads(result.out)
        assert document["played"] <= document["tasks"]
        assert "null_agent_passes" not in document
    else:
        assert "the scripted user plays " in result.out
