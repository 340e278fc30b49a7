"""An agent behind an A2A address."""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ...errors import ConfigurationError, ModelError, ParticipantError
from ...masking import mask_secrets
from ...text import one_line
from .client import Connection, KeyRefusedError
from .http import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .client import Answer

#: States of a task that the agent is still working on; it is asked again.
_WORKING = ("submitted", "working")
#: States of a task that has an answer.
_ANSWERED = ("completed", "input-required")
#: Seconds to cancel a task at the end of a trial.
_CANCELLING = 2.0
#: Seconds before a task is asked for again: the first time, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


class A2AAgent:
    """Sends each text of a trial to an A2A server, in one conversation.

    Args:
        spec: ``a2a:URL``.
        metadata: Returns what each message says of the trial.
        fail: Ends the trial by an error that is not the agent's.
    """

    def __init__(
        self, spec: str, metadata: Callable[[], Mapping[str, str]], fail: Callable[[BaseException], None]
    ) -> None:
        self._name, self._metadata, self._fail = mask_secrets(spec), metadata, fail
        self._connection = Connection(spec)
        self._context = self._task = self._working = ""

    async def run(self, text: str) -> str:
        """Return the text of the agent's answer; a task that is worked on is asked for until it has one.

        Raises:
            ParticipantError: The server cannot be reached, refuses the message, or answers without a text.
            ModelError: The server refuses the key, which is a setting of the run and not a fault of the agent.
        """
        try:
            answer = await self._answer(text)
        except KeyRefusedError as error:
            fault = ModelError(str(error), kind="authentication")
            self._fail(fault)  # an exception alone would count against the agent
            raise fault from error
        except ConfigurationError as error:  # the card was another one when the run began
            raise ParticipantError(str(error), side="agent") from error
        self._context = answer.context or self._context
        # A task that is done takes no further message; the conversation goes on with a new one.
        self._task = answer.task if answer.state == "input-required" else ""
        if answer.state not in _ANSWERED:
            explanation = f": {one_line(mask_secrets(answer.text), SHOWN)}" if answer.text else ""
            raise ParticipantError(f"{self._name}: the task is {answer.state}{explanation}", side="agent")
        if not answer.text.strip():
            raise ParticipantError(f"{self._name} answered without a text", side="agent")
        return answer.text

    async def close(self) -> None:
        """Cancel the task that is not done, and close the connection."""
        try:
            if task := self._working or self._task:
                # The answer does not matter: the task may have ended meanwhile.
                with contextlib.suppress(ParticipantError, ConfigurationError, TimeoutError):
                    await asyncio.wait_for(self._connection.cancel(task), _CANCELLING)
        finally:
            await self._connection.close()

    async def _answer(self, text: str) -> Answer:
        connection = self._connection
        answer = await connection.send(text, self._metadata(), self._context, self._task)
        pause = _FIRST_PAUSE
        while answer.state in _WORKING:
            self._working = answer.task
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
            answer = await connection.ask(answer.task)
        self._working = ""
        return answer


def check_server(spec: str) -> None:
    """Check that a server can be reached and speaks a supported version of the protocol.

    Args:
        spec: ``a2a:URL``.

    Raises:
        ConfigurationError: It does not, or its card cannot be read.
    """

    async def check() -> None:
        connection = Connection(spec)
        try:
            await connection.open()
        finally:
            await connection.close()

    # In a thread of its own: an event loop may be running in this one.
    with ThreadPoolExecutor(1, "tau-a2a") as pool:
        pool.submit(asyncio.run, check()).result()
