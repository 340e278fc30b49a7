"""A finished conversation as rules see it: turns, calls with their results, and the records before each call."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING, Any

from ..language.message import spoken
from ..models import AssistantMessage, UserMessage, clone, is_beginning
from .parts import Breach, MadeCall, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..environment import Environment
    from ..environment.toolkit import ToolInfo
    from ..models import Message, Requestor, ToolCall, ToolMessage


@dataclass(frozen=True)
class Trajectory:
    """A finished conversation, for reading only.

    Attributes:
        turns: The messages of agent and user, in order.
        policy: The text that the agent was given.
        given: The number of messages that the task begins with; the agent did not write them.
        dialog: Whether the agent talks to a user; not if it works alone, or only makes the reference calls.
    """

    turns: tuple[Turn, ...]
    policy: str = ""
    given: int = 0
    dialog: bool = True
    _source: Sequence[Message] = field(default=(), repr=False)
    _start: Callable[[], Environment] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        messages: Sequence[Message],
        tools: Mapping[str, ToolInfo],
        *,
        start: Callable[[], Environment] | None = None,
        policy: str = "",
        given: int = 0,
        dialog: bool = True,
    ) -> Trajectory:
        """Return the trajectory of a conversation.

        Args:
            messages: The conversation, oldest first.
            tools: The declarations of both sides' tools.
            start: Returns a new environment in the state before the conversation; None if there is none.
            policy: The text that the agent was given.
            given: The number of messages that the task begins with.
            dialog: Whether the agent talks to a user.
        """
        return cls(tuple(_turns(messages, tools)), policy, given, dialog, messages, start)

    @cached_property
    def messages(self) -> list[Message]:
        """The messages, copies, oldest first."""
        return clone(list(self._source))

    @cached_property
    def calls(self) -> tuple[MadeCall, ...]:
        """The agent's calls, in order."""
        return tuple(call for turn in self.turns if turn.side == "assistant" for call in turn.calls)

    @cached_property
    def user_calls(self) -> tuple[MadeCall, ...]:
        """The user's calls, in order."""
        return tuple(call for turn in self.turns if turn.side == "user" for call in turn.calls)

    @cached_property
    def writes(self) -> tuple[MadeCall, ...]:
        """The agent's calls of tools that change a database, refused ones included, in order."""
        return tuple(call for call in self.calls if call.mutates)

    def of_tool(self, *names: str) -> list[MadeCall]:
        """Return the agent's calls of these tools that succeeded, in order."""
        return [call for call in self.calls if call.name in names and not call.failed]

    def before(self, place: Turn | MadeCall) -> list[MadeCall]:
        """Return the agent's calls that had results before a turn or a call, in order.

        Calls of one message are made at once: none of them is before another.
        """
        number = place.number if isinstance(place, Turn) else place.turn_number
        return [call for call in self.calls if call.turn_number < number]

    def agent_texts(self, before: Turn | MadeCall | None = None, after: Turn | MadeCall | None = None) -> list[Turn]:
        """Return the turns in which the agent says something, between two places."""
        return self._texts("assistant", before, after)

    def user_texts(self, before: Turn | MadeCall | None = None, after: Turn | MadeCall | None = None) -> list[Turn]:
        """Return the turns in which the user says something, between two places."""
        return self._texts("user", before, after)

    def _texts(self, side: Requestor, before: Turn | MadeCall | None, after: Turn | MadeCall | None) -> list[Turn]:
        first = _number(after) if after is not None else 0
        last = _number(before) if before is not None else len(self.turns) + 1
        return [turn for turn in self.turns[first : last - 1] if turn.side == side and turn.text]

    def state_before(self, call: MadeCall) -> Environment | None:
        """Return a copy of the environment as it was before a call; None if the state is not available.

        The calls before are made again on a new environment. A call of a domain whose tools run on a server has no
        such state.
        """
        state = self.shared_state_before(call)
        return state and state.fork()

    def shared_state_before(self, call: MadeCall) -> Environment | None:
        """Return the environment as it was before a call, for reading only; None if the state is not available.

        It is the same object for every call before which nothing has changed in between.
        """
        if self._start is None:
            return None
        number = 0
        for earlier in self._changing:
            if earlier is call or earlier.message_idx > call.message_idx:
                break
            number += 1
        if number not in self._states:
            self._states[number] = self._state_after(number, self._start)
        return self._states[number]

    def _state_after(self, number: int, start: Callable[[], Environment]) -> Environment:
        """Return the state after so many of the calls that change it, from the latest one that is known before it."""
        latest = max((known for known in self._states if known < number), default=None)
        state = start() if latest is None else self._states[latest].fork()
        for call in self._changing[latest or 0 : number]:
            if state.mutates(call.name, call.requestor):
                state.call(call.name, call.arguments, call.requestor)
        state.close()
        return state

    @cached_property
    def _states(self) -> dict[int, Environment]:
        """The states that were asked for, by the number of calls before them that change a database."""
        return {}

    @cached_property
    def _changing(self) -> list[MadeCall]:
        """The calls of both sides of tools that change a database, in order."""
        return [call for turn in self.turns for call in turn.calls if call.mutates]

    def breach(self, place: Turn | MadeCall, evidence: str) -> Breach:
        """Return a breach at a turn or a call."""
        call = place if isinstance(place, MadeCall) else None
        return Breach(_number(place), evidence, call)


def _number(place: Turn | MadeCall) -> int:
    return place.number if isinstance(place, Turn) else place.turn_number


def _turns(messages: Sequence[Message], tools: Mapping[str, ToolInfo]) -> Iterator[Turn]:
    number = 0
    for message_idx, message in enumerate(messages):
        if not isinstance(message, AssistantMessage | UserMessage):
            continue
        number += 1
        made_calls: tuple[MadeCall, ...] = ()
        actor = message.actor if isinstance(message, AssistantMessage) else None
        if calls := message.tool_calls:
            following = messages[message_idx + 1 : message_idx + 1 + len(calls)]
            results: Iterator[Any] = takewhile(lambda other: other.role == "tool", following)
            pairs = zip_longest(calls, results)
            made_calls = tuple([_made(call, result, number, message_idx, tools, actor) for call, result in pairs])
        content = message.content
        text = spoken(content) if content else ""
        yield Turn(number, message_idx, message.role, text, made_calls, actor)


def _made(
    call: ToolCall,
    result: ToolMessage | None,
    turn_number: int,
    message_idx: int,
    tools: Mapping[str, ToolInfo],
    actor: str | None,
) -> MadeCall:
    info = tools.get(call.name)
    return MadeCall(
        turn_number=turn_number,
        message_idx=message_idx,
        requestor=call.requestor,
        name=call.name,
        arguments=clone(call.arguments),
        result=result.content if result else None,
        failed=result is None or result.error,
        kind=info.kind if info else None,
        mutates=info.mutates if info else is_beginning(call),
        actor=actor,
    )
