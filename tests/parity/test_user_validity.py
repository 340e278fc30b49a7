"""Faults of the simulated users of recorded runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pytest_tau
from pytest_tau.capabilities.user_validity.checks import check_user
from pytest_tau.runs.reader import open_run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]


@pytest.mark.parametrize(
    ("name", "faulty"),
    [("airline_gpt-4.1", 0), ("retail_gpt-4.1", 0), ("telecom_gpt-4o", 0), ("airline_azure_full", 2)],
)
def test_faults_of_recorded_users(shared: Path, name: str, faulty: int) -> None:
    found = []
    for trial in open_run(shared / "runs" / f"{name}.json.gz").trials():
        assert trial.task is not None
        domain = pytest_tau.load_domain(trial.domain, shared / "tau2-data")
        found.append(check_user(trial.task, trial.simulation.messages, domain))
    assert not any(each.unchecked for each in found)
    assert sum(not each.valid for each in found) == faulty
