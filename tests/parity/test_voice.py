"""Recorded conversations in ticks, and everything that the reference computes from them."""

from __future__ import annotations

import gzip
import itertools
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import pytest_tau
from pytest_tau.capabilities.voice.facts import VoiceFacts
from pytest_tau.capabilities.voice.measure.metrics import panel
from pytest_tau.capabilities.voice.stored import messages_of
from pytest_tau.capabilities.voice.ticks import Tick
from pytest_tau.runs.reader import Run

from ..unit.voice_ticks import in_ticks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.parity

#: Checks of the recorded conversations: fewer would be an unnoticed loss.
CHECKS = {
    "metrics": 300,
    "responsiveness": 300,
    "communicate_texts": 300,
    "transcript": 300,
    "flat_messages": 300,
    "user_context": 900,
    "pooled": 10,
}


@pytest.mark.exhaustive
def test_every_recorded_conversation_agrees(shared: Path) -> None:
    done = subprocess.run(
        [sys.executable, shared / "tools" / "check_voice.py"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"{name}: {number} of {number}" for name, number in CHECKS.items()]


def test_the_recorded_runs_have_their_metrics(shared: Path) -> None:
    folder = shared / "runs" / "voice"
    run = Run(folder / "experiment")

    found = panel([VoiceFacts(**trial.simulation.facts["voice"]).interaction() for trial in run.trials()])

    expected = json.loads((folder / "expected_metrics.json").read_text(encoding="utf-8"))
    assert found.pop("counts") == expected.pop("counts")
    assert found == pytest.approx(expected, abs=1e-9)
    assert run.problems == []


@pytest.mark.parametrize(("name", "number"), [("mock", 90), ("airline", 30)])
def test_verdicts_on_ticks_are_those_on_the_same_turns(
    shared: Path, official_data: Path, name: str, number: int
) -> None:
    domain = pytest_tau.load_domain(name, data_dir=official_data)
    tasks = {task.id: task for task in domain.tasks(split=None)}
    with gzip.open(shared / "conformance" / f"runs_{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        runs = [json.loads(line) for line in itertools.islice(file, number)]
    assert len(runs) == number
    for run in runs:
        task, turns = tasks[run["task_id"]], run["messages"]
        ticks = messages_of([Tick.model_validate(tick) for tick in in_ticks(turns)])

        verdicts = [
            pytest_tau.evaluate(task, messages, termination_reason=run["termination_reason"], domain=domain)
            for messages in (turns, ticks)
        ]

        assert verdicts[0] == verdicts[1], (run["task_id"], run["variant"])
