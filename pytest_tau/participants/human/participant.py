"""``human`` as an agent or a user: a person at the terminal answers each message."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ...models import ConversationEnded
from ..actions import STOP
from ..base import BuiltIn
from ..chat_format import visible_to
from .prompt import LeftError, Prompt, surroundings

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..context import Incoming, ParticipantContext, Reply


class _Human(BuiltIn):
    """A side that a person plays.

    Raises:
        ConfigurationError: There is no terminal.
    """

    def __init__(self, context: ParticipantContext) -> None:
        if not sys.stdin.isatty():  # nor is it while pytest captures output
            raise ConfigurationError(f"{context.side} 'human' needs a terminal; with pytest add -s")
        self._context, self._prompt = context, Prompt(surroundings(context))
        self._begun, self._restore = False, _terminal_restorer()
        self._thread: threading.Thread | None = None

    async def respond(self, message: Incoming) -> Reply:
        """Show a message, and return what the person says or calls.

        Raises:
            ConversationEnded: The person has left.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        # The loop is needed for the other side. A daemon: after Ctrl-C, nothing can end the waiting for a line.
        self._thread = threading.Thread(
            target=self._answer, args=(message, loop, answer), daemon=True, name="tau-human"
        )
        self._thread.start()
        try:
            return await answer
        except LeftError:
            reason = f"the person who plays the {self._context.side} has left"
            raise ConversationEnded("infrastructure_error", reason) from None

    def _answer(self, message: Incoming, loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Reply]) -> None:
        try:
            reply = self._ask(message)
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is waited for
            _settle(loop, answer, answer.set_exception, error)
        else:
            _settle(loop, answer, answer.set_result, reply)

    def _ask(self, message: Incoming) -> Reply | None:
        screen = self._prompt.screen
        if not self._begun:
            context, self._begun = self._context, True
            screen.line()
            screen.line(f"task {context.task.id}, trial {context.trial}: you play the {context.side}; /help", "head")
            if context.side == "user":
                screen.line(context.instructions)
            screen.messages(visible_to(context.side, context.past))
        screen.message(message)
        return self._prompt.ask()

    async def close(self) -> None:
        """Give the terminal back if a line is still waited for."""
        if self._thread is not None and self._thread.is_alive():
            self._restore()


def _settle(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Any], settle: Any, value: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop was closed while the person wrote
        loop.call_soon_threadsafe(lambda: None if answer.done() else settle(value))


def _terminal_restorer() -> Callable[[], None]:
    """Return a function that gives the terminal the settings that it has now, which readline changes for a line."""
    try:
        import termios

        settings = termios.tcgetattr(sys.stdin)
    except (ImportError, OSError, ValueError):  # Windows, or not a terminal
        return lambda: None
    return lambda: termios.tcsetattr(sys.stdin, termios.TCSADRAIN, settings)


class HumanAgent(_Human):
    """An agent that a person plays."""

    def is_stop(self, message: Reply) -> bool:
        """Return whether the person has ended the conversation: by ``done()``, or by the text of that call."""
        return STOP in message.text and not message.tool_calls


class HumanUser(_Human):
    """A user that a person plays."""
