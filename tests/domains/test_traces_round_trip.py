"""From a run to traces, back, and into tasks: the same conversations, and tasks with the verdicts of those before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.traces_round_trip import DOMAINS, bundled, differing

if TYPE_CHECKING:
    from pathlib import Path

#: The share of tasks that must come back with the same verdicts.
GOAL = 0.95
#: Tasks of the quick tier: with writes and a phrase, refused and asked otherwise, handed over, on the user's device.
SAMPLE = {
    "airline": ["book-cheapest-one-way", "transfer-email-after-bag"],
    "retail": ["cancel-every-pending", "where-is-my-refund"],
    "telecom": ["service.airplane+apn", "data.vpn+quota+roam-line"],
}


@pytest.mark.parametrize(
    "name", ["retail", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("airline", "telecom"))]
)
def test_a_sample_comes_back_with_the_same_verdicts(name: str, tmp_path: Path) -> None:
    assert differing(name, SAMPLE[name], tmp_path) == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", DOMAINS)
def test_nearly_all_tasks_come_back_with_the_same_verdicts(name: str, tmp_path: Path) -> None:
    """Tries every fifth task; ``python -m benchmarks.traces_round_trip`` tries all."""
    ids = [*bundled(name)[1]][::5]
    found = differing(name, ids, tmp_path)
    assert len(found) <= (1 - GOAL) * len(ids), found
