"""A short form of each part of the soak: nothing that must not happen happens, and if it did, it would be counted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.exhaustive

pytest.importorskip("xdist")
pytest.importorskip("litellm")

REPOSITORY = Path(__file__).resolve().parents[2]
#: The cases of each part, and how many of which figure they must at least come to.
SHORT = {
    "calls": (12, {"calls": 480, "calls that failed": 90, "calls that changed the state": 8}),
    "kills": (3, {"of them alone": 1, "of them with --tau-concurrency=4": 1, "of them with -n 2": 1}),
    "files": (10, {"of them simulations.jsonl": 1, "of them cassette": 1, "usage errors": 1}),
    "participants": (4, {"trials that misbehave": 48, "failed: agent_error": 10, "error: user_error": 10}),
    "faults": (1, {"conversations": 8, "of them with reward 1": 2, "faults": 1}),
}


def soak(*arguments):
    command = [sys.executable, "-m", "benchmarks.soak", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("part", SHORT)
def test_nothing_that_must_not_happen_happens(part):
    count, least = SHORT[part]
    done = soak("--minutes", "5", "--count", str(count), "--only", part)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = {}
    for line in done.stdout.splitlines():
        number, _, rest = line.strip().partition("  ")
        if number.replace(",", "").isdecimal():
            figures[rest.partition("   ")[0]] = int(number.replace(",", ""))
    for name, number in least.items():
        assert figures[name] >= number, done.stdout
    zeros = [line for line in done.stdout.splitlines() if "must be 0" in line]
    assert len(zeros) >= 2
    assert all(line.split()[0] == "0" and line.endswith("reached") for line in zeros)
