"""Partial credit of recorded conversations."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from pytest_tau import evaluate, load_domain

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]


@pytest.mark.parametrize("grading", ["strict", "official"])
@pytest.mark.parametrize("name", ["mock", "airline", "retail", "telecom"])
def test_progress_is_1_if_and_only_if_the_reward_is_on_recorded_runs(shared: Path, name: str, grading: str) -> None:
    loaded = load_domain(name, shared / "tau2-data")
    tasks = {each.id: each for each in loaded.tasks(None)}
    rewards = set()
    with gzip.open(shared / "conformance" / f"runs_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line)
            reason = run["termination_reason"]
            verdict = evaluate(
                tasks[run["task_id"]], run["messages"], termination_reason=reason, domain=loaded, grading=grading
            )
            assert verdict.partial is not None
            assert (verdict.partial["progress"] == 1) == (verdict.reward == 1), (run["task_id"], run["variant"])
            rewards.add(verdict.reward)
    assert rewards == {0, 1}
