"""What the linter finds in the official task sets is what probing the reference found there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_tau.domains import domain_names, load_domain
from pytest_tau.lint import LintReport, lint_domain

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]


class Probed(NamedTuple):
    """Known findings in a domain's base split; source: the reference's own graders, probed without a model."""

    tasks: int
    null_passes: int
    null_hangs_on_the_judge: int
    gold_fails: int
    failing_calls: int
    unneeded_writes: int


PROBED = {
    "airline": Probed(50, 23, 0, 0, 0, 0),
    "retail": Probed(114, 6, 5, 0, 18, 4),
    "telecom": Probed(114, 0, 0, 0, 0, 7),
    "mock": Probed(10, 1, 0, 2, 0, 0),
}
#: Tasks whose reference actions look up a product that does not exist, by an id that nothing gives.
UNKNOWABLE = {"retail": ["2", "3", "4"]}
#: Findings in tasks with a reference action that fails, which follow from it.
CONSEQUENCES = {
    "retail": [
        *(("fact-missing", task) for task in UNKNOWABLE["retail"]),
        ("action-not-needed", "64"),
        ("passes-without-agent", "105"),
        ("action-not-needed", "105"),
    ]
}


#: Of 39, a cancellation that the insurance alone would allow, for a wish that it does not cover.
WRONG = {"airline": {("gold-breaks-rule", "39")}}


@pytest.fixture(scope="module", params=PROBED)
def report(request: pytest.FixtureRequest, official_data: Path) -> LintReport:
    if request.param not in domain_names():
        pytest.skip(f"needs the domain {request.param}")
    return asyncio.run(lint_domain(load_domain(request.param, official_data), "base"))


def test_the_findings_are_what_probing_found(report: LintReport) -> None:
    everything = [*report.findings, *report.consequences]
    counts = {rule: sum(finding.rule == rule for finding in everything) for rule in _RULES}
    found = Probed(report.tasks, report.floor, report.floor_but_for_judge, *counts.values())
    assert found == PROBED[report.domain]


_RULES = ("gold-fails", "action-raises", "action-not-needed")


def test_no_fact_is_missed_that_an_agent_can_find(report: LintReport) -> None:
    everything = [*report.findings, *report.consequences]
    missing = [finding.task_id for finding in everything if finding.rule == "fact-missing"]
    assert missing == UNKNOWABLE.get(report.domain, [])


def test_only_consequences_of_failing_actions_are_not_shown(report: LintReport) -> None:
    assert [(each.rule, each.task_id) for each in report.consequences] == CONSEQUENCES.get(report.domain, [])
    raises = {each.task_id for each in report.findings if each.rule == "action-raises"}
    assert raises >= {each.task_id for each in report.consequences}


def test_nothing_else_is_wrong_with_them(report: LintReport) -> None:
    others = {"passes-without-agent", "action-raises", "gold-fails"}
    found = {(each.rule, each.task_id) for each in report.findings if each.severity == "error"}
    assert {each for each in found if each[0] not in others} == WRONG.get(report.domain, set())
