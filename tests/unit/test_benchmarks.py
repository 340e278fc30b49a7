"""The benchmarks run; how fast anything is, is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.exhaustive

REPOSITORY = Path(__file__).resolve().parents[2]
BENCHMARKS = (
    *(
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
        "many-conversations",
        "reading",
    ),
)


def run(*arguments):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    file = tmp_path_factory.mktemp("benchmarks") / "figures.json"
    only = [f"--only={name}" for name in BENCHMARKS]
    done = run("--quick", *only, "--json", str(file))
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_text(encoding="utf-8"))


def test_only_the_selected_figures_are_measured(measured):
    _, document = measured
    assert tuple(document["benchmarks"]) == BENCHMARKS
    assert document["quick"] is True
    assert document["data"] == "bundled"


def test_every_figure_has_its_unit_and_all_of_its_runs(measured):
    _, document = measured
    figures = [figure for benchmark in document["benchmarks"].values() for figure in benchmark["figures"]]
    assert len(figures) >= 15
    for figure in figures:
        assert figure["unit"] in {"", "ms", "µs", "s", "MB", "kB", "1/s"}
        assert min(figure["runs"]) <= figure["median"] <= max(figure["runs"])
        assert figure["best"] in figure["runs"]
        assert len(figure["runs_cpu"]) in {0, len(figure["runs"])}


def test_a_target_is_reached_from_its_own_side(measured):
    _, document = measured
    for benchmark, at_least in (("gold", False), ("turns", True)):
        for figure in document["benchmarks"][benchmark]["figures"]:
            if figure["target"] is not None:
                reached = figure["median"] >= figure["target"] if at_least else figure["median"] <= figure["target"]
                assert figure["met"] is reached


def test_the_table_has_a_row_for_each_figure_and_says_how_to_read_it(measured):
    text, document = measured
    for benchmark in document["benchmarks"].values():
        assert benchmark["note"].splitlines()[-1] in text
        for figure in benchmark["figures"]:
            assert figure["name"] in text


def test_an_unknown_benchmark_is_refused_with_the_known_ones():
    done = run("--only", "warp")
    assert done.returncode == 2
    assert "start-up" in done.stderr


def test_missing_data_is_reported(tmp_path):
    done = run("--quick", "--only", "gold", "--data", str(tmp_path))
    assert done.returncode != 0
    assert "no data of domain 'airline'" in done.stderr
