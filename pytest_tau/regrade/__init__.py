"""Grading stored conversations again, and what has changed since they were graded."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recognition import DomainSource, recognise_domain, worked_alone
    from .replay_diff import call_on_other_data
    from .stored import PlacedTrial, StoredTrials

#: The public names by their modules, which are imported when a name is asked for.
_HOMES = {
    **dict.fromkeys(("DomainSource", "recognise_domain", "worked_alone"), "recognition"),
    **dict.fromkeys(("call_on_other_data",), "replay_diff"),
    **dict.fromkeys(("PlacedTrial", "StoredTrials"), "stored"),
}

__all__ = ["DomainSource", "PlacedTrial", "StoredTrials", "call_on_other_data", "recognise_domain", "worked_alone"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
