"""The linter's checks of what a user without a model goes by."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import tool
from pytest_tau.lint import LintReport, lint_domain

from . import tiny

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Lint = Callable[..., LintReport]

PROSE = "Rename the lamp to Aurora."
RENAME = tiny.action("rename", item_id="lamp", name="Aurora")
ON = {"tool": "read_phone", "expects": ['"on": true']}


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    """Checks one task on the tiny domain, with a script."""

    def run(script: Any, criteria: Any = None, **fields: Any) -> LintReport:
        tiny.write(tmp_path)
        for file in (tmp_path / "tasks").iterdir():
            file.unlink()
        scenario = {"instructions": PROSE, "script": script}
        criteria = criteria or {"actions": [RENAME]}
        task = tiny.raw_task("t", criteria, **{"user_scenario": scenario} | fields)
        (tmp_path / "tasks" / "tasks.json").write_text(json.dumps([task]))
        return tiny.run(lint_domain(tiny.spec(tmp_path).load(), "base"))

    return run


def found(report: LintReport) -> list[tuple[str, str, str]]:
    rules = ("script-silent", "bad-goal", "goal-met", "fact-missing")
    return [(f.rule, f.severity, f.text) for f in report.findings if f.rule in rules]


@pytest.mark.parametrize(
    "script",
    [
        {"requests": [{"say": "Call the lamp Aurora."}]},
        {"requests": [{"say": "A new name for the lamp, please.", "facts": {"name": "Aurora"}}]},
        {"requests": [{"say": "A new name for the lamp, please."}], "facts": {"name": "Aurora"}},
        {
            "requests": [
                {"say": "A new name for the lamp, please.", "answers": [{"asks": ["name"], "say": "It is Aurora."}]}
            ]
        },
        {
            "requests": [{"say": "A new name for the lamp, please."}],
            "answers": [{"asks": ["name"], "say": "It is Aurora."}],
        },
        {"requests": [{"say": "Give me the lamp.", "fallback": "Then call it Aurora."}]},
        None,
    ],
)
def test_facts_anywhere_in_the_script_are_sufficient(lint: Lint, script: Any) -> None:
    assert found(lint(script)) == []


def test_facts_only_in_the_prose_are_reported(lint: Lint) -> None:
    text = "action 0 (rename): the script lacks name 'Aurora', which the prose states"
    assert found(lint({"requests": [{"say": "A new name for the lamp, please."}]})) == [
        ("script-silent", "warning", text)
    ]


def test_facts_given_nowhere_are_reported_once(lint: Lint) -> None:
    action = tiny.action("rename", item_id="lamp", name="Borealis")
    ((rule, _, _),) = found(lint({"requests": [{"say": "A new name for the lamp, please."}]}, {"actions": [action]}))
    assert rule == "fact-missing"


SCRIPT = {"requests": [{"say": "Call the lamp Aurora."}]}


def test_a_goal_that_can_be_checked_is_left_alone(lint: Lint) -> None:
    assert found(lint({**SCRIPT, "goals": [ON]})) == []


@pytest.mark.parametrize(
    ("goal", "problem"),
    [
        ({"tool": "read_fone", "expects": ["on"]}, "read_phone"),
        ({"tool": "look", "expects": ["on"]}, "'look'"),
        ({"tool": "read_phone", "arguments": {"loud": True}, "expects": ["on"]}, "read_phone: loud: unknown argument"),
    ],
)
def test_a_goal_that_cannot_be_checked_is_an_error(lint: Lint, goal: Any, problem: str) -> None:
    ((rule, severity, text),) = found(lint({**SCRIPT, "goals": [goal]}))
    assert (rule, severity) == ("bad-goal", "error")
    assert problem in text


def test_a_goal_needs_a_tool_that_the_task_gives(lint: Lint) -> None:
    ((rule, _, _),) = found(lint({**SCRIPT, "goals": [ON]}, user_tools=["switch"]))
    assert rule == "bad-goal"


def test_a_goal_that_is_met_from_the_start_is_found(lint: Lint) -> None:
    goal = {"tool": "read_phone", "expects": ['"on": FALSE']}
    ((rule, severity, _),) = found(lint({**SCRIPT, "goals": [goal]}))
    assert (rule, severity) == ("goal-met", "warning")


class DatedTools(tiny.TinyUserTools):
    """Tools of a user with a date."""

    @tool("read")
    def read_day(self, day: date) -> str:
        """Read a day of the calendar."""
        return f"{day}: free"


def test_a_goal_with_an_impossible_date_is_an_error(tmp_path: Path) -> None:
    tiny.write(tmp_path)
    days = ("2026-02-28", "2026-02-30")
    goals = [{"tool": "read_day", "arguments": {"day": day}, "expects": ["busy"]} for day in days]
    scenario = {"instructions": PROSE, "script": {**SCRIPT, "goals": goals}}
    action = tiny.action("read_day", "user", day="2026-02-30")
    task = tiny.raw_task("t", {"actions": [RENAME, action]}, user_scenario=scenario)
    (tmp_path / "tasks" / "a.json").write_text(json.dumps([task]))
    report = tiny.run(lint_domain(tiny.spec(tmp_path, user_tools=DatedTools).load(), None))
    problems = [(each.rule, each.text) for each in report.findings if "expected a valid date" in each.text]
    assert [rule for rule, _ in problems] == ["bad-arguments", "bad-goal"]
    assert all("read_day" in text and 'got "2026-02-30"' in text for _, text in problems)
