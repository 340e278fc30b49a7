"""Test doubles: participants and a judge that follow a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import JudgeError
from ..evaluation import Verdict
from ..models import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..models import Message, Requestor

__all__ = ["ScriptedJudge", "ScriptedParticipant", "call"]


def call(name: str, requestor: Requestor = "assistant", /, **arguments: Any) -> dict[str, Any]:
    """Return a reply that makes one tool call."""
    return {"tool_calls": [ToolCall(name=name, arguments=arguments, requestor=requestor)]}


class ScriptedParticipant:
    """Replies with the entries of a script, one after the other; raises those that are exceptions.

    Args:
        replies: Values that ``respond`` may return, or exceptions.

    Attributes:
        received: The messages that it was given, oldest first.
    """

    def __init__(self, replies: Iterable[Any]) -> None:
        self._replies = iter(replies)
        self.received: list[Any] = []
        self.closed = False

    def respond(self, message: Any) -> Any:
        """Return the next entry.

        Raises:
            Exception: The entry, if it is one; IndexError at the script's end.
        """
        self.received.append(message)
        for reply in self._replies:
            if isinstance(reply, BaseException):
                raise reply
            return reply
        raise IndexError("the script has ended")

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


class ScriptedJudge:
    """A judge with a table of verdicts.

    Args:
        verdicts: True or false for each statement.

    Attributes:
        asked: The statements of each call.
    """

    name = "scripted"

    def __init__(self, verdicts: Mapping[str, bool]) -> None:
        self._verdicts = dict(verdicts)
        self.asked: list[list[str]] = []

    def judge(self, statements: Sequence[str], messages: Sequence[Message]) -> list[Verdict]:
        """Return the table's verdicts.

        Raises:
            JudgeError: A statement is not in the table.
        """
        del messages
        self.asked.append(list(statements))
        missing = [statement for statement in statements if statement not in self._verdicts]
        if missing:
            raise JudgeError(f"the script has no verdict on {missing[0]!r}")
        return [Verdict(self._verdicts[statement], "scripted") for statement in statements]
