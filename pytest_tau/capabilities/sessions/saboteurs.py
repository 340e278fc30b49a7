"""Faulty agents for tasks of several sessions: each makes the reference calls as far as what it lacks lets it.

Tasks are tested with them: each should fail exactly the tasks that need what it lacks. On the command line they are
``pytest_tau.capabilities.sessions.saboteurs:Forgets`` and the like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...documents import json_or_none
from ...models import AssistantMessage, MultiToolMessage, ToolMessage, UserMessage, strings_in
from ...participants import GoldAgent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...models import Message, ToolCall
    from ...participants import ParticipantContext, Reply

#: A read: its tool, and its arguments as text.
_Read = tuple[str, str]


class _Limited(GoldAgent):
    """Makes the reference calls whose values it knows, and says the texts that it knows; omits all others."""

    def __init__(self, context: ParticipantContext) -> None:
        super().__init__(context)
        self._writes = frozenset(tool.name for tool in context.tools if tool.mutates)
        #: Texts that values may be from.
        self._known = [context.instructions, *(text for tool in context.tools for text in strings_in(tool.parameters))]
        self._read: ToolCall | None = None

    async def respond(self, message: Any) -> Reply:
        """Return the next call or text of the reference that it knows the values of."""
        self._hear(message)
        while True:
            reply = await super().respond(message)
            call = reply.tool_calls[0] if reply.tool_calls else None
            if call is None:
                lines = reply.text.splitlines()
                return AssistantMessage(content="\n".join([lines[0], *filter(self._knows, self._recall(lines[1:]))]))
            if call.name not in self._writes:
                if all(map(self._knows, _leaves(call.arguments))):
                    self._read = call
                    return reply
                continue
            arguments = self._recall(call.arguments)
            if all(map(self._knows, _leaves(arguments))):
                return AssistantMessage(tool_calls=[call.model_copy(update={"arguments": arguments})])

    def _hear(self, message: Any) -> None:
        for result in message.tool_messages if isinstance(message, ToolMessage | MultiToolMessage) else ():
            reading, self._read = self._read, None
            self._learn(reading, result.content or "")
        if isinstance(message, UserMessage):
            self._known.append(message.text)

    def _learn(self, read_call: ToolCall | None, result: str) -> None:
        """Take note of the result of a read; of a write if there is none."""
        del read_call
        self._known.append(result)

    def _recall(self, value: Any) -> Any:
        """Return arguments or texts as it remembers them."""
        return value

    def _knows(self, value: Any) -> bool:
        text = str(value).lower()
        return any(text in known.lower() for known in self._known)


class Forgets(_Limited):
    """Remembers nothing of earlier sessions."""


class TrustsStaleMemory(_Limited):
    """Remembers what it has read in earlier sessions, and goes by that although it has changed."""

    def __init__(self, context: ParticipantContext) -> None:
        super().__init__(context)
        past = list(context.past)
        self._remembered = dict(_reads(past))
        self._known += [message.content or "" for message in past if hasattr(message, "content")]
        self._before: dict[str, Any] = {}

    def _learn(self, read_call: ToolCall | None, result: str) -> None:
        remembered = self._remembered.get(_key(read_call)) if read_call is not None else None
        if remembered is None:
            self._known.append(result)
            return
        self._before |= dict(_changed(_value(remembered), _value(result)))

    def _recall(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._recall(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self._recall(part) for part in value]
        return self._before.get(str(value), value)


class TellsOthers(GoldAgent):
    """Does everything right, and gives each caller all that it has read and heard before."""

    def __init__(self, context: ParticipantContext) -> None:
        super().__init__(context)
        self._told = "\n".join(
            message.content or "" for message in context.past if not isinstance(message, AssistantMessage)
        )

    async def respond(self, message: Any) -> Reply:
        """Return the next call, or the text with everything from earlier sessions."""
        reply = await super().respond(message)
        text = f"{reply.text}\nFrom earlier conversations: {self._told}"
        return AssistantMessage(content=text) if self._told and reply.text else reply


def _value(result: str) -> Any:
    """Return the result of a call as a JSON value, or as it is if it is not JSON."""
    value = json_or_none(result)
    return result if value is None else value


def _key(call: ToolCall) -> _Read:
    return call.name, str(sorted(call.arguments.items()))


def _reads(messages: Iterable[Message]) -> Iterator[tuple[_Read, str]]:
    """Yield each call of the agent with its result."""
    calls: dict[str, ToolCall] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls |= {call.id: call for call in message.tool_calls or []}
        elif isinstance(message, ToolMessage) and message.id in calls:
            yield _key(calls[message.id]), message.content or ""


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the texts and numbers in a JSON value."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    elif value is not None and not isinstance(value, bool):
        yield value


def _changed(before: Any, after: Any) -> Iterator[tuple[str, Any]]:
    """Yield each value of a record that has changed, as text, with what it was before."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() & after.keys():
            yield from _changed(before[name], after[name])
    elif isinstance(before, list) and isinstance(after, list):
        for old, new in zip(before, after, strict=False):
            yield from _changed(old, new)
    elif before != after and not isinstance(after, dict | list | bool | None):
        yield str(after), before
