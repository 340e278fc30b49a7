"""The one home of stored runs: the layout of a run's folder, and every format that results are read from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .drafts import RunDraft, drafted_run
    from .fetch import store_of
    from .groups import Group, TaskId, count_tasks, find_variants
    from .jsonl import model_text
    from .later import FactWriter
    from .layout import RUNS, ignore_in_git
    from .manifest_diff import diff_settings
    from .reader import Run, StoredTrial, open_run
    from .record import TrialRecord
    from .rerun import domain_options, rerun_options
    from .results.streaming_json import JsonText
    from .store import Store, TimedStore
    from .strength import StrengthFacts, all_strength, store_strength, stored_strength

#: The public names by their modules, which are imported when a name is asked for.
_HOMES = {
    **dict.fromkeys(("RunDraft", "drafted_run"), "drafts"),
    **dict.fromkeys(("FactWriter",), "later"),
    **dict.fromkeys(("RUNS", "ignore_in_git"), "layout"),
    **dict.fromkeys(("diff_settings",), "manifest_diff"),
    **dict.fromkeys(("model_text",), "jsonl"),
    **dict.fromkeys(("JsonText",), "results.streaming_json"),
    **dict.fromkeys(("store_of",), "fetch"),
    **dict.fromkeys(("Group", "TaskId", "count_tasks", "find_variants"), "groups"),
    **dict.fromkeys(("Run", "StoredTrial", "open_run"), "reader"),
    **dict.fromkeys(("TrialRecord",), "record"),
    **dict.fromkeys(("domain_options", "rerun_options"), "rerun"),
    **dict.fromkeys(("Store", "TimedStore"), "store"),
    **dict.fromkeys(("StrengthFacts", "all_strength", "store_strength", "stored_strength"), "strength"),
}

__all__ = [
    "RUNS",
    "FactWriter",
    "Group",
    "JsonText",
    "Run",
    "RunDraft",
    "Store",
    "StoredTrial",
    "StrengthFacts",
    "TaskId",
    "TimedStore",
    "TrialRecord",
    "all_strength",
    "count_tasks",
    "diff_settings",
    "domain_options",
    "drafted_run",
    "find_variants",
    "ignore_in_git",
    "model_text",
    "open_run",
    "rerun_options",
    "store_of",
    "store_strength",
    "stored_strength",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
