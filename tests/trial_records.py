"""Records of trials for tests, made of an outcome instead of a conversation.

The package is imported when it is needed, because every run of the tests imports this module.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_tau.runs.record import TrialRecord


def trial_record(
    task_id: str = "t", trial: int = 0, outcome: str = "passed", *, reward: float | None = None, **fields: Any
) -> TrialRecord:
    """Return the record of a trial: one that is an error has no verdict, and one that failed has a reward of 0."""
    from pytest_tau.models import RewardInfo
    from pytest_tau.runs.record import TrialRecord

    verdict = None
    if outcome != "error":
        verdict = RewardInfo(reward=float(outcome == "passed") if reward is None else reward)
    known = {"domain": "mock", "termination_reason": "user_stop", "reward_info": verdict, **fields}
    record = TrialRecord(task_id=task_id, trial=trial, **known)
    assert record.outcome == outcome
    return record


def write_records(folder: Path, records: Iterable[TrialRecord]) -> None:
    """Write the records of a run, as a baseline has them, into a folder that need not be there."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(record.as_dict()) + "\n" for record in records)
    (folder / "records.jsonl").write_text(text, encoding="utf-8")
