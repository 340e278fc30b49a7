"""``--tau-results URL``: the run in a store, from one process or several, and every command that reads it there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from inner_runs import quick_options

from pytest_tau.cli import main
from pytest_tau.runs.reader import open_run
from pytest_tau.runs.store import open_store

fsspec = pytest.importorskip("fsspec")
MOCK = ("--tau-domain", "mock", "--tau-split", "small")
RUNS = "memory://bucket/runs"
CRASHES = """
import os, pathlib, time

class Agent:
    def __init__(self, task):
        if task.id == "dismiss-after-done":
            while not any(each.read_bytes().count(b"\\n") == 2 for each in pathlib.Path("shared").rglob("*.jsonl")):
                time.sleep(0.01)
            os._exit(9)

    def respond(self, message):
        return "Good-bye."
"""


@pytest.fixture(autouse=True)
def empty_memory():
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]


def stored(url=RUNS):
    return open_store(url).names()


def test_a_run_is_in_the_store_and_here(project):
    run = project.run(*MOCK, "--tau-results", RUNS, "--tau-run-name", "night")
    run.outcomes(passed=3)
    run.line(f"tau: store: {RUNS}/night")
    run.line(f"tau: simulations stored in {RUNS}/night")
    part, piece, plan = stored(f"{RUNS}/night")
    assert plan == "plan.json"
    assert (part.partition("/")[2], piece.partition("/")[2]) == ("run.json", "simulations-0001.jsonl")
    (here,) = (project.path / ".tau/runs").iterdir()
    ((_, content),) = open_store(f"{RUNS}/night").read([piece])
    assert content == (here / "simulations.jsonl").read_bytes()
    ((_, content),) = open_store(f"{RUNS}/night").read([part])
    assert content == (here / "run.json").read_bytes()
    ((_, content),) = open_store(f"{RUNS}/night").read([plan])
    assert json.loads(content)["trials"] == {
        f"mock::{task}[trial-0]": ["mock", task] for task in ("create-task", "transfer-deletion", "dismiss-after-done")
    }


def test_every_command_reads_it(project, monkeypatch, capsys):
    monkeypatch.chdir(project.path)
    monkeypatch.setenv("COLUMNS", "220")
    project.run(*MOCK, "--tau-results", RUNS).outcomes(passed=3)
    for command in ("view", "show", "compare", "regrade", "bless"):
        several = [RUNS, RUNS] if command == "compare" else [RUNS]
        assert main([command, *several]) == 0, capsys.readouterr().out
    assert main(["merge", RUNS, "-o", "merged"]) == 0
    assert main(["export", RUNS, "--format", "csv", "-o", "run.csv"]) == 0
    assert [each.suffix for each in project.path.glob("*-mock*")] == [".html"]
    run = project.run(*MOCK, "--tau-baseline", RUNS)
    run.line("pass^1 1.000 -> 1.000")


def test_shards_of_one_name_are_one_run(project):
    for shard in ("1/2", "2/2"):
        project.run(*MOCK, "--tau-results", RUNS, "--tau-run-name", "night", "--tau-shard", shard)
    found = open_run(f"{RUNS}/night")
    assert found.name == "night"
    assert sorted(each.task_id for each in found.records()) == [
        "create-task",
        "dismiss-after-done",
        "transfer-deletion",
    ]
    assert found.info["planned"] == {"mock": dict.fromkeys(sorted(each.task_id for each in found.records()), 1)}
    project.run(*MOCK, "--tau-results", RUNS, "--tau-run-name", "night-2", "--tau-task", "create-task")
    assert len(open_run(RUNS).records()) == 1, "of a folder of runs the latest is read"


@pytest.mark.parametrize("named", [[], ["--tau-run-name", "night"]])
def test_a_store_is_joined_like_the_same_folders_on_a_disk(project, tmp_path, monkeypatch, capsys, named):
    """Shards of one name are parts of a run; without a name, each is a run of its own below the URL."""
    monkeypatch.setenv("COLUMNS", "220")
    for shard in ("1/2", "2/2"):
        project.run(*MOCK, "--tau-results", f"{RUNS}/deeper", *named, "--tau-shard", shard)
    for name, content in open_store(RUNS).read(stored(RUNS)):
        (tmp_path / "runs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "runs" / name).write_bytes(content)
    found = []
    capsys.readouterr()
    for place in (RUNS, f"{RUNS}/deeper", (tmp_path / "runs").as_uri(), tmp_path / "runs", tmp_path / "runs/deeper"):
        assert main(["merge", str(place)]) == 0
        found.append(capsys.readouterr().out)
    assert "3 simulations of 2 files" in found[0]
    assert len(set(found)) == 1
    (first, *_) = (tmp_path / "runs").rglob("simulations*.jsonl")
    assert main(["merge", first.as_uri()]) == 0
    assert " of 1 file" in capsys.readouterr().out


def test_what_is_missing_in_a_store_of_several_runs_is_named_by_its_url(project, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "220")
    for seed in ("1", "2"):
        project.run(*MOCK, "--tau-results", RUNS, "--tau-shard", "1/2", "--tau-seed", seed)
    capsys.readouterr()
    assert main(["merge", RUNS, "--allow-mixed", "--last"]) == 1
    assert f"different: seed: 1 in {RUNS}/" in capsys.readouterr().out


def test_a_folder_of_runs_in_parts_is_read_like_the_store(project, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    url = (tmp_path / "shared").as_uri()
    for name, task in (("one", "create-task"), ("two", "transfer-deletion")):
        project.run(*MOCK, "--tau-results", url, "--tau-run-name", name, "--tau-task", task)
    shown = []
    capsys.readouterr()
    for place in (url, "shared"):
        assert main(["show", place]) == 0
        shown.append(capsys.readouterr().out)
    assert "transfer-deletion" in shown[0]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("given", [["--tau-resume", RUNS], ["--tau-results", RUNS, "--tau-resume"]])
def test_a_run_is_resumed_where_it_is(project, given):
    project.run(*MOCK, "--tau-results", RUNS, "--tau-run-name", "night", "-x", "-k", "create")
    run = project.run(*MOCK, *given)
    run.outcomes(passed=3)
    run.line("1 of 3 trials reused from the earlier run")
    assert len(open_run(f"{RUNS}/night").records()) == 3
    assert len([name for name in stored(f"{RUNS}/night") if name.endswith(".jsonl")]) == 2


def test_workers_have_objects_of_their_own(project, tmp_path):
    url = (tmp_path / "shared").as_uri()
    project.run(*MOCK, "--tau-results", url, "--tau-run-name", "night", "-n", "2").outcomes(passed=3)
    names = [name.partition("/")[2] for name in stored(f"{url}/night")]
    assert {"run.json", "simulations-gw0-0001.jsonl", "simulations-gw1-0001.jsonl"} <= {*names}
    assert len(open_run(f"{url}/night").records()) == 3


def test_a_killed_process_has_stored_what_had_ended(project, warm_processes):
    project.write("crashing.py", CRASHES)
    url = (project.path / "shared").as_uri()
    sides = ("--tau-agent", "crashing:Agent", "--tau-user", "noop")
    command = [sys.executable, "-m", "pytest", *quick_options(), *MOCK, *sides]
    environment = {**os.environ, "PYTHONPATH": str(project.path)}
    done = subprocess.run([*command, "--tau-results", url], cwd=project.path, env=environment, check=False)
    assert done.returncode == 9
    run = open_run(url)
    assert [each.task_id for each in run.records()] == ["create-task", "transfer-deletion"]
    assert run.info["finished"] is None


def test_a_store_that_refuses_loses_nothing(project, monkeypatch):
    def refuse(self, path, value, mode="overwrite", **keywords):
        raise PermissionError("no access with key=sesame1")

    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "pipe_file", refuse)
    run = project.run(
        *MOCK, "--tau-results", "memory://me:sesame1@bucket/runs?token=sesame1", "--tau-run-name", "night"
    )
    run.outcomes(passed=3)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("tau: not all simulations are in the store: memory://bucket/runs/night: PermissionError")
    (here,) = (project.path / ".tau/runs").iterdir()
    run.line(f"tau: all of them are in {here}")
    run.lacks("sesame1")
    assert len((here / "simulations.jsonl").read_text().splitlines()) == 3
    assert "sesame1" not in (here / "run.json").read_text()


def test_a_store_that_cannot_be_used_is_a_usage_error(project):
    project.run(*MOCK, "--tau-results", "nowhere://bucket").usage_error("--tau-results: nowhere://bucket/", "Protocol")


def test_cassettes_are_read_from_a_store(models, project, a_task):
    project.tasks("mock/t.tau.json", [a_task("one")])
    models.run("--tau-record", "--tau-cassettes", "tapes").outcomes(passed=1)
    for file in (project.path / "tapes").rglob("*.cassette"):
        open_store("memory://tapes").write(file.relative_to(project.path / "tapes").as_posix(), file.read_bytes())
    models.calls()
    models.run("--tau-replay", "--tau-cassettes", "memory://tapes").outcomes(passed=1)
    assert models.calls() == []
    run = models.run("--tau-record", "--tau-cassettes", "memory://tapes")
    run.usage_error("--tau-cassettes: a URL is only read: record into a folder")
    models.run("--tau-replay", "--tau-cassettes", "memory://none").usage_error("memory://none: there is nothing")


class TestParts:
    """What several machines run: selections, shards, and what is missing of the whole."""

    def night(self, project, *args):
        return project.run(*MOCK, "--tau-results", RUNS, "--tau-run-name", "night", *args)

    def test_a_plan_that_was_stored_first_says_what_is_missing(self, project, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "220")
        self.night(project, "--collect-only", "-q")
        assert stored(f"{RUNS}/night") == ["plan.json"]
        assert main(["merge", f"{RUNS}/night"]) == 2
        assert f"no complete simulation in {RUNS}/night" in capsys.readouterr().err
        project.write(
            "list.txt", "mock::create-task[trial-0]\nmock::transfer-deletion[trial-0]\n\n2 tests collected in 0.04s"
        )
        self.night(project, "--tau-select", "list.txt").outcomes(passed=2, deselected=1)
        assert main(["merge", f"{RUNS}/night", "--gate", "pass^1>=0.5"]) == 1
        out = capsys.readouterr().out.splitlines()
        assert out[-2] == "missing: 1 of 3 trials: mock::dismiss-after-done[trial-0]"
        assert out[-1].endswith("not decided, trials are missing")
        assert main(["compare", f"{RUNS}/night", f"{RUNS}/night", "--fail-on", "regression"]) == 1
        assert "not complete: 1 trial of other shards missing" in capsys.readouterr().out
        before = set(stored(f"{RUNS}/night"))
        self.night(project, "--tau-select", "list.txt")
        (again,) = (name for name in {*stored(f"{RUNS}/night")} - before if name.endswith("-0001.jsonl"))
        self.night(project, "--tau-shard", "2/3").outcomes(passed=1, deselected=2)
        assert main(["merge", f"{RUNS}/night", "--gate", "pass^1>=0.5", "-o", "whole"]) == 0
        out = " ".join(capsys.readouterr().out.split())
        twice = "twice: 2 simulations excluded, because another of the trial was complete first: "
        twice += f"mock::create-task[trial-0] ({again}, line 1), mock::transfer-deletion[trial-0] ({again}, line 2)"
        assert twice in out
        assert "whole/simulations.jsonl: 3 simulations" in out

    def test_parts_of_other_settings_are_not_joined(self, project, capsys):
        self.night(project, "--tau-shard", "1/2")
        self.night(project, "--tau-shard", "2/2", "--tau-seed", "5")
        assert main(["merge", f"{RUNS}/night"]) == 1
        out = capsys.readouterr().out
        assert "different: seed: 300 in" in out or "different: seed: 5 in" in out
        assert f"{RUNS}/night/" in out
        assert main(["show", f"{RUNS}/night"]) == 2
        assert "do not belong together" in capsys.readouterr().err

    def test_a_machine_with_other_trials_than_the_plan_fails(self, project):
        self.night(project, "--tau-task", "create-task")
        run = self.night(project)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("its plan has no trial mock::dismiss-after-done[trial-0]: use the settings of the plan")

    def test_waiting_ends_once_nothing_is_missing(self, project, capsys, monkeypatch):
        self.night(project, "--tau-shard", "1/2")
        monkeypatch.setattr("pytest_tau.cli.merge._POLL", 0.0)
        asked = []

        def sleep(seconds):
            asked.append(seconds)
            self.night(project, "--tau-shard", "2/2")

        # Not the function of the module time itself, which other threads may call.
        monkeypatch.setattr("pytest_tau.cli.merge.time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
        assert main(["merge", f"{RUNS}/night", "--wait", "60"]) == 0
        assert len(asked) == 1
