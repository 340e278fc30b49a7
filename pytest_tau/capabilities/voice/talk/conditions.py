"""The conditions of a conversation: what the user is like, and what the line and the room do to their speech.

Source: τ²-bench v1.0.1, speech complexities and the scheduler of effects. What only sound shows (noise, muffling,
accents) has no effect on text.
"""

from __future__ import annotations

import functools
import random
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from ....documents import DocumentError, read_json
from ....errors import ConfigurationError
from ....files import digest
from .. import COMPLEXITIES
from ..ticks import NON_DIRECTED, VOCAL_TIC, SpeechInsert

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VOCAL_TICS = tuple(f".[{sound}][{sound}][{sound}]" for sound in ("cough", "sneeze", "sniffle"))
NON_DIRECTED_PHRASES = (
    "Not now.",
    "Hold on a second.",
    "I'm on the phone.",
    "Just a minute.",
    "I don't know.",
    "Give me a moment.",
    "One second.",
    "I'll be right with you.",
    "Can you wait?",
    "Shh, quiet.",
)
#: The share of a lossy moment that is lost; the other one loses nothing.
_LOSS = 0.2
_LEAST_WORDS = 3


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Channel(_Part):
    enable_frame_drops: bool = True
    frame_drop_rate: float = 0.02
    frame_drop_burst_duration_ms: float = 100.0


class _Speech(_Part):
    enable_vocal_tics: bool = True
    vocal_tics: list[SpeechInsert] = [SpeechInsert(text=text, type=VOCAL_TIC) for text in VOCAL_TICS]
    min_words_for_vocal_tics: int = _LEAST_WORDS
    enable_non_directed_phrases: bool = True
    non_directed_phrases: list[SpeechInsert] = [
        SpeechInsert(text=text, type=NON_DIRECTED) for text in NON_DIRECTED_PHRASES
    ]
    speech_insert_events_per_minute: float = 0.7


class _Persona(_Part):
    verbosity: str = "minimal"
    interrupt_tendency: str = "interrupts"


class Conditions(_Part):
    """The conditions of a conversation, in the form of an entry of ``tasks_voice.json``.

    Attributes:
        complexity: The name.
        persona_name: Whose voice it would be.
        environment: ``indoor``, ``outdoor``, or None for no noise.
        use_llm_backchannel: The user shows now and then that they listen.
        persona_config: Whether the user interrupts.
        channel_effects_config: The loss of sound on the line.
        speech_effects_config: Tics of the user, and words that they say to others.
    """

    complexity: str = "regular"
    persona_name: str = ""
    environment: str | None = None
    use_llm_backchannel: bool = True
    persona_config: _Persona = _Persona()
    channel_effects_config: _Channel = _Channel()
    speech_effects_config: _Speech = _Speech()

    @property
    def interrupts(self) -> bool:
        """Return whether the user interrupts the agent."""
        return self.persona_config.interrupt_tendency == "interrupts"


#: What has an effect on text, of ``control`` and of each column of ablations on top of it.
_CONTROL: dict[str, Any] = {
    "use_llm_backchannel": False,
    "persona_config": _Persona(interrupt_tendency="waits"),
    "channel_effects_config": _Channel(enable_frame_drops=False, frame_drop_rate=0.0, frame_drop_burst_duration_ms=200),
    "speech_effects_config": _Speech(
        enable_vocal_tics=False, enable_non_directed_phrases=False, speech_insert_events_per_minute=0.0
    ),
}
_BUSY: dict[str, Any] = {
    "channel_effects_config": _CONTROL["channel_effects_config"],
    "speech_effects_config": _Speech(enable_vocal_tics=False, speech_insert_events_per_minute=6.0),
}
_COLUMNS: dict[str, dict[str, Any]] = {
    "audio": {"channel_effects_config": _Channel(frame_drop_rate=0.005)},
    "accents": {},
    "behavior": {
        "use_llm_backchannel": True,
        "persona_config": _Persona(),
        "speech_effects_config": _Speech(),
    },
}
_PERSONAS = {
    "control": ("matt_delaney", "lisa_brenner"),
    "regular": ("mildred_kaplan", "arjun_roy", "wei_lin", "mamadou_diallo", "priya_patil"),
}


def sampled(name: str, seed: int) -> Conditions:
    """Return the conditions of a complexity, drawn by a seed."""
    columns = name.split("_")[1:]
    # Each complexity has seeds of its own, in the order of their names.
    rng = random.Random(seed + COMPLEXITIES.index(name) * 1_000_000)  # noqa: S311 - not for secrets
    everything = name in ("regular", "busy")
    persona = rng.choice(_PERSONAS["regular" if everything or "accents" in columns else "control"])
    noisy = everything or "audio" in columns
    parts = _BUSY if name == "busy" else {} if everything else _CONTROL
    for column in columns:
        parts = {**parts, **_COLUMNS[column]}
    environment = ("indoor", "outdoor")[seed % 2] if noisy else None
    return Conditions(complexity=name, persona_name=persona, environment=environment, **parts)


def voice_seed(seed: int | None, task_id: str) -> int:
    """Return the seed of the effects of a trial, the same in each process.

    The reference takes Python's hash of the task's id, which differs from process to process.
    """
    return (seed or 0) + int(digest(task_id)[:8], 16) % 1_000_000


@functools.cache
def stored_conditions(file: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return what a file ``tasks_voice.json`` has for each task, by complexity; nothing if there is no file.

    Raises:
        ConfigurationError: It cannot be read.
    """
    if not file.is_file():
        return {}
    try:
        tasks = read_json(file)["configs"]
        return {task: config.get("configs", config) for task, config in tasks.items()}
    except (DocumentError, OSError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{file}: expected {{'configs': {{TASK: …}}}}: {error}") from None


def conditions_of(name: str, stored: Mapping[str, Any] | None, seed: int) -> Conditions:
    """Return the conditions of a trial.

    Args:
        name: The complexity.
        stored: What is stored for the task, by complexity; None if nothing is.
        seed: The seed that draws what is not stored.

    Raises:
        ConfigurationError: What is stored does not follow the format.
    """
    known = (stored or {}).get(name)
    if known is None:
        return sampled(name, seed)
    try:
        return Conditions.model_validate({"complexity": name, **known})
    except ValidationError as error:
        raise ConfigurationError(f"voice conditions {name!r}: {error}") from None


class Effects(NamedTuple):
    """What happens in a tick.

    Attributes:
        insert: A sound or words that are not for the agent, which begin.
        lost: Sound is lost on the line.
        joins: What is lost is only the gap before the next words.
    """

    insert: SpeechInsert | None = None
    lost: bool = False
    joins: bool = False


class EffectSchedule:
    """The effects of a conversation, tick by tick; each kind has draws of its own, by the seed."""

    def __init__(self, conditions: Conditions, seed: int, tick: float) -> None:
        speech, channel = conditions.speech_effects_config, conditions.channel_effects_config
        self._trigger, self._choice, self._drop, self._kind = (_random(seed + offset) for offset in (0, 2, 3, 4))
        self._seed, self._utterances = seed, 0
        tics, phrases = speech.enable_vocal_tics, speech.enable_non_directed_phrases
        self._tics = list(speech.vocal_tics) if tics else []
        self._inserts = self._tics + (list(speech.non_directed_phrases) if phrases else [])
        rate = speech.speech_insert_events_per_minute
        self._insert_chance = 1 - exp(-rate / 60 * tick) if self._inserts else 0.0
        self._tic_chance, self._least_words = min(rate / 10, 0.5), speech.min_words_for_vocal_tics
        self._drops, self._bad = channel.enable_frame_drops and channel.frame_drop_rate > 0, False
        recover = 1000 / channel.frame_drop_burst_duration_ms
        lossy = recover * channel.frame_drop_rate / (_LOSS - channel.frame_drop_rate)
        self._leave = {True: 1 - exp(-recover * tick), False: 1 - exp(-lossy * tick)}

    def tick(self, *, user_speaks: bool) -> Effects:
        """Return what happens in the next tick."""
        insert = None
        if self._insert_chance and not user_speaks and self._trigger.random() < self._insert_chance:
            insert = self._choice.choice(self._inserts)
        if not self._drops:
            return Effects(insert)
        if self._drop.random() < self._leave[self._bad]:
            self._bad = not self._bad
        lost = self._drop.random() < (_LOSS if self._bad else 0.0)
        return Effects(insert, lost, lost and self._kind.random() < 0.5)

    def utterance(self, text: str) -> tuple[str, SpeechInsert | None]:
        """Return an utterance of the user, perhaps with a tic in it, and the tic."""
        number, self._utterances = self._utterances, self._utterances + 1
        draw = _random(self._seed + number)
        if not self._tics or draw.random() > self._tic_chance:
            return text, None
        tic, words = draw.choice(self._tics), text.split()
        if len(words) >= self._least_words:
            words.insert(_random(self._seed + number).randint(1, len(words) - 1), tic.text)
            text = " ".join(words)
        return text, tic


def heard_through(words: str, effects: Effects) -> str:
    """Return what of a tick's words arrives: they are lost, or joined to those of the next tick."""
    if not effects.lost:
        return words
    return words.rstrip() if effects.joins else ""


def _random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - not for secrets
