"""What each ending of a conversation is called: in the report of a trial, and as the reason of a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..models import Simulation, TerminationReason

#: How a conversation ended, in a report, if the name of the ending does not say it. Of a stop, a report has the token.
_ENDED: dict[TerminationReason, str] = {
    "agent_stop": "ended by the agent",
    "max_steps": "cut off: too many steps",
    "too_many_errors": "cut off: too many failed calls",
    "capability_limit": "cut off: a limit of a capability",
    "timeout": "cut off: out of time",
    "agent_error": "ended by a fault of the agent",
    "user_error": "ended by a fault of the user",
}
#: Why an agent or a user failed whose conversation was cut off.
_CUT_OFF: dict[TerminationReason, str] = {
    "max_steps": "it did not finish within the limit of steps",
    "too_many_errors": "too many of its calls failed",
    "capability_limit": "a limit of a capability was reached",
    "timeout": "it took too long",
    "context_window_exceeded": "it exceeded the context window of its model",
}


def ended(simulation: Simulation) -> str:
    """Return how a conversation ended, in words."""
    reason, messages = simulation.termination_reason, simulation.messages
    if reason == "user_stop":
        stopped = not messages or messages[-1].role == "user"  # a stop is a message of the user, if it is recorded
        return f"ended by the user's {simulation.stop_token or 'stop'}" if stopped else "ended"
    return _ENDED.get(reason) or f"ended by {reason}"


def cut_off(reason: TerminationReason) -> str:
    """Return why a side failed whose conversation was cut off, by the ending."""
    return _CUT_OFF.get(reason) or f"it was cut off: {reason.replace('_', ' ')}"
