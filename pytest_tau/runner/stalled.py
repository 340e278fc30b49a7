"""The end of a trial whose event loop was given up, because code of it or of another trial has blocked the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..orchestrator import Ending
from ..participants.containment import described_stall

if TYPE_CHECKING:
    from ..models import TerminationReason
    from ..stalls import Stall
    from .attempt import Attempt


def stall_problem(stall: Stall, *, own: bool) -> str:
    """Return what is wrong with a trial whose event loop was given up.

    Args:
        stall: What has blocked the loop.
        own: Whether it is code of this trial.
    """
    if own:
        return f"the trial {described_stall(stall)}"
    other = "code of no known trial" if stall.trial is None else f"trial {stall.trial}"
    return f"the trial was lost: {other} {described_stall(stall).partition(chr(10))[0]}"


def lost_ending(problem: str) -> Ending:
    """Return the ending of a conversation that is not to blame for the stall."""
    return Ending("infrastructure_error", error=problem, kind="BlockedLoopError")


def stalled_ending(attempt: Attempt, stall: Stall) -> Ending:
    """Return the ending of a conversation whose own code blocks the event loop.

    Args:
        attempt: The attempt.
        stall: What blocks the loop.
    """
    running = attempt.stages.running if attempt.stages else None
    if running is not None:
        problem = f"capability {running} {described_stall(stall)}"
        return Ending("infrastructure_error", error=problem, kind="CapabilityError")
    if attempt.conversation is not None:
        return attempt.conversation.blocked(stall)
    if attempt.creating is None:
        return lost_ending(stall_problem(stall, own=True))
    reason: TerminationReason = "timeout" if attempt.creating == "agent" else "user_error"
    problem = f"the {attempt.creating} was not created in time: its code {described_stall(stall)}"
    return Ending(reason, error=problem)
