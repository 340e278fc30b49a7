"""Partial credit: the summary, failure reports, gates, CSV and the commands on runs."""

from __future__ import annotations

import csv

import pytest
from trial_records import trial_record

from pytest_tau.analysis.gates.metrics import by_task, metric_named
from pytest_tau.analysis.statistics import mean_interval
from pytest_tau.capabilities import partial_credit
from pytest_tau.capabilities.partial_credit.figures import page
from pytest_tau.capability.calls import columns_of
from pytest_tau.cli import main
from pytest_tau.evaluation.partial import COUNTS, SHARES

WORKERS = [(), ("-n", "2")]

#: An agent that makes the first of two calls, or both, by the id of the task.
AGENT = """
from pytest_tau.testing import ScriptedParticipant, call

class it(ScriptedParticipant):
    def __init__(self, task):
        first, second = (call("create_task", user_id="user_1", title=title) for title in ("Buy milk", "Buy bread"))
        super().__init__([first, second, "Done."] if "good" in task.id else [first, "Done."])
"""


@pytest.fixture
def run_half(project, a_task):
    """Runs tasks of two writes, of which the agent makes one, or both if the id is good."""
    titles = ("Buy milk", "Buy bread")
    actions = [
        {"action_id": title, "name": "create_task", "arguments": {"user_id": "user_1", "title": title}}
        for title in titles
    ]

    def run(*args, ids=("bad-1", "bad-2", "good-1")):
        project.write("parts.py", AGENT)
        tasks = [a_task(one, criteria={"actions": actions, "reward_basis": ["DB", "ACTION"]}) for one in ids]
        project.tasks("mock/t.tau.json", tasks)
        return project.run("--tau-agent", "parts.py:it", "--tau-user", "gold", *args)

    return run


@pytest.mark.parametrize("workers", WORKERS)
def test_the_option_shows_means_and_a_line_in_failure_reports(run_half, workers):
    run = run_half("--tau-partial", *workers)
    run.outcomes(passed=1, failed=2)
    run.line("partial credit progress 0.667 (", "actions 0.667 (", "actions.write 0.667 (")
    run.line("extra_writes 0.000, extra_reads 0.000, failed_calls 0.000")
    assert run.text.count("partial credit: progress 0.50, state 0.50, actions 0.50, actions.write 0.50, ") == 2


def test_without_the_option_it_is_shown_with_v_only(run_half):
    run_half().lacks("partial credit")
    run_half("-v").line("partial credit progress 0.667")


def test_quiet_runs_show_it_if_asked(run_half):
    run_half("-q", "--tau-partial").line("partial credit progress 0.667")


@pytest.mark.parametrize("workers", WORKERS)
def test_gates_are_on_means(run_half, workers):
    run = run_half("--tau-gate", "progress>=0.6", "--tau-gate", "actions.write>=0.9", *workers)
    run.line("gate progress >= 0.6: 0.667 (95 % interval", "met")
    run.line("gate actions.write >= 0.9: 0.667", "missed")
    assert run.ret == pytest.ExitCode.TESTS_FAILED


def test_trials_without_anything_to_measure_do_not_count(project, run_half, a_task):
    criteria = {"communicate_info": ["milk"], "reward_basis": ["COMMUNICATE"], "actions": []}
    project.tasks("mock/u.tau.json", [a_task("said", criteria=criteria)])
    run = run_half("--tau-gate", "phrases>=0.5", "--tau-gate", "actions>=0.6", "--tau-gate", "statements>=0.5")
    run.line("gate phrases >= 0.5: 0.000", "missed")
    run.line("gate actions >= 0.6: 0.667", "met")
    run.line("gate statements >= 0.5: not decided: no trial has anything to measure")


def test_a_gate_that_no_share_can_meet_is_a_usage_error(run_half):
    assert run_half("--tau-gate", "progress>=80").ret == pytest.ExitCode.USAGE_ERROR


def test_commands_read_it_from_the_run(run_half, project, capsys, tmp_path):
    run_half("--tau-results", "one")
    run_half("--tau-results", "two", ids=("bad-1", "bad-2", "good-1"))
    (first,) = (project.path / "one").iterdir()
    capsys.readouterr()
    assert main(["export", str(first), "--format", "csv", "-o", str(tmp_path / "runs.csv")]) == 0
    with (tmp_path / "runs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["progress"], row["actions.write"], row["phrases"]) for row in rows] == [
        ("0.5", "0.5", ""),
        ("0.5", "0.5", ""),
        ("1", "1", ""),
    ]
    capsys.readouterr()
    assert main(["compare", str(first), str(first)]) == 0
    assert "progress" not in capsys.readouterr().out  # nothing differs


def test_a_better_run_is_compared_by_progress(run_half, project, capsys):
    run_half("--tau-results", "one")
    text = (project.path / "parts.py").read_text(encoding="utf-8")
    (first,) = (project.path / "one").iterdir()
    project.write("better.py", text.replace('if "good" in task.id', 'if "2" not in task.id'))
    project.run("--tau-agent", "better.py:it", "--tau-user", "gold", "--tau-results", "two")
    (second,) = (project.path / "two").iterdir()
    capsys.readouterr()
    main(["compare", str(first), str(second)])
    out = " ".join(capsys.readouterr().out.split())
    assert "progress 0.667 -> 0.833: +0.167 (no interval with fewer than 6 tasks)" in out
    assert "partial credit: state 0.667 -> 0.833, actions 0.667 -> 0.833, actions.write 0.667 -> 0.833" in out


def test_a_run_of_an_earlier_version_is_unknown(run_half, project, capsys):
    run_half("--tau-results", "one")
    (first,) = (project.path / "one").iterdir()
    (file,) = first.glob("simulations.jsonl")
    import re

    old = re.sub(r',"partial(_credit)?":\{[^}]*\}', "", file.read_text(encoding="utf-8"))
    assert '"partial' not in old
    file.write_text(old, encoding="utf-8")
    run = run_half("--tau-resume", str(first), "--tau-partial", "--tau-gate", "progress>=0.1")
    run.line("gate progress >= 0.1: not decided: no trial has anything to measure")
    run.lacks("partial credit progress")
    capsys.readouterr()
    assert main(["regrade", str(first), "-v"]) == 0
    assert "partial credit: progress 0.50, state 0.50" in " ".join(capsys.readouterr().out.split())


def test_the_columns_are_the_numbers_of_the_verdict():
    assert partial_credit.SHARES == SHARES
    assert {*partial_credit.COUNTS, "failed_calls"} == {*COUNTS}


def tasks(*values):
    """A trial of each task, with what was measured of it."""
    records = [trial_record(str(number), facts={"partial_credit": facts}) for number, facts in enumerate(values)]
    return list(by_task(records).values())


def metric(name):
    return metric_named(name, columns_of([partial_credit.capability]))


def test_only_a_share_has_the_interval_of_one():
    same = tasks(*[{"progress": 1, "extra_writes": 1}] * 8)
    assert mean_interval([[1.0]] * 8) != mean_interval([[1.0]] * 8, proportion=True)
    assert metric("progress").interval(same) == mean_interval([[1.0]] * 8, proportion=True)
    assert metric("extra_writes").interval(same) is None
    different = tasks(*[{"extra_writes": 1}] * 8, {"extra_writes": 3})
    assert metric("extra_writes").interval(different) == mean_interval([[1.0]] * 8 + [[3.0]])


def test_a_trial_with_nothing_to_measure_does_not_count():
    assert metric("progress").value(tasks({"progress": None}, {"progress": 0.5})) == 0.5
    assert metric("progress").lacking(tasks({"progress": None})) == "no trial has anything to measure"


def test_the_page_has_what_was_measured():
    (block,) = page({"progress": 0.5, "state": None, "failed_calls": 0}, None)
    assert (block.title, block.rows) == ("Partial credit", [("progress", "0.500"), ("failed_calls", "0")])
