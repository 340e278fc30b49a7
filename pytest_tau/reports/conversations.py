"""Stored conversations as lines of text, each followed by its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..capability import installed
from ..capability.calls import failure_lines
from ..diagnosis import explain, message_lines, verdict
from ..diagnosis.explain import ending
from ..evaluation import Line
from ..models import ToolMessage, shown_messages
from ..runs.groups import Group
from ..text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models import Message, Simulation
    from ..runs.reader import StoredTrial

#: Characters of a tool's result that are shown. Source: τ²-bench v1.0.1, its viewer.
LONGEST_RESULT = 500
#: Characters before a text: the number of the message, and who says it.
_INDENT = 14


def conversation_lines(trial: StoredTrial, *, full: bool = False) -> Iterator[Line]:
    """Yield the lines of a stored conversation, then its verdict; of a failed one the whole report.

    Args:
        trial: The stored trial.
        full: Whether long results of tools are shown as a whole.
    """
    simulation = trial.simulation
    name = f"{trial.domain}::{simulation.task_id}" if trial.domain else simulation.task_id
    parameters = Group.of(trial.test, trial.domain, simulation.task_id).parameters
    yield Line("head", f"{name}, trial {simulation.trial}" + (f" [{parameters}]" if parameters else ""))
    for number, message in shown_messages(simulation.messages):
        yield from numbered_lines(number, message, full=full)
    yield Line("head", "")
    yield from verdict_lines(simulation)


def numbered_lines(number: int | None, message: Message, *, full: bool = False) -> Iterator[Line]:
    """Yield the lines of a message, the first with its number, as reports refer to it.

    Args:
        number: The number of the message in the conversation, from 0; None to show none.
        message: The message.
        full: Whether a long result is shown as a whole.
    """
    most = LONGEST_RESULT if isinstance(message, ToolMessage) and not full else None

    def shown(text: str | None) -> str:
        text = (text or "").strip()
        text = text if most is None or len(text) <= most else f"{shorten(text, most)} ({len(text):,} characters)"
        return text.replace("\n", "\n" + " " * _INDENT)

    for position, line in enumerate(message_lines(message, shown)):
        head = f"{number:>5}" if number is not None and not position else " " * 5
        yield Line("bad" if getattr(message, "error", False) else line.kind, head + line.text)


def verdict_lines(simulation: Simulation) -> list[Line]:
    """Return the report of a simulation without its messages: of one that passed, a line, and what capabilities say."""
    if simulation.outcome == "passed":
        lines = [Line("note", line) for line in failure_lines(installed(), simulation)]
        return [Line("passed", f"{verdict(simulation)}   {ending(simulation)}"), *lines]
    return explain(simulation, last_messages=False)
