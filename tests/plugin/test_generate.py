"""``--tau-generate``: tasks that a domain makes on the spot."""

from __future__ import annotations

import pytest

CONFTEST = """
import dataclasses
from pytest_tau.models import parse_task
from pytest_tau_domains.mock import domain as mock

def generate(count, seed, difficulty):
    for number in range(count):
        title = f"Task {number} of {seed}"
        actions = [
            {"action_id": f"a{each}", "name": "create_task", "arguments": {"user_id": "user_1", "title": f"{title}.{each}"}}
            for each in range(difficulty.requests)
        ]
        yield parse_task({
            "id": f"gen-{seed}-{number}",
            "user_scenario": {"instructions": "Have it put on the list."},
            "evaluation_criteria": {"actions": actions EXTRA},
        })

def pytest_tau_domains(config):
    return [dataclasses.replace(mock, name="made", generate=generate)]
"""


@pytest.fixture
def made(project):
    project.write("conftest.py", CONFTEST.replace("EXTRA", ""))
    return project


def test_generated_tasks_are_run_instead_of_the_domains_own(made):
    run = made.run("--tau-domain=made", "--tau-generate=3", "-v")
    run.outcomes(passed=3)
    run.line("made::gen-300-2[trial-0] PASSED")
    other = made.collected("--tau-domain=made", "--tau-generate=2", "--tau-seed=7", "--tau-trials=2")
    assert other == [f"made::gen-7-{task}[trial-{trial}]" for task in range(2) for trial in range(2)]


def test_selection_works_on_them(made):
    assert made.collected("--tau-domain=made", "--tau-generate=9", "--tau-task=*-4") == ["made::gen-300-4[trial-0]"]
    assert made.collected("made::gen-300-5", "--tau-generate=9") == ["made::gen-300-5[trial-0]"]


def test_how_hard_they_are(made):
    run = made.run("--tau-domain=made", "--tau-generate=1", "--tau-difficulty=requests=3", "--tau-agent=noop")
    run.outcomes(failed=1)
    run.line("again: pytest 'made::gen-300-0[trial-0]' --tau-generate 1 --tau-difficulty requests=3 --tau-agent noop")
    assert run.text.count("never called create_task(") == 3


def test_two_workers_make_the_same(made):
    run = made.run("--tau-domain=made", "--tau-generate=6", "-n2")
    run.outcomes(passed=6)


def test_unsound_task_is_reported_before_anything_runs(project):
    project.write("conftest.py", CONFTEST.replace("EXTRA", "[:0]"))
    run = project.run("--tau-domain=made", "--tau-generate=2")
    run.usage_error("gen-300-0", "a generated task does not pass its verification: a greeting alone earns reward 1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tau-generate=0"], "--tau-generate: expected a whole number of at least 1, got '0'"),
        (["--tau-generate=1", "--tau-split=base"], "generated tasks are not in a split but sessions"),
        (["--tau-difficulty=requests=2"], "--tau-difficulty: applies to generated tasks only; add --tau-generate N"),
        (
            ["--tau-generate=1", "--tau-difficulty=hard"],
            "expected a list of requests=N, faults=N, distractors=N, each N from 0 to 999, got 'hard'",
        ),
        (["--tau-generate=1", "--tau-difficulty=requests=-1"], "expected a list of"),
        (["--tau-generate=1", "--tau-domain=mock"], "domain 'mock' cannot generate tasks"),
    ],
)
def test_what_cannot_be_made(made, options, message):
    made.run("--tau-domain=made", *options).usage_error(message)


def test_tasks_of_two_sessions_are_generated(project):
    run = project.run("--tau-domain=retail", "--tau-generate=2", "--tau-split=sessions", "--tau-agent=gold", "-v")
    run.outcomes(passed=2)
    assert run.text.count("-put-off[trial-0] PASSED") == 2
