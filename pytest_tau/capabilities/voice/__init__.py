"""Conversations in which both sides can speak at once, in ticks of simulated time."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...capability import Capability

if TYPE_CHECKING:
    from .measure import (
        communicate_texts,
        flat_messages,
        interaction_metrics,
        pooled_metrics,
        responsiveness,
        transcript,
        user_context,
    )
    from .ticks import Tick

__all__ = [
    "Tick",
    "capability",
    "communicate_texts",
    "flat_messages",
    "interaction_metrics",
    "pooled_metrics",
    "responsiveness",
    "transcript",
    "user_context",
]


def _never(_settings: object) -> bool:
    return False


capability = Capability(name="voice", on=_never)


def __getattr__(name: str) -> Any:
    """Import what is public when it is asked for: every run of pytest imports this module."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'ticks' if name == 'Tick' else 'measure'}"), name)
