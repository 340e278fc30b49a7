"""``tau runs``: stored runs are listed, and older ones removed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_tau.runs.layout import RUNS

from .test_report import kept

if TYPE_CHECKING:
    from .commands import Tau


def stored(name: str, *rewards: float, started: str = "2026-01-01", **settings: str) -> Path:
    """A run's folder below .tau/runs."""
    folder = kept(name, *rewards)
    manifest = {"format": 1, "started": f"{started}T10:30:00+00:00", "settings": settings}
    (folder / "run.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return folder


@pytest.fixture
def three(tau: Tau) -> Tau:
    """Three runs, the names in another order than the starts."""
    stored("b", 1.0, 0.0, started="2026-01-01", agent="noop")
    stored("a", 1.0, started="2026-01-03", agent="llm", agent_llm="openai/gpt-4.1")
    stored("c", 0.0, started="2026-01-02")
    return tau


def names() -> list[str]:
    """The folders that are left."""
    return sorted(folder.name for folder in RUNS.iterdir())


def test_the_latest_run_comes_first(three: Tau) -> None:
    ran = three("runs")
    assert (ran.status, ran.err) == (0, "")
    size = sum(file.stat().st_size for file in Path(RUNS, "a").iterdir())
    assert ran.lines[:2] == [
        "a",
        f"  2026-01-03 10:30: pass^1 1.000, 1 trial, {size} B; mock, agent llm, openai/gpt-4.1",
    ]
    assert ran.lines[2] == "c" and ran.lines[3].endswith("; mock, agent unknown")
    assert ran.lines[4] == "b" and "pass^1 0.500, 2 trials" in ran.lines[5]
    assert ran.lines[6].startswith("3 runs, ") and ran.lines[6].endswith(" in .tau/runs")


@pytest.mark.parametrize(("unpriced", "shown"), [(2, "cost unknown"), (1, "$0.50 and 1 call with unknown price")])
def test_the_cost_is_unknown_if_no_call_has_a_price(tau: Tau, unpriced: int, shown: str) -> None:
    usage = {"calls": 2, "unpriced_calls": unpriced, "known_cost": 0.5 * (unpriced < 2)}
    record = {"domain": "mock", "task_id": "t", "trial": 0, "reward_info": {"reward": 1.0}}
    folder = RUNS / "a"
    folder.mkdir(parents=True)
    line = record | {"termination_reason": "user_stop", "model_usage": {"agent": usage}}
    (folder / "records.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert f"1 trial, {shown}, " in tau("runs").lines[1]


def test_runs_behind_a_url(three: Tau) -> None:
    ran = three("runs", f"file://{Path(RUNS).resolve()}")
    assert [line for line in ran.lines if not line.startswith(" ")][:3] == ["a", "c", "b"]


def test_runs_in_parts_are_listed_and_left(three: Tau) -> None:
    kept("parts/machine", 1.0, 1.0)
    manifest = {"format": 1, "started": "2025-01-01T10:30:00+00:00", "settings": {}}
    plan = {"format": 1, "manifest": {**manifest, "hashes": {}, "excluded": {}, "versions": {}}, "trials": {}}
    for name in ("parts", "planned"):
        Path(RUNS, name).mkdir(exist_ok=True)
        Path(RUNS, name, "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    Path(RUNS, "parts", "machine", "run.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    shown = three("runs").lines
    assert "no trial is stored yet" in shown[shown.index("planned") + 1]
    assert ", stored in parts; " in shown[shown.index("parts") + 1]
    assert "2 trials" in shown[shown.index("parts") + 1]
    three("runs", "--prune", "1", "--yes")
    assert "parts" in names() and "planned" in names() and "b" not in names()


def test_a_run_that_cannot_be_read_is_listed(three: Tau) -> None:
    Path(RUNS, "a", "run.json").write_text('{\n "started": "2026-01-03T10:30:00+00:00", "format": 9}', encoding="utf-8")
    assert "cannot be read: " in three("runs").lines[1]


def test_pruning_lists_first_and_removes_with_yes(three: Tau) -> None:
    ran = three("runs", "--prune", "1")
    assert [line for line in ran.lines if not line.startswith(" ")][:2] == ["c", "b"]
    assert ran.lines[-1].startswith("2 of 3 runs, ") and ran.lines[-1].endswith(
        ": would be removed; --yes removes them"
    )
    assert names() == ["a", "b", "c"]
    ran = three("runs", "--prune", "1", "--yes")
    assert ran.lines[-1].endswith(": removed")
    assert names() == ["a"]
    assert three("runs", "--prune", "1").out == "0 of 1 run, 0 B: would be removed\n"


@pytest.mark.parametrize("out", [(), ("-o", "tests/baseline")])
def test_a_run_of_which_a_baseline_was_made_is_left(three: Tau, out: tuple[str, ...]) -> None:
    three("bless", "b", *out)
    assert ", blessed; " in three("runs").lines[5]
    three("runs", "--prune", "1", "--yes")
    assert names() == ["a", "b"]
    three("bless", "a", *out, "--force")
    three("runs", "--prune", "1", "--yes")
    assert names() == ["a"]


def test_baselines_runs_under_way_and_results_of_other_programs_are_left(three: Tau) -> None:
    three("bless", "b", "-o", str(RUNS / "d"))
    Path(RUNS, "b", "blessed").unlink()
    Path(RUNS, "c", "run.lock").write_text("{}", encoding="utf-8")
    Path(RUNS, "other").mkdir()
    Path(RUNS, "other", "results.json").write_text("{}", encoding="utf-8")
    shown = three("runs").out
    for why in (", a baseline; ", ", under way or killed; "):
        assert why in shown
    os.utime(Path(RUNS, "other", "results.json"), (0, 0))
    three("runs", "--prune", "1", "--yes")
    assert names() == ["a", "c", "d", "other"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], "no run is stored in .tau/runs"),
        (["--yes"], "--yes removes runs: expected --prune N with it"),
        (["--prune", "0"], "--prune: expected a number of at least 1, got 0"),
        (["--prune", "1", "s3://user:secret@bucket/runs"], "--prune removes folders: expected a folder, got a URL"),
    ],
)
def test_what_cannot_be_done_is_an_error(tau: Tau, args: list[str], expected: str) -> None:
    ran = tau("runs", *args)
    assert (ran.status, ran.out, ran.err) == (2, "", f"tau runs: {expected}\n")
