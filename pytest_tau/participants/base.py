"""Base classes of participants: of the built-in ones, and of the adapters around foreign objects."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from ..actors import Actors, declared_actors
from ..errors import ParticipantError
from ..models import UserMessage, clone, writable
from .replies import TextStream, as_message, read_stream, short_repr

if TYPE_CHECKING:
    from .context import Incoming, ParticipantContext, Reply
    from .threads import BlockingCaller


class BuiltIn:
    """Base of this package's own participants, which need no adapting.

    Attributes:
        needs_reference: The participant is given the whole task, with its reference actions.
        keeps_messages: The participant may keep or change the messages that it gets or returns, so that it is given
            copies, and copies of its replies are stored.
    """

    needs_reference = False
    keeps_messages = True

    async def respond(self, message: Incoming) -> Reply:
        """Return the side's next message."""
        raise NotImplementedError

    def is_stop(self, message: Reply) -> bool:
        """Return whether a user's message has a stop token; an agent does not stop by itself."""
        return isinstance(message, UserMessage) and message.stop_token is not None

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


class Adapter(BuiltIn):
    """Base of the adapters: the greeting, the stop and the end of a foreign object.

    Attributes:
        stream: The stream that the last reply is the beginning of; None if that is whole.
    """

    def __init__(self, target: Any, context: ParticipantContext, caller: BlockingCaller) -> None:
        self._target, self._context, self._caller = target, context, caller
        self._actors = Actors(declared_actors(target))
        self.stream: TextStream | None = None
        self._keeps_streams = False
        self.greeting = caller.call_here(_greeting, target, context)

    def is_stop(self, message: Reply) -> bool:
        """Return what the object says, if it has a method of this name.

        Raises:
            ParticipantError: It says neither True nor False.
        """
        own = self._caller.call_here(self._own_stop, message)
        return super().is_stop(message) if own is None else own

    def _own_stop(self, message: Reply) -> bool | None:
        own = getattr(self._target, "is_stop", None)
        if not callable(own):
            return None
        answer = own(clone(message))
        if isinstance(answer, bool):
            return answer
        if inspect.iscoroutine(answer):
            answer.close()  # else Python warns that it was never awaited
        raise ParticipantError(
            f"is_stop() returned {short_repr(answer)}; expected True or False", side=self._context.side
        )

    @property
    def target(self) -> Any:
        """The foreign object."""
        return self._target

    async def call(self, method: str, *arguments: Any) -> Any:
        """Return the result of a method of the object, whose code is contained as that of ``respond``."""
        return await self._caller.call(getattr(self._target, method), *arguments)

    def keep_streams(self) -> None:
        """From now on, read of a reply that is a stream only the first words, and keep it as ``stream``.

        Without effect for forms that are given what they have said, which is read to its end.
        """

    async def _message(self, reply: Any) -> Reply:
        side = self._context.side
        try:
            message = as_message(await self._read(reply), side)
        except ParticipantError as error:
            # The text is that of the first form.
            raise ParticipantError(str(error).replace("respond()", f"{self._called}()", 1), side=side) from None
        return self._spoken(message)

    async def _read(self, reply: Any) -> Any:
        """Return the text of a reply that is a stream; any other reply as it is."""
        self.stream = None
        if not self._keeps_streams or not isinstance(reply, (Iterator, AsyncIterator)):
            return await read_stream(reply, self._context.side, self._caller.call)
        self.stream = TextStream(reply, self._context.side, self._caller.call)
        return await self.stream.words()

    def _spoken(self, message: Reply) -> Reply:
        """Return a message whose actor, if it names one, is declared.

        Raises:
            ParticipantError: It is not.
        """
        actor = getattr(message, "actor", None)
        if actor is not None:
            self._actors.check(actor)
        return message

    @property
    def _called(self) -> str:
        """The name of what has replied."""
        return "respond"

    async def close(self) -> None:
        """Close the object, if it has a method of this name."""
        own = getattr(self._target, "close", None)
        if callable(own):
            await self._caller.call(own)
        self._caller.close()


def _greeting(target: Any, context: ParticipantContext) -> str | None:
    """Return the agent's own first message, if it has one."""
    given = getattr(target, "greeting", None) if context.side == "agent" and not context.solo else None
    if given and not isinstance(given, str):
        problem = f"its greeting: expected a string, got {short_repr(given)}"
        raise ParticipantError(problem, side=context.side)
    return writable(given) if given else None
