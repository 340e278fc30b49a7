"""Breaches of policies in published runs: the figures of docs/doubts.md that other rules do not change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.policy_breaches import ANY, count_breaches, sample

if TYPE_CHECKING:
    from benchmarks.policy_breaches import Count

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]

PAGE = Path(__file__).parents[2] / "docs" / "doubts.md"
#: Conversations, and those with reward 1.
SIZES = {"airline": (589, 272), "retail": (196, 121), "telecom": (121, 94), "mock": (11, 9)}


@pytest.fixture(scope="module")
def counts(shared: Path, official_data: Path) -> dict[str, Count]:
    files = sorted((shared / "runs").glob("*.json.gz"))
    if not files:
        pytest.skip(f"needs recorded runs in {shared / 'runs'}")
    return count_breaches(files, official_data)


def test_every_conversation_is_checked(counts: dict[str, Count]) -> None:
    assert {name: (count.conversations, count.passed) for name, count in counts.items()} == SIZES
    assert {name: count.checked[ANY] for name, count in counts.items()} == {
        name: size for name, (size, _) in SIZES.items()
    }
    assert [problem for count in counts.values() for problem in count.problems] == []


def test_the_form_of_messages_is_counted_as_the_page_says(counts: dict[str, Count]) -> None:
    for rule in ("one-call", "no-text-with-call"):
        row = re.search(rf"\| `{rule}` \| (\d.+) \|", PAGE.read_text(encoding="utf-8"))
        assert row
        found = [counts[name] for name in ("airline", "retail", "telecom")]
        assert row[1].split(" | ") == [f"{count.breached[rule]} ({count.breached_passed[rule]})" for count in found]


def test_telecom_is_as_the_page_says(counts: dict[str, Count]) -> None:
    telecom, text = counts["telecom"], PAGE.read_text(encoding="utf-8")
    rules = [rule for rule in telecom.breached if rule != ANY]
    assert len(rules) == 7
    for rule in rules:
        row = re.search(rf"\| `{rule}` \| .*\| (\S+ \(\d+\)) \|", text)
        assert row, rule
        assert row[1] == f"{telecom.breached[rule]} ({telecom.breached_passed[rule]})"
    # An agent that works alone has nobody to identify.
    assert telecom.checked["identification"] == telecom.checked[ANY] - 60


def test_rewards_hide_breaches(counts: dict[str, Count]) -> None:
    """A quarter of what passes; the rules about the form of a message are most of it."""
    passed = sum(count.passed for count in counts.values())
    broken = sum(count.breached_passed[ANY] for count in counts.values())
    assert 0.15 <= broken / passed <= 0.35


def test_a_sample_has_breaches_of_every_rule(counts: dict[str, Count]) -> None:
    drawn = sample(counts, 50)
    broken = {(name, rule) for name, count in counts.items() for rule in count.breached if rule != ANY}
    assert {(place.domain, place.breach.rule) for place in drawn} == broken
    assert len({(place.file, place.number, place.breach.rule) for place in drawn}) == 50
    assert sample(counts, 50) == drawn
    assert sample(counts, 50, seed=1) != drawn
