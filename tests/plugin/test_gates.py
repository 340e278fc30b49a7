"""--tau-gate: the run as a whole decides, in one process and over workers."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

WORKERS = [(), ("-n", "2")]


class TestOutOfReach:
    """A gate that needs more trials than any task has is refused before anything runs."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_too_few_trials(self, agents, workers):
        args = ["--tau-gate", "pass^4>=0.5", "--tau-trials", "2"]
        expected = "'pass^4 >= 0.5' needs 4 trials of a task, and no task has more than 2: add --tau-trials 4"
        run = agents(*args, *workers, good=3)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("--tau-gate:", expected)
        run.lacks("passed")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_one_domain(self, project, workers):
        run = project.run("--tau-domain", "mock", "--tau-gate", "mock:pass^2>=1", *workers)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("'mock:pass^2 >= 1' needs 2 trials")

    def test_ini(self, agents, project):
        project.ini("tau_gate = pass^3>=0.5")
        run = agents(good=1)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("tau_gate", "add --tau-trials 3")

    def test_repetitions_of_pytest_repeat_count(self, agents):
        agents("--tau-gate", "pass^4>=1", "--tau-trials", "2", "-p", "pytest_repeat", "--count", "2", good=1).outcomes(
            passed=4
        )
        run = agents("--tau-gate", "pass^4>=1", "-p", "pytest_repeat", "--count", "3", good=1)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("no task has more than 3: add --tau-trials 4")

    def test_marker_with_its_own_trials(self, agents, project):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", num_tasks=1, trials=3)
            def test_it(tau_simulation):
                pass
            """,
        )
        agents("--tau-gate", "pass^3>=0", "test_own.py").outcomes(passed=3)
        agents("--tau-gate", "pass^3>=0", ".", good=1).outcomes(passed=4)
        run = agents("--tau-gate", "pass^4>=0", "test_own.py")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("no task has more than 3: set trials=4 in the marker tau")

    def test_a_part_of_the_trials_is_run(self, agents):
        gate = ("--tau-gate", "pass^2>=0.5", "--tau-trials", "2")
        agents(*gate, "--tau-shard", "1/2", good=1).line(
            "gate pass^2 >= 0.5: not decided: 1 trial of the run not run here; tau merge --gate decides"
        )
        agents(*gate, "-k", "trial-1", good=1).line("gate pass^2 >= 0.5: not decided: no task has 2 trials")
        run = agents("--tau-gate", "pass^2>=0.5", "mock/t.tau.json::good-0[trial-1]", good=1)
        run.line("gate pass^2 >= 0.5: not decided: no task has 2 trials")

    def test_collect_only(self, agents):
        run = agents("--tau-gate", "pass^2>=0.5", "--collect-only", good=1)
        assert run.ret == pytest.ExitCode.OK

    def test_without_tasks(self, project):
        project.write("test_own.py", "def test_it(): pass")
        project.run("--tau-gate", "pass^4>=1", "test_own.py").lacks("needs 4 trials")


class TestGates:
    """Single trials do not fail the run; gates do."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_met_gates_let_failing_trials_pass(self, agents, workers):
        run = agents("--tau-gate", "pass^1>=0.7", "--tau-gate", "mock:errors<=0.2", *workers, good=8, bad=2, lost=1)
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=8, failing=2, broken=1)
        run.line("tau: gates: pass^1 >= 0.7, mock:errors <= 0.2")
        run.line("tau: gate pass^1 >= 0.7: 0.800 (95 % interval", "): met")
        run.line("tau: gate mock:errors <= 0.2: 0.091 (95 % interval", "): met")
        run.line(
            "tau: 2 failing and 1 broken: single trials do not fail the run, only the gates do (-rx explains each)"
        )
        for word in ("FAILED", "FAILURES", "ERRORS", "never called", "XFAIL"):
            run.lacks(word)

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_missed_gate_fails_the_run_and_trials_are_explained(self, agents, workers):
        run = agents("--tau-gate", "pass^1>=0.9", *workers, good=8, bad=2)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.outcomes(passed=8, failing=2)
        run.line("tau: gate pass^1 >= 0.9: 0.800 (95 % interval", "): missed")
        run.line("FAILING TRIALS")
        run.line("bad-1[trial-0]")
        run.line("never called create_task(")
        run.lacks("= FAILURES")

    @pytest.mark.parametrize("workers", WORKERS)
    @pytest.mark.parametrize("quiet", [(), ("-q",)])
    def test_the_last_line_is_red_and_says_why_the_run_failed(self, agents, workers, quiet):
        run = agents("--tau-gate", "pass^1>=0.9", "--color=yes", *quiet, *workers, good=8, bad=2)
        last = run.text.strip().splitlines()[-1]
        assert "\x1b[31m\x1b[1mgate missed\x1b[0m, \x1b[32m8 passed\x1b[0m, \x1b[33m2 failing\x1b[0m\x1b[31m in" in last
        assert run.text.count("short test summary info") == 1
        run.line("\x1b[31mtau: the run failed: gate missed\x1b[0m")
        run = agents("--tau-gate", "pass^1>=0.7", "--color=yes", *quiet, *workers, good=8)
        assert "\x1b[32m\x1b[1m8 passed\x1b[0m\x1b[32m in" in run.text.strip().splitlines()[-1]
        run.lacks("short test summary info")

    def test_the_last_line_of_other_failures_of_a_run(self, agents, project):
        run = agents("--tau-gate", "pass^2>=0.5", "-k", "trial-1", "--tau-trials=2", good=1)
        run.line("= gate not decided, 1 passed, 1 deselected in")
        project.write("test_own.py", "def test_it(): assert False")
        run = agents("--tau-gate", "pass^1>=0.9", ".", "-qq", bad=1)
        run.line("FAILED test_own.py")
        run.line("tau: the run failed: gate missed")
        assert run.text.count("short test summary info") == 1
        run = agents("--tau-gate", "pass^1>=0.9", "--no-summary", "mock/t.tau.json", bad=1)
        run.lacks("short test summary info")
        run.line("= gate missed, 1 failing in")

    def test_a_run_without_a_terminal(self, agents, project):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", num_tasks=1, agent="noop")
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1
            """,
        )
        assert agents("-p", "no:terminal", "test_own.py").ret == pytest.ExitCode.TESTS_FAILED
        gate = ("-p", "no:terminal", "--tau-gate", "pass^1>=0.9", "mock/t.tau.json")
        assert agents(*gate, bad=1).ret == pytest.ExitCode.TESTS_FAILED
        assert agents(*gate, good=1).ret == pytest.ExitCode.OK

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_missed_gate_on_a_mean_names_the_worst_trials(self, agents, workers):
        run = agents("--tau-gate", "calls>=0.9", "--tau-gate", "turns>=0", "--tb=no", *workers, good=2, bad=4)
        run.line("tau: gate calls >= 0.9: 0.333 (95 % interval", "): missed")
        worst = ", ".join(f"mock/t.tau.json::bad-{number}[trial-0] 0" for number in range(3))
        assert run.line("tau:  worst:") == f"tau:  worst: {worst}"
        agents("--tau-gate", "calls<=0.5", *workers, good=1, bad=1).lacks("worst:")
        run = agents("--tau-gate", "calls<=0.1", "--tau-gate", "pass^1>=0.9", "--tb=no", *workers, good=1, bad=1)
        assert run.line("tau:  worst:") == "tau:  worst: mock/t.tau.json::good-0[trial-0] 1"

    def test_explanations_follow_the_options(self, agents):
        run = agents("--tau-gate", "pass^1>=0.1", "-rx", good=1, bad=1, lost=1)
        assert run.ret == pytest.ExitCode.OK
        run.line("FAILING TRIALS")
        run.line("never called create_task(")
        run.line("BROKEN TRIALS")
        run.line("ConnectionError: provider down")
        agents("--tau-gate", "pass^1>=0.9", "--tb=no", good=1, bad=1).lacks("FAILING TRIALS")

    def test_letters_and_words(self, agents):
        agents("--tau-gate", "pass^1>=0", good=1, bad=1, lost=1).line("t.tau.json .fe")
        run = agents("--tau-gate", "pass^1>=0", "-v", good=1, bad=1, lost=1)
        run.line("bad-0[trial-0] FAILING", "never called create_task")
        run.line("lost-0[trial-0] BROKEN", "user_error")

    def test_errors_fail_the_run_only_by_a_gate_of_their_own(self, agents):
        run = agents("--tau-gate", "pass^1>=1", good=3, lost=1)
        assert run.ret == pytest.ExitCode.OK
        run.line("tau: trials with an error have no verdict and are excluded; --tau-gate 'errors<=0' fails on errors")
        run = agents("--tau-gate", "pass^1>=1", "--tau-gate", "errors<=0", good=3, lost=1)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: gate errors <= 0: 0.250", "missed")
        run.lacks("excluded; --tau-gate")

    def test_undecidable_gate_fails_the_run(self, agents):
        run = agents("--tau-gate", "pass^1>=0", lost=2)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: gate pass^1 >= 0: not decided: no trial has a verdict")
        run = agents("--tau-gate", "pass^2>=0", "--tau-trials", "2", lost=2)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: gate pass^2 >= 0: not decided: no trial has a verdict")

    def test_every_trial_counts(self, agents):
        run = agents("--tau-gate", "pass^4>=0.7", "--tau-trials", "4", good=3, bad=1)
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=12, failing=4)
        run.line("tau: gate pass^4 >= 0.7: 0.750")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_failing_trials_do_not_count_for_maxfail(self, agents, workers):
        run = agents("--tau-gate", "pass^1>=0.1", "-x", *workers, good=3, bad=3, lost=2)
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=3, failing=3, broken=2)

    def test_junit_has_no_failures_of_them(self, agents, project):
        agents("--tau-gate", "pass^1>=0.1", "--junitxml=r.xml", good=1, bad=1, lost=1)
        suite = ET.parse(project.path / "r.xml").getroot().find("testsuite")
        assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "0", "2")
        messages = [skipped.get("message") for skipped in suite.iter("skipped")]
        assert any(message.startswith("never called create_task") for message in messages)

    def test_they_are_run_again_by_last_failed(self, agents):
        agents("--tau-gate", "pass^1>=0.1", good=2, bad=1)
        run = agents("--tau-gate", "pass^1>=0", "--lf", good=2, bad=1)
        run.outcomes(failing=1)

    def test_from_the_ini(self, agents, project):
        project.ini("tau_gate = pass^1>=0.5 errors<=0")
        assert agents(good=1, bad=1).ret == pytest.ExitCode.OK
        run = agents(good=1, bad=2)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: gate pass^1 >= 0.5: 0.333", "missed")

    def test_nothing_is_decided_where_nothing_is_run(self, project, agents):
        run = agents("--tau-gate", "pass^1>=1", "--collect-only", good=1)
        assert run.ret == pytest.ExitCode.OK
        run.lacks("tau: gate pass")
        project.ini("tau_gate = pass^1>=1")
        project.write("test_plain.py", "def test_plain(): pass")
        run = project.run("test_plain.py")
        assert run.ret == pytest.ExitCode.OK
        run.lacks("tau:")


class TestOtherFailures:
    """What the gates have no say in."""

    def test_assertions_of_ones_own_still_fail_and_what_broke_does_not(self, project, agents):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", user="gold")
            def test_polite(tau_simulation):
                assert "please" in str(tau_simulation.messages), "impolite"

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_lost(tau_simulation):
                pass

            def test_plain():
                assert 1 + 1 == 3
            """,
        )
        project.write("conftest.py", "")
        run = agents("--tau-gate", "pass^1>=0", "test_own.py")
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("impolite")
        assert run.line("FAILED test_own.py::test_plain")
        run.line("FAILED test_own.py::test_polite")

    def test_broken_trial_of_a_test_of_ones_own_is_reported_as_broken(self, project):
        project.write(
            "test_own.py",
            """
            import pytest

            class Lost:
                def respond(self, message):
                    raise ConnectionError("provider down")

            @pytest.mark.tau(domain="mock", tasks="create-task", user=Lost)
            def test_lost(tau_simulation):
                pass
            """,
        )
        run = project.run("--tau-gate", "errors<=1", "test_own.py")
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(broken=1)

    def test_mistakes_in_tasks_still_are_usage_errors(self, project):
        project.write("mock/t.tau.json", "[")
        project.run("--tau-gate", "pass^1>=0").usage_error("not valid JSON")

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["--tau-gate", "pas^1>=0.8"], "--tau-gate: unknown metric 'pas^1'; did you mean 'pass^1'"),
            (["--tau-gate", "pass^1=0.8"], "--tau-gate: 'pass^1=0.8': expected one of >=, >, <=, <"),
            (["--tau-gate", "mok:pass^1>=0.8"], "unknown domain 'mok'; did you mean 'mock'?"),
            (["--tau-fail-on", "regression"], "--tau-fail-on: needs a run to compare with: add --tau-baseline RUN"),
            (["--tau-fail-on", "loss"], "--tau-fail-on: expected regression, got 'loss'"),
        ],
    )
    @pytest.mark.parametrize("workers", WORKERS)
    def test_options_that_cannot_be_used(self, agents, args, message, workers):
        agents(*args, *workers, good=1).usage_error(message)


def test_every_trial_is_run(agents):
    agents("--tau-gate", "pass^1>=0.8", "--tb=no", bad=10).outcomes(failing=10)


def test_the_page_for_a_ci_job_says_what_the_gates_say(agents, project):
    run = agents("--tau-gate", "pass^1>=0.9", "--tau-gate", "errors<=0.5", "--tau-markdown=page.md", good=3, bad=2)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    page = (project.path / "page.md").read_text(encoding="utf-8")
    assert page.startswith("### Gates and baseline\n\n- ❌ gate pass^1")
    assert "- ✅ gate errors" in page


def test_the_page_for_a_ci_job_has_the_comparison(agents, project):
    agents("--tau-results=before", good=8)
    run = agents("--tau-baseline=before", "--tau-fail-on=regression", "--tau-markdown=page.md", good=8)
    assert run.ret == pytest.ExitCode.OK
    page = (project.path / "page.md").read_text(encoding="utf-8")
    assert "- ✅ --tau-fail-on regression: no regression" in page
    assert "- pass^1 1.000" in page
