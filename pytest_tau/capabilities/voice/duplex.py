"""Conversations in ticks, as the core asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...capability import Duplex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ... import Conversation, Ending
    from ...capability import SubmittedRuns, Trajectory
    from ...runs import Run
    from .talk.stages import VoiceStages


class TickConversations(Duplex):
    """Conversations in ticks of simulated time."""

    async def converse(self, stages: VoiceStages, conversation: Conversation) -> Ending:
        """Hold a conversation."""
        return await stages.hold(conversation)

    def trajectory(self, duplex: Mapping[str, Any], header: Mapping[str, Any]) -> Trajectory:
        """Return the trajectory of a stored conversation."""
        from .stored import read_trajectory

        return read_trajectory(duplex, header)

    def submission(self, runs: Sequence[Run]) -> SubmittedRuns | None:
        """Return what a submission has of voice runs."""
        from .leaderboard import submitted

        return submitted(runs)
