"""The line of a run's summary about its tasks in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text import listed, plural
from .evidence import Evidence, TaskKey

if TYPE_CHECKING:
    from ...capability.views import FinishedRun

_SHOWN = 5


def finished(run: FinishedRun) -> None:
    """Add the number of tasks in which more trials end in one same way against the reference than pass."""
    evidence = Evidence()
    for record, facts in run.trials:
        if record.ran and (record.blame or {}).get("party") != "user":
            conditions = record.conditions or {}
            model = conditions.get("models", {}).get("agent", {}).get("name", "")
            agent = f"{conditions.get('agent')} {model}"
            evidence.add(
                TaskKey(record.domain, record.task_id), agent, facts, passed=record.passed, example=record.task_id
            )
    doubts = evidence.doubts()
    if doubts:
        ids = listed([doubt.task.task_id for doubt in doubts], _SHOWN)
        run.add(f"tau: {plural(len(doubts), 'task')} in doubt, as several trials end in one same other way: {ids}")
