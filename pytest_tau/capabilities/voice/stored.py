"""Stored conversations in ticks: their messages, what a judge reads of them, and their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from ...capability import Trajectory
from ...models import AssistantMessage, UserMessage
from .facts import facts_of
from .measure.linear import transcript_messages
from .measure.merging import utterances
from .ticks import TICK_SECONDS, Tick

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...models import Message, ToolCall, ToolMessage

_TICKS = TypeAdapter(list[Tick])
#: The order of what happens in one tick.
_TALK, _USER_CALLS, _AGENT_CALLS = range(3)


def read_trajectory(duplex: Mapping[str, Any], header: Mapping[str, Any]) -> Trajectory:
    """Return the trajectory of a conversation in ticks.

    Args:
        duplex: The fields that τ²-bench has for it (``Simulation.duplex``).
        header: The header of its file; empty if the file has none.

    Raises:
        pydantic.ValidationError: The ticks do not follow the format.
    """
    ticks = read_ticks(duplex)
    facts = facts_of(ticks, seconds_of(ticks, header), duplex.get("speech_environment"))
    return Trajectory(messages_of(ticks), transcript_messages(ticks), facts)


def read_ticks(duplex: Mapping[str, Any]) -> list[Tick]:
    """Return the ticks of ``Simulation.duplex``.

    Raises:
        pydantic.ValidationError: They do not follow the format.
    """
    return _TICKS.validate_python(duplex.get("ticks"))


def seconds_of(ticks: Sequence[Tick], header: Mapping[str, Any]) -> float:
    """Return the length of a tick in seconds: that of the header, else that of the first tick that states one."""
    config = header.get("audio_native_config")
    stated = config.get("tick_duration_seconds") if isinstance(config, dict) else None
    if isinstance(stated, int | float) and stated > 0:
        return float(stated)
    return next((tick.tick_duration_seconds for tick in ticks if tick.tick_duration_seconds), TICK_SECONDS)


def messages_of(ticks: Sequence[Tick]) -> list[Message]:
    """Return a conversation in messages, an utterance each, in the order in which they begin.

    The agent's texts are those in which COMMUNICATE searches, and calls are in the order in which they were made: what
    is graded is the same as in ticks.
    """
    placed: list[tuple[int, int, list[Message]]] = []
    sides: tuple[tuple[Any, Iterable[Any]], ...] = (
        (AssistantMessage, (tick.agent_chunk for tick in ticks)),
        (UserMessage, (tick.user_chunk for tick in ticks)),
    )
    for kind, chunks in sides:
        for utterance in utterances(chunks):
            if utterance.text:
                message = kind(content=utterance.text, timestamp=ticks[utterance.start].timestamp or None)
                placed.append((utterance.start, _TALK, [message]))
    for number, tick in enumerate(ticks):
        if tick.user_tool_calls:
            call_messages = _called(UserMessage, tick, tick.user_tool_calls, tick.user_tool_results)
            placed.append((number, _USER_CALLS, call_messages))
        if tick.agent_tool_calls:
            call_messages = _called(AssistantMessage, tick, tick.agent_tool_calls, tick.agent_tool_results)
            placed.append((number, _AGENT_CALLS, call_messages))
    placed.sort(key=lambda place: place[:2])
    ordered = [message for *_, messages in placed for message in messages]
    return [message.model_copy(update={"turn_idx": number}) for number, message in enumerate(ordered)]


def _called(kind: Any, tick: Tick, calls: Sequence[ToolCall], results: Sequence[ToolMessage]) -> list[Message]:
    time = tick.timestamp or None
    return [kind(tool_calls=list(calls), timestamp=time), *results]
