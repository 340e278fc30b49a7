"""Each run equals its recording; the package's docstring says how to record again."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

from . import runs_agents, runs_models, runs_outcomes, runs_over, runs_selection, runs_verdicts
from .running import Recorder, Run

pytestmark = pytest.mark.exhaustive

RECORDED = Path(__file__).with_name("recorded")
RECORDING = os.environ.get("PYTEST_TAU_TRANSCRIPTS") == "record"
RUNS = [
    run
    for module in (runs_outcomes, runs_selection, runs_agents, runs_verdicts, runs_over, runs_models)
    for run in module.RUNS
]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_transcript(run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RECORDED / f"{run.name}.txt"
    found = Recorder(run, pytester, monkeypatch).transcript()
    if RECORDING:
        RECORDED.mkdir(exist_ok=True)
        file.write_text(found, encoding="utf-8")
    expected = file.read_text(encoding="utf-8") if file.exists() else ""
    if run.name == "help" and pytest.version_tuple < (9, 2):
        # These releases of pytest break the lines of help texts at hyphens, too.
        found, expected = ("".join(text.split()) for text in (found, expected))
    if found != expected:
        lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), "recorded", "now", lineterm="")
        pytest.fail(f"{run.name} is not as recorded:\n" + "\n".join(lines), pytrace=False)


def test_each_recording_has_its_run() -> None:
    names = [run.name for run in RUNS]
    assert sorted(names) == sorted(set(names))
    assert sorted(file.stem for file in RECORDED.iterdir()) == sorted(names)


def test_recordings_name_no_machine() -> None:
    """No folder of a home, of temporary files, or of an installation."""
    for file in RECORDED.iterdir():
        text = file.read_text(encoding="utf-8")
        assert not [
            word for word in ("/tmp", "/home", "/root", "/Users", "site-packages", str(Path.home())) if word in text
        ], file
