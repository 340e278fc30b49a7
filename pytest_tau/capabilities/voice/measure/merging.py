"""Chunks put together to messages, in the views that grading has of a conversation in ticks.

Source: τ²-bench v1.0.1, merging of messages and full-duplex evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....models import AssistantMessage, ToolMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ....models import Message
    from ..ticks import Chunk, Tick


class Utterance(NamedTuple):
    """Chunks of one utterance of the agent.

    Attributes:
        start: The tick of the first chunk.
        end: The tick after the last one.
        text: What was said.
    """

    start: int
    end: int
    text: str


def communicate_texts(ticks: Sequence[Tick]) -> list[str]:
    """Return what the agent has said, an utterance a text, as the component COMMUNICATE searches it."""
    return [utterance.text for utterance in utterances(tick.agent_chunk for tick in ticks) if utterance.text]


def utterances(chunks: Iterable[Chunk | None]) -> list[Utterance]:
    """Return the utterances of a side, given its chunk in each tick.

    Neighbours whose ids meet are one utterance; a chunk without ids is one of its own, and a silent one between two
    separates them.
    """
    merged: list[Utterance] = []
    ids: set[str] = set()
    last: Sequence[str] = ()
    for number, chunk in enumerate(chunks):
        if chunk is None or chunk.tool_calls is not None:
            continue
        text, chunk_ids = chunk.content or "", chunk.utterance_ids or ()
        if chunk_ids and not ids.isdisjoint(chunk_ids):
            before = merged[-1]
            merged[-1] = Utterance(before.start, number + 1, joined(before.text, last, text, chunk_ids))
            ids.update(chunk_ids)
        else:
            merged.append(Utterance(number, number + 1, text))
            ids, last = set(chunk_ids), ()
        last = chunk_ids if text else last
    return merged


def joined(left: str, left_ids: Sequence[str], right: str, right_ids: Sequence[str]) -> str:
    """Return two texts after each other, with a space between those of different utterances."""
    apart = left and right and left_ids and right_ids and set(left_ids).isdisjoint(right_ids)
    return f"{left}{' ' if apart else ''}{right}"


def flat_messages(ticks: Sequence[Tick]) -> list[dict[str, Any]]:
    """Return the messages of all ticks in order of their times, as ``rendered`` has them."""
    return rendered(
        sorted((message for tick in ticks for message in _flat(tick)), key=lambda message: message.timestamp or "")
    )


def _flat(tick: Tick) -> Iterator[Message]:
    sides: tuple[tuple[Any, ...], ...] = (
        (AssistantMessage, tick.agent_chunk, tick.agent_tool_calls, tick.agent_tool_results),
        (UserMessage, tick.user_chunk, tick.user_tool_calls, tick.user_tool_results),
    )
    for kind, chunk, calls, results in sides:
        if chunk is not None or calls:
            content, time = (chunk.content, chunk.timestamp) if chunk is not None else (None, None)
            yield kind(content=content, tool_calls=calls or None, timestamp=time or tick.timestamp)
        for result in results:
            yield result.model_copy(update={"timestamp": result.timestamp or tick.timestamp})


def rendered(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return messages as ``role`` and ``content``, with the ids of their calls, or of the call of a result."""
    documents = []
    for message in messages:
        document: dict[str, Any] = {"role": message.role, "content": message.content}
        if isinstance(message, ToolMessage):
            document["id"] = message.id
        elif calls := getattr(message, "tool_calls", None):
            document["tool_calls"] = [call.id for call in calls]
        documents.append(document)
    return documents
