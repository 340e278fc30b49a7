"""What the tool says of tasks, held against what people said of them."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from pytest_tau.capabilities.doubts.runs import StoredEvidence
from pytest_tau.domains import domain_names, load_domain
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

    def load(self, name: str) -> Domain:
        return load_domain(name, self._data)


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
