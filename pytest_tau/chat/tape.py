"""The interface of what records the model calls of a trial, or answers them from a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..models import TerminationReason
    from .requests import ChatReply, ChatRequest, Role


class Tape(Protocol):
    """Records the model calls of one trial, or answers them from a recording.

    Attributes:
        times: The readings of the recorded trial's clock; empty if nothing is replayed.
    """

    times: list[str]

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """Return the answer to a request, from the model or from the recording.

        Raises:
            ReplayError: The recording has no such request.
            RecordingEnded: The recorded conversation ended here.
            ModelError: The model failed, now or when it was recorded.
        """
        ...

    def finish(
        self, reason: TerminationReason, error: str | None, times: list[str], *, timed_out: bool = False
    ) -> None:
        """End the recording of a trial that has a verdict.

        Args:
            reason: How its conversation ended.
            error: What went wrong, if anything did.
            times: The readings of the clock, in ISO 8601.
            timed_out: The wall clock ended it.

        Raises:
            ReplayError: The recording goes on.
            OSError: The recording cannot be written.
        """
        ...

    def abandon(self) -> None:
        """End the recording of a trial without a verdict; calls that were made are kept for the next recording."""
        ...
