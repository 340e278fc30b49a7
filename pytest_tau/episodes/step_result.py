"""The result of a step of an episode."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class StepResult:
    """What has happened since one's own last message.

    Attributes:
        messages: The new messages in OpenAI chat format, as one's own side sees them: the other side's text, or the
            results of one's own calls. Empty if the episode ended without any.
        read_as: How the action was read: ``text``, or a dict with ``name`` and ``arguments`` for each call. A call that
            could not be executed has ``problem`` instead of ``arguments``. None for the result of ``start``.
        reward: 0 until the end, then the reward of the verdict.
        terminated: One of the sides has ended the conversation.
        truncated: A limit has ended the conversation.
        state_change: The change of ``state`` of partial credit by one's own calls in this step; 0 if the episode does
            not measure it.
    """

    messages: list[dict[str, Any]] = field(default_factory=list)
    read_as: str | list[dict[str, Any]] | None = None
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    state_change: float = 0.0

    @property
    def done(self) -> bool:
        """Return whether the episode is over."""
        return self.terminated or self.truncated
