"""What a trajectory consists of: turns, and calls with their results; and a place at which a rule was broken."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..documents import DocumentError, parse_json
from ..models import call_as_text

if TYPE_CHECKING:
    from ..environment.toolkit import ToolKind
    from ..models import Requestor


@dataclass(frozen=True)
class MadeCall:
    """A tool call of a conversation, with its result.

    Attributes:
        turn_number: The number of its turn, from 1.
        message_idx: The number of its message, from 0.
        requestor: The side that made it.
        name: The tool.
        arguments: Its arguments, a copy.
        result: The text of the result; None if there is none.
        failed: Whether the result is an error, or there is none.
        kind: The kind of the tool; None for an unknown tool.
        mutates: Whether the tool changes a database.
        actor: Who has made it, if the agent consists of several actors; None if that is not known.
    """

    turn_number: int
    message_idx: int
    requestor: Requestor
    name: str
    arguments: dict[str, Any]
    result: str | None
    failed: bool
    kind: ToolKind | None
    mutates: bool
    actor: str | None = None

    @cached_property
    def value(self) -> Any:
        """The result as a JSON value; its text if it is not JSON, None without one."""
        try:
            return parse_json(self.result or "")
        except DocumentError:
            return self.result

    @property
    def text(self) -> str:
        """The call as text: ``cancel_order(order_id="#W1")``."""
        return call_as_text(self.name, self.arguments)


@dataclass(frozen=True)
class Turn:
    """A message of the agent or the user.

    Attributes:
        number: From 1, as in all reports.
        message_idx: The number of the message, from 0.
        side: Whose message it is.
        text: What it says, without thoughts and envelope; empty if it says nothing.
        calls: Its calls.
        actor: Whose it is, if the agent consists of several actors; None if that is not known.
    """

    number: int
    message_idx: int
    side: Requestor
    text: str
    calls: tuple[MadeCall, ...] = ()
    actor: str | None = None


@dataclass(frozen=True)
class Breach:
    """One place at which a rule was not kept.

    Attributes:
        turn_number: The number of the turn, from 1.
        evidence: What was done there, in a few words.
        call: The call; None if the turn is a text.
    """

    turn_number: int
    evidence: str
    call: MadeCall | None = None
