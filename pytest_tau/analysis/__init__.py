"""Numbers about finished runs: rates, intervals, comparisons, gates, usage."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compare import Comparison, RunRecords
    from .gates import Gate, Verdict
    from .gates.metrics import TaskTrials, by_task
    from .paired import FEWEST_TASKS, Pair, Paired, PassCount
    from .statistics import Interval, difference_interval, mean_interval, percentile, wilson

#: The public names by their modules, which are imported when a name is asked for.
_HOMES = {
    **dict.fromkeys(("Comparison", "RunRecords"), "compare"),
    **dict.fromkeys(("Gate", "Verdict"), "gates"),
    **dict.fromkeys(("TaskTrials", "by_task"), "gates.metrics"),
    **dict.fromkeys(("FEWEST_TASKS", "Pair", "Paired", "PassCount"), "paired"),
    **dict.fromkeys(("Interval", "difference_interval", "mean_interval", "percentile", "wilson"), "statistics"),
}

__all__ = [
    "FEWEST_TASKS",
    "Comparison",
    "Gate",
    "Interval",
    "Pair",
    "Paired",
    "PassCount",
    "RunRecords",
    "TaskTrials",
    "Verdict",
    "by_task",
    "difference_interval",
    "mean_interval",
    "percentile",
    "wilson",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
