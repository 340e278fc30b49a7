"""The measurement of the rules of blame and of reviewers, with a reviewer that stands in for a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.known_faults import SPOILED_USERS, Tally, main, measure, reviewed_by
from pytest_tau import load_domain

from . import tiny

if TYPE_CHECKING:
    from pytest_tau.capabilities.reviews.case import ReviewCase


class StandIn:
    """Names the user if the conversation is short, as a reviewer may that sees little."""

    name = "stand-in"

    def review(self, case: ReviewCase) -> dict[str, Any]:
        if case.turns > 40:
            raise ValueError("too long")
        owner = "user" if case.turns < 10 else "agent"
        error = {"source": owner, "severity": "minor"}
        return {"errors": [error], "summary": "", "fault_owner": owner, "fault_type": "other"}


@pytest.fixture(scope="module")
def measured() -> tuple[Tally, Tally]:
    return tiny.run(measure([load_domain("retail")], 2, reviewed_by(StandIn())))


def test_each_conversation_is_judged_by_both(measured: tuple[Tally, Tally]) -> None:
    rules, reviewer = measured
    assert {kind for side, kind in rules.named if side == "user"} == SPOILED_USERS.keys()
    assert {"wrong-item", "loops"} <= {kind for side, kind in rules.named if side == "agent"}
    for side in ("agent", "user"):
        assert rules.total(side) == reviewer.total(side) >= 6


def test_the_rules_find_what_they_were_made_for(measured: tuple[Tally, Tally]) -> None:
    rules, _ = measured
    assert rules.named["user", "agrees-and-leaves"].keys() == {"user"}
    assert rules.named["agent", "wrong-item"].keys() <= {"agent", "undecided"}  # no user is blamed


def test_reviews_without_a_result_are_misses(measured: tuple[Tally, Tally]) -> None:
    _, reviewer = measured
    assert reviewer.named["agent", "loops"]["failed"] == reviewer.named["agent", "loops"].total()
    recall = reviewer.recall("agent")
    assert recall is not None
    assert recall < 1


def test_precision_and_recall() -> None:
    tally = Tally()
    for side, kind, party, times in (("agent", "a", "agent", 3), ("agent", "a", "user", 1), ("user", "b", "agent", 2)):
        for _ in range(times):
            tally.add(side, kind, party)
    assert (tally.precision("agent"), tally.recall("agent")) == (3 / 5, 3 / 4)
    assert (tally.precision("user"), tally.recall("user")) == (0.0, 0.0)
    assert Tally().precision("user") is None
    assert "unknown" in Tally().lines("x")[1]


def test_without_a_reviewer_the_command_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    main(["--domain", "retail", "--tasks", "1", "--json", str(file)])
    text = capsys.readouterr().out
    assert "rules of blame: " in text
    assert "reviewer: none was given" in text
    assert json.loads(file.read_text(encoding="utf-8"))["reviewer"] is None
