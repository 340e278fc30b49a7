"""Participants that do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ParticipantError
from ...models import AssistantMessage, UserMessage
from ..base import BuiltIn

if TYPE_CHECKING:
    from ..context import Incoming, ParticipantContext, Reply


class NoopAgent(BuiltIn):
    """Says goodbye and ends: the null agent that should pass no task."""

    def __init__(self, context: ParticipantContext) -> None:
        del context

    async def respond(self, message: Incoming) -> Reply:
        """Return a goodbye."""
        del message
        return AssistantMessage(content="Goodbye.")

    def is_stop(self, message: Reply) -> bool:
        """Return True: every message ends the conversation."""
        del message
        return True


class NoopUser(BuiltIn):
    """Stops at once."""

    def __init__(self, context: ParticipantContext) -> None:
        del context

    async def respond(self, message: Incoming) -> Reply:
        """Return the stop token."""
        del message
        return UserMessage(content="###STOP###")


class DummyUser(BuiltIn):
    """The user of an agent that works alone; it is never called."""

    def __init__(self, context: ParticipantContext) -> None:
        del context

    async def respond(self, message: Incoming) -> Reply:
        """Raise an error: this user is never called.

        Raises:
            ParticipantError: Always.
        """
        raise ParticipantError("there is no user in solo mode", side="user")
