"""The ears of the agent: what it hears of the user's words, and what is kept of the sound."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..ticks import SOUNDS
from .hearing import hear, speech_of, write_wav
from .spelling import spoken_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ..sound_models import SoundModels
    from ..talk.timeline import Utterance
    from .line import LineConditions, Sound

S = TypeVar("S", str, bytes)


class _Arrived(NamedTuple):
    """Speech of the user: the tick in which it begins, and what arrived of it."""

    start: int
    sound: Sound


class Part(NamedTuple):
    """What arrives of an utterance in one of its ticks: the words, and the bytes of the sound in G.711's μ-law."""

    text: str
    sound: bytes = b""


class Ears:
    """What arrives of the user's words in one conversation.

    Args:
        models: The voice and the recogniser.
        conditions: What happens to them on the way.
        seed: What is drawn depends on it.
        cache: Where speech is kept.
        keep: Whether the sound is kept.
    """

    def __init__(self, models: SoundModels, conditions: LineConditions, seed: int, cache: Path, *, keep: bool) -> None:
        self._models, self._conditions, self._seed, self._cache, self._keep = models, conditions, seed, cache, keep
        self._count = 0
        self._arrived: list[_Arrived] = []

    async def parts(self, text: str, tick: int, ticks: int) -> list[Part]:
        """Return what is heard of an utterance, by its ticks, each of which has as much of the sound.

        Args:
            text: The whole text of it.
            tick: The tick in which it begins.
            ticks: How many ticks it takes.
        """
        words = " ".join(SOUNDS.sub(" ", text).split())
        if not words:
            return [Part("")] * ticks
        seed, self._count = self._seed + self._count, self._count + 1
        heard_text = await asyncio.to_thread(
            hear, words, self._models, self._conditions, seed, self._cache, with_sound=True
        )
        assert heard_text.sound is not None, "it was asked for"
        if self._keep:
            self._arrived.append(_Arrived(tick, heard_text.sound))
        from .line import encoded

        texts, sounds = _split(heard_text.text, ticks), _split(encoded(heard_text.sound).tobytes(), ticks)
        return [Part(*pair) for pair in zip(texts, sounds, strict=True)]

    def write(self, file: Path, utterances: Iterable[Utterance], tick_seconds: float) -> None:
        """Write a conversation: what arrived of the user on the left, the agent on the right.

        Raises:
            OSError: The file cannot be written.
        """
        import numpy as np

        from .line import RATE, resampled

        spoken = list(utterances)
        agent = []
        for utterance in spoken:
            if utterance.side == "agent" and utterance.text:
                sound, rate = speech_of(spoken_form(utterance.text), self._models, self._cache)
                agent.append(_Arrived(utterance.start, resampled(sound, rate, RATE)))
        step = tick_seconds * RATE
        ends = {utterance.start: int(utterance.end * step) for utterance in spoken if utterance.side == "user"}
        size = int(max([0, *(utterance.end for utterance in spoken)]) * step)
        channels = [_lane(self._arrived, size, step, ends), _lane(agent, size, step, {})]
        write_wav(file, [np.clip(np.round(channel * 32767), -32768, 32767) for channel in channels], RATE)


def _split(content: S, number: int) -> list[S]:
    """Return so many parts of a text or of bytes, of the same length but for one."""
    cuts = [-(-at * len(content) // number) for at in range(number + 1)]
    return [content[start:end] for start, end in itertools.pairwise(cuts)]


def _lane(parts: Sequence[_Arrived], size: int, step: float, ends: dict[int, int]) -> Sound:
    """Return one channel: each part begins at its tick, and ends where the next one begins at the latest."""
    import numpy as np

    lane = np.zeros(size)
    places = [int(part.start * step) for part in parts]
    for place, after, part in zip(places, [*places[1:], size], parts, strict=True):
        end = min(after, size, place + len(part.sound), ends.get(part.start, size))
        lane[place:end] = part.sound[: max(0, end - place)]
    return lane
