"""Conversations in which both sides can speak at once, in ticks of simulated time."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...capability import Capability, ExportFormat, FactColumn, deferred

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


capability = Capability(
    name="voice",
    on=_never,
    facts=deferred(f"{__name__}.facts:VoiceFacts"),
    trajectory=deferred(f"{__name__}.stored:read_trajectory"),
    submission=deferred(f"{__name__}.leaderboard:submitted"),
    exports=(
        ExportFormat(
            "interaction-metrics",
            "interaction-metrics for the metrics of a voice run as a leaderboard has them",
            deferred(f"{__name__}.leaderboard:write_metrics"),
        ),
    ),
    columns=(
        FactColumn("response_rate", label="Answered", kind="score", metric=True, most=1.0),
        FactColumn("response_latency", label="Answer after", kind="seconds", metric=True),
        FactColumn("response_latency_p50", metric=True),
        FactColumn("response_latency_p95", metric=True),
        FactColumn("response_timing", metric=True, most=1.0),
        FactColumn("yield_rate", label="Yielded", kind="score", metric=True, most=1.0),
        FactColumn("yield_latency", metric=True),
        FactColumn("agent_interruption_rate", label="Interrupted", kind="number", metric=True),
        FactColumn("selectivity_backchannel", metric=True, most=1.0),
        FactColumn("selectivity_vocal_tic", metric=True, most=1.0),
        FactColumn("selectivity_non_directed", metric=True, most=1.0),
        FactColumn("complexity"),
    ),
    summary=deferred(f"{__name__}.facts:summary"),
    failure=deferred(f"{__name__}.facts:failure"),
)


def __getattr__(name: str) -> Any:
    """Import what is public when it is asked for: every run of pytest imports this module."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'ticks' if name == 'Tick' else 'measure'}"), name)
