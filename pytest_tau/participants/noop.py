"""Participants that do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParticipantError
from ..models import AssistantMessage, UserMessage
from .adapters import BuiltIn

if TYPE_CHECKING:
    from .context import Incoming, ParticipantContext, Reply


class NoopAgent(BuiltIn):
    """Greets and ends: the floor that every task should be above."""

    def __init__(self, context: ParticipantContext) -> None:
        del context

    async def respond(self, message: Incoming) -> Reply:
        """A goodbye."""
        del message
        return AssistantMessage(content="Goodbye.")

    def is_stop(self, message: Reply) -> bool:
        """Every message ends the conversation."""
        del message
        return True


class NoopUser(BuiltIn):
    """Stops at once."""

    def __init__(self, context: ParticipantContext) -> None:
        del context

    async def respond(self, message: Incoming) -> Reply:
        """The stop token."""
        del message
        return UserMessage(content="###STOP###")


class DummyUser(BuiltIn):
    """Stands in for the user of an agent that works alone; it is never asked."""

    def __init__(self, context: ParticipantContext) -> None:
        del context

    async def respond(self, message: Incoming) -> Reply:
        """Never reached.

        Raises:
            ParticipantError: Always.
        """
        raise ParticipantError("there is no user in solo mode", side="user")
