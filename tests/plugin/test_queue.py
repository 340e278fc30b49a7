"""--tau-queue: machines that share a store take trials one by one, and make up for a lost one."""

from __future__ import annotations

import pytest

from pytest_tau.capabilities.queue.leases import Leases
from pytest_tau.files import digest
from pytest_tau.runs.reader import open_run
from pytest_tau.runs.store import open_store

MOCK = ("--tau-domain", "mock", "--tau-split", "small", "--tau-trials", "2")


@pytest.fixture
def queue(project, tmp_path):
    """Runs pytest as one of the machines of a run."""
    url = (tmp_path / "shared").as_uri()
    args = (*MOCK, "--tau-results", url, "--tau-run-name", "night", "--tau-queue", "--tau-queue-lease", "1")

    def run(*more):
        return project.run(*args, *more)

    run.url = f"{url}/night"
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
