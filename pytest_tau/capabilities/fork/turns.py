"""Stored conversations and the messages from which they can be continued."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ConfigurationError
from ...models import AssistantMessage, UserMessage, openings
from ...text import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...models import Simulation, Task

_SPOKEN = (AssistantMessage, UserMessage)


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
    # What continues a variant of the task is not that variant.
    return "variant" not in (simulation.conditions or {}), simulation.outcome == "failed"


def turns_of(simulation: Simulation, task: Task | None) -> list[int]:
    """Return the numbers of the messages from which a conversation can be continued: of the agent and of the user.

    The initial state of a task is that after its message history, so that nothing is continued from within it, nor from
    what begins a session.
    """
    first = max(1, len((task and task.message_history) or ()))
    spoken = [number for number, message in enumerate(simulation.messages) if isinstance(message, _SPOKEN)]
    unsaid = openings(simulation.messages)
    return [number for number in spoken if number >= first and not {number, number - 1} & unsaid]


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
    ranges = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise ValueError(f"expected each, or numbers of messages such as 7, 7,11 or 7-15, got {shorten(text)!r}")
        ranges.append((int(low), int(high) if dash else int(low)))
        if ranges[-1][0] > ranges[-1][1]:
            raise ValueError(f"expected a range whose end is not before its start, got {shorten(part.strip())!r}")
    return tuple(ranges)


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
        check_turn(simulation, turn, run, task)
    return sorted(chosen)


def check_turn(simulation: Simulation, turn: int, run: str, task: Task | None) -> None:
    """Check that a conversation can be continued from a message.

    Raises:
        ConfigurationError: The message is not one of the agent or the user after the first one, or after the message
            history of the task.
    """
    turns = turns_of(simulation, task)
    if turn not in turns:
        where = f"{simulation.task_id!r}, trial {simulation.trial} of {run}"
        raise ConfigurationError(
            f"message {turn} of {where}: expected the number of a message of the agent or the user after the "
            f"beginning: {', '.join(map(str, turns)) or 'there is none'}"
        )
