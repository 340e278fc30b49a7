"""Facts about a failed simulation, as the rules of attribution see it, and the form of their answers."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..models import AssistantMessage, UserMessage
from ..text import error_line, shorten

if TYPE_CHECKING:
    from ..models import Call, Message, Simulation
    from .divergence import Divergence

Party: TypeAlias = Literal["agent", "user", "task", "domain", "provider", "harness"]
#: Characters of a text that are quoted.
_WIDTH = 160

#: The agent asks whether there is more.
CLOSING = re.compile(
    r"anything else|something else|(any )?(other|further|more) (questions?|assistance|help)|have a ", re.IGNORECASE
)
#: It speaks of handing the user over.
HANDING_OVER = re.compile(r"transfer|human agent|escalat", re.IGNORECASE)
#: It wants an answer.
REQUEST = re.compile(
    r"\?|\bconfirm\b|\bplease (provide|tell|share|reply|let me know)\b|let me know (if|which|how|what)", re.IGNORECASE
)
#: The user agrees.
AGREEING = re.compile(
    r"^\W*(yes|yeah|yep|sure|correct|absolutely|of course|i confirm|confirmed|go ahead)\b"
    r"|\b(please|you can|you may) (go ahead|proceed|confirm|continue|do (so|that|it)|complete|process)\b|\bgo ahead\b",
    re.IGNORECASE,
)
#: The agent says that it acts now.
ANNOUNCING = re.compile(
    r"\b(i will|i'll|i am going to|i'm going to) now\b|\blet me \w+ (that|this|it) (now|for you)\b"
    r"|\b(please hold|one moment|give me a moment|just a moment|bear with me)\b|\bi('m| am) (now )?processing\b",
    re.IGNORECASE,
)
#: What only an agent says.
AGENT_SPEAKING = re.compile(
    r"\b(anything else|how|what else) (that )?(i )?(can|may|could) (i )?(help|assist)", re.IGNORECASE
)


class Attribution(NamedTuple):
    """The party that a failure looks like the fault of.

    Attributes:
        party: ``agent``, ``user``, ``task`` (or its domain), ``domain``, ``provider`` or ``harness``.
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

    def __init__(self, simulation: Simulation, divergence: Divergence | None, unstable: str | None = None) -> None:
        self.simulation, self.divergence, self.unstable = simulation, divergence, unstable
        self.error = (simulation.error or "").strip()

    @functools.cached_property
    def stopped(self) -> Said | None:
        """The user's last message, if it ended the conversation while the right final state was still within reach."""
        simulation = self.simulation
        last = Said.last(simulation.messages, UserMessage)
        undone = self.divergence is None or self.divergence.kind == "missing"
        return last if simulation.termination_reason == "user_stop" and undone else None

    @property
    def token(self) -> str | None:
        """The token by which the user ended it."""
        last = self.simulation.messages[-1:]
        return self.simulation.stop_token or (last[0].stop_token if last and isinstance(last[0], UserMessage) else None)

    @functools.cached_property
    def said(self) -> Said:
        """The agent's last text."""
        return Said.last(self.simulation.messages, AssistantMessage) or Said(None, "")

    @property
    def repeats_itself(self) -> bool:
        """Return whether the agent had said its last text before."""
        texts = [each.text for each in self.simulation.messages if isinstance(each, AssistantMessage) and each.text]
        return texts[-1:] != [] and texts[-1] in texts[:-1]

    @functools.cached_property
    def calls(self) -> list[Call]:
        """The agent's calls."""
        return [made for made in self.simulation.calls if made.call.requestor == "assistant"]

    @functools.cached_property
    def transfer(self) -> Call | None:
        """The agent's last call of a tool that hands the user over."""
        return next((made for made in reversed(self.calls) if "transfer" in made.call.name), None)

    def instead_of(self, name: str) -> Call | None:
        """Return the agent's last successful call of a tool with arguments that no reference action has."""
        info = self.simulation.reward_info
        wanted = [check.action.arguments for check in (info and info.action_checks) or [] if check.action.name == name]
        made = [each for each in self.calls if each.call.name == name and not (each.result and each.result.error)]
        return next((each for each in reversed(made) if each.call.arguments not in wanted), None)

    @property
    def everything_met(self) -> bool:
        """Return whether every check that counts was met."""
        info = self.simulation.reward_info
        return info is not None and all(value == 1 for value in (info.reward_breakdown or {}).values())


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
                return cls(number, message.text)
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
