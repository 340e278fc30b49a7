"""Machines that share a store take trials from a queue, so that all end together: ``--tau-queue``."""

from __future__ import annotations

from ...capability import Capability, declared, deferred, flag, option, real


@declared(frozen=True)
class QueueSettings:
    """The settings.

    Attributes:
        queue: Whether trials are taken from the queue of the run.
        queue_lease: The seconds after which another machine runs the trials of one that gives no sign of life.
    """

    queue: bool = option(
        flag,
        "session",
        default=False,
        rerun=0,
        help="take trials one by one from a queue that all machines with the same --tau-results URL and --tau-run-name "
        "share, and run again what a lost machine has taken",
    )
    queue_lease: float = option(
        real(1),
        "session",
        "SECONDS",
        default=60.0,
        rerun=0,
        help="with --tau-queue, a machine that gives no sign of life for so long is lost (default: %(default)s)",
    )


capability = Capability(
    name="queue",
    settings=QueueSettings,
    on=lambda settings: settings.queue,
    hooks=deferred(f"{__name__}.plugin:make_queue"),
)
