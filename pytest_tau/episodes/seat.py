"""The participant whose messages come from outside, by steps."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..participants.actions import STOP
from ..participants.base import BuiltIn

if TYPE_CHECKING:
    from ..participants import Incoming, Reply, Side


class Seat(BuiltIn):
    """One side of a conversation, which waits for messages from outside.

    Attributes:
        given: The message that the side is to answer now; None before its first turn.
    """

    def __init__(self, side: Side) -> None:
        self.given: Incoming | None = None
        self._side = side
        self._reply: asyncio.Future[Reply] | None = None
        self._changed: asyncio.Future[None] | None = None

    async def respond(self, message: Incoming) -> Reply:
        """Return the message that comes from outside."""
        self.given = message
        self._reply = asyncio.get_running_loop().create_future()
        self.wake()
        try:
            return await self._reply
        finally:
            self._reply = None

    def is_stop(self, message: Reply) -> bool:
        """Return whether a message has a stop token of its side."""
        if self._side == "agent":
            return STOP in message.text and not message.tool_calls
        return super().is_stop(message)

    @property
    def is_asked(self) -> bool:
        """Return whether it is this side's turn."""
        return self._reply is not None and not self._reply.done()

    def answer(self, reply: Reply) -> None:
        """Give the message that ``respond`` waits for."""
        if self._reply is not None:
            self._reply.set_result(reply)

    async def change(self) -> None:
        """Wait until it is this side's turn, or until ``wake`` is called."""
        self._changed = asyncio.get_running_loop().create_future()
        try:
            await self._changed
        finally:
            self._changed = None

    def wake(self) -> None:
        """End the waiting."""
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)
