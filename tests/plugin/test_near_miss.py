"""Near misses in a run: the summary, the column, the gate, and the report of a passed trial."""

from __future__ import annotations

import csv

import pytest

from pytest_tau.cli import main

SKIPS = (
    "--tau-domain=retail",
    "--tau-agent=saboteur:skips-confirmation",
    "--tau-task=cancel-by-product",
    "--tau-near-misses",
)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_summary_has_the_message_and_gates_the_share(project, workers):
    run = project.run(*SKIPS, "--tau-gate", "near_miss<=0.05", *workers)
    assert run.ret == 1
    run.line("near misses", "1 of 1 passed trial right for the wrong reason: not confirmed 1, not stated 1")
    run.line("cancel-by-product[trial-0]: not stated before cancel_pending_order (message 18) (and 1 more)")
    run.line("gate near_miss <= 0.05: 1.000", "missed")


def test_nothing_is_shown_of_an_agent_that_omits_nothing(project):
    run = project.run(*SKIPS, "--tau-agent=rules", "--tau-gate", "near_miss<=0.05")
    run.outcomes(passed=1)
    run.lacks("near misses")
    run.line("gate near_miss <= 0.05: 0.000", "met")


def test_the_column_and_the_report_of_the_trial(project, monkeypatch, capsys):
    project.run(*SKIPS, "--tau-run-name", "one").outcomes(passed=1)
    monkeypatch.chdir(project.path)
    assert main(["export", ".tau/runs/one", "--format", "csv", "-o", "one.csv"]) == 0
    (row,) = csv.DictReader((project.path / "one.csv").read_text(encoding="utf-8").splitlines())
    assert (float(row["near_miss"]), row["omitted"]) == (1, "stated (1); confirmed (1)")
    monkeypatch.setenv("COLUMNS", "400")
    capsys.readouterr()
    assert main(["show", ".tau/runs/one"]) == 0
    assert "near misses: not confirmed (confirmation), message 18: cancel_pending_order(" in capsys.readouterr().out
    assert main(["near-miss", ".tau/runs/one"]) == 0
    assert "one cancel-by-product trial 0" in capsys.readouterr().out


def test_a_trial_that_fails_is_no_near_miss(project):
    run = project.run(*SKIPS, "--tau-agent=noop", "--tau-gate", "near_miss<=0.05")
    run.line("1 failing")
    run.lacks("near misses")
    run.line("gate near_miss <= 0.05: not decided: no trial passed")


def test_without_the_option_nothing_is_stored_and_the_command_finds_it(project, monkeypatch, capsys):
    run = project.run(*SKIPS[:-1], "--tau-run-name", "one", "--tau-gate", "near_miss<=0.05")
    run.lacks("near misses ")
    run.line("gate near_miss <= 0.05: not decided: no trial passed, or --tau-near-misses is not given")
    monkeypatch.chdir(project.path)
    assert main(["near-miss", ".tau/runs/one"]) == 0
    assert "retail: 1 of 1 passed trial (100.0%) right for the wrong reason" in capsys.readouterr().out
