"""--tau-baseline, --tau-fail-on regression: the run compared with an earlier one."""

from __future__ import annotations

import json

import pytest

from pytest_tau.cli import main

PARTS = """
import os
from pytest_tau.testing import ScriptedParticipant, call

class Agent(ScriptedParticipant):
    fails = ()

    def __init__(self, task):
        made = call("create_task", user_id="user_1", title="Buy milk")
        super().__init__(["No."] if task.id in self.fails else [made, "Done."])

class Worse(Agent):
    fails = [f"t{number}" for number in range(8)]

class Unlucky(Agent):
    fails = ["t3"]

class Lost:
    def __init__(self, task):
        self.lost, self.said = int(task.id[1:]) < 8, False

    def respond(self, message):
        if self.lost:
            raise ConnectionError("provider down")
        self.said, before = True, self.said
        return "###STOP###" if before else "Milk!"
"""
WORKERS = [(), ("-n", "2")]


@pytest.fixture
def run(project, a_task):
    """Runs twelve tasks with an agent of parts.py."""
    project.write("parts.py", PARTS)
    tasks = [a_task(f"t{number}") for number in range(12)]
    project.tasks("mock/t.tau.json", tasks)

    def start(agent, *args):
        return project.run("--tau-agent", f"parts.py:{agent}", "--tb=no", *args)

    return start


@pytest.fixture
def blessed(run, monkeypatch, project):
    """A baseline of the good agent, and how to run against it."""
    run("Agent", "--tau-results", "runs").outcomes(passed=12)
    monkeypatch.chdir(project.path)
    assert main(["bless", "runs", "-o", "baseline"]) == 0
    return run


class TestBaseline:
    """The lines of the comparison."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_loss_is_reported_with_the_tasks(self, blessed, workers):
        found = blessed("Worse", "--tau-baseline", "baseline", *workers)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.outcomes(passed=4, failed=8)
        found.line("tau: baseline: baseline (")
        found.line("tau: this run compared with baseline (", "12 tasks in both, trials per task: 1")
        found.line("tau: pass^1 1.000 -> 0.333: -0.667 (95 % interval", "p = 0.004)")
        found.line("tau: a significant loss; minimum detectable loss at 80 % power: 0.")
        names = found.line("tau: worse on 8 tasks: ").rpartition(": ")[2].split(", ")
        assert sorted(names) == [f"t{number}" for number in range(8)]
        found.line("tau: sign-flip test over tasks (Fisher 1935), two-sided mid-p, exact")
        found.lacks("tau: baseline: not the same")
        found.lacks("tau: --tau-fail-on")

    def test_tasks_on_one_side_only_are_denominators(self, blessed, project, a_task):
        project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(2, 20)])
        found = blessed("Agent", "--tau-baseline", "baseline")
        found.line("10 tasks in both")
        found.line("tau: excluded: 2 tasks only in baseline (", "8 tasks only in this run")
        found.line("tau: every task passes as often as before")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_changed_task_is_warned_of(self, blessed, project, a_task, workers):
        changed = a_task("t0", user_scenario={"instructions": "Milk, at once."})
        project.tasks("mock/t.tau.json", [changed, *(a_task(f"t{number}") for number in range(1, 12))])
        found = blessed("Agent", "--tau-baseline", "baseline", *workers)
        found.line("tau: baseline: not the same in both runs: 1 task")

    def test_a_run_below_the_results_is_found_by_its_name(self, run, project):
        run("Agent", "--tau-results", "kept")
        name = next((project.path / "kept").iterdir()).name
        run("Agent", "--tau-results", "kept", "--tau-baseline", name).line(
            f"tau: this run compared with {name}: 12 tasks"
        )

    def test_a_baseline_is_never_written_by_a_run(self, blessed, project):
        files = {file: file.read_bytes() for file in (project.path / "baseline").iterdir()}
        blessed("Worse", "--tau-baseline", "baseline", "--tau-fail-on", "regression")
        assert {file: file.read_bytes() for file in (project.path / "baseline").iterdir()} == files

    @pytest.mark.parametrize("workers", WORKERS)
    def test_one_that_is_not_there_is_a_usage_error(self, run, workers):
        run("Agent", "--tau-baseline", "nowhere", *workers).usage_error("--tau-baseline: unknown run 'nowhere'")

    def test_an_ini_that_names_one_leaves_other_tests_alone(self, run, project):
        project.ini("tau_baseline = nowhere", "tau_fail_on = regression")
        project.write("test_plain.py", "def test_plain(): pass")
        found = project.run("test_plain.py")
        assert found.ret == pytest.ExitCode.OK
        found.lacks("tau:")
        run("Agent").usage_error("tau_baseline: unknown run 'nowhere'")

    def test_one_that_cannot_be_read_is_a_usage_error(self, run, project):
        project.write("broken/records.jsonl", '{"domain": "mock"}\n')
        run("Agent", "--tau-baseline", "broken").usage_error("--tau-baseline:", "records.jsonl, line 1: not a record")
        project.write("empty/records.jsonl", "")
        run("Agent", "--tau-baseline", "empty").usage_error("--tau-baseline:", "has no trials")


class TestFailOnRegression:
    """Only a significant loss fails the run."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_significant_loss_does(self, blessed, workers):
        found = blessed("Worse", "--tau-baseline", "baseline", "--tau-fail-on", "regression", *workers)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.outcomes(passed=4, failing=8)
        found.line("tau: --tau-fail-on regression: a regression")
        found.line("tau: 8 failing: single trials do not fail the run, only a regression does")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_what_may_be_chance_does_not(self, blessed, workers):
        found = blessed("Unlucky", "--tau-baseline", "baseline", "--tau-fail-on", "regression", *workers)
        assert found.ret == pytest.ExitCode.OK
        found.outcomes(passed=11, failing=1)
        found.line("tau: no significant difference")
        found.line("tau: --tau-fail-on regression: no regression")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_too_few_tasks_to_find_a_loss_are_a_usage_error(self, blessed, workers):
        args = ["--tau-task", "t0", "--tau-task", "t1", "--tau-baseline", "baseline", "--tau-fail-on", "regression"]
        blessed("Worse", *args, *workers, "--tb=short").usage_error(
            "--tau-fail-on: a regression cannot be decided: 2 tasks with a pass in baseline (",
            "); a significant loss takes at least 5: run more tasks that pass there, or use a gate, such as --tau-gate '",
        )
        blessed("Worse", *args, "--collect-only").lacks("cannot be decided")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_too_few_selected_tasks_to_find_a_loss_are_no_success(self, blessed, workers):
        args = ["-k", "t0 or t2", "--tau-baseline", "baseline", "--tau-fail-on", "regression"]
        found = blessed("Worse", *args, *workers)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("--tau-fail-on regression: not decided: 2 tasks passed before, and a loss on fewer than 5 is never")
        found.lacks("no regression")

    @pytest.mark.exhaustive
    def test_gates_can_be_combined_with_it(self, blessed):
        args = ["--tau-baseline", "baseline", "--tau-fail-on", "regression", "--tau-gate"]
        assert blessed("Unlucky", *args, "pass^1>=0.95").ret == pytest.ExitCode.TESTS_FAILED
        assert blessed("Worse", *args, "pass^1>=0.1").ret == pytest.ExitCode.TESTS_FAILED
        assert blessed("Unlucky", *args, "pass^1>=0.1").ret == pytest.ExitCode.OK

    def test_tasks_that_failed_before_may_show_a_significant_gain(self, run, project, a_task):
        project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(9)])
        run("Worse", "--tau-results", "runs").outcomes(passed=1, failed=8)
        name = next((project.path / "runs").iterdir()).name
        args = ["--tau-results", "runs", "--tau-baseline", name, "--tau-fail-on", "regression"]
        assert run("Agent", *args).ret == pytest.ExitCode.OK
        found = run("Worse", *args)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("tau: --tau-fail-on regression: not decided: 1 task passed before")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_nothing_to_compare_is_a_usage_error(self, blessed, project, a_task, workers):
        project.tasks("mock/t.tau.json", [a_task("other")])
        found = blessed("Agent", "--tau-baseline", "baseline", "--tau-fail-on", "regression", *workers)
        found.usage_error(
            "--tau-fail-on: a regression cannot be decided: no task of this run has a verdict in baseline"
        )

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_named_task_of_a_domain_is_run(self, run, project, workers):
        run("Agent", "--tau-results", "runs")
        name = next((project.path / "runs").iterdir()).name
        args = ["--tau-domain", "mock", "--tau-user", "gold", "--tau-results", "runs", "--tau-baseline", name]
        found = run("Agent", *args, "--tau-fail-on", "regression", "mock::create-task", *workers)
        found.line("tau: --tau-fail-on regression: nothing to compare")

    def test_nothing_to_compare_is_no_success(self, blessed, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("other")])
        args = ["--tau-baseline", "baseline", "--tau-fail-on", "regression", "mock/t.tau.json::other"]
        found = blessed("Agent", *args)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("tau: --tau-fail-on regression: nothing to compare")

    def test_the_baseline_has_no_conversations_and_no_errors_text(self, blessed, project):
        lines = (project.path / "baseline" / "records.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(lines) == 12
        assert all("messages" not in each or isinstance(each["messages"], int) for each in map(json.loads, lines))
        assert json.loads((project.path / "baseline" / "run.json").read_text(encoding="utf-8"))["blessed"]


class TestDoubts:
    """What leaves a comparison undecided, or makes it one of clusters."""

    @pytest.mark.parametrize("early", [(), ("--tau-stop-early=0.99",)])
    @pytest.mark.parametrize("workers", WORKERS)
    def test_losses_of_one_run_fail_it_as_undecided(self, blessed, workers, early):
        options = ("--tau-baseline", "baseline", "--tau-fail-on", "regression")
        found = blessed("Agent", "--tau-user", "parts.py:Lost", *options, *early, *workers)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("--tau-fail-on regression: not decided: 0 of 12 trials before and 8 of 12 trials after were lost")

    @pytest.mark.parametrize("early", [(), ("--tau-stop-early=0.99",)])
    @pytest.mark.parametrize("workers", WORKERS)
    def test_tasks_that_move_together_are_one_observation(self, project, a_task, blessed, workers, early):
        tasks = [a_task(f"t{n}") | {"annotations": {"tau.cluster": f"c{n % 3}"}} for n in range(12)]
        project.tasks("mock/t.tau.json", tasks)
        options = ("--tau-baseline", "baseline", "--tau-fail-on", "regression", "--tau-gate", "pass^1>=0.1")
        found = blessed("Worse", *options, *early, *workers)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("12 tasks in 3 clusters in both")
        found.line("(no interval with fewer than 6 clusters")
        found.line("--tau-fail-on regression: not decided: 3 clusters passed before")
        found.line("gate pass^1 >= 0.1: 0.333 (95 % interval over 3 clusters 0.")
