"""The end of a trial whose event loop was given up, because code of it or of another trial has blocked the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..orchestrator import Ending
from ..participants.containment import described_stall

if TYPE_CHECKING:
    from ..evaluation.outside import StateBefore
    from ..models import Simulation, TerminationReason
    from ..orchestrator import Conversation
    from ..participants import Side
    from ..stalls import Stall

#: What a trial does at a time.
Phase: TypeAlias = Literal["planned", "participants", "conversation", "grading", "facts"]


@dataclass
class Attempt:
    """What is known of an attempt while it runs.

    Attributes:
        simulation: Its simulation, without the messages of a conversation that has not ended.
        before: The state outside of the environment before it.
        creating: The side that is created last; None before the first.
        conversation: Its conversation; None before that has begun.
    """

    simulation: Simulation
    before: StateBefore
    creating: Side | None = None
    conversation: Conversation | None = None


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


def stalled_ending(attempt: Attempt, stall: Stall, running: str | None) -> Ending:
    """Return the ending of a conversation whose own code blocks the event loop.

    Args:
        attempt: The attempt.
        stall: What blocks the loop.
        running: The capability and its stage that run; None if none does.
    """
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
