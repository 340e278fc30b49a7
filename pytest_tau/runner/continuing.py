"""Continuing a stored conversation from one of its messages on: the beginning, and participants that have been there.

The environment gets the state that it had by replaying the calls of the beginning. A participant gets the conversation
in one of two ways. ``history``: it is created with the messages so far, as with the message history of a task. No model
is called for them; what else it remembers is lost. ``replay``: it is created as at the start and is sent every message
of the beginning again; what it answers is compared with the stored message and not used. That restores the memory of a
participant whose code is deterministic, but one that calls a model would call it for each message again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..environment import same_reply
from ..errors import ReplayError, is_interrupt
from ..models import AssistantMessage, MultiToolMessage, ToolMessage, UserMessage, beginnings, clone
from ..models.sessions import heard, openings, remembered
from ..participants import calls_no_model, trailing_results
from ..participants.adapters import takes_history
from ..participants.containment import describe
from ..participants.programs import is_program
from ..text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..environment import Environment
    from ..models import Message, Task
    from ..participants import Incoming, Participant, ParticipantContext, ParticipantSource, Reply, Side

_SPOKEN = (AssistantMessage, UserMessage)
#: How a participant gets the messages of a conversation that is continued: it is created with them, or sent them again.
Restore: TypeAlias = Literal["history", "replay"]


@dataclass
class Beginning:
    """The beginning of a stored conversation, which a trial continues.

    Attributes:
        messages: The messages before the first new one.
        restore: How participants get the beginning, by side; by default what suits them.
        ways: How each side has got it, once the trial has begun: ``history``, ``replay``, or ``none`` for a side that
            takes no history.
        differences: What differs from the stored conversation, once the trial has begun.
    """

    messages: Sequence[Message]
    restore: Mapping[str, Restore] = field(default_factory=dict)
    ways: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def session_of(self, task: Task) -> Task:
        """Return the task of the session in which the first new message is."""
        return task.of_session(len(beginnings(self.messages)))

    def history_of(self, side: Side, task: Task) -> list[Message] | None:
        """Return what a side has taken part in; None for what it is given at the start of the task."""
        if not self.messages or self.ways.get(side) == "replay":
            return None
        return remembered(task, self.messages) if side == "user" else heard(self.messages)


def way_of(beginning: Beginning, side: Side, source: ParticipantSource) -> Restore:
    """Return how a participant gets the beginning."""
    if side in beginning.restore:
        return beginning.restore[side]
    # A recording finds its place by the history; a person remembers, or reads.
    deterministic = calls_no_model(source.name) and source.replay is None and source.name != "human"
    return "replay" if deterministic else "history"


def steps_of(beginning: Beginning) -> tuple[int, int, int]:
    """Return how many steps, failed calls and calls of the limits of a conversation the beginning has used."""
    steps = errors = calls = 0
    before: Message | None = None
    for number, message in enumerate(beginning.messages):
        if isinstance(message, ToolMessage):
            steps += not isinstance(before, ToolMessage)
            errors += message.error and message.fault is None
        elif isinstance(message, _SPOKEN):
            steps += number > 0
            calls += len(message.tool_calls or [])
        before = message
    return steps, errors, calls


def restore_environment(environment: Environment, task: Task, beginning: Beginning) -> None:
    """Bring an environment into the state after the beginning; note what differs from the stored results.

    Args:
        environment: It has the initial state of the task, with its message history.
        task: The task.
        beginning: The beginning.
    """
    beginning.differences += environment.replay(beginning.messages[len(task.message_history or []) :])


async def restore_participant(
    participant: Participant, side: Side, task: Task, beginning: Beginning, *, solo: bool
) -> None:
    """Send a participant every message of the beginning again; note how its answers differ from the stored ones.

    Raises:
        ReplayError: It has raised an exception.
    """
    mine = AssistantMessage if side == "agent" else UserMessage
    first, sessions = len(task.message_history or []) or (0 if solo else 1), beginnings(beginning.messages)
    if side == "user" and sessions:  # each session has a user of its own
        first = sessions[-1]
    unsaid = openings(beginning.messages)
    for number, incoming in _deliveries(beginning.messages, first, task):
        stored = beginning.messages[number]
        if not isinstance(stored, mine) or number in unsaid:
            continue
        try:
            reply = await participant.respond(clone(incoming))
            participant.is_stop(reply)
        except BaseException as error:
            if is_interrupt(error):
                raise
            problem = f"the {side} could not be brought to message {len(beginning.messages)}"
            raise ReplayError(f"{problem}: at message {number}: {describe(error, place=True)}") from error
        if number - 1 in unsaid and stored.text.endswith(f"\n{reply.text}"):
            continue  # the first words of a session come with the time that has passed
        if not same_reply(stored, reply):
            said = f"message {number}: the {side} would have said something else: {_short(reply)}"
            beginning.differences.append(said)


def note_unrestored(
    beginning: Beginning, context: ParticipantContext, source: ParticipantSource, participant: Participant
) -> None:
    """Note if a side was to get the beginning, but takes no history."""
    if context.solo and context.side == "user":
        beginning.ways.pop("user", None)  # it has no part in the conversation
    greeting = not context.solo  # which no side needs
    if beginning.ways.get(context.side) != "history" or len(context.past) <= greeting:
        return
    if is_program(source.name) or not takes_history(source.target, participant):
        beginning.ways[context.side] = "none"


def _deliveries(messages: Sequence[Message], first: int, task: Task) -> Iterator[tuple[int, Incoming]]:
    """Yield the number of each reply, with what its side was sent before."""
    for number in range(first, len(messages)):
        if isinstance(messages[number], ToolMessage):
            continue
        results = trailing_results(list(messages[:number]))
        if number == 0:
            yield number, UserMessage(content=task.ticket)
        elif results:
            yield number, results[0] if len(results) == 1 else MultiToolMessage(tool_messages=results)
        else:
            yield number, messages[number - 1]  # type: ignore[misc] # not a result of a tool


def _short(reply: Reply) -> str:
    made = ", ".join(call.name for call in reply.tool_calls or [])
    return f"a call of {made}" if made else one_line(reply.text, 80)
