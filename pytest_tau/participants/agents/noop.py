"""Participants that do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ParticipantError
from ...models import AssistantMessage, UserMessage
from ..base import BuiltIn

if TYPE_CHECKING:
    from ..context import Incoming, ParticipantContext, Reply


class NoopUser(BuiltIn):
    """Stops at once."""

    def __init__(self, context: ParticipantContext) -> None:
        """Need nothing of the context."""

    async def respond(self, message: Incoming) -> Reply:
        """Return the stop token."""
        return UserMessage(content="###STOP###")


class NoopAgent(NoopUser):
    """Says goodbye and ends: the null agent that should pass no task."""

    async def respond(self, message: Incoming) -> Reply:
        """Return a goodbye."""
        return AssistantMessage(content="Goodbye.")

    def is_stop(self, message: Reply) -> bool:
        """Return True: every message ends the conversation."""
        return True


class DummyUser(NoopUser):
    """The user of an agent that works alone; it is never called."""

    async def respond(self, message: Incoming) -> Reply:
        """Raise an error: this user is never called."""
        raise ParticipantError("there is no user in solo mode", side="user")
