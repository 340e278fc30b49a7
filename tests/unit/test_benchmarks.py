"""The benchmarks run; how fast anything is, is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import many_conversations
from benchmarks.conversation_runs import ConversationRun, Used
from benchmarks.figures import Options

pytestmark = pytest.mark.exhaustive

REPOSITORY = Path(__file__).resolve().parents[2]
BENCHMARKS = (
    "gold",
    "first",
    "kept",
    "comparison",
    "policy",
    "regrade",
    "commands",
    "searches",
    "turns",
    "memory",
    "endpoint",
    "own-loop",
    "episodes",
    "serving",
    "start-up",
    "items",
    "reports",
    "waiting-workers",
    "reading",
    "interval-error",
    "dependent-tasks",
    "lost-trials",
    "planted-faults",
)


def run(*arguments):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_selected_figures_are_measured_and_shown(tmp_path):
    """In one run, whose figures are in a file and in a table."""
    file = tmp_path / "figures.json"
    done = run("--quick", *(f"--only={name}" for name in BENCHMARKS), "--json", str(file))
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text(encoding="utf-8"))
    assert tuple(document["benchmarks"]) == BENCHMARKS
    assert (document["quick"], document["data"]) == (True, "bundled")
    for benchmark in document["benchmarks"].values():
        assert benchmark["note"].splitlines()[-1] in done.stdout
        for figure in benchmark["figures"]:
            assert figure["name"] in done.stdout
            assert_consistent(figure)
    assert sum(len(benchmark["figures"]) for benchmark in document["benchmarks"].values()) >= 15
    for name, at_least in (("gold", False), ("turns", True)):
        for figure in document["benchmarks"][name]["figures"]:
            if figure["target"] is not None:
                reached = figure["median"] >= figure["target"] if at_least else figure["median"] <= figure["target"]
                assert figure["met"] is reached


def assert_consistent(figure):
    """A figure has its unit and all of its runs."""
    assert figure["unit"] in {"", "ms", "µs", "s", "MB", "kB", "1/s"}
    assert min(figure["runs"]) <= figure["median"] <= max(figure["runs"])
    assert figure["best"] in figure["runs"]
    assert len(figure["runs_cpu"]) in {0, len(figure["runs"])}


def test_many_conversations_are_compared_with_few(monkeypatch):
    """The runs are those of ``waiting-workers``, which are made above."""
    pytest.importorskip("aiohttp")
    pytest.importorskip("xdist")
    used = {0: Used(200, 1.0, 3.0, 300.0), 2: Used(200, 0.0, 1.0, 100.0)}

    def run_pytest(options, at_once, tasks, workers, url, trials):
        return ConversationRun(2.0, used[workers], [used[0]] * workers)

    monkeypatch.setattr(many_conversations, "run_pytest", run_pytest)
    figures = list(many_conversations.many_conversations(Options(None, quick=True)))
    assert [figure.wall for figure in figures] == [[300.0], [700.0], [0.0], [0.0], [1.0], [2.0], [2.0]]
    for figure in figures:
        assert_consistent(figure.as_json())


def test_an_unknown_benchmark_is_refused_with_the_known_ones():
    done = run("--only", "warp")
    assert done.returncode == 2
    assert "start-up" in done.stderr


def test_missing_data_is_reported(tmp_path):
    done = run("--quick", "--only", "gold", "--data", str(tmp_path))
    assert done.returncode != 0
    assert "no data of domain 'airline'" in done.stderr
