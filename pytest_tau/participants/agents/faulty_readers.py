"""Faulty agents of domains whose agents read documents and unlock the tools that those name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...models import AssistantMessage, ToolCall, ToolMessage
from .faulty import FaultyAgent

if TYPE_CHECKING:
    from ..context import Incoming, Participant, ParticipantContext, Reply
    from .faulty import ForeignRecords

_UNLOCK, _GIVE = "unlock_discoverable_agent_tool", "give_discoverable_user_tool"
_TOOL = re.compile(r"`([a-z]\w*_\d{4})`")
#: The beginning of each hit of a search, with its title.
_HIT = re.compile(r"(?m)^(?=\d+\. (?P<title>.+)\n +ID: )")
_DATE = re.compile(r"\b(\d\d)/(\d\d)/(\d{4})\b")


class UnlocksWithoutNeed(FaultyAgent):
    """Unlocks every tool that a document named before the first one that it needs; gives the user the user's."""

    def __init__(self, agent: Participant, context: ParticipantContext, foreign_records: ForeignRecords = ()) -> None:
        super().__init__(agent, context, foreign_records)
        self._named: dict[str, None] = {}
        self._waiting: Reply | None = None
        self._queue: list[str] = []

    async def respond(self, message: Incoming) -> Reply:
        """Return the agent's message; before its first unlock, those of the other tools."""
        if self._waiting is not None:
            refused = isinstance(message, ToolMessage) and (message.content or "").startswith("Error: Unknown agent")
            return self._next(self._queue[0] if refused else None)
        if isinstance(message, ToolMessage):
            self._named |= dict.fromkeys(_TOOL.findall(message.content or ""))
        reply = await self._agent.respond(message)
        wanted = _unlocked(reply)
        if wanted is None or not self._named:
            return reply
        self._waiting, self._queue = reply, ["", *(name for name in self._named if name != wanted)]
        self._named.clear()
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


#: The faulty agents of this module by the KIND of ``--tau-agent saboteur:KIND``.
FAULTY_READERS: dict[str, type[FaultyAgent]] = {
    "unlocks-without-need": UnlocksWithoutNeed,
    "acts-before-reading": ActsBeforeReading,
    "trusts-stale-document": TrustsStaleDocument,
}
