"""Dialogs of agents without a model: generators that yield what is said or called, and are sent what comes back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, NoReturn, TypeAlias, TypeVar

from pytest_tau.models import AssistantMessage, MultiToolMessage, ToolCall, ToolMessage, UserMessage, time_passed

from .formatting import join_sentences
from .transfer import TRANSFER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_tau.environment import Tool

T = TypeVar("T")
P = TypeVar("P", bound="Plan")

CONFIRM: Final = "Do you confirm? (yes/no)"
#: What the policies want said after a transfer, and nothing else.
NOTICE: Final = "ONE MOMENT PLEASE, A HUMAN AGENT TAKES OVER FROM HERE."


class Say(NamedTuple):
    """A message to the user."""

    text: str


class Do(NamedTuple):
    """A call of a tool."""

    tool: str
    arguments: dict[str, Any]


class Heard(NamedTuple):
    """A reply: the user's words, or the result of a call."""

    text: str
    error: bool = False


#: A part of a dialog, and what it returns.
Talk: TypeAlias = Generator[Say | Do, Heard, T]


class Declined(Exception):  # noqa: N818 - no error: the policy's no to a request
    """A request that is not met, with the reason."""


class HandOver(Exception):  # noqa: N818 - no error: what only a person can do
    """A request that only a person can handle, with its subject."""


@dataclass(frozen=True)
class Plan:
    """A change that the user has not agreed to yet.

    Attributes:
        summary: What will change.
        call: The call that makes it.
        done: The message once it is made.
        refund: What the user gets back by it, in USD.
    """

    summary: str
    call: Do
    done: str
    refund: float = 0


@dataclass
class Session(Generic[P]):
    """The state of a conversation: what has been read and done.

    Attributes:
        user_id: The user, once identified.
        done: Changes that were made, oldest first.
        pending: What is to be said with the next message.
    """

    user_id: str = ""
    done: list[P] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    _read: dict[str, str] = field(default_factory=dict)

    def ask(self, text: str) -> Talk[str]:
        """Say something, after what is still to be said, and wait for the answer."""
        message = join_sentences([*self.pending, text])
        self.pending.clear()
        heard = yield Say(message)
        return heard.text

    def propose(self, plans: Iterable[P], before: Iterable[str] = ()) -> Talk[str]:
        """Sum up what will change, and wait for the answer."""
        return (yield from self.ask(join_sentences([*before, *(plan.summary for plan in plans), CONFIRM])))

    def call(self, tool: str, **arguments: Any) -> Talk[Heard]:
        """Make a call and wait for its result."""
        heard = yield Do(tool, arguments)
        return heard

    def look(self, tool: str, **arguments: str) -> Talk[str]:
        """Return the result of a reading call, which is made once until something is changed.

        Raises:
            Declined: There is no such record.
        """
        key = json.dumps([tool, arguments])
        if key not in self._read:
            heard = yield from self.call(tool, **arguments)
            if heard.error:
                raise Declined(f"I find no such record ({heard.text})")
            self._read[key] = heard.text
        return self._read[key]

    def change(self, plan: P) -> Talk[None]:
        """Make a change that was agreed to.

        Raises:
            Declined: The tool refuses it.
        """
        heard = yield from self.call(plan.call.tool, **plan.call.arguments)
        self._read.clear()
        if heard.error:
            raise Declined(f"the system refuses it ({heard.text})")
        self.done.append(plan)

    def hand_over(self, summary: str) -> Talk[NoReturn]:
        """Hand over to a person, which ends the conversation."""
        yield from self.call(TRANSFER, summary=summary)
        while True:
            yield Say(NOTICE)


class DialogAgent(ABC):
    """An agent that plays a dialog, the same way each time; another one in each session of a task.

    Args:
        tools: What it can call; unused, since dialogs name their tools.
        policy: The policy that it goes by, as far as the dialog reads it.

    Attributes:
        elapsed: The time since the first session of the task.
    """

    def __init__(self, tools: Sequence[Tool] = (), policy: str = "") -> None:
        del tools
        self.policy = policy
        self.elapsed = timedelta()
        self._dialog: Talk[None] | None = None
        self._calls = 0

    @abstractmethod
    def dialog(self, text: str) -> Talk[None]:
        """Lead the whole conversation, which does not end by itself.

        Args:
            text: The user's first message.
        """

    async def respond(self, message: UserMessage | ToolMessage | MultiToolMessage) -> AssistantMessage:
        """Return what is said or called next.

        Args:
            message: The user's message, or the result of the last call.
        """
        text = message.content or ""
        passed = time_passed(text) if isinstance(message, UserMessage) else None
        if passed is not None:
            self.elapsed, self._dialog = passed, None
            text = text.partition("\n")[2]
        if self._dialog is None:
            self._dialog = self.dialog(text)
            turn = next(self._dialog)
        else:
            turn = self._dialog.send(_heard(message))
        if isinstance(turn, Say):
            return AssistantMessage(content=turn.text)
        self._calls += 1
        call = ToolCall(id=f"call_{self._calls}", name=turn.tool, arguments=turn.arguments)
        return AssistantMessage(tool_calls=[call])


def _heard(message: UserMessage | ToolMessage | MultiToolMessage) -> Heard:
    if isinstance(message, MultiToolMessage):
        message = message.tool_messages[0]
    return Heard(message.content or "", isinstance(message, ToolMessage) and message.error)
