"""Numbers about finished runs: rates, intervals, comparisons, gates, usage."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compare import Comparison
    from .decidable import paired_groups
    from .gates import Gate, Verdict
    from .gates.metrics import TaskTrials, by_task, clusters_of
    from .metrics import task_reach
    from .paired import FEWEST_TASKS, Pair, Paired, PassCount
    from .power import LEVEL, POWER, Losses
    from .run_records import RunRecords
    from .scores import pass_1
    from .statistics import (
        Clusters,
        Interval,
        difference_interval,
        mean_interval,
        pass_hat_k_interval,
        percentile,
        wilson,
    )
    from .usage import format_tokens
    from .variants import records_by_variant

#: The public names by their modules, which are imported when a name is asked for.
_HOMES = {
    "Comparison": "compare",
    "RunRecords": "run_records",
    **dict.fromkeys(("Gate", "Verdict"), "gates"),
    **dict.fromkeys(("TaskTrials", "by_task", "clusters_of"), "gates.metrics"),
    **dict.fromkeys(("LEVEL", "POWER", "Losses"), "power"),
    **dict.fromkeys(("pass_1",), "scores"),
    **dict.fromkeys(("format_tokens",), "usage"),
    **dict.fromkeys(("records_by_variant",), "variants"),
    **dict.fromkeys(("paired_groups",), "decidable"),
    **dict.fromkeys(("task_reach",), "metrics"),
    **dict.fromkeys(("Clusters", "pass_hat_k_interval"), "statistics"),
    **dict.fromkeys(("FEWEST_TASKS", "Pair", "Paired", "PassCount"), "paired"),
    **dict.fromkeys(("Interval", "difference_interval", "mean_interval", "percentile", "wilson"), "statistics"),
}

__all__ = [
    "FEWEST_TASKS",
    "LEVEL",
    "POWER",
    "Clusters",
    "Comparison",
    "Gate",
    "Interval",
    "Losses",
    "Pair",
    "Paired",
    "PassCount",
    "RunRecords",
    "TaskTrials",
    "Verdict",
    "by_task",
    "clusters_of",
    "difference_interval",
    "format_tokens",
    "mean_interval",
    "paired_groups",
    "pass_1",
    "pass_hat_k_interval",
    "percentile",
    "records_by_variant",
    "task_reach",
    "wilson",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
