"""The line of a run's summary about its tasks in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text import listed
from .evidence import Evidence, TaskKey, is_spoilt

if TYPE_CHECKING:
    from ...capability import FinishedRun

_SHOWN = 5


def finished(run: FinishedRun) -> None:
    """Add the tasks in which more trials of models end in one same way against the reference than pass.

    Trials of an agent without a model are the same each time, and say no more than one of them.
    """
    evidence = Evidence()
    for record, facts in run.trials:
        model = record.called_model("agent")
        if record.ran and model and not is_spoilt(record.info.blame):
            agent = f"{record.agent_name} {model}"
            task = TaskKey(record.domain, record.task_id)
            evidence.add(task, agent, facts, passed=record.passed, example=record.task_id)
    doubts = evidence.doubts()
    if doubts:
        ids = listed([doubt.task.task_id for doubt in doubts], _SHOWN)
        run.add(f"{len(doubts)}, in which more trials end in one same other way than pass (tau doubts shows it): {ids}")
