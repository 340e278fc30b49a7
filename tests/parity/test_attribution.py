"""Whose fault the failures of recorded runs look like, where it was read by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pytest_tau
from pytest_tau.diagnosis import annotate_failure
from pytest_tau.runs.reader import open_run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.parity


@pytest.mark.parametrize(
    ("name", "begins", "party", "reason"),
    [
        # It had refused the missing call, which the policy forbids.
        ("airline_claude-opus-4.6_button", "d13acb5b", "task", "it requires a call that the policy forbids"),
        ("airline_claude-opus-4.6_button", "6538c9ed", "task", "it requires a call that the policy forbids"),
        # It was about to make another call, or had announced one.
        ("airline_azure_full", "f756999d", "agent", "it did not make a required call"),
        ("airline_qwen2.5-7b", "d0043f3e", "agent", "it did not make a required call"),
        ("airline_qwen2.5-7b", "88c01ecf", "agent", "it did not make a required call"),
        # The user can set the switch back.
        ("telecom_gpt-4o", "57fceb38", "agent", "it transferred the user instead of making a required call"),
        # The call was the right one for another reservation.
        ("airline_whissle", "ac5c8300", "agent", "it did not make a required call"),
        # It was heading there when the user left.
        ("airline_azure_full", "bd43bfcd", "user", "it agreed and ended the conversation"),
        ("retail_gpt-4.1_sft", "5f3b5631", "user", "it agreed and ended the conversation"),
    ],
)
def test_the_party_of_a_recorded_failure(shared: Path, name: str, begins: str, party: str, reason: str) -> None:
    trials = open_run(shared / "runs" / f"{name}.json.gz").trials()
    (trial,) = (each for each in trials if each.simulation.id.startswith(begins))
    assert trial.task is not None
    domain = pytest_tau.load_domain(trial.domain, shared / "tau2-data")
    annotate_failure(trial.simulation, trial.task, domain)
    assert trial.simulation.info is not None
    blame = trial.simulation.info["blame"]
    assert blame["party"] == party
    assert blame["reason"].startswith(reason)
