"""Continuing a stored conversation from one of its messages on: the beginning, and participants that have been there.

The environment gets the state that it had by replaying the calls of the beginning. A participant gets the conversation
in one of two ways. ``history``: it is created with the messages so far, as with the message history of a task. No model
is called for them; what else it remembers is lost. ``replay``: it is created as at the start and is sent every message
of the beginning again; what it answers is compared with the stored message and not used. That restores the memory of a
participant whose code is deterministic, but one that calls a model would call it for each message again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..attacks import ATTACK
from ..environment import same_result
from ..errors import ConfigurationError, ReplayError, is_interrupt
from ..models import AssistantMessage, MultiToolMessage, ToolMessage, UserMessage, clone
from ..participants import calls_no_model, trailing_results
from ..participants.adapters import takes_history
from ..participants.containment import describe
from ..participants.programs import is_program
from ..text import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..environment import Environment
    from ..models import Message, Simulation, Task
    from ..participants import Incoming, Participant, ParticipantContext, ParticipantSource, Reply, Side

#: The entry of ``simulation.info`` about the conversation that a trial continues: ``run``, ``simulation`` (its id),
#: ``trial``, ``seed``, ``outcome``, ``turn`` (the number of the first new message), ``restored`` (by side ``history``,
#: ``replay``, or ``none`` for a side that takes no history), ``differences`` (what differs from the stored one), and
#: ``repeats`` if nothing new was said, by the same seed.
FORK = "fork"
#: How a participant gets the beginning of the conversation.
Restore = Literal["history", "replay"]
_SPOKEN = (AssistantMessage, UserMessage)
#: Differences that are recorded of one trial.
_MOST_DIFFERENCES = 10


@dataclass(frozen=True)
class Beginning:
    """The beginning of a stored conversation, which a trial continues.

    Attributes:
        messages: The messages before the first new one.
        origin: The facts about the stored conversation, for ``simulation.info``.
        restore: How participants get the beginning, by side; by default what suits them.
        stored: The whole stored conversation.
    """

    messages: Sequence[Message]
    origin: Mapping[str, Any] = field(default_factory=dict)
    restore: Mapping[Side, Restore] = field(default_factory=dict)
    stored: Sequence[Message] = ()

    @classmethod
    def of(
        cls,
        simulation: Simulation,
        turn: int,
        run: str,
        task: Task | None = None,
        restore: Mapping[Side, Restore] | None = None,
    ) -> Beginning:
        """Return the beginning of a simulation before the message of this number.

        Args:
            simulation: The stored conversation.
            turn: The number of the message, from 0.
            run: The name of its run.
            task: Its task, if it is known.
            restore: How participants get it, by side.

        Raises:
            ConfigurationError: The message is not one of the agent or the user after the first one, or after the
                message history of the task.
        """
        turns = turns_of(simulation, task)
        if turn not in turns:
            where = f"{simulation.task_id!r}, trial {simulation.trial} of {run}"
            raise ConfigurationError(
                f"message {turn} of {where}: expected the number of a message of the agent or the user after the "
                f"beginning: {', '.join(map(str, turns)) or 'there is none'}"
            )
        origin = {
            "run": run,
            "simulation": simulation.id,
            "trial": simulation.trial,
            "seed": simulation.seed,
            "outcome": simulation.outcome,
            "turn": turn,
        }
        return cls(clone(simulation.messages[:turn]), origin, restore or {}, simulation.messages)

    def way(self, side: Side, source: ParticipantSource) -> Restore:
        """Return how a participant gets the beginning."""
        if side in self.restore:
            return self.restore[side]
        # A recording finds its place by the history; a person remembers, or reads.
        deterministic = calls_no_model(source.name) and source.replay is None and source.name != "human"
        return "replay" if deterministic else "history"

    def steps(self) -> tuple[int, int, int]:
        """Return how many steps, failed calls and calls of the limits of a conversation the beginning has used."""
        steps = errors = calls = 0
        before: Message | None = None
        for number, message in enumerate(self.messages):
            if isinstance(message, ToolMessage):
                steps += not isinstance(before, ToolMessage)
                errors += message.error and message.fault is None
            elif isinstance(message, _SPOKEN):
                steps += number > 0
                calls += len(message.tool_calls or [])
            before = message
        return steps, errors, calls


def is_preferred(simulation: Simulation, chosen: Simulation | None, trial: int | None) -> bool:
    """Return whether a trial of a task is continued, and not the one that was chosen before it.

    Args:
        simulation: The trial.
        chosen: The one before; None if there is none.
        trial: The number of the trial that is continued; None for the first failed one, else the first.
    """
    if trial is not None:
        return chosen is None and simulation.trial == trial
    return chosen is None or _rank(simulation) > _rank(chosen)


def _rank(simulation: Simulation) -> tuple[bool, bool]:
    # What continues a trial under attack is not under attack.
    return ATTACK not in (simulation.info or {}), simulation.outcome == "failed"


def turns_of(simulation: Simulation, task: Task | None) -> list[int]:
    """Return the numbers of the messages from which a conversation can be continued: of the agent and of the user.

    The initial state of a task is that after its message history, so that nothing is continued from within it.
    """
    first = max(1, len((task and task.message_history) or ()))
    spoken = [number for number, message in enumerate(simulation.messages) if isinstance(message, _SPOKEN)]
    return [number for number in spoken if number >= first]


def agent_turns(simulation: Simulation, task: Task | None) -> list[int]:
    """Return those of the agent's messages."""
    turns = turns_of(simulation, task)
    return [number for number in turns if isinstance(simulation.messages[number], AssistantMessage)]


def read_turns(text: str) -> tuple[tuple[int, int], ...] | None:
    """Return ranges of message numbers, such as ``((7, 7), (9, 15))`` for ``7,9-15``; None for ``each``.

    Raises:
        ValueError: The text is neither.
    """
    if text.strip() == "each":
        return None
    found = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise ValueError(f"expected each, or numbers of messages such as 7, 7,11 or 7-15, got {shorten(text)!r}")
        found.append((int(low), int(high) if dash else int(low)))
        if found[-1][0] > found[-1][1]:
            raise ValueError(f"expected a range whose end is not before its start, got {shorten(part.strip())!r}")
    return tuple(found)


def chosen_turns(
    simulation: Simulation, ranges: Sequence[tuple[int, int]] | None, run: str, task: Task | None
) -> list[int]:
    """Return the numbers of the messages from which a conversation is continued, in order.

    Args:
        simulation: The stored conversation.
        ranges: Ranges of numbers; of a range of several, those of the agent. None for every message of the agent.
        run: The name of its run.
        task: Its task, if it is known.

    Raises:
        ConfigurationError: A number is not that of a message of the agent or the user, or a range has none.
    """
    known = agent_turns(simulation, task)
    if ranges is None:
        return known
    chosen: set[int] = set()
    for low, high in ranges:
        chosen |= {low} if low == high else {turn for turn in known if low <= turn <= high}
    if not chosen:
        raise ConfigurationError(
            f"turns of {simulation.task_id!r}, trial {simulation.trial} of {run}: expected a range with messages of "
            f"the agent: {', '.join(map(str, known))}"
        )
    for turn in chosen:
        Beginning.of(simulation, turn, run, task)
    return sorted(chosen)


def restore_environment(environment: Environment, task: Task, beginning: Beginning) -> list[str]:
    """Bring an environment into the state after the beginning; return what differs from the stored results.

    Args:
        environment: It has the initial state of the task, with its message history.
        task: The task.
        beginning: The beginning.
    """
    return environment.replay(beginning.messages[len(task.message_history or []) :])


async def restore_participant(
    participant: Participant, side: Side, task: Task, beginning: Beginning, *, solo: bool
) -> list[str]:
    """Send a participant every message of the beginning again; return how its answers differ from the stored ones.

    Raises:
        ReplayError: It has raised an exception.
    """
    differences = []
    mine = AssistantMessage if side == "agent" else UserMessage
    first = len(task.message_history or []) or (0 if solo else 1)
    for number, incoming in _deliveries(beginning.messages, first, task):
        stored = beginning.messages[number]
        if not isinstance(stored, mine):
            continue
        try:
            reply = await participant.respond(clone(incoming))
            participant.is_stop(reply)
        except BaseException as error:
            if is_interrupt(error):
                raise
            problem = f"the {side} could not be brought to message {beginning.origin.get('turn')}"
            raise ReplayError(f"{problem}: at message {number}: {describe(error, place=True)}") from error
        if not _same_reply(stored, reply):
            differences.append(f"message {number}: the {side} would have said something else: {_short(reply)}")
    return differences


def fork_info(beginning: Beginning, ways: Mapping[Side, Restore], differences: Sequence[str]) -> dict[str, Any]:
    """Return the entry of ``simulation.info``."""
    return {FORK: {**beginning.origin, "restored": dict(ways), "differences": _shortened(differences)}}


def note_unrestored(
    simulation: Simulation, context: ParticipantContext, source: ParticipantSource, participant: Participant
) -> None:
    """Record in a trial that continues a conversation if a side was to get its beginning, but takes no history."""
    restored = (simulation.info or {}).get(FORK, {}).get("restored", {})
    if context.solo and context.side == "user":
        restored.pop("user", None)  # it has no part in the conversation
    greeting = not context.solo  # which no side needs
    if restored.get(context.side) != "history" or len(context.past) <= greeting:
        return
    if is_program(source.name) or not takes_history(source.target, participant):
        restored[context.side] = "none"


def add_differences(simulation: Simulation, differences: Sequence[str]) -> None:
    """Add what differs from the stored conversation to the entry of a simulation's ``info``."""
    info = simulation.info or {}
    simulation.info = info | {
        FORK: {**info[FORK], "differences": _shortened([*info[FORK]["differences"], *differences])}
    }


def note_repeat(simulation: Simulation, beginning: Beginning) -> None:
    """Record in a trial that it repeats the stored conversation: it has the same seed, and so the same messages."""
    info, now, before = simulation.info or {}, simulation.messages, beginning.stored
    same = len(now) == len(before) and all(map(_is_same, now, before))
    if same and FORK in info and simulation.seed is not None and simulation.seed == beginning.origin.get("seed"):
        simulation.info = info | {FORK: {**info[FORK], "repeats": True}}


def _is_same(one: Message, other: Message) -> bool:
    if isinstance(one, _SPOKEN):
        return one.role == other.role and _same_reply(other, one)
    return one.role == other.role and same_result(one.content or "", getattr(other, "content", "") or "")


def _shortened(differences: Sequence[str]) -> list[str]:
    more = len(differences) - _MOST_DIFFERENCES
    return [*differences[:_MOST_DIFFERENCES], *([f"and {more} more"] if more > 0 else [])]


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


def _same_reply(stored: Message, reply: Reply) -> bool:
    if not isinstance(stored, _SPOKEN):
        return False
    calls = [[(call.name, call.arguments) for call in each.tool_calls or []] for each in (stored, reply)]
    return calls[0] == calls[1] and same_result(stored.text, reply.text)


def _short(reply: Reply) -> str:
    made = ", ".join(call.name for call in reply.tool_calls or [])
    return f"a call of {made}" if made else one_line(reply.text, 80)
