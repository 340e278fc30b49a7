"""Trajectories of passed trials that are compared with stored ones: ``--tau-snapshot``, and ``tau_snapshot``."""

from __future__ import annotations

from ...capability import Capability, declared, deferred, option, text


@declared(frozen=True)
class SnapshotSettings:
    """The settings.

    Attributes:
        snapshot: What is compared of the trajectory of a task's trial: ``calls`` or ``messages``; None for nothing.
    """

    snapshot: str | None = option(
        text,
        "session",
        "WHAT",
        choices=("calls", "messages"),
        bare="calls",
        rerun=0,
        help="compare each passed task with its stored trajectory: calls or messages",
    )


capability = Capability(
    name="snapshots",
    settings=SnapshotSettings,
    hooks=deferred(f"{__name__}.plugin:make_snapshots"),
    fixtures=deferred(f"{__name__}.fixtures:SnapshotFixtures"),
)
