"""Linearisation: what two sides say at once, as messages one after the other.

A remark inside of what the other side says splits it; otherwise the one whose words began first comes first.

Source: τ²-bench v1.0.1, containment-aware linearisation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....models import AssistantMessage, SystemMessage, UserMessage
from .merging import joined, rendered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ....models import Message, ToolCall, ToolMessage
    from ..ticks import Chunk, Tick

#: The order of pieces at one index.
_SILENCE, _OTHER, _SELF, _TOOLS, _CONTINUED = range(-1, 4)


class Heard(NamedTuple):
    """What a participant says and hears in a tick.

    Attributes:
        said: Its own chunk; None without speech and calls.
        calls: Its calls.
        heard: The chunk of the other side; None without speech.
        results: The results that it is given.
    """

    said: Chunk | None = None
    calls: Sequence[ToolCall] = ()
    heard: Chunk | None = None
    results: Sequence[ToolMessage] = ()


class _Segment(NamedTuple):
    """Speech of a side, by index; ``start`` and ``end`` are the first index and the last one."""

    start: int
    end: int
    chunks: dict[int, Chunk]

    def between(self, after: int, last: int) -> list[Chunk]:
        return [chunk for index, chunk in self.chunks.items() if after < index <= last]


def transcript(ticks: Sequence[Tick]) -> list[dict[str, Any]]:
    """Return what the judge reads, as ``rendered`` has it: what was said, in the order of the agent's view."""
    return rendered(transcript_messages(ticks))


def transcript_messages(ticks: Sequence[Tick]) -> list[Message]:
    """Return what the judge reads."""
    return linearised([Heard(_spoken(tick.agent_chunk), heard=_spoken(tick.user_chunk)) for tick in ticks], "assistant")


def user_context(
    ticks: Sequence[Tick], tick_seconds: float, integration_ticks: int = 1, silence_threshold_ticks: int | None = None
) -> list[dict[str, Any]]:
    """Return the conversation as its user knows it, as ``rendered`` has it.

    The user hears the agent and gets results one tick late.

    Args:
        ticks: The conversation.
        tick_seconds: The length of a tick in seconds.
        integration_ticks: Up to one less silent ticks are bridged inside of speech.
        silence_threshold_ticks: Silences of so many ticks are noted; None for none.
    """
    history = user_history(ticks)
    return rendered(linearised(history, "user", integration_ticks, silence_threshold_ticks, tick_seconds))


def user_history(ticks: Sequence[Tick]) -> list[Heard]:
    """Return what the user of a conversation says and hears in each tick."""
    history = []
    before: Tick | None = None
    for tick in ticks:
        history.append(
            Heard(
                _spoken(tick.user_chunk) or (tick.user_chunk if tick.user_tool_calls else None),
                tick.user_tool_calls,
                _spoken(before.agent_chunk) if before else None,
                before.user_tool_results if before else (),
            )
        )
        before = tick
    return history


def linearised(
    history: Iterable[Heard],
    side: str,
    integration_ticks: int = 1,
    silence_threshold_ticks: int | None = None,
    tick_seconds: float | None = None,
) -> list[Message]:
    """Return the history of a participant as messages.

    Args:
        history: What it says and hears in each tick.
        side: The role of its messages: ``assistant`` or ``user``.
        integration_ticks: As ``user_context`` takes it.
        silence_threshold_ticks: Likewise.
        tick_seconds: Likewise; None for no notes.
    """
    entries = list(_expanded(history))
    width = max(1, integration_ticks)
    pieces = _Pieces(entries, side, width)
    if silence_threshold_ticks and tick_seconds is not None:
        pieces.add_silences(silence_threshold_ticks, tick_seconds)
    pieces.add_speech()
    pieces.add_tools()
    return pieces.messages()


def _spoken(chunk: Chunk | None) -> Chunk | None:
    return chunk if chunk is not None and chunk.contains_speech else None


def _expanded(history: Iterable[Heard]) -> Iterator[Heard]:
    for entry in history:
        if not entry.results:
            yield entry
            continue
        yield entry._replace(heard=None)
        if entry.heard is not None:
            yield Heard(heard=entry.heard)


class _Pieces:
    """The pieces of a linearised history, each with its place."""

    def __init__(self, entries: list[Heard], side: str, width: int) -> None:
        self._entries = entries
        self._found: list[tuple[tuple[int, int], list[Message]]] = []
        self._own: Any = AssistantMessage if side == "assistant" else UserMessage
        self._other: Any = UserMessage if side == "assistant" else AssistantMessage
        self._mine = _segments((None if entry.calls else entry.said for entry in entries), width)
        self._theirs = _segments((entry.heard for entry in entries), width)

    def messages(self) -> list[Message]:
        return [message for _, piece in sorted(self._found, key=lambda piece: piece[0]) for message in piece]

    def add_silences(self, threshold: int, tick_seconds: float) -> None:
        start = 0
        for index, entry in enumerate([*self._entries, None]):
            if entry is not None and entry.heard is None and (entry.said is None or entry.calls):
                continue
            if index - start >= threshold:
                note = f"[Both parties silent for {(index - start) * tick_seconds:.1f} seconds]"
                self._found.append(((start, _SILENCE), [SystemMessage(content=note)]))
            start = index + 1

    def add_speech(self) -> None:
        inside_theirs = {segment.start: _inside(segment, self._mine) for segment in self._theirs}
        placed = {segment.start for segments in inside_theirs.values() for segment in segments}
        inside_mine = {
            segment.start: [
                other
                for other in _inside(segment, self._theirs)
                if (other.start, other.end) != (segment.start, segment.end)
            ]
            for segment in self._mine
        }
        placed_theirs = set[int]()
        for theirs in self._theirs:
            if inner := inside_theirs[theirs.start]:
                self._split(theirs, self._other, inner, self._own, (_OTHER, _SELF, _CONTINUED))
                placed_theirs.add(theirs.start)
        for mine in self._mine:
            if mine.start not in placed and (inner := inside_mine[mine.start]):
                self._split(mine, self._own, inner, self._other, (_OTHER, _CONTINUED, _SELF))
                placed.add(mine.start)
                placed_theirs.update(segment.start for segment in inner)
        self._add_rest(placed, placed_theirs)

    def _split(
        self, outer: _Segment, kind: Any, inner: list[_Segment], inner_kind: Any, ranks: tuple[int, int, int]
    ) -> None:
        """Add a segment that is split by those inside of it."""
        before, inside, rest = ranks
        last = outer.start - 1
        for segment in sorted(inner, key=lambda segment: segment.end):
            self._say((segment.end, before), kind, outer.between(last, segment.end))
            self._say((segment.end, inside), inner_kind, list(segment.chunks.values()))
            last = segment.end
        self._say((last + 1, rest), kind, outer.between(last, outer.end))

    def _add_rest(self, placed: set[int], placed_theirs: set[int]) -> None:
        for mine in self._mine:
            if mine.start in placed:
                continue
            for theirs in self._theirs:
                if theirs.start not in placed_theirs and not theirs.chunks.keys().isdisjoint(mine.chunks):
                    self._say((theirs.start, _OTHER), self._other, list(theirs.chunks.values()))
                    placed_theirs.add(theirs.start)
            self._say((mine.start, _SELF), self._own, list(mine.chunks.values()))
        for theirs in self._theirs:
            if theirs.start not in placed_theirs:
                self._say((theirs.start, _OTHER), self._other, list(theirs.chunks.values()))

    def add_tools(self) -> None:
        waiting: dict[str, int] = {}
        results: dict[int, list[ToolMessage]] = {}
        for index, entry in enumerate(self._entries):
            waiting |= dict.fromkeys((call.id for call in entry.calls), index)
            for result in entry.results:
                earlier = [name for name, at in waiting.items() if at < index]
                name = result.id if result.id in waiting else max(earlier, key=waiting.__getitem__, default=None)
                if name is not None:
                    results.setdefault(waiting.pop(name), []).append(result)
        # A call whose id was used again is lost, unless another one of its message is not.
        for index in sorted({*results, *waiting.values()}):
            chunk, calls = self._entries[index].said, self._entries[index].calls
            call = self._own(content=chunk.content if chunk else None, tool_calls=list(calls))
            self._found.append(((index, _TOOLS), [call, *results.get(index, ())]))

    def _say(self, place: tuple[int, int], kind: Any, chunks: list[Chunk]) -> None:
        if not chunks:
            return
        text, ids = chunks[0].content, list(chunks[0].utterance_ids or ())
        for chunk in chunks[1:]:
            chunk_ids = chunk.utterance_ids or ()
            text = joined(text or "", ids, chunk.content or "", chunk_ids)
            ids += chunk_ids
        self._found.append((place, [kind(content=text)]))


def _segments(chunks: Iterable[Chunk | None], width: int) -> list[_Segment]:
    """Return what a side says; chunks at most ``width`` indices apart belong together."""
    segments: list[_Segment] = []
    for index, chunk in enumerate(chunks):
        if chunk is None:
            continue
        if segments and index - segments[-1].end <= width:
            segments[-1].chunks[index] = chunk
            segments[-1] = segments[-1]._replace(end=index)
        else:
            segments.append(_Segment(index, index, {index: chunk}))
    return segments


def _inside(outer: _Segment, others: Iterable[_Segment]) -> list[_Segment]:
    return [segment for segment in others if outer.start <= segment.start and segment.end <= outer.end]
