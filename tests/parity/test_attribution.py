"""Whose fault the failures of recorded runs look like, where it was read by hand."""

from __future__ import annotations

import csv
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
        # The reference compensates for a delay of a reservation that is not changed.
        ("airline_azure_full", "f756999d", "task", "it requires a call that the policy forbids"),
        # It was about to make another call, or had announced one.
        ("airline_qwen2.5-7b", "d0043f3e", "undecided", "a required call was not made"),
        # It offered other flights, of another reservation than the one that the user meant.
        ("airline_qwen2.5-7b", "88c01ecf", "agent", "it never looked at the record, which its tool had listed"),
        # The user can set the switch back.
        ("telecom_gpt-4o", "57fceb38", "agent", "it transferred the user instead of making a required call"),
        # The call was the right one for another reservation.
        ("airline_whissle", "ac5c8300", "undecided", "a required call was not made"),
        # The amount would be paid back for a part of an order, which the reference does not cancel.
        ("truth/retail_gemini-3-flash", "33", "task", "it requires an amount that its reference actions do not"),
        # The user has made up an address, chosen another card, left with a request for a yes.
        ("truth/retail_gpt-5-nano", "111", "user", "it asked for other values"),
        ("truth/retail_gemini-3-flash", "11", "user", "it ended the conversation instead of answering"),
        # It said that it had changed the address, booked a bag that was not wanted, took another tablet than the cheapest.
        ("truth/retail_gemini-3-flash", "43", "agent", "it said that it had done what it had not"),
        ("airline_claude-opus-4.6_button", "25", "agent", "it used another number"),
        ("truth/retail_gemini-3-flash", "110", "agent", "it did not take the cheapest one"),
        # It was heading there when the user left.
        ("airline_azure_full", "bd43bfcd", "user", "it agreed and ended the conversation"),
        ("retail_gpt-4.1_sft", "5f3b5631", "user", "it agreed and ended the conversation"),
    ],
)
def test_the_party_of_a_recorded_failure(shared: Path, name: str, begins: str, party: str, reason: str) -> None:
    folder, _, file = name.rpartition("/")
    trials = open_run(shared / folder / "runs" / f"{file}.json.gz").trials()
    (trial,) = (each for each in trials if each.simulation.id.startswith(begins) or each.simulation.task_id == begins)
    assert trial.task is not None
    domain = pytest_tau.load_domain(trial.domain, shared / "tau2-data")
    annotate_failure(trial.simulation, trial.task, domain)
    blame = trial.simulation.info.blame
    assert blame is not None
    assert blame.party == party
    assert blame.reason.startswith(reason)


def test_failures_that_people_have_labelled(shared: Path) -> None:
    """The party that people named, in 13 of 15, no agent excused, and the message within one in 8."""
    truth = shared / "truth" / "blame"
    if not truth.is_dir():
        pytest.skip("there are no labelled failures in ../shared")
    with (truth / "labels.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["task"]: row for row in csv.DictReader(file)}
    domain = pytest_tau.load_domain("retail", shared / "tau2-data")
    right = near = excused = 0
    for trial in open_run(truth / "retail_tau1.json").trials():
        simulation, task, row = trial.simulation, trial.task, rows[trial.simulation.task_id]
        assert task is not None
        simulation.reward_info = pytest_tau.evaluate(
            task, simulation.messages, termination_reason=simulation.termination_reason, domain=domain
        )
        annotate_failure(simulation, task, domain)
        blame = simulation.info.blame
        assert blame is not None
        right += blame.party == row["party"] or (row["party"], blame.party) == ("user", "task")
        excused += row["party"] == "agent" and blame.party in ("user", "task")
        # A step of theirs is the number of our message and 2.
        near += blame.message_idx is not None and abs(blame.message_idx + 2 - int(row["step"])) <= 1
    assert right >= 13
    assert excused <= 1
    assert near >= 8
