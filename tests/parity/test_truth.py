"""What the tool says of tasks, held against what people said of them."""

from __future__ import annotations

import asyncio
import csv
import json
from typing import TYPE_CHECKING

import pytest

from pytest_tau.capabilities.doubts.runs import StoredEvidence
from pytest_tau.capabilities.policy_rules.lint import check_rules
from pytest_tau.domains import domain_names, load_domain
from pytest_tau.lint import lint_domain
from pytest_tau.lint.texts import check_texts
from pytest_tau.models import Task
from pytest_tau.runs.reader import open_run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

pytestmark = pytest.mark.parity


class _Official:
    """Domains over the official data."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def names(self) -> list[str]:
        return domain_names()

    def load(self, name: str, run: object = None) -> Domain:
        return load_domain(name, self._data)


@pytest.mark.exhaustive
def test_tasks_with_a_known_fault_are_among_the_first_in_doubt(shared: Path, official_data: Path) -> None:
    stored = StoredEvidence(_Official(official_data), None, frozenset())
    for file in sorted((shared / "truth" / "runs").glob("retail_*.json.gz")):
        stored.read(open_run(file))
    assert not stored.problems
    with (shared / "truth" / "labels.csv").open(newline="") as file:
        labelled = {row["task"] for row in csv.DictReader(file) if row["domain"] == "retail"}
    ranked = [doubt.task.task_id for doubt in stored.evidence.doubts()]
    found = [sum(task_id in labelled for task_id in ranked[:most]) for most in (10, 20)]
    assert found >= [4, 7] and found[1] >= 7, found


def labels(shared: Path, **wanted: str) -> set[str]:
    """The tasks with such a label."""
    with (shared / "truth" / "labels.csv").open(newline="") as file:
        return {row["task"] for row in csv.DictReader(file) if all(row[key] == value for key, value in wanted.items())}


def found_in(tasks: list[Task], domain: Domain) -> dict[str, set[str]]:
    """The rules of the errors in tasks of a domain, by task."""
    report = asyncio.run(lint_domain(domain, None, tasks))
    found: dict[str, set[str]] = {}
    for finding in report.findings:
        if finding.severity == "error" and finding.task_id is not None:
            found.setdefault(finding.task_id, set()).add(finding.rule)
    return found


@pytest.mark.parametrize(
    ("name", "missed"), [pytest.param("airline", {"35"}, marks=pytest.mark.exhaustive), ("retail", set())]
)
def test_wrong_reference_actions_are_errors(shared: Path, official_data: Path, name: str, missed: set[str]) -> None:
    # That of 35 is a warning: a date of birth that the agent cannot know.
    content = json.loads((shared / "truth" / "tasks" / f"{name}_2025.json").read_text())
    wrong = labels(shared, domain=name, edition="2025", kind="writes")
    tasks = [Task.model_validate(task) for task in content if task["id"] in wrong]
    found = found_in(tasks, load_domain(name, official_data))
    assert wrong - found.keys() == missed


TEXTS = {
    "airline": {
        "5": "way-round",
        "15": "two-values",
        "43": "way-round",
    },
    "retail": {
        "0": "vague-wish",
        "15": "open-choice",
        "20": "not-all",
        "28": "one-of-several",
        "54": "no-else",
        "76": "two-values",
        "98": "unasked-change",
    },
}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_texts_with_a_known_fault_are_found(shared: Path, official_data: Path, name: str) -> None:
    # Of 18 texts, those in which the check finds what was corrected later.
    content = json.loads((shared / "truth" / "tasks" / f"{name}_2025.json").read_text())
    domain = load_domain(name, official_data)
    faulty = labels(shared, domain=name, edition="2025", kind="text")
    tasks = [task for task in map(Task.model_validate, content) if task.id in faulty]
    found = {task.id: {finding.rule for finding in check_texts(task, domain)} for task in tasks}
    assert {task_id for task_id, rules in found.items() if rules} == TEXTS[name].keys()
    assert all(rule in found[task_id] for task_id, rule in TEXTS[name].items())


@pytest.mark.exhaustive
def test_few_texts_of_today_are_found(official_data: Path) -> None:
    # Each was read: a payment, or the reason of a cancellation, of which nothing is said; of the bank, a charge that was
    # made twice on one day, of which one is disputed.
    found = {
        f"{name} {task.id}"
        for name in ("airline", "retail", "telecom", "banking_knowledge")
        for domain in [load_domain(name, official_data)]
        for task in domain.tasks("base")
        if [*check_texts(task, domain)]
    }
    airline = {f"airline {task_id}" for task_id in (29, 44)}
    bank = {f"banking_knowledge task_{number}" for number in ("084", "085")}
    assert found == airline | bank | {f"retail {task_id}" for task_id in (16, 38, 41, 54, 55, 60, 61, 63, 66)}


def test_rules_are_not_checked_by_an_edition_that_states_others(official_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "domains" / "airline"
    folder.mkdir(parents=True)
    for file in (official_data / "domains" / "airline").iterdir():
        (folder / file.name).symlink_to(file)
    policy = (folder / "policy.md").read_text()
    (folder / "policy.md").unlink()
    (folder / "policy.md").write_text(policy.replace("at most five passengers", "at most four passengers"))
    (note,) = check_rules(load_domain("airline", tmp_path))
    assert note.text == "not checked, as the policy does not state them: booking-limits"


@pytest.mark.exhaustive
def test_a_required_amount_that_nothing_brings_about_is_found(shared: Path, official_data: Path) -> None:
    content = json.loads((shared / "truth" / "tasks" / "retail_2025.json").read_text())
    report = asyncio.run(lint_domain(load_domain("retail", official_data), None, [*map(Task.model_validate, content)]))
    found = {each.task_id for each in report.findings if each.rule == "communicate-not-done"}
    assert found == labels(shared, domain="retail", edition="2025", kind="said")


@pytest.mark.exhaustive
def test_wrong_references_of_the_bank_are_found(shared: Path, official_data: Path) -> None:
    domain = load_domain("banking_knowledge", official_data)
    report = asyncio.run(lint_domain(domain, None))
    found = {
        (each.task_id or "").removeprefix("task_"): each.rule for each in report.findings if each.rule in REFERENCES
    }
    wanted = {row for kind in ("writes", "data") for row in labels(shared, domain=domain.name, kind=kind)}
    assert found.keys() >= wanted
    assert found.keys() - wanted == {"028", "051", "082"}


#: The rules about references, their values and the documents that they follow.
REFERENCES = {"action-raises", "gold-breaks-rule", "fact-missing", "contradicted-fact", "unread-table"}
