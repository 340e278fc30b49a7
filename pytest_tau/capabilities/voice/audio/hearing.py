"""Text to speech, the line, and speech to text: what is heard of a text, and whether what counts has arrived."""

from __future__ import annotations

import functools
import re
import threading
import wave
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ....documents import read_json
from ....errors import ConfigurationError, install_extra
from ....files import atomic_write, digest
from ....plain import json
from .spelling import spoken_form, written_form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..sound_models import SoundModels
    from .line import LineConditions, Sound


#: The kinds, with what each is written like; what one has taken is not looked at by the next.
_KINDS = {
    "address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "id": re.compile(r"#?\w+(?:_\w+)+|#?\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{3,}\b"),
    "amount": re.compile(r"\$\d[\d,]*(?:\.\d\d)?\b"),
    "number": re.compile(r"(?<![\w.,-])\d{2,}(?![\w-]|[.,]\d)"),
    "name": re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]+(?: (?=[A-Z][a-z]))?)+"),
}
#: What is between words; the ending of a name in the genitive is a word.
_BETWEEN = re.compile(r"[\s'\u2019]+")
_SIGN = re.compile(r"[^a-z0-9]+")


class Entity(NamedTuple):
    """Something that has to arrive: ``kind`` is ``address``, ``id``, ``amount``, ``number`` or ``name``."""

    kind: str
    text: str


def entities_of(text: str) -> list[Entity]:
    """Return what has to arrive of a text, by kinds."""
    entities = []
    for kind, pattern in _KINDS.items():
        entities += [Entity(kind, match.group().strip()) for match in pattern.finditer(text)]
        text = pattern.sub(" ", text)
    return entities


def survivors(spoken_text: str, heard: str) -> Iterator[tuple[Entity, bool]]:
    """Yield what had to arrive of a text, each with whether it did. Signs and upper case play no part."""
    words = [_plain(word) for word in _BETWEEN.split(heard)]
    for entity in entities_of(spoken_text):
        entity_words = [_plain(word) for word in entity.text.split()]
        places = range(len(words) - len(entity_words) + 1)
        yield entity, any(words[at : at + len(entity_words)] == entity_words for at in places)


def _plain(word: str) -> str:
    return _SIGN.sub("", word.lower())


#: Where speech and what was heard of it are kept, below the current folder.
CACHE = Path(".tau") / "voice-audio"
#: What the packages of the extra are called, and what pip calls them.
_PACKAGES = ("numpy", "piper", "faster_whisper")
#: Samples a second that the recogniser takes.
_HEARD_RATE = 16000
#: Seconds of silence before and after speech that is heard.
_SILENCE = 0.5
#: The tokens that may be heard: so many, and so many a second.
_LEAST_TOKENS, _TOKENS = 16, 8
#: The models are shared by the threads of a process, one at a time.
_LOCK = threading.Lock()
#: A change of what is said or heard for a text needs another number.
_VERSION = 1


class HeardText(NamedTuple):
    """What is heard of a text.

    Attributes:
        text: What was heard, as one would write it.
        heard: What was heard, word by word.
        seconds: How long the speech is.
        sound: What arrived, at 8,000 samples a second; None if it comes from the cache.
    """

    text: str
    heard: str
    seconds: float
    sound: Sound | None = None


def hear(
    text: str,
    models: SoundModels,
    conditions: LineConditions,
    seed: int,
    cache: Path | None = CACHE,
    *,
    with_sound: bool = False,
) -> HeardText:
    """Say a text, send it over the line, and return what is heard of it; the same for the same arguments.

    Args:
        text: What a person would write.
        models: The voice and the recogniser.
        conditions: What happens to it on the way.
        seed: What is drawn depends on it.
        cache: Where speech is kept by its text, and what was heard by all arguments; None to keep nothing.
        with_sound: Return the sound as well.

    Raises:
        ConfigurationError: A package of the extra is missing.
    """
    check_installed()
    from .line import RATE, transmitted

    spoken_text = spoken_form(text)
    key = digest(json.dumps([_VERSION, models.identity, spoken_text, list(conditions), seed]))
    file = cache / f"heard-{key}.json" if cache is not None else None
    known = read_json(file) if file is not None and file.is_file() else None
    sound: Sound | None = None
    if known is None or with_sound:
        speech, rate = speech_of(spoken_text, models, cache)
        sound = transmitted(speech, rate, conditions, seed)
    if known is None:
        assert sound is not None, "it was just made"
        known = {"heard": _recognised(sound, models), "seconds": len(sound) / RATE}
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(file, json.dumps(known))
    return HeardText(written_form(known["heard"]), known["heard"], known["seconds"], sound if with_sound else None)


def check_installed() -> None:
    """Check that the packages of the extra are there.

    Raises:
        ConfigurationError: One is missing; names the extra.
    """
    from importlib.util import find_spec

    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise ConfigurationError(f"speech with sound needs {missing[0]}: {install_extra('voice-audio')}")


def speech_of(text: str, models: SoundModels, cache: Path | None) -> tuple[Sound, int]:
    """Return the speech for words, and its samples a second."""
    import numpy as np

    key = digest(json.dumps([_VERSION, models.identity[0], text]))
    file = cache / f"said-{key}.wav" if cache is not None else None
    if file is not None and file.is_file():
        with wave.open(str(file), "rb") as stored:
            samples = np.frombuffer(stored.readframes(stored.getnframes()), dtype="<i2")
            return samples / 32768.0, stored.getframerate()
    with _LOCK:
        voice, settings = _voice(models.voice)
        parts = [chunk.audio_int16_array for chunk in voice.synthesize(text, syn_config=settings)]
    samples = np.concatenate(parts) if parts else np.zeros(_HEARD_RATE // 10, dtype=np.int16)
    rate = int(voice.config.sample_rate)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_wav(file, [samples], rate)
    return samples / 32768.0, rate


def _recognised(sound: Sound, models: SoundModels) -> str:
    import numpy as np

    from .line import RATE, resampled

    # Without silence around it, the last digits may be heard twice.
    padded = np.pad(sound, int(_SILENCE * RATE))
    samples = resampled(padded, RATE, _HEARD_RATE).astype(np.float32)
    with _LOCK:
        segments, _ = _recogniser(models.recogniser).transcribe(
            samples,
            language="en",
            beam_size=5,
            temperature=0.0,
            # Without these the model may repeat a word for ever; a penalty on repetition costs digits that do repeat.
            no_repeat_ngram_size=6,
            max_new_tokens=_LEAST_TOKENS + int(len(sound) / RATE * _TOKENS),
            condition_on_previous_text=False,
            without_timestamps=True,
        )
        return " ".join(part.text.strip() for part in segments)


@functools.cache
def _voice(file: Path) -> tuple[Any, Any]:
    piper = import_module("piper")
    voice = piper.PiperVoice.load(file)
    # Two syntheses of a text differ by the noise that the voice adds, unless it adds none.
    return voice, piper.SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)


@functools.cache
def _recogniser(folder: Path) -> Any:
    whisper = import_module("faster_whisper").WhisperModel
    return whisper(str(folder), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True)


def write_wav(file: Path, channels: list[Any], rate: int) -> None:
    """Write a sound; each channel has as many samples of 16 bits."""
    import io

    import numpy as np

    data = io.BytesIO()
    with wave.open(data, "wb") as target:
        target.setnchannels(len(channels))
        target.setsampwidth(2)
        target.setframerate(rate)
        target.writeframes(np.stack(channels, axis=1).astype("<i2").tobytes())
    atomic_write(file, data.getvalue())
