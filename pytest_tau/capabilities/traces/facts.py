"""What is known of a conversation that was imported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from ...capability import PageBlock, PageItem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Message, Simulation


_UNKNOWN_END = "who has ended the conversation is not recorded"
#: The number of the message that a note is about.
_MESSAGE = re.compile(r"message (\d+): ")


class SourceFile(BaseModel):
    """A file of traces: its name, and the first digits of its SHA-256."""

    name: str
    digest: str


class TraceFacts(BaseModel):
    """Where an imported conversation comes from, and what is missing in it.

    Attributes:
        files: The files that were read together.
        scopes: The libraries that have recorded it.
        key: The session or thread; None if nothing identifies it.
        trace_ids: Its traces.
        span_ids: The span of each message; empty for one that only histories have.
        system: The instructions of the agent.
        tools: Definitions of its tools.
        notes: What is missing or was decided, with numbers of messages.
        handoffs: The numbers of messages that hand the conversation over to another agent.
        complete: Whether it ends with an answer of the agent.
        unknown: Fields of the simulation that the trace does not say.
        origin: What an export of pytest-tau has said of its trial.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    files: list[SourceFile] = []
    scopes: list[str] = []
    key: str | None = None
    trace_ids: list[str] = []
    span_ids: list[str] = []
    system: str | None = None
    tools: list[Any] = []
    notes: list[str] = []
    handoffs: list[int] = []
    complete: bool = True
    unknown: list[str] = []
    origin: dict[str, Any] = {}


def _actor(message: Message) -> str | None:
    return message.actor if message.role == "assistant" else None


def stored_facts(simulation: Simulation) -> dict[str, Any]:
    """Return the facts of a simulation as they are stored; empty if there are none."""
    stored = simulation.facts.get("traces")
    return stored if isinstance(stored, dict) else {}


def failure(facts: TraceFacts, _simulation: Simulation) -> list[str]:
    """Return what is missing in an imported conversation."""
    return [*facts.notes, *([_UNKNOWN_END] if "termination_reason" in facts.unknown else [])]


def page(facts: TraceFacts, simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the block of the HTML report: where the conversation comes from, and what is missing in it."""
    if not facts.trace_ids:
        return
    known = {
        "Key": facts.key or "",
        "Traces": ", ".join(facts.trace_ids),
        "Recorded by": ", ".join(facts.scopes),
        "Files": ", ".join(file.name for file in facts.files),
        "Agents": ", ".join(dict.fromkeys(filter(None, map(_actor, simulation.messages)))),
    }
    rows = [(name, value) for name, value in known.items() if value]
    notes = [(_MESSAGE.match(note), _MESSAGE.sub("", note)) for note in failure(facts, simulation)]
    items = [PageItem(text, message_idx=int(at[1]) if at else None) for at, text in notes]
    yield PageBlock("Imported", rows=rows, items=items)
