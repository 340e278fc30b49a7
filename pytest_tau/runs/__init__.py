"""The one home of stored runs: the layout of a run's folder, and every format that results are read from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .fetch import store_of
    from .groups import Group, TaskId, count_tasks, find_variants
    from .later import FactWriter
    from .reader import Run, StoredTrial, open_run
    from .record import TrialRecord
    from .store import Store, TimedStore

#: The public names by their modules, which are imported when a name is asked for.
_HOMES = {
    **dict.fromkeys(("FactWriter",), "later"),
    **dict.fromkeys(("store_of",), "fetch"),
    **dict.fromkeys(("Group", "TaskId", "count_tasks", "find_variants"), "groups"),
    **dict.fromkeys(("Run", "StoredTrial", "open_run"), "reader"),
    **dict.fromkeys(("TrialRecord",), "record"),
    **dict.fromkeys(("Store", "TimedStore"), "store"),
}

__all__ = [
    "FactWriter",
    "Group",
    "Run",
    "Store",
    "StoredTrial",
    "TaskId",
    "TimedStore",
    "TrialRecord",
    "count_tasks",
    "find_variants",
    "open_run",
    "store_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
