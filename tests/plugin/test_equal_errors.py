"""Errors that many trials share: one block in pytest's section, every trial in its counts and its short summary."""

from __future__ import annotations

import re

import pytest

IDS = [f"t{number}" for number in range(12)]


@pytest.fixture
def changed(models, project, a_task):
    """Twelve trials whose cassettes do not match: their tasks have changed since the recording."""
    project.tasks("mock/t.tau.json", [a_task(name) for name in IDS])
    models.run("--tau-record").outcomes(passed=12)
    project.tasks(
        "mock/t.tau.json", [a_task(name, user_scenario={"instructions": "Buy 'Buy milk', please."}) for name in IDS]
    )
    return lambda *args: models.run("--tau-replay", *args)


def blocks(run) -> int:
    return len(re.findall(r"^_+ ERROR at setup of ", run.text, re.MULTILINE))


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_equal_errors_are_one_block_with_one_command(changed, workers):
    run = changed(*workers)
    run.outcomes(errors=12)
    assert blocks(run) == 1
    run.line("the same error in 11 other trials: t")
    run.line("record again: pytest --last-failed --tau-agent-llm", "--tau-record=all")
    assert len([line for line in run.text.splitlines() if line.startswith("ERROR mock/")]) == 12


def test_the_command_works(changed, models):
    changed().outcomes(errors=12)
    models.run("--last-failed", "--tau-record=all").outcomes(passed=12)
    changed().outcomes(passed=12)


def test_verbose_shows_each(changed):
    assert blocks(changed("-v")) == 12


def test_few_trials_are_named_in_the_command(changed):
    run = changed(*(f"mock/t.tau.json::{name}" for name in IDS[:3]))
    assert blocks(run) == 1
    names = " ".join(f"'mock/t.tau.json::{name}[trial-0]'" for name in IDS[:3])
    run.line(f"record again: pytest {names} --tau-agent-llm", "--tau-record=all")


def test_what_failed_otherwise_is_not_recorded_again(changed, project, a_task):
    project.tasks("mock/u.tau.json", [a_task("without-a-cassette")])
    run = changed()
    run.lacks("--last-failed")
    run.line("record again: pytest 'mock/t.tau.json::t0[trial-0]' 'mock/t.tau.json::t1[trial-0]'")


def test_without_the_cache_of_pytest_trials_are_named(changed):
    changed("-p", "no:cacheprovider").lacks("--last-failed")


def test_two_equal_errors_stay_apart(changed):
    assert blocks(changed("mock/t.tau.json::t0", "mock/t.tau.json::t1")) == 2
