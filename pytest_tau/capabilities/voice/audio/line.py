"""A telephone line, and what else is heard on it: noise, bursts of noise, and moments that are lost.

Sounds are arrays of floats from -1 to 1, of one channel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Sound: TypeAlias = NDArray[np.float64]

#: Samples a second on the line, and the band of frequencies that it lets pass, in Hz.
RATE = 8000
_BAND = (300.0, 3400.0)
#: Seconds for which the loss of the line is drawn, and how much of them is lost.
_MOMENT, _LOST = 0.2, 0.15
#: The share of moments that are lost in a bad state of the line.
_BAD = 0.2
#: The range of the lengths of bursts in seconds.
_BURST = (0.2, 0.8)


class LineConditions(NamedTuple):
    """What the line and the surroundings of the user do to speech.

    Attributes:
        snr: Decibels of the speech above the noise; None for no noise.
        drift: By how many decibels that changes in the course of an utterance.
        bursts: Bursts of noise a minute.
        burst_snr: The range of decibels of the speech above a burst.
        loss: The share of moments that are lost.
        loss_seconds: The mean length of a bad state of the line.
        muffled: The probability that half a second in the middle of an utterance is muffled.
    """

    snr: float | None = None
    drift: float = 0.0
    bursts: float = 0.0
    burst_snr: tuple[float, float] = (-5.0, 10.0)
    loss: float = 0.0
    loss_seconds: float = 0.1
    muffled: float = 0.0

    @classmethod
    def of(cls, stored: Mapping[str, Any], environment: str | None) -> LineConditions:
        """Return the conditions of an entry of ``tasks_voice.json``.

        Args:
            stored: The entry; what it does not have is as τ²-bench has it by default.
            environment: Where the user is; None for no noise.
        """
        source = stored.get("source_effects_config") or {}
        speech = stored.get("speech_effects_config") or {}
        channel = stored.get("channel_effects_config") or {}
        noise = environment is not None and source.get("enable_background_noise", True)
        bursts = environment is not None and source.get("enable_burst_noise", True)
        muffled = speech.get("enable_dynamic_muffling", environment is not None)
        low, high = source.get("burst_snr_range_db", (-5.0, 10.0))
        return cls(
            snr=float(source.get("noise_snr_db", 15.0)) if noise else None,
            drift=float(source.get("noise_snr_drift_db", 3.0)) if noise else 0.0,
            bursts=float(source.get("burst_noise_events_per_minute", 1.0)) if bursts else 0.0,
            burst_snr=(float(low), float(high)),
            loss=float(channel.get("frame_drop_rate", 0.01)) if channel.get("enable_frame_drops", True) else 0.0,
            loss_seconds=float(channel.get("frame_drop_burst_duration_ms", 100)) / 1000,
            muffled=float(speech.get("muffle_probability", 0.2)) if muffled else 0.0,
        )


def transmitted(sound: Sound, rate: int, conditions: LineConditions, seed: int) -> Sound:
    """Return what arrives of speech at the other end of the line, at ``RATE``.

    Args:
        sound: The speech.
        rate: Its samples a second.
        conditions: What happens to it.
        seed: What is drawn depends on it alone.
    """
    draw = np.random.default_rng(seed)
    if draw.random() < conditions.muffled:
        sound = _muffled(sound, rate)
    arrived = resampled(sound, rate, RATE)
    level = rms(arrived)
    if conditions.snr is not None:
        drift = conditions.drift * np.sin(np.linspace(0, np.pi, len(arrived)) * (1 + len(arrived) / RATE / 2))
        arrived = arrived + noise(len(arrived), draw) * level * 10 ** (-(conditions.snr + drift) / 20)
    for _ in range(draw.poisson(conditions.bursts * len(arrived) / RATE / 60)):
        arrived = _with_burst(arrived, level, conditions.burst_snr, draw)
    arrived = g711(resampled(arrived, RATE, RATE))
    return _with_losses(arrived, conditions, draw)


def rms(sound: Sound) -> float:
    """Return the level of a sound."""
    return float(np.sqrt(np.mean(np.square(sound)))) if len(sound) else 0.0


def resampled(sound: Sound, rate: int, target: int) -> Sound:
    """Return a sound with other samples a second, with the band of the telephone if the target is ``RATE``."""
    spectrum = np.fft.rfft(sound)
    frequencies = np.fft.rfftfreq(len(sound), 1 / rate)
    if target == RATE:
        spectrum = np.where((frequencies >= _BAND[0]) & (frequencies <= _BAND[1]), spectrum, 0)
    size = round(len(sound) * target / rate)
    target_spectrum = np.zeros(size // 2 + 1, dtype=complex)
    most = min(len(target_spectrum), len(spectrum))
    target_spectrum[:most] = spectrum[:most]
    converted: Sound = np.fft.irfft(target_spectrum, size) * (size / max(1, len(sound)))
    return converted


def noise(size: int, draw: np.random.Generator) -> Sound:
    """Return noise of the level 1, which is louder where it is lower, as that of rooms and streets."""
    spectrum = np.fft.rfft(draw.standard_normal(max(2, size)))
    spectrum /= np.sqrt(np.maximum(1, np.arange(len(spectrum))))
    samples: Sound = np.fft.irfft(spectrum, max(2, size))[:size]
    return samples / (rms(samples) or 1.0)


def _with_burst(sound: Sound, level: float, snr: tuple[float, float], draw: np.random.Generator) -> Sound:
    size = min(len(sound), int(draw.uniform(*_BURST) * RATE))
    start = int(draw.integers(0, len(sound) - size + 1))
    burst = noise(size, draw) * np.linspace(1, 0.1, size) * level * 10 ** (-draw.uniform(*snr) / 20)
    with_burst = sound.copy()
    with_burst[start : start + size] += burst
    return with_burst


def _muffled(sound: Sound, rate: int) -> Sound:
    """Return speech whose middle has no high frequencies for half a second, as with a hand before the mouth."""
    size, middle = rate // 4, len(sound) // 2
    if len(sound) < 4 * size:
        return sound
    muffled = sound.copy()
    part = np.fft.rfft(muffled[middle - size : middle + size])
    part[np.fft.rfftfreq(2 * size, 1 / rate) > 1500] = 0
    muffled[middle - size : middle + size] = np.fft.irfft(part, 2 * size)
    return muffled


def g711(sound: Sound) -> Sound:
    """Return a sound as 8 bits of μ-law carry it."""
    return decoded(encoded(sound))


def encoded(sound: Sound) -> NDArray[np.uint8]:
    """Return the bytes of a sound in μ-law, as G.711 has them."""
    samples = np.clip(np.round(sound * 32767), -32768, 32767).astype(np.int32)
    sign = np.where(samples < 0, 0x80, 0)
    # Of 14 bits; negative values are rounded away from zero.
    size = np.minimum(np.abs(samples >> 2), 8158) + 33
    exponent = np.floor(np.log2(size)).astype(np.int32) - 5
    mantissa = (size >> (exponent + 1)) & 0x0F
    codes: NDArray[np.uint8] = (~(sign | (exponent << 4) | mantissa) & 0xFF).astype(np.uint8)
    return codes


def decoded(data: NDArray[np.uint8]) -> Sound:
    """Return the sound of bytes in μ-law."""
    value = ~data.astype(np.int32) & 0xFF
    exponent, mantissa = (value >> 4) & 0x07, value & 0x0F
    size = ((mantissa << 3) + 132 << exponent) - 132
    sound: Sound = np.where(value & 0x80, -size, size) / 32768.0
    return sound


def _with_losses(sound: Sound, conditions: LineConditions, draw: np.random.Generator) -> Sound:
    """Return a sound without the moments that are lost; the line is in a good state or in a bad one (Gilbert-Elliott).

    Source: τ²-bench v1.0.1, scheduler of effects.
    """
    if not conditions.loss:
        return sound
    arrived, bad = sound.copy(), False
    leave = 1 / conditions.loss_seconds
    enter = leave * conditions.loss / (_BAD - conditions.loss)
    step, lost = int(_MOMENT * RATE), int(_LOST * RATE)
    for start in range(0, len(arrived), step):
        if draw.random() < 1 - np.exp(-(leave if bad else enter) * _MOMENT):
            bad = not bad
        if draw.random() < (_BAD if bad else 0.0):
            arrived[start : start + lost] = 0
    return arrived
