"""Tasks in doubt: several agents end in the same state, and it is not that of the reference (``tau doubts``)."""

from __future__ import annotations

from ...capability import Capability, Command, deferred

capability = Capability(
    name="doubts",
    title="tasks in doubt",
    trial=deferred(f"{__name__}.ends:EndStages"),
    facts=deferred(f"{__name__}.ends:EndFacts"),
    finished=deferred(f"{__name__}.summary:finished"),
    tasks=deferred(f"{__name__}.page:DoubtedTasks"),
    commands=(
        Command(
            "doubts",
            "look",
            "show the tasks that the runs of several agents speak against",
            deferred(f"{__name__}.command:add_parser"),
        ),
    ),
)
