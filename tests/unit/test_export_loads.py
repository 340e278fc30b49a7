"""Exports in τ²-bench's format have every field that its loader requires, whatever was exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.runs.reader import StoredTrial

from .tau2_required import REQUIRED, problems
from .test_export import keep, stored_trials, trial

if TYPE_CHECKING:
    from .commands import Tau

SETTINGS = {"agent": "gold", "user": "gold", "max_steps": 200, "max_errors": 10, "seed": 300}


def load(path: Path) -> Any:
    """Return a results file, or a results folder with its simulations in their places."""
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    document = json.loads((path / "results.json").read_text(encoding="utf-8"))
    files = [path / "simulations" / f"{entry['id']}.json" for entry in document["simulation_index"]]
    return document | {"simulations": [json.loads(file.read_text(encoding="utf-8")) for file in files]}


def tau1_entry(trial: int = 0) -> dict[str, Any]:
    """A trial in τ-bench's format, on a task of the bundled airline domain."""
    task = {"instruction": "Cancel my trip.", "actions": [], "outputs": [], "user_id": "x"}
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Bye"}]
    done = {"role": "user", "content": "###STOP###"}
    info = {"task": task, "reward_info": {"reward": 1.0, "info": {"r_actions": 1.0}, "actions": []}}
    return {"task_id": 0, "reward": 1.0, "info": info, "traj": [*said, done], "trial": trial}


def errors() -> list[StoredTrial]:
    reasons = ("user_error", "infrastructure_error", "unexpected_error", "agent_error", "timeout")
    return [trial("t", number, termination_reason=reason, error="x") for number, reason in enumerate(reasons)]


@pytest.mark.parametrize(("form", "commit"), [("tau2", None), ("tau2-dir", "abc")])
@pytest.mark.parametrize("kind", ["mock", "airline", "retail", "telecom", "errors"])
def test_runs_of_ours(tau: Tau, tmp_path: Path, kind: str, commit: str | None, form: str) -> None:
    trials = errors() if kind == "errors" else stored_trials(kind, "noop", most=40 if kind == "mock" else 4)
    keep(tmp_path / "run", trials, {"commit": commit, "settings": SETTINGS})
    assert tau("export", "run", "--format", form, "-o", "out.json").status == 0
    document = load(tmp_path / "out.json")
    assert problems(document) == []
    assert document["info"]["git_commit"] == (commit or "unknown")
    assert len(document["simulations"]) == len(trials)


def test_a_run_without_a_manifest(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "run", stored_trials("mock", most=2))
    tau("export", "run", "--format", "tau2", "-o", "out.json")
    document = load(tmp_path / "out.json")
    assert problems(document) == []
    assert (document["info"]["max_steps"], document["info"]["max_errors"]) == (200, 10)


def test_bundled_mock_tasks_without_a_domain_get_it(tau: Tau, tmp_path: Path) -> None:
    tasks = pytest_tau.load_domain("mock").tasks()
    without = [t.id for t in tasks if getattr(t.user_scenario.instructions, "domain", "a text") is None]
    assert without
    keep(tmp_path / "run", stored_trials("mock", most=40))
    tau("export", "run", "--format", "tau2", "-o", "out.json")
    written = {task["id"]: task for task in load(tmp_path / "out.json")["tasks"]}
    filled = [task_id for task_id in without if task_id in written]
    assert filled
    assert {written[task_id]["user_scenario"]["instructions"]["domain"] for task_id in filled} == {"mock"}


def test_a_recording_of_tau1(tau: Tau, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(json.dumps([tau1_entry(), tau1_entry(1)]), encoding="utf-8")
    ran = tau("export", "old.json", "--format", "tau2", "-o", "out.json")
    assert (ran.status, "give it with --domain NAME" in ran.err) == (2, True)
    ran = tau("export", "old.json", "--format", "tau2", "-o", "out.json", "--domain", "airlime")
    assert ran.status == 2
    assert tau("export", "old.json", "--format", "tau2", "-o", "out.json", "--domain", "airline").status == 0
    document = load(tmp_path / "out.json")
    assert problems(document) == []
    info = document["info"]
    assert (info["max_steps"], info["max_errors"], info["num_trials"]) == (30, 10, 2)
    assert (info["agent_info"]["implementation"], info["environment_info"]["domain_name"]) == ("unknown", "airline")
    simulation = document["simulations"][0]
    assert (simulation["start_time"], simulation["duration"]) == ("1970-01-01T00:00:00", 0)
    assert simulation["info"]["pytest_tau"]["unknown"] == ["start_time", "end_time", "duration"]


def test_a_file_of_an_earlier_version_is_completed(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "run", stored_trials("mock", most=2))
    tau("export", "run", "--format", "tau2", "-o", "a.json")
    document = load(tmp_path / "a.json")
    document["info"] = {"environment_info": {"domain_name": "mock", "policy": None}, "git_commit": None, "seed": 3}
    (tmp_path / "a.json").write_text(json.dumps(document), encoding="utf-8")
    assert problems(document)
    tau("export", "a.json", "--format", "tau2", "-o", "b.json")
    assert problems(load(tmp_path / "b.json")) == []


def test_each_required_field_is_checked(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "run", stored_trials("mock", most=1))
    tau("export", "run", "--format", "tau2", "-o", "out.json")
    for path in REQUIRED.keys() - {"tasks.[].user_scenario.instructions"}:
        document = value = load(tmp_path / "out.json")
        *parents, name = path.split(".")
        for part in parents:
            value = value[0] if part == "[]" else value[part]
        value[name] = None
        assert [problem for problem in problems(document) if problem.startswith(path)], path
