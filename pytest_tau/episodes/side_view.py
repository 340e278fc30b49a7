"""The conversation as one side sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..models import clone
from ..participants import chat_messages, has_ticket, llm_system_message

if TYPE_CHECKING:
    from ..models import Message
    from ..participants import Incoming, ParticipantContext, Side


class SideView:
    """The messages of a conversation in OpenAI chat format, as one side sees them.

    Args:
        side: The side.
        context: The context of a participant on that side.

    Attributes:
        trajectory: The whole conversation so far, with the other side's calls, oldest first.
    """

    def __init__(self, side: Side, context: ParticipantContext) -> None:
        self.trajectory: list[Message] = list(context.history) if context.continues else []
        self._side, self._context = side, context
        self._system: dict[str, Any] = {"role": "system", "content": llm_system_message(context)}
        self._chat: list[dict[str, Any]] = []
        self._seen = self._prompt_length = 0

    @property
    def prompt(self) -> list[dict[str, Any]]:
        """The messages before the side's first one; empty before ``end_prompt``."""
        return clone(self._chat[: self._prompt_length])

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The prompt, and all that followed."""
        return clone(self._chat)

    def end_prompt(self) -> None:
        """Make what the side has seen so far the prompt."""
        self._prompt_length = len(self._chat)

    def update(self, given: Incoming | None, *, own_first: bool) -> list[dict[str, Any]]:
        """Add the messages since the last update, and return those that the side did not send itself.

        Args:
            given: What the side is to answer; it opens the conversation if nothing is recorded yet.
            own_first: The first of the new messages is the side's own.
        """
        new: list[Incoming | Message] = [*self.trajectory[self._seen :]]
        if not self._chat:
            self._chat.append(self._system)
            if not new and given is not None and not has_ticket(self._context):
                new = [given]  # the ticket of an agent that works alone, which is not recorded
        chats = [chat for message in new for chat in chat_messages(message, self._side)]
        self._seen = len(self.trajectory)
        self._chat += chats
        return chats[1:] if own_first else chats
