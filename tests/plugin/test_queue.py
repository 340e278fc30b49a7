"""--tau-queue: machines that share a store take trials one by one, and make up for a lost one."""

from __future__ import annotations

import errno
import time
from types import SimpleNamespace

import pytest

from pytest_tau.capabilities.queue.leases import Leases
from pytest_tau.cli import main
from pytest_tau.files import digest
from pytest_tau.runs.reader import open_run
from pytest_tau.runs.store import FolderStore, open_store

MOCK = ("--tau-domain", "mock", "--tau-split", "small", "--tau-trials", "2")


@pytest.fixture
def queue(project, tmp_path):
    """Runs pytest as one of the machines of a run."""
    url = (tmp_path / "shared").as_uri()
    args = (*MOCK, "--tau-results", url, "--tau-run-name", "night", "--tau-queue", "--tau-queue-lease", "1")

    def run(*more):
        return project.run(*args, *more)

    run.url, run.args = f"{url}/night", args
    return run


@pytest.mark.parametrize("concurrency", ["1", "4"])
def test_one_machine_runs_all_and_the_next_nothing(queue, concurrency):
    run = queue("--tau-concurrency", concurrency)
    run.outcomes(passed=6)
    run.line("tau: queue: 6 of 6 tests run here")
    assert len(open_run(queue.url).records()) == 6
    run = queue()
    assert run.ret == pytest.ExitCode.OK
    run.line("tau: queue: 0 of 6 tests run here")
    run.lacks("no simulation was run")
    assert len(open_run(queue.url).records()) == 6


@pytest.fixture
def other(project, queue):
    """Another machine of the run."""
    ids = sorted(project.collected(*MOCK))
    return Leases(open_store(queue.url), 6, 1.0, f"queue/{digest(chr(10).join(ids))}/")


def test_what_a_lost_machine_has_taken_is_run_again(queue, other):
    assert len(other.take(2)) == 2
    run = queue()
    run.outcomes(passed=6)
    run.line("tau: queue: 6 of 6 tests run here, 2 of them of lost machines")


def test_a_gate_is_not_decided_by_one_machine(queue, other):
    other.beat(other.take(2))
    run = queue("--tau-gate", "pass^1>=0.5")
    run.outcomes(passed=4)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line(
        "tau: gate pass^1 >= 0.5: 1.000", "not decided, 2 trials of the run not run here; tau merge --gate decides"
    )
    run.line("4 run, 2 not run (in other shards)")


def test_other_tests_are_run_once_as_well(project, queue):
    project.write("test_plain.py", "def test_one(): pass\ndef test_two(): pass")
    queue("test_plain.py").outcomes(passed=2)
    run = queue("test_plain.py")
    run.line("tau: queue: 0 of 2 tests run here")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "--tau-queue: needs a store that all machines share: add --tau-results URL --tau-run-name NAME"),
        (["--tau-results", "memory://x"], "--tau-queue: needs a store that all machines share"),
        (["--tau-results", "memory://x", "--tau-run-name", "a", "--tau-shard", "1/2"], "--tau-queue and --tau-shard: "),
        (["--tau-results", "memory://x", "--tau-run-name", "a", "-n", "2"], "expected no workers of pytest-xdist"),
    ],
)
def test_what_it_cannot_be_used_with(project, more, told):
    project.run(*MOCK, "--tau-queue", *more).usage_error(told)


@pytest.fixture
def store(monkeypatch):
    """The store of the queue, which refuses to be written from the second write of simulations on."""

    class State:
        left, fails = 1, True

    write, create = FolderStore.write, FolderStore.create

    def refuse(name):
        State.left -= "simulations" in name
        if State.left < 0 and State.fails:
            raise OSError(errno.EROFS, "Read-only file system")

    def writes(self, name, content):
        refuse(name)
        write(self, name, content)

    def creates(self, name, content):
        refuse(name)
        return create(self, name, content)

    monkeypatch.setattr(FolderStore, "write", writes)
    monkeypatch.setattr(FolderStore, "create", creates)
    monkeypatch.setattr("pytest_tau.capabilities.queue.plugin._LEASES", 1)
    monkeypatch.setattr("pytest_tau.plugin.store.publish.HURRY", 0.2)
    return State


def test_a_store_that_fails_for_good_ends_the_run(project, queue, store, capsys):
    run = queue()
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("tau: queue: waiting for the store, for", "Read-only file system")
    run.line("tau: queue: no sign of life can be given, for", "Read-only file system")
    run.line("tau: queue: ended, because the store has failed for long")
    run.line("tau: not all simulations are in the store: ", "Read-only file system")
    (here,) = (project.path / ".tau/runs").iterdir()
    place = queue.url.removeprefix("file://")
    remedy = f"tau: all of them are in {here}; to join them with what is in the store: tau merge {place} {here} --last"
    assert remedy in " ".join(run.text.split())
    assert len(open_run(queue.url).records()) < len(open_run(here).records()) < 6
    run.line(f"tau: simulations stored in .tau/runs/{here.name}")
    store.fails = False
    queue().outcomes(passed=6)
    capsys.readouterr()
    assert main(["merge", place, str(here), "--last", "-o", str(project.path / "whole")]) == 0
    assert "6 trials" in capsys.readouterr().out
    assert len(open_run(project.path / "whole").records()) == 6


def test_what_is_stored_here_completes_the_run_in_the_store(project, queue, store, capsys):
    """The other machine has run the rest before the store failed for this one."""
    run = queue()
    (here,) = (project.path / ".tau/runs").iterdir()
    ran = {each.test for each in open_run(here).records()}
    store.fails = False
    for test in sorted({*project.collected(*MOCK)} - ran):
        project.run(*MOCK, *queue.args[len(MOCK) : -3], test)
    capsys.readouterr()
    assert main(["merge", queue.url]) == 1
    assert "missing: " in capsys.readouterr().out
    assert main(["merge", queue.url, str(here), "--last", "-o", str(project.path / "whole")]) == 0
    assert run.ret == pytest.ExitCode.TESTS_FAILED


def test_a_store_that_fails_for_a_while_is_waited_for(queue, store, monkeypatch):
    monkeypatch.setattr("pytest_tau.capabilities.queue.plugin._LEASES", 100)
    sleep = time.sleep

    def slept(seconds):
        store.fails = False
        sleep(seconds)

    monkeypatch.setattr(
        "pytest_tau.capabilities.queue.plugin.time", SimpleNamespace(sleep=slept, monotonic=time.monotonic)
    )
    queue().outcomes(passed=6)
    assert len(open_run(queue.url).records()) == 6


def test_foreign_objects_are_ignored(queue, other):
    for name in ("leases/0000/.nfs0001", "leases/0000/junk", "leases/0000/0000001.abc", "workers/evil", "workers/.x"):
        open_store(queue.url).write(f"{other.prefix}{name}", b"\xff{")
    run = queue()
    run.outcomes(passed=6)
    run.lacks("INTERNALERROR")
