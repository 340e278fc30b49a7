"""Facts about a failed simulation, as the rules of attribution see it, and the form of their answers."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..language import spoken
from ..models import AssistantMessage, UserMessage
from ..text import error_line, shorten
from .heading import is_heading_for

if TYPE_CHECKING:
    from ..models import Call, Message, Simulation
    from .divergence import Divergence

Party: TypeAlias = Literal["agent", "user", "task", "domain", "provider", "harness", "undecided"]
#: Characters of a text that are quoted.
_WIDTH = 160


class Attribution(NamedTuple):
    """The party that a failure looks like the fault of.

    Attributes:
        party: ``agent``, ``user``, ``task`` (or its domain), ``domain``, ``provider`` or ``harness``; ``undecided`` for
            the agent or the user.
        reason: The fault, in words.
        message_idx: Number of the message that shows it, from 0; None if none does.
        evidence: The text or call there, or the error.
    """

    party: Party
    reason: str
    message_idx: int | None
    evidence: str

    def as_dict(self) -> dict[str, Any]:
        """Return the value of ``simulation.info["blame"]``."""
        return self._asdict()


class Facts:
    """A failed simulation, as the rules see it."""

    def __init__(self, simulation: Simulation, divergence: Divergence | None, forbidden: str | None = None) -> None:
        self.simulation, self.divergence, self.forbidden = simulation, divergence, forbidden
        self.error = (simulation.error or "").strip()

    @functools.cached_property
    def stopped(self) -> Said | None:
        """The user's last message, if it ended the conversation while the agent was heading for the right state."""
        simulation = self.simulation
        undone = self.divergence is None or self.divergence.kind == "missing"
        if simulation.termination_reason != "user_stop" or not undone:
            return None
        by_agent = [call for call in self.missing if call["requestor"] == "assistant"]
        heading = is_heading_for(by_agent, simulation.messages)
        return Said.last(simulation.messages, UserMessage) if heading else None

    @property
    def missing(self) -> tuple[dict[str, Any], ...]:
        """The calls that the final state lacks, if it is still within reach."""
        found = self.divergence
        return () if found is None or found.kind != "missing" else (found.call, *found.also_missing)

    @property
    def token(self) -> str | None:
        """The token by which the user ended it."""
        last = self.simulation.messages[-1:]
        return self.simulation.stop_token or (last[0].stop_token if last and isinstance(last[0], UserMessage) else None)

    @functools.cached_property
    def said(self) -> Said:
        """The agent's last text."""
        return Said.last(self.simulation.messages, AssistantMessage) or Said(None, "")

    @functools.cached_property
    def calls(self) -> list[Call]:
        """The agent's calls."""
        return [made for made in self.simulation.calls if made.call.requestor == "assistant"]

    @functools.cached_property
    def transfer(self) -> Call | None:
        """The agent's last call of a tool that hands the user over."""
        return next((made for made in reversed(self.calls) if "transfer" in made.call.name), None)

    def made_instead(self) -> Call | None:
        """Return the agent's last successful call that is nearer to a missing one than to other reference actions."""
        info = self.simulation.reward_info
        wanted = [check.action for check in (info and info.action_checks) or []]
        for made in reversed(self.calls):
            same = [each.arguments for each in wanted if each.name == made.call.name]
            if not same or made.call.arguments in same or (made.result and made.result.error):
                continue
            nearest = min(same, key=functools.partial(_differing, made.call.arguments))
            if any(call["name"] == made.call.name and call["arguments"] == nearest for call in self.missing):
                return made
        return None

    def refused_by_tool(self) -> Call | None:
        """Return the last missing call that the agent has made, and that its tool refused."""
        tried = [(call["name"], call["arguments"]) for call in self.missing]
        refused = [each for each in self.calls if each.result is not None and each.result.error]
        return next((each for each in reversed(refused) if (each.call.name, each.call.arguments) in tried), None)

    @property
    def everything_met(self) -> bool:
        """Return whether every check that counts was met."""
        info = self.simulation.reward_info
        return info is not None and all(value == 1 for value in (info.reward_breakdown or {}).values())


def _differing(one: dict[str, Any], other: dict[str, Any]) -> int:
    """Return how many arguments of two calls differ."""
    return sum(one.get(name, ...) != other.get(name, ...) for name in {*one, *other})


class Said(NamedTuple):
    """The last text of a side, and the number of its message."""

    message_idx: int | None
    text: str

    @classmethod
    def last(cls, messages: list[Message], side: type[AssistantMessage | UserMessage]) -> Said | None:
        """Return the last text of a side; None if it has said nothing."""
        for number in range(len(messages) - 1, -1, -1):
            message = messages[number]
            if isinstance(message, side) and message.has_text_content():
                return cls(number, spoken(message.text))
        return None

    @property
    def words(self) -> str:
        """The text without tokens."""
        return re.sub(r"###[A-Z-]+###", "", self.text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").strip()

    @property
    def end(self) -> str:
        """The last two sentences: those that the other side reacts to."""
        return " ".join(re.split(r"(?<=[.?!:])\s+", self.words)[-2:])


def first_line(error: str) -> str:
    """Return the line of an error that names it: the first, or the last of a traceback."""
    return clipped(error_line(error)) or "no error message"


def clipped(text: str) -> str:
    """Return the beginning of a text, on one line."""
    return shorten(" ".join(text.split()), _WIDTH)


def quoted(text: str) -> str:
    """Return the end of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"…{line[1 - _WIDTH :]}"
