"""Messages of the agent that the scripted user has not understood: the texts, its replies, and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..evaluation.component_reports import Line, more_line
from ..models import AssistantMessage, UserMessage
from ..text import listed, plural
from .facts import Attribution, clipped, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models import Message, Simulation
    from ..models.messages import Misunderstanding
    from .facts import Facts

#: Messages that a report shows.
_MOST = 5
_ADVICE = "add `answers` or `facts` to the task's script, or let a model play the user (--tau-user-llm MODEL)"


class Misunderstood(NamedTuple):
    """A message that the user has not understood.

    Attributes:
        message_idx: The number of the user's reply, from 0.
        heard: The agent's text.
        said: The reply.
        kind: How it was misunderstood.
    """

    message_idx: int
    heard: str
    said: str
    kind: Misunderstanding

    @property
    def text(self) -> str:
        """The message and the reply, on one line."""
        return f"{quoted(self.heard)!r} was answered {clipped(self.said)!r}"


def misunderstood_in(messages: Iterable[Message]) -> list[Misunderstood]:
    """Return what the scripted user of a conversation has not understood, oldest first."""
    found, heard = [], ""
    for number, message in enumerate(messages):
        if isinstance(message, AssistantMessage) and message.has_text_content():
            heard = message.text
        elif isinstance(message, UserMessage) and message.misunderstanding:
            found.append(Misunderstood(number, heard, message.text, message.misunderstanding))
    return found


def summary_of(found: list[Misunderstood], simulation: Simulation) -> str:
    """Return in words what the user did: ``did not understand 2 of 6 messages and gave up``."""
    replies = sum(isinstance(each, UserMessage) and each.has_text_content() for each in simulation.messages)
    deaf = sum(each.kind != "gave up" for each in found)
    parts = [f"did not understand {deaf} of {plural(replies, 'message')}"] if deaf else []
    return " and ".join([*parts, *(["gave up"] if deaf < len(found) else [])])


def misunderstood_lines(simulation: Simulation) -> list[Line]:
    """Return the beginning of the report of a failed simulation whose user has not understood the agent, or gave up."""
    found = misunderstood_in(simulation.messages)
    if not found or simulation.outcome != "failed":
        return []
    lines = [Line("head", f"the scripted user {summary_of(found, simulation)}:")]
    alike: dict[tuple[str, str, str], list[str]] = {}
    for each in found:
        alike.setdefault((quoted(each.heard), clipped(each.said), each.kind), []).append(str(each.message_idx))
    for (heard, said, kind), numbers in [*alike.items()][:_MOST]:
        where = f"message{'s' * (len(numbers) > 1)} {listed(numbers, _MOST)}"
        lines += [Line("agent", f"  agent  {heard}"), Line("user", f"  user   {said}   [{kind}, {where}]")]
    return [*lines, *more_line([*alike], _MOST), Line("note", f"  {_ADVICE}")]


def misunderstood(facts: Facts) -> Attribution | None:
    """Apply if the user has not understood the agent, or gave up, before the right final state was out of reach."""
    simulation = facts.simulation
    found = misunderstood_in(simulation.messages)
    if not found or simulation.outcome != "failed" or _too_late(facts, found[0].message_idx):
        return None
    reason, first = f"it {summary_of(found, simulation)}", found[0]
    return Attribution("user", reason, first.message_idx, quoted(first.heard))


def _too_late(facts: Facts, message_idx: int) -> bool:
    divergence = facts.divergence
    at = divergence.message_idx if divergence is not None and divergence.kind == "diverged" else None
    return at is not None and at < message_idx
