"""Interaction metrics as the leaderboard has them, and submissions of voice runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.cli import main

from .voice_ticks import document, in_ticks, written

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = ("model_organization=Example", "submitting_organization=Institute", "contact_info.email=evals@example.org")
GIVEN = ["--yes", *(part for field in FIELDS for part in ("--set", field))]
TALK = [
    {"role": "assistant", "content": "How can I help you?"},
    {"role": "user", "content": "I would like to know about my flight."},
    {"role": "assistant", "content": "It is on time."},
    {"role": "user", "content": "###STOP###"},
]


def airline() -> dict[str, Any]:
    task = pytest_tau.load_domain("airline").tasks()[0]
    return document(in_ticks(TALK), domain="airline", task_id=task.id)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a submission."""
    monkeypatch.chdir(tmp_path)
    run = written(tmp_path, airline(), "folder")
    for name in ("sim_s1", "sim_discarded"):
        sound = run / "artifacts" / "task_0" / name / "audio" / "both.wav"
        sound.parent.mkdir(parents=True)
        sound.write_bytes(b"RIFF")
    assert main(["submit", "prepare", str(run), "-o", "out", *GIVEN]) == 0
    (found,) = (tmp_path / "out").iterdir()
    return found


def test_a_submission_has_the_model_the_metrics_and_the_sound(folder: Path) -> None:
    made = json.loads((folder / "submission.json").read_text(encoding="utf-8"))

    assert made["modality"] == "voice"
    assert made["submission_type"] == "standard"
    assert made["methodology"]["user_simulator"] == "v1.0"
    assert made["voice_config"] == {
        "provider": "openai",
        "model": "x",
        "tick_duration_seconds": 0.2,
        "user_tts_provider": "elevenlabs/eleven_v3",
    }
    metrics = made["interaction_metrics"]
    assert metrics["version"] == "1.0"
    assert metrics["domains"]["airline"]["response_latency_mean"] == pytest.approx(0.2)
    assert metrics["overall"]["counts"]["response_total"] == 1
    assert folder.name.startswith("openai-x_example_")
    sounds = [str(each.relative_to(folder)) for each in folder.rglob("*.wav")]
    assert sounds == ["trajectories/voice/artifacts/task_0/sim_s1/audio/both.wav"]
    assert [each.name for each in (folder / "trajectories" / "voice" / "simulations").iterdir()] == ["s1.json"]


PIPELINE = {"asr": "deepgram/nova-3", "llm": "openai/gpt-4.1", "tts": "deepgram/aura-asteria-en"}


@pytest.mark.parametrize(
    ("preset", "given", "pipeline"),
    [
        ("default", [], PIPELINE),
        ("openai-thinking", [], PIPELINE | {"llm": "openai/gpt-5.2"}),
        (None, [], None),
        ("own", [], None),
        ("own", ["--set", "voice_config.pipeline.asr=mine"], {"asr": "mine"}),
    ],
)
def test_a_cascaded_agent_has_a_pipeline(
    preset: str | None,
    given: list[str],
    pipeline: dict[str, str] | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = airline()
    content["info"]["audio_native_config"] |= {"provider": "livekit", "cascaded_config_name": preset}
    run = written(tmp_path, content, "folder")
    assert main(["submit", "prepare", str(run), "-o", str(tmp_path / "out"), *GIVEN, *given]) == 0
    (folder,) = (tmp_path / "out").iterdir()
    made = json.loads((folder / "submission.json").read_text(encoding="utf-8"))
    assert (made["voice_config"]["provider"], made["voice_config"].get("pipeline")) == ("livekit", pipeline)
    assert not [each for each in problems(folder, capsys) if "voice_config" in each]


def problems(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    main(["submit", "check", str(folder), "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    return [f"{each['where']}: {each['text']}" for each in found if each["check"] != "tasks"]


def test_metrics_that_do_not_follow_from_the_ticks_are_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "submission.json"
    made = json.loads(file.read_text(encoding="utf-8"))
    made["interaction_metrics"]["domains"]["airline"]["response_rate"] = 0.5
    made["voice_config"]["speed"] = 2

    before = problems(folder, capsys)
    file.write_text(json.dumps(made), encoding="utf-8")
    after = problems(folder, capsys)

    assert [each for each in after if each not in before] == [
        "submission.json: voice_config.speed: unknown field",
        "interaction_metrics.domains.airline.response_rate: 0.5, but the trajectories give 1.0",
    ]


def refused(content: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    run = written(tmp_path, content)
    assert main(["submit", "prepare", str(run), *more, "-o", str(tmp_path / "out"), *GIVEN]) == 2
    assert not (tmp_path / "out").exists()
    return " ".join(capsys.readouterr().err.split())


def test_other_conditions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = airline()
    content["info"]["speech_complexity"] = "control"

    assert "a submission has runs with 'regular' only; voice has 'control'" in refused(content, tmp_path, capsys)


def test_voice_and_text_are_not_one_submission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = airline()
    del text["info"]["audio_native_config"]
    (simulation,) = text["simulations"]
    simulation |= {"ticks": None, "messages": TALK}
    (tmp_path / "text").mkdir()
    other = written(tmp_path / "text", text)

    problem = refused(airline(), tmp_path, capsys, str(other))

    assert "voice and text cannot be submitted together" in problem


def test_speech_without_sound_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    run = {"format": 1, "settings": {}, "capabilities": {"voice": {"settings": {}, "columns": []}}}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "simulations.jsonl").write_text("", encoding="utf-8")

    assert main(["submit", "prepare", str(folder), "-o", str(tmp_path / "out"), *GIVEN]) == 2

    assert "simulated without sound" in " ".join(capsys.readouterr().err.split())


def test_metrics_are_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = written(tmp_path, airline())

    assert main(["export", str(run), "--format", "interaction-metrics"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["config"]["no_yield_window_sec"] == 2.0
    assert found["domains"]["airline"] == found["overall"] | {"counts": found["domains"]["airline"]["counts"]}
