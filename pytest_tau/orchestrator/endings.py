"""Endings of conversations: how one ends, and by which exception of which side."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import ContextWindowError, ModelError, ReplayError, UnboundCallError, UnusableReplyError
from ..models import ConversationEnded
from ..participants.containment import describe

if TYPE_CHECKING:
    from ..models import TerminationReason
    from ..participants import Side

#: How a conversation ends by a fault of a side.
FAULT_OF: dict[Side, TerminationReason] = {"agent": "agent_error", "user": "user_error"}


class Ending(NamedTuple):
    """The end of a conversation.

    Attributes:
        reason: How it ended.
        stop_token: The token of the user, if one has ended it.
        error: What went wrong, if anything did.
        kind: The class of pytest-tau's exception behind the error; None for other errors.
    """

    reason: TerminationReason
    stop_token: str | None = None
    error: str | None = None
    kind: str | None = None


def ending_by(error: BaseException, side: Side) -> Ending:
    """Return the ending by an exception that a side has raised."""
    if isinstance(error, ConversationEnded):
        return Ending(error.termination_reason, error=error.error)
    if isinstance(error, ModelError | ReplayError | UnboundCallError | UnusableReplyError):
        # No verdict; but the length of an agent's requests is its own fault.
        own = side == "agent" and isinstance(error, ContextWindowError)
        reason: TerminationReason = "context_window_exceeded" if own else reason_of(error)
        return Ending(reason, error=describe(error), kind=type(error).__name__)
    # Any other exception of a participant is its own fault.
    return Ending(FAULT_OF[side], error=describe(error, place=True))


def reason_of(error: Exception) -> TerminationReason:
    """Return how a conversation ends by an error of neither side: of a recording, or of a provider."""
    return "unexpected_error" if isinstance(error, ReplayError | OSError) else "infrastructure_error"
