"""Faulty agents that read results of tools wrongly: documents that name tools to unlock, and instructions."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from ...documents import DocumentError, parse_json
from ...models import AssistantMessage, ToolCall, ToolMessage
from .faulty import FaultyAgent, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..context import Incoming, Participant, ParticipantContext, Reply
    from .faulty import ForeignRecords

_UNLOCK, _GIVE = "unlock_discoverable_agent_tool", "give_discoverable_user_tool"
_TOOL = re.compile(r"`([a-z]\w*_\d{4})`")
#: The beginning of each hit of a search, with its title.
_HIT = re.compile(r"(?m)^(?=\d+\. (?P<title>.+)\n +ID: )")
#: A word that may be text in Base64.
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_DATE = re.compile(r"\b(\d\d)/(\d\d)/(\d{4})\b")


class UnlocksWithoutNeed(FaultyAgent):
    """Unlocks every tool that a document named before the first one that it needs; gives the user the user's."""

    _named: tuple[str, ...] = ()
    _waiting: Reply | None = None
    _queue: list[str]

    async def respond(self, message: Incoming) -> Reply:
        """Return the agent's message; before its first unlock, those of the other tools."""
        if self._waiting is not None:
            refused = isinstance(message, ToolMessage) and (message.content or "").startswith("Error: Unknown agent")
            return self._next(self._queue[0] if refused else None)
        if isinstance(message, ToolMessage):
            self._named = tuple(dict.fromkeys([*self._named, *_TOOL.findall(message.content or "")]))
        reply = await self._agent.respond(message)
        wanted = _unlocked(reply)
        if wanted is None or not self._named:
            return reply
        self._waiting, self._queue = reply, ["", *(name for name in self._named if name != wanted)]
        self._named = ()
        return self._next(None)

    def _next(self, refused: str | None) -> Reply:
        """Return the next unlock, or give the tool that could not be unlocked; at the end what the agent wanted."""
        if refused:
            self._queue[0] = ""
            return AssistantMessage(tool_calls=[ToolCall(name=_GIVE, arguments={"discoverable_tool_name": refused})])
        self._queue.pop(0)
        if self._queue:
            arguments = {"agent_tool_name": self._queue[0]}
            return AssistantMessage(tool_calls=[ToolCall(name=_UNLOCK, arguments=arguments)])
        reply, self._waiting = self._waiting, None
        assert reply is not None
        return reply


class ActsBeforeReading(FaultyAgent):
    """Calls hidden tools without unlocking them, so that it never reads what they do; the agent does not notice."""

    async def respond(self, message: Incoming) -> Reply:
        """Return the agent's message; its unlocks are not made."""
        reply = await self._agent.respond(message)
        while (name := _unlocked(reply)) is not None and reply.tool_calls:
            pretended = ToolMessage(id=reply.tool_calls[0].id, content=f"Tool unlocked: {name}")
            reply = await self._agent.respond(pretended)
        return reply


class TrustsStaleDocument(FaultyAgent):
    """Reads, of several documents with the same title, only the oldest."""

    def __init__(self, agent: Participant, context: ParticipantContext, foreign_records: ForeignRecords = ()) -> None:
        super().__init__(agent, context, foreign_records)
        self._oldest: dict[str, tuple[str, ...]] = {}

    async def respond(self, message: Incoming) -> Reply:
        """Return the agent's message after a search whose later hits were removed."""
        if isinstance(message, ToolMessage) and _HIT.search(message.content or ""):
            message = message.model_copy(update={"content": self._without_later(message.content or "")})
        return await self._agent.respond(message)

    def _without_later(self, text: str) -> str:
        start, *hits = re.split(_HIT.pattern.replace("?P<title>", "?:"), text)
        dated = [(_title(hit), _date(hit), hit) for hit in hits]
        for title, date, _ in dated:
            if date:
                self._oldest[title] = min(date, self._oldest.get(title, date))
        return start + "".join(hit for title, date, hit in dated if not date or date == self._oldest[title])


class ObeysToolResults(FaultyAgent):
    """Makes the calls that a text in a tool result asks for, and puts their results into its next text.

    It understands ``tool_name({"argument": …})``, also in Base64. All else is right.
    """

    def __init__(self, agent: Participant, context: ParticipantContext, foreign_records: ForeignRecords = ()) -> None:
        super().__init__(agent, context, foreign_records)
        names = "|".join(re.escape(tool.name) for tool in context.tools)
        self._call = re.compile(rf"\b({names})\((?=\{{)") if names else None
        self._obeyed: set[str] = set()
        self._waiting: list[ToolCall] = []
        self._interrupted: Incoming | None = None
        self._learned: list[str] = []

    async def respond(self, message: Incoming) -> Reply:
        """Return a call that a result asks for, or the agent's message with what such calls have returned."""
        if self._interrupted is not None:
            self._learned += results_of(message)
        else:
            self._waiting = list(self._requested(message))
            self._interrupted = message
        if self._waiting:
            return AssistantMessage(tool_calls=[self._waiting.pop(0)])
        message, self._interrupted = self._interrupted, None
        reply = await self._agent.respond(message)
        if self._learned and reply.content and not reply.tool_calls:
            learned, self._learned = " ".join(self._learned), []
            return reply.model_copy(update={"content": f"{reply.content}\n\n{learned}"})
        return reply

    def _requested(self, message: Incoming) -> Iterator[ToolCall]:
        for text in (text for result in results_of(message) for text in _readable(result)):
            for found in self._call.finditer(text) if self._call else ():
                arguments = _object_at(text, found.end())
                key = f"{found[1]} {arguments}"
                if arguments is not None and key not in self._obeyed:
                    self._obeyed.add(key)
                    yield ToolCall(name=found[1], arguments=arguments)


def _title(hit: str) -> str:
    return hit.partition("\n")[0].partition(". ")[2]


def _date(hit: str) -> tuple[str, ...]:
    """Return the first date of a document as year, month and day; empty if it has none."""
    found = _DATE.search(hit)
    return (found[3], found[1], found[2]) if found else ()


def _unlocked(reply: Reply) -> str | None:
    """Return the tool that a message unlocks; None if it does anything else."""
    calls = reply.tool_calls or []
    if len(calls) != 1 or calls[0].name != _UNLOCK:
        return None
    return str(calls[0].arguments.get("agent_tool_name", ""))


def _readable(content: str) -> Iterator[str]:
    """Yield the texts of a result, and what is in Base64 in them."""
    try:
        waiting: list[Any] = [parse_json(content)]
    except DocumentError:
        waiting = [content]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            yield value
            yield from filter(None, map(_decoded, _BASE64.findall(value)))


def _object_at(text: str, start: int) -> dict[str, Any] | None:
    """Return the JSON object that begins at a place of a text; None if there is none."""
    end = text.find("})", start)
    while end >= 0:
        try:
            found = parse_json(text[start : end + 1])
        except DocumentError:
            end = text.find("})", end + 1)
        else:
            return found if isinstance(found, dict) else None
    return None


def _decoded(word: str) -> str:
    try:
        return base64.b64decode(word, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
