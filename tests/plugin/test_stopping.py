"""``--tau-stop-early=P``: a run ends once its verdict is known, for gates and for the comparison with a baseline."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_tau.cli import main

WORKERS = [(), ("-n", "2")]
TASKS = 40
PARTS = """
import os
from pytest_tau.testing import ScriptedParticipant, call

class Good(ScriptedParticipant):
    def __init__(self, task):
        made = call("create_task", user_id="user_1", title="Buy milk")
        super().__init__(["No."] if self.fails(task) else [made, "Done."])

    def fails(self, task):
        return False

class Bad(Good):
    def fails(self, task):
        return True

class Half(Good):
    def fails(self, task):
        return int(task.id[1:]) % 2 == 0
"""
KNOWN = "in the full run with a probability of at least 0.99"


@pytest.fixture
def run(project, a_task):
    """Runs forty tasks with an agent of parts.py."""
    project.write("parts.py", PARTS)
    project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(TASKS)])

    def start(agent, *args):
        return project.run("--tau-agent", f"parts.py:{agent}", "--tb=no", "--tau-results=runs", *args)

    return start


@pytest.fixture(scope="module")
def blessed(tmp_path_factory):
    """A folder for the baseline of the good agent; the first test that compares with it makes it."""
    return tmp_path_factory.mktemp("blessed") / "baseline"


@pytest.fixture
def compared(run, project, monkeypatch, blessed):
    """A baseline of the good agent, and how to compare with it at looks."""
    monkeypatch.chdir(project.path)
    if not blessed.exists():
        run("Good").outcomes(passed=TASKS)
        assert main(["bless", "runs", "-o", str(blessed)]) == 0
        shutil.rmtree("runs")
    shutil.copytree(blessed, "baseline")

    def start(agent, *args):
        options = ["--tau-baseline=baseline", "--tau-fail-on=regression", "--tau-stop-early=0.99"]
        return run(agent, *options, *args)

    return start


@pytest.fixture
def variants(project, a_task):
    """Runs ten tasks with two agents that a fixture has as its parameters."""

    def start(first, second, *args):
        project.write("parts.py", PARTS)
        project.write(
            "conftest.py",
            f"""
            import pytest
            from parts import Bad, Good

            @pytest.fixture(params=[{first}, {second}])
            def tau_agent(request, tau_task):
                return request.param(tau_task)
            """,
        )
        project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(10)])
        return project.run("--tb=no", *args)

    return start


def stopping(project):
    """What ``run.json`` of the latest run has."""
    folder = max((project.path / "runs").iterdir(), key=lambda each: (each / "run.json").stat().st_mtime)
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))["capabilities"]["stopping"]["notes"]


@pytest.mark.parametrize("workers", WORKERS)
def test_a_variant_that_misses_the_gate_ends_the_run(variants, workers):
    found = variants("Good", "Bad", "--tau-gate", "pass^1>=0.9", "--tau-stop-early", *workers)
    found.line("tau: stopped early after", "pass^1 >= 0.9 can no longer be met:", "trials not run")
    found.line("for Bad: 0.000", "missed, at most")
    found.line("tau: 10 tasks x 2 variants x 1 trial planned:", "not run (the gates are settled)")


def test_the_run_goes_on_until_all_variants_have_met_the_gate(variants):
    found = variants("Good", "Good", "--tau-gate", "pass^1>=0.1", "--tau-stop-early")
    assert found.ret == pytest.ExitCode.OK
    found.line("tau: gate pass^1 >= 0.1 for Good0: 1.000: met, at least 0.100")
    found.line("tau: gate pass^1 >= 0.1 for Good1: 1.000: met, at least 0.100")


class TestCertainty:
    """Trials that can change nothing are not run."""

    def test_a_gate_that_can_no_longer_be_met(self, agents):
        run = agents("--tau-gate", "pass^1>=0.8", "--tau-stop-early", "--tb=no", "-rs", bad=3, good=17)
        assert run.ret == pytest.ExitCode.OK
        run = agents("--tau-gate", "pass^1>=0.8", "--tau-stop-early", "--tb=no", "-rs", bad=20)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.outcomes(failing=5, skipped=15)
        run.line("SKIPPED [15]", "not run: the gates are settled")
        run.line("tau: stopped early after 5 of 20 trials, pass^1 >= 0.8 can no longer be met: 15 trials not run")
        run.line("tau: gate pass^1 >= 0.8: 0.000", "missed, at most 0.750 whatever the remaining trials give")

    def test_gates_that_can_no_longer_be_missed(self, agents):
        args = ["--tau-gate", "pass^1>=0.5", "--tau-gate", "errors<=0.6", "--tau-stop-early"]
        run = agents(*args, good=10)
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=5, skipped=5)
        run.line("tau: stopped early after 5 of 10 trials, every gate is certain to be met: 5 trials not run")
        run.line("tau: gate pass^1 >= 0.5: 1.000", "met, at least 0.500 whatever the remaining trials give")

    @pytest.mark.exhaustive
    def test_over_workers(self, agents):
        """What a worker has begun, or is about to, it finishes."""
        pytest.importorskip("xdist")
        run = agents("--tau-gate", "pass^1>=0.8", "--tau-stop-early", "--tb=no", "-n", "2", bad=60)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        line = run.line("tau: stopped early after", "pass^1 >= 0.8 can no longer be met:", "trials not run")
        not_run = int(line.split(": ")[2].split()[0])
        assert 1 <= not_run <= 47
        run.outcomes(failing=60 - not_run, skipped=not_run)
        run.line("tau: gate pass^1 >= 0.8: 0.000", "missed, at most")

    def test_conversations_that_have_begun_are_finished_and_counted(self, models, project, a_task):
        models.script(
            """
            async def answer(role, request):
                await asyncio.sleep(0.03)
                return "Bye. ###STOP###" if role == "user" else "No."
            """
        )
        project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(40)])
        args = ["--tau-gate", "pass^1>=0.9", "--tau-stop-early", "--tb=no", "--tau-concurrency", "3"]
        run = models.run(*args)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run_trials = len([call for call in models.asked if call["role"] == "user"])
        assert 4 <= run_trials < 40
        run.outcomes(failing=run_trials, skipped=40 - run_trials)

    def test_tests_of_ones_own_are_run(self, agents, project):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create*", agent="gold", user="gold")
            def test_own(tau_simulation):
                assert tau_simulation.reward == 1
            """,
        )
        run = agents("--tau-gate", "pass^1>=0.9", "--tau-stop-early", "--tb=no", ".", bad=10)
        run.outcomes(failing=2, skipped=8, passed=2)


class TestGates:
    """Gates that are probably met or missed."""

    def test_met(self, run, project):
        found = run("Good", "--tau-gate", "pass^1>=0.8", "--tau-stop-early=0.99", "--tau-trials=2")
        assert found.ret == pytest.ExitCode.OK
        found.line(
            "tau: runs until the verdict of the full run is known with a probability of at least 0.99; tasks in random order (seed 300)"
        )
        line = found.line("tau: stopped early after", f"every gate will be met {KNOWN}:", "trials not run")
        ran = int(line.split("after ")[1].split()[0])
        assert 8 <= ran <= 30
        found.line(f"{2 * TASKS - ran} trials not run, {TASKS - ran} tasks without any trial")
        found.outcomes(passed=ran, skipped=2 * TASKS - ran)
        found.line("tau: gate pass^1 >= 0.8: 1.000", f"met, {KNOWN}")
        assert stopping(project) == {
            "probability": 0.99,
            "gates": ["pass^1 >= 0.8"],
            "stopped": f"every gate will be met {KNOWN}",
        }

    def test_missed(self, run):
        found = run("Half", "--tau-gate", "pass^1>=0.9", "--tau-stop-early=0.99")
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("tau: stopped early after", f"pass^1 >= 0.9 will be missed {KNOWN}", "trials not run")
        found.line("tau: gate pass^1 >= 0.9:", f"missed, {KNOWN}")

    def test_one_of_several(self, run):
        found = run("Half", "--tau-gate", "pass^1>=0.9", "--tau-gate", "pass^1>=0.3", "--tau-stop-early=0.99")
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("gate pass^1 >= 0.9:", f"missed, {KNOWN}")
        found.line("gate pass^1 >= 0.3:", "not decided, the remaining trials decide")

    def test_a_close_verdict_needs_most_of_the_run(self, run):
        found = run("Half", "--tau-gate", "pass^1>=0.5", "--tau-stop-early=0.99")
        assert found.ret == pytest.ExitCode.OK
        found.lacks("tau: stopped early after 1")

    @pytest.mark.parametrize("workers", [("-n", "2")])
    def test_over_workers(self, run, workers):
        # Workers report in any order. A higher gate could be certain to be missed before it is predicted.
        found = run("Bad", "--tau-gate", "pass^1>=0.4", "--tau-stop-early=0.99", "--tau-trials=4", *workers)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("tau: stopped early after", f"pass^1 >= 0.4 will be missed {KNOWN}")
        found.line("tau: gate pass^1 >= 0.4: 0.000", f"missed, {KNOWN}")

    def test_the_order_is_that_of_the_seed(self, run, project):
        gate = ("--tau-gate", "pass^1>=0.8", "--collect-only", "-q")
        first, again = (run("Good", *gate, "--tau-stop-early=0.99").ids for _ in range(2))
        assert first == again
        assert first != run("Good", *gate, "--tau-stop-early=0.99", "--tau-seed=1").ids
        plain = run("Good", *gate, "--tau-stop-early").ids
        assert first != plain
        assert sorted(first) == sorted(plain)

    def test_a_trial_of_every_task_comes_first(self, run):
        ids = run(
            "Good", "--tau-gate", "pass^1>=0.8", "--collect-only", "-q", "--tau-stop-early=0.99", "--tau-trials=2"
        ).ids
        assert all("trial-0" in each for each in ids[:TASKS])

    def test_what_is_not_predicted_is_stated(self, run):
        found = run("Good", "--tau-gate", "turns<=1000", "--tau-stop-early=0.99")
        found.line("tau: turns <= 1000: not predicted; the run ends early once this is certain")
        found.outcomes(passed=TASKS)

    def test_a_resumed_run_stops_at_the_same_trial(self, run, project):
        args = ("--tau-gate", "pass^1>=0.8", "--tau-stop-early=0.99", "--tau-trials=2")
        first = run("Good", *args).line("tau: stopped early after")
        (folder,) = (project.path / "runs").iterdir()
        file = folder / "simulations.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[:5]), encoding="utf-8")
        again = run("Good", *args, "--tau-resume")
        assert again.line("tau: stopped early after") == first
        again.line("tau: resume: 5 of")

    def test_a_run_that_was_not_drawn_cannot_be_resumed(self, run):
        run("Good")
        run("Good", "--tau-gate", "pass^1>=0.8", "--tau-stop-early=0.99", "--tau-resume").usage_error(
            "--tau-stop-early: the earlier run was started without it: its tasks were not run in random order"
        )

    def test_another_rule_cannot_be_resumed(self, run):
        run("Good", "--tau-gate", "pass^1>=0.8", "--tau-stop-early=0.99")
        run("Good", "--tau-gate", "pass^1>=0.8", "--tau-stop-early=0.9", "--tau-resume").usage_error(
            "fixed at the start of the earlier run: probability: 0.99 in the earlier run, 0.9 now"
        )

    @pytest.mark.exhaustive
    def test_ini(self, run, project):
        project.ini("tau_stop_early = true", "tau_gate = pass^1>=0.5")
        run("Good").line("tau: stopped early after 20 of 40 trials, every gate is certain to be met")
        project.ini("tau_stop_early = false", "tau_gate = pass^1>=0.5")
        run("Good").outcomes(passed=TASKS)
        project.ini("tau_stop_early = 0.99", "tau_gate = pass^1>=0.5")
        run("Good").line(f"every gate will be met {KNOWN}")


class TestBaseline:
    """Looks at the comparison."""

    def test_gates_that_are_met_do_not_end_it(self, compared):
        args = ["--tau-baseline=baseline", "--tau-fail-on=regression", "--tau-stop-early", "--tau-gate=pass^1>=0.1"]
        compared("Good", *args).outcomes(passed=TASKS)

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_loss(self, compared, project, workers):
        found = compared("Half", *workers)
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("tau: look 1 of 5: -0.", "over 8 tasks, p = ", "(one-sided), significant up to 5.4e-07")
        found.line("tau: stopped early after", "trials, a significant loss at look", "of 5:", "trials not run")
        found.line("tau: --tau-fail-on regression: a regression")
        found.lacks("no significant difference")
        found.lacks("minimum detectable loss")
        looks = stopping(project)["looks"]
        assert [each["tasks"] for each in looks] == [8, 16, 24, 32, 40]
        assert looks[-1]["spent"] == pytest.approx(0.025)
        decided = [each["results"][""]["loss"] for each in looks if "results" in each]
        assert decided == [False] * (len(decided) - 1) + [True]

    def test_without_a_loss_the_run_is_complete(self, compared, project):
        found = compared("Good")
        assert found.ret == pytest.ExitCode.OK
        found.outcomes(passed=TASKS)
        found.line("tau: look 5 of 5: +0.000 over 40 tasks, p = 0.5000 (one-sided), significant up to 0.021")
        found.lacks("stopped early")
        assert len([each for each in stopping(project)["looks"] if "results" in each]) == 5

    @pytest.mark.exhaustive
    def test_a_gate_as_well(self, compared):
        found = compared("Good", "--tau-gate", "pass^1>=0.5")
        found.outcomes(passed=TASKS)
        found = compared("Bad", "--tau-gate", "pass^1>=0.5")
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("tau: stopped early after", f"pass^1 >= 0.5 will be missed {KNOWN}")

    def test_all_trials_of_a_task_come_together(self, compared):
        ids = compared("Good", "--collect-only", "-q", "--tau-trials=2").ids
        assert [each.replace("trial-0", "trial-1") for each in ids[::2]] == ids[1::2]

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("workers", WORKERS)
    def test_looks_of_a_resumed_run_are_those_of_its_start(self, compared, project, workers):
        compared("Good", *workers)
        folder = max((project.path / "runs").iterdir(), key=lambda each: each.stat().st_mtime)
        info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        info["capabilities"]["stopping"]["notes"]["looks"] = [
            {"tasks": each, "level": 0.01, "spent": 0.01} for each in (25, 40)
        ]
        (folder / "run.json").write_text(json.dumps(info), encoding="utf-8")
        lines = (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "simulations.jsonl").write_text("".join(lines[:12]), encoding="utf-8")
        resumed = compared("Good", f"--tau-resume={folder}", *workers)
        resumed.line("tau: look 1 of 2: +0.000 over 25 tasks")

    def test_a_single_comparison_cannot_follow_looks(self, compared, run):
        compared("Good")
        options = ["--tau-baseline=baseline", "--tau-fail-on=regression", "--tau-resume"]
        run("Good", *options).usage_error(
            "--tau-resume: the earlier run was compared with its baseline at looks: add --tau-stop-early=0.99"
        )

    @pytest.mark.exhaustive
    def test_tasks_that_the_baseline_lacks_are_no_part_of_a_look(self, compared, project, a_task):
        project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(20, 60)])
        found = compared("Good")
        found.line("tau: look 4 of 4: +0.000 over 20 tasks")
        found.outcomes(passed=40)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--tau-stop-early", "-n", "2"], "--tau-stop-early: needs a gate"),
        (["--tau-stop-early=0.99"], "--tau-stop-early: needs a gate: add --tau-gate EXPR, or a comparison"),
        (["--tau-stop-early=99"], "--tau-stop-early: expected a probability above 0.5 and at most 1, such as 0.99"),
        (["--tau-stop-early", "mock"], "got 'mock' (without one, write the option after the paths)"),
    ],
)
def test_options_that_cannot_be_used(run, args, message):
    run("Good", *args).usage_error(message)


class TestNotes:
    """The lines at the start of a run that cannot answer what is asked."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_gate(self, run, workers):
        found = run("Good", "--tau-gate", "pass^1>=0.95", *workers)
        found.line(
            "tau: gate pass^1 >= 0.95: 40 tasks cannot answer it: even if every trial passes, its 95 % interval begins at "
            "0.912; 73 tasks are needed for a clear result (see tau plan)"
        )
        run("Good", "--tau-gate", "pass^1>=0.9", *workers).lacks("cannot answer it")

    def test_a_gate_is_named_once_in_a_project_and_with_v(self, run):
        run("Good", "--collect-only", "--tau-gate", "pass^1>=0.95").line("40 tasks cannot answer it")
        run("Good", "--collect-only", "--tau-gate", "pass^1>=0.95").lacks("cannot answer it")
        run("Good", "--collect-only", "--tau-gate", "pass^1>=0.95", "-v").line("40 tasks cannot answer it")
        run("Good", "--collect-only", "--tau-gate", "pass^1>=0.96").line("40 tasks cannot answer it")

    def test_lines_are_as_wide_as_the_terminal(self, run, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        found = run("Good", "--collect-only", "--tau-gate", "pass^1>=0.95")
        assert len(found.line("tau: gate", "cannot answer it")) <= 80
        found.line("       ", "0.912; 73 tasks")

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_comparison(self, compared, workers):
        compared("Good", *workers).line("tau: comparison: 40 tasks x 1 trial show a loss of", "or more at 80 % power")
        compared("Good", "-k", "t1 or t2-", *workers).lacks("tau: comparison: 40")
        compared("Good", "-k", "t38 or t39", *workers).line(
            "tau: comparison: 2 tasks x 1 trial are too few to show any loss at 80 % power (see tau plan)"
        )
