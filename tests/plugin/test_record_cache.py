"""The records that runs store at their end: equal to those of the stored conversations, or not there."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from pytest_tau.cli import main
from pytest_tau.runs import reader, record_cache
from pytest_tau.runs.layout import RECORD_CACHE
from pytest_tau.runs.reader import Run

from .conftest import _QUICK
from .test_attacks import AGENTS, CONFTEST
from .test_reviews import CLEAN, FAULT

WORKERS = [(), ("-n", "2"), ("--tau-concurrency", "3")]

REVIEWER = f"""
def review(case):
    return {FAULT!r} if case.outcome == "failed" else {CLEAN!r}
"""
COMPONENT = """
from pathlib import Path

from pytest_tau.models import CustomCheck
from pytest_tau.evaluation import CustomComponent

class Turns(CustomComponent):
    name = "TURNS"

    def evaluate(self, task, messages, environment):
        return CustomCheck(name=self.name, reward=0.0, justification="too many")

    def failed_checks(self, verdict):
        return ["TURNS too many"]

def pytest_tau_evaluators(config):
    return [Turns()]

def pytest_tau_trial_reported(record):
    Path("reported.txt").write_text(str(record.failed_checks))
"""
OWN_TEST = """
import pytest

@pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
@pytest.mark.parametrize("number", [1, 2])
def test_own(tau_simulation, number):
    pass
"""


@pytest.fixture(autouse=True)
def _every_run_is_large(monkeypatch):
    monkeypatch.setattr(record_cache, "LARGE", 1)


@pytest.fixture
def mixed(project, a_task, parts_by_id):
    """Runs tasks that pass, fail and end in an error."""
    project.tasks("mock/t.tau.json", [a_task(name) for name in ("bad-1", "bad-2", "good-1", "good-2", "lost")])
    return lambda *args: project.run(*parts_by_id, "--tau-results", "runs", "--tau-run-name", "r", *args)


@pytest.fixture
def resumed(mixed, project, parts_by_id):
    return lambda *args: project.run(*parts_by_id, "--tau-results", "runs", *args)


def records_of(folder):
    """The stored records, which are those of the conversations; None if there are none."""
    found, expected = Run(folder).stored_records(), Run(folder).made_records()
    assert found is None or list(map(repr, found)) == list(map(repr, expected))
    return found


def outcomes(project, name="r"):
    found = records_of(project.path / "runs" / name)
    return None if found is None else sorted(record.outcome for record in found)


@pytest.mark.parametrize("workers", WORKERS, ids=" ".join)
class TestStored:
    def test_at_the_end_of_a_run(self, mixed, project, workers):
        if "-n" in workers:
            pytest.importorskip("xdist")
        mixed(*workers).outcomes(passed=2, failed=2, errors=1)
        assert outcomes(project) == ["error", "failed", "failed", "passed", "passed"]
        names = sorted(file.name for file in (project.path / "runs/r").iterdir())
        assert names == [RECORD_CACHE, "run.json", "simulations.jsonl"]

    def test_at_the_end_of_a_run_that_is_resumed(self, mixed, resumed, project, workers):
        if "-n" in workers:
            pytest.importorskip("xdist")
        mixed("-k", "bad-1 or good-1", *workers)
        assert outcomes(project) == ["failed", "passed"]
        resumed("--tau-resume", "r", "-k", "bad", *workers)
        assert outcomes(project) == ["failed", "failed", "passed"]
        resumed("--tau-resume", "r", *workers).outcomes(passed=2, failed=2, errors=1)
        assert len(outcomes(project)) == 5
        # What is run again has two lines, of which the later one counts.
        resumed("--tau-resume", "r", "--tau-rerun", "failed,error", *workers).outcomes(passed=2, failed=2, errors=1)
        assert len(outcomes(project)) == 5

    def test_with_reviews(self, mixed, project, workers, monkeypatch, capsys):
        if "-n" in workers:
            pytest.importorskip("xdist")
        project.write("own.py", REVIEWER)
        mixed("--tau-review", "--tau-reviewer", "own.py:review", *workers)
        found = records_of(project.path / "runs/r")
        assert [record.review is not None for record in found] == [record.outcome == "failed" for record in found]
        monkeypatch.chdir(project.path)
        assert main(["review", "runs/r", "--judge", "own.py:review", "--only", "all"]) == 0
        assert "2 new reviews" in capsys.readouterr().out
        found = records_of(project.path / "runs/r")
        assert [record.review is not None for record in found] == [record.outcome != "error" for record in found]

    def test_of_trials_under_attack_with_faults_of_tools(self, project, a_task, workers):
        if "-n" in workers:
            pytest.importorskip("xdist")
        project.write("parts.py", AGENTS)
        project.write("conftest.py", CONFTEST)
        project.tasks("mock/t.tau.json", [a_task(name) for name in ("one", "two", "three")])
        options = ["--tau-agent", "parts.py:Obedient", "--tau-user", "gold", "--tau-attack", "obey"]
        options += ["--tau-tool-faults", "create_*:0.5", "--tau-results", "runs", "--tau-run-name", "r"]
        project.run(*options, *workers)
        found = records_of(project.path / "runs/r")
        assert len(found) == 6
        assert sum(record.attack_success for record in found) > 0
        assert sum(record.facts["tool_faults"]["count"] for record in found) > 0

    def test_with_components_of_plugins(self, project, a_task, workers):
        """The report of a test knows more about such a component than its stored simulation."""
        if "-n" in workers:
            pytest.importorskip("xdist")
        project.write("conftest.py", COMPONENT)
        task = a_task("one", criteria={"reward_basis": ["TURNS"]}, annotations={"tags": ["a", "b"]})
        project.tasks("mock/t.tau.json", [task])
        options = ["--tau-user", "gold", "--tau-agent", "noop", "--tau-results", "runs", "--tau-run-name", "r"]
        project.run(*options, *workers).outcomes(failed=1)
        assert (project.path / "reported.txt").read_text() == "('TURNS too many',)"
        (record,) = records_of(project.path / "runs/r")
        assert (record.failed_checks, record.groups["tags"]) == (("TURNS",), "a, b")

    def test_of_own_tests_with_parameters(self, project, workers):
        if "-n" in workers:
            pytest.importorskip("xdist")
        project.write("test_own.py", OWN_TEST)
        project.run("test_own.py", "--tau-results", "runs", "--tau-run-name", "r", *workers).outcomes(passed=4)
        found = records_of(project.path / "runs/r")
        assert sorted(record.group.parameters for record in found) == ["1", "1", "2", "2"]


def test_comparisons_and_gates_parse_no_conversation(mixed, resumed, project, monkeypatch, capsys):
    mixed()
    resumed("--tau-run-name", "s")
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    assert main(["compare", "runs/r", "runs/s"]) == 0
    expected = capsys.readouterr().out
    assert "every task passes as often as before" in expected
    monkeypatch.setattr(reader, "own_simulations", None)
    for name in "rs":
        assert len(Run(project.path / "runs" / name).stored_records()) == 5
    assert main(["compare", "runs/r", "runs/s"]) == 0
    assert capsys.readouterr().out == expected
    assert main(["bless", "runs/r"]) == 0
    assert "the baseline is r, 5 trials" in capsys.readouterr().out
    monkeypatch.setattr(record_cache, "LARGE", 1 << 30)
    resumed("--tau-run-name", "t", "--tau-baseline", "runs/r").line("this run compared with r: 4 tasks in both")


def test_a_merged_run_has_records(mixed, resumed, project, monkeypatch, capsys):
    mixed("--tau-shard", "1/2")
    resumed("--tau-run-name", "s", "--tau-shard", "2/2")
    monkeypatch.chdir(project.path)
    assert main(["merge", "runs", "-o", "merged"]) == 0
    assert len(records_of(project.path / "merged")) == 5
    # Folders that were joined may have files of records: these are no simulations.
    assert "5 simulations of 2 files" in capsys.readouterr().out


def test_merging_into_a_folder_with_another_manifest(mixed, project, monkeypatch):
    mixed()
    monkeypatch.chdir(project.path)
    project.write("merged/run.json", "{")
    project.write("r.jsonl", (project.path / "runs/r/simulations.jsonl").read_text(encoding="utf-8"))
    assert main(["merge", "r.jsonl", "-o", "merged"]) == 0


def test_exports_are_the_same(mixed, project, monkeypatch):
    mixed()
    monkeypatch.chdir(project.path)
    for kind in ("csv", "jsonl"):
        assert main(["export", "runs/r", "--format", kind, "-o", f"with.{kind}"]) == 0
    (project.path / "runs/r" / RECORD_CACHE).unlink()
    for kind in ("csv", "jsonl"):
        assert main(["export", "runs/r", "--format", kind, "-o", f"without.{kind}"]) == 0
        assert (project.path / f"with.{kind}").read_bytes() == (project.path / f"without.{kind}").read_bytes()


def test_a_run_without_stored_results_has_none(mixed, project, parts_by_id):
    project.run(*parts_by_id, "--tau-results", "none").outcomes(passed=2, failed=2, errors=1)
    assert not [*project.path.rglob(RECORD_CACHE)]
    project.run(*parts_by_id, "--tau-results", "runs", "--collect-only")
    assert not [*project.path.rglob(RECORD_CACHE)]


def test_a_small_run_has_none(mixed, project, monkeypatch):
    monkeypatch.setattr(record_cache, "LARGE", 1 << 20)
    mixed().outcomes(passed=2, failed=2, errors=1)
    assert outcomes(project) is None


def test_a_file_that_cannot_be_written_does_not_fail_the_run(mixed, project, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(record_cache, "atomic_open", refuse)
    run = mixed("-k", "good")
    run.outcomes(passed=2, deselected=3)
    assert run.ret == pytest.ExitCode.OK
    assert outcomes(project) is None


@pytest.mark.parametrize("workers", WORKERS, ids=" ".join)
def test_an_interrupted_run_has_none_and_its_continuation_has(mixed, resumed, project, workers):
    if "-n" in workers:
        pytest.importorskip("xdist")
    project.write(
        "conftest.py",
        """
        from pathlib import Path

        def pytest_tau_trial_reported():
            if not Path("stopped").exists():
                Path("stopped").touch()
                raise KeyboardInterrupt
        """,
    )
    with pytest.raises(KeyboardInterrupt):  # pytester hands it on
        mixed(*workers)
    (folder,) = (project.path / "runs").iterdir()
    assert not (folder / RECORD_CACHE).exists()
    assert 0 < len(Run(folder).records()) <= 5
    resumed("--tau-resume", "r", *workers).outcomes(passed=2, failed=2, errors=1)
    assert len(outcomes(project)) == 5


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_process_that_is_killed_while_it_stores_leaves_none(mixed, project, parts_by_id):
    project.write(
        "conftest.py",
        """
        import os, signal
        from pytest_tau.runs import record_cache

        record_cache.LARGE = 1
        record_cache._head = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    options = [*_QUICK, *parts_by_id, "--tau-results", "runs", "--tau-run-name", "r"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=project.path, capture_output=True, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    assert outcomes(project) is None
    assert len(Run(project.path / "runs/r").records()) == 5
