"""Whether the agent leaves turns of the user without an answer.

Source: τ²-bench v1.0.1, responsiveness of full-duplex simulations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .segments import agent_segments, user_segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..ticks import Tick

#: So many turns without an answer in a row are an unresponsive period.
_UNRESPONSIVE = 3


def responsiveness(ticks: Sequence[Tick]) -> dict[str, Any]:
    """Return the numbers of turns of both sides, and the longest row of the user's without an answer."""
    user, agent = user_segments(ticks), agent_segments(ticks)
    most = row = 0
    for turn, after in zip(user, [*user[1:], None], strict=False):
        end = len(ticks) if after is None else after.start
        row = 0 if any(each.start < end and each.end > turn.start for each in agent) else row + 1
        most = max(most, row)
    return {
        "total_user_turns": len(user),
        "total_agent_turns": len(agent),
        "max_unresponded_user_turns": most,
        "had_unresponsive_period": most >= _UNRESPONSIVE,
    }
