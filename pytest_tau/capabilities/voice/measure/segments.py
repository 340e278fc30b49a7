"""Segments: who speaks from which tick to which, and what else is heard.

Source: τ²-bench v1.0.1, interaction metrics 1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..ticks import NON_DIRECTED, VOCAL_TIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..ticks import Chunk, SpeechInsert, Tick

BACKCHANNEL = "backchannel"


class Segment(NamedTuple):
    """Ticks in a row in which a side speaks.

    Attributes:
        start: The first tick.
        end: The tick after the last one.
        other_start: Whether the other side speaks in the first tick.
        other_end: Whether it speaks in the tick after the last one.
        action: The user's action in the first tick; empty for none, and for the agent.
        insert: ``vocal_tic`` or ``non_directed_phrase`` if one is in it, the former first; else empty.
    """

    start: int
    end: int
    other_start: bool
    other_end: bool
    action: str = ""
    insert: str = ""

    @property
    def is_backchannel(self) -> bool:
        """Return whether the user only shows that they listen."""
        return self.action == BACKCHANNEL


class Sound(NamedTuple):
    """A tic, or words to somebody else, while the user does not speak; from tick ``start`` to before ``end``."""

    insert: str
    start: int
    end: int


def without_last_artefact(ticks: Sequence[Tick]) -> Sequence[Tick]:
    """Return the ticks without a last one in which alone the user speaks, as with a message that only stops."""
    alone = len(ticks) > 1 and ticks[-1].user_speaks and not ticks[-2].user_speaks
    return ticks[:-1] if alone else ticks


def user_segments(ticks: Sequence[Tick]) -> list[Segment]:
    """Return the segments of the user."""
    agent = [tick.agent_speaks for tick in ticks]
    segments = []
    for start, end in _runs([tick.user_speaks for tick in ticks]):
        chunks = [chunk for tick in ticks[start:end] if (chunk := tick.user_chunk) is not None]
        action, kinds = chunks[0].turn_taking_action, {_kind(insert) for chunk in chunks for insert in _inserts(chunk)}
        insert = next((kind for kind in (VOCAL_TIC, NON_DIRECTED) if kind in kinds), "")
        other_end = end < len(ticks) and agent[end]
        segments.append(Segment(start, end, agent[start], other_end, action.action if action else "", insert))
    return segments


def agent_segments(ticks: Sequence[Tick]) -> list[Segment]:
    """Return the segments of the agent."""
    user = [tick.user_speaks for tick in ticks]
    runs = _runs([tick.agent_speaks for tick in ticks])
    return [Segment(start, end, user[start], end < len(ticks) and user[end]) for start, end in runs]


def out_of_turn_sounds(ticks: Sequence[Tick]) -> list[Sound]:
    """Return the tics and the words to others that are heard while the user does not speak, in order of their start.

    The same one in the next tick extends it.
    """
    sounds: list[Sound] = []
    sounding: dict[tuple[str, str], int] = {}
    for number, tick in enumerate(ticks):
        chunk = None if tick.user_speaks else tick.user_chunk
        inserts = dict.fromkeys((_kind(insert), insert.text) for insert in (_inserts(chunk) if chunk else ()))
        now: dict[tuple[str, str], int] = {}
        for key in inserts:
            if key in sounding:
                place = sounding[key]
                sounds[place] = sounds[place]._replace(end=number + 1)
            else:
                place = len(sounds)
                sounds.append(Sound(key[0], number, number + 1))
            now[key] = place
        sounding = now
    return sounds


def _inserts(chunk: Chunk) -> Iterator[SpeechInsert]:
    for effects in (chunk.source_effects, chunk.speech_effects):
        if effects is not None and effects.speech_insert is not None:
            yield effects.speech_insert


def _kind(insert: SpeechInsert) -> str:
    return VOCAL_TIC if insert.type == VOCAL_TIC else NON_DIRECTED


def _runs(speaks: Sequence[bool]) -> Iterator[tuple[int, int]]:
    start = None
    for number, speaking in enumerate([*speaks, False]):
        if speaking and start is None:
            start = number
        elif not speaking and start is not None:
            yield start, number
            start = None
