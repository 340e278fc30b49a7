"""Snapshots of trajectories with syrupy, from version 5 on: the extra ``snapshot``. Imported only when one is used."""

from .extension import (
    IS_AMBIGUOUS,
    MAYBE_UNUSED,
    TrajectoryExtension,
    TrajectorySnapshot,
    place_of,
    trajectory_snapshot,
)
from .parts import PARTS, PRESETS, Selection, StateChange, parts_of

__all__ = [
    "IS_AMBIGUOUS",
    "MAYBE_UNUSED",
    "PARTS",
    "PRESETS",
    "Selection",
    "StateChange",
    "TrajectoryExtension",
    "TrajectorySnapshot",
    "parts_of",
    "place_of",
    "trajectory_snapshot",
]
