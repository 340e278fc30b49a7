"""``@pytest.mark.tau(at_least=…)``: the trials of a test pass or fail together."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

WORKERS = [(), ("-n", "2")]
NAME = "test_own.py::test_it[create-task]"


@pytest.fixture
def gate(project):
    """Runs a marked test of five trials, of which some fail, and some have no verdict."""

    def run(*args, fails=(), lost=(), at_least=0.8, more="", body="", trials=5):
        project.write(
            "test_own.py",
            f"""
            import pytest
            @pytest.fixture
            def tau_user(tau_trial):
                class Lost:
                    def respond(self, message):
                        raise ConnectionError("provider down")
                return Lost() if tau_trial in {set(lost)!r} else "gold"

            @pytest.mark.tau(domain="mock", num_tasks=1, trials={trials}, at_least={at_least}, agent="gold"{more})
            def test_it(tau_simulation, tau_trial):
                {body or "pass"}
                assert tau_trial not in {set(fails)!r}
            """,
        )
        return project.run("test_own.py", *args)

    return run


class TestVerdict:
    """Failed trials are tolerated as long as the gate can be met."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_met(self, gate, workers):
        run = gate(*workers, fails=[1])
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=4, failing=1)
        run.line(f"tau: gate of {NAME}: 4 of 5 trials passed; at_least 0.8 needs 4: met")
        for word in ("FAILED", "FAILURES", "FAILING TRIALS", "XFAIL"):
            run.lacks(word)

    @pytest.mark.parametrize("workers", WORKERS)
    def test_missed(self, gate, workers):
        run = gate(*workers, fails=[1, 3])
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.outcomes(passed=3, failing=1, failed=1)
        run.line(f"tau: gate of {NAME}: 3 of 5 trials passed; at_least 0.8 needs 4: missed")
        run.line("2 of 5 trials have not passed; at_least=0.8 allows 1 trial")
        run.line("= FAILING TRIALS")
        run.line("= FAILURES")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_errors_are_not_passes(self, gate, workers):
        run = gate(*workers, lost=[0])
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=4, broken=1)
        run.line("4 of 5 trials passed, 1 error; at_least 0.8 needs 4: met")
        run = gate(*workers, lost=[0], fails=[2])
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("3 of 5 trials passed, 1 error; at_least 0.8 needs 4: missed")

    def test_other_errors_of_the_setup_fail_the_run(self, gate, project):
        project.write(
            "conftest.py",
            """
            import pytest

            @pytest.fixture(autouse=True)
            def broken(tau_trial):
                assert tau_trial != 0
            """,
        )
        run = gate()
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.outcomes(passed=4, errors=1)
        run.line("4 of 5 trials passed, 1 error; at_least 0.8 needs 4: met")

    def test_skipped_trials_do_not_count(self, gate):
        run = gate(body="if tau_trial < 2: pytest.skip('not now')")
        assert run.ret == pytest.ExitCode.OK
        run.line("3 of 3 trials passed, 2 skipped; at_least 0.8 needs 4: met")
        run = gate(body="if tau_trial < 3: pytest.skip('not now')", fails=[4])
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("1 of 2 trials passed, 3 skipped; at_least 0.8 needs 4: missed")

    def test_a_gate_without_a_trial_is_not_met(self, gate, project):
        project.write(
            "test_other.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", num_tasks=1, agent="gold", user="gold")
            def test_other(tau_simulation):
                pass
            """,
        )
        run = gate("test_other.py", body="pytest.skip('not now')")
        assert run.ret == pytest.ExitCode.OK, "a skipped test is no failure"
        run.line("0 of 0 trials passed, 5 skipped; at_least 0.8 needs 4: not decided")

    def test_each_task_and_each_parameter_has_its_gate(self, project):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.parametrize("kind", ["good", "bad"])
            @pytest.mark.tau(domain="mock", num_tasks=2, trials=2, at_least=0.5, agent="gold", user="gold")
            def test_it(tau_simulation, tau_trial, kind):
                assert kind == "good" or tau_trial
            """,
        )
        run = project.run("test_own.py")
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=6, failing=2)
        assert run.text.count(": met") == 4
        run.line("test_it[create-task-bad]: 1 of 2 trials passed")

    def test_many_gates_that_are_met_are_counted(self, project):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", num_tasks=12, at_least=1, agent="gold", user="gold")
            def test_it(tau_simulation, tau_task):
                assert tau_task.id != "create-task"
            """,
        )
        run = project.run("test_own.py")
        run.line("tau: gates of tests: 11 of 12 met (-v lists them)")
        run.line("create-task]: 0 of 1 trial passed; at_least 1 needs 1: missed")
        assert project.run("test_own.py", "-v").text.count("needs 1: met") == 11

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_gate_of_the_run_as_well(self, gate, workers):
        run = gate("--tau-gate", "pass^1>=0.1", *workers, fails=[1, 2])
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: gate pass^1 >= 0.1: 1.000", "met")
        run.line(f"gate of {NAME}: 3 of 5 trials passed", "missed")
        assert gate("--tau-gate", "pass^1>=0.1", *workers, fails=[1]).ret == pytest.ExitCode.OK


class TestSubtests:
    """A failed subtest fails its trial; the report of a subtest is not that of the trial."""

    @pytest.fixture
    def checks(self, project):
        """Runs a test of four trials whose subtests fail in some, and are skipped in all."""

        def run(*args, fails=(), marker="at_least=0.75, ", agent="gold", again=False):
            project.write(
                "test_own.py",
                f"""
                import pytest

                ran = set()

                @pytest.mark.tau(domain="mock", num_tasks=1, trials=4, {marker}agent="{agent}", user="gold")
                def test_it(tau_simulation, tau_trial, subtests):
                    first = int(tau_trial) not in ran
                    ran.add(int(tau_trial))
                    for part in "ab":
                        with subtests.test("the check", part=part):
                            assert tau_trial not in {set(fails)!r} or ({again} and not first)
                    with subtests.test("another"):
                        pytest.skip("not now")
                """,
            )
            return project.run("test_own.py", *args)

        return run

    @pytest.mark.parametrize("workers", WORKERS)
    def test_the_gate_is_missed(self, checks, workers):
        run = checks(*workers, fails=[0, 1, 2, 3])
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line(f"tau: gate of {NAME}: 0 of 4 trials passed; at_least 0.75 needs 3: missed")
        run.line("contains 2 failed subtests")
        run.lacks("passed although")
        # The reports of failed trials say it, those of their subtests do not.
        lost = re.findall(r"(\d) of 4 trials have not passed", run.text)
        assert 1 < len(lost) <= run.text.count("\nFAILED ")
        assert max(lost) == "4"

    @pytest.mark.parametrize("workers", WORKERS)
    def test_the_gate_is_met(self, checks, workers):
        run = checks("-x", *workers, fails=[1])
        assert run.ret == pytest.ExitCode.OK
        run.line(f"tau: gate of {NAME}: 3 of 4 trials passed; at_least 0.75 needs 3: met")
        run.line("3 passed, 2 subtests failing, 1 failing")
        run.lacks("SUBFAILED")

    def test_what_failed_is_explained(self, checks):
        run = checks("-rx", fails=[1])
        run.line("test_it[create-task-trial-1] [the check] (part='b')")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_without_a_gate_the_test_fails_with_its_trial(self, checks, workers):
        run = checks(*workers, fails=[0, 1, 2, 3], marker="", agent="noop")
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.outcomes(failed=12)
        run.lacks("although")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_reruns_come_before_the_gate(self, checks, workers):
        pytest.importorskip("pytest_rerunfailures")
        run = checks("-p", "pytest_rerunfailures", "--reruns", "1", *workers, fails=[1, 2], again=True)
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=4, rerun=2)
        run.line("4 of 4 trials passed; at_least 0.75 needs 3: met")


class TestOtherTools:
    """What pytest and its plugins make of it."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_maxfail_counts_missed_gates_only(self, gate, workers):
        gate("-x", *workers, fails=[0]).outcomes(passed=4, failing=1)
        run = gate("-x", fails=[0, 1])
        run.outcomes(failing=1, failed=1)
        run.line("0 of 2 trials passed, 3 not run", "missed")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_junit(self, gate, project, workers):
        gate("--junitxml=junit.xml", *workers, fails=[0, 2])
        suite = ET.parse(project.path / "junit.xml").getroot()[0]
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
            "5",
            "1",
            "0",
            "1",
        )
        gate("--junitxml=junit.xml", *workers, fails=[0])
        suite = ET.parse(project.path / "junit.xml").getroot()[0]
        assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_last_failed_runs_all_trials_of_a_missed_gate(self, gate, workers):
        gate(*workers, fails=[0, 1])
        gate("--lf", fails=[0]).outcomes(passed=4, failing=1)
        run = gate("--lf", "--lfnf=none", fails=[0])
        run.outcomes(deselected=5)

    def test_reruns_come_before_the_gate(self, gate, project):
        pytest.importorskip("pytest_rerunfailures")
        body = "import pathlib; again = pathlib.Path(f'{tau_trial}').exists(); pathlib.Path(f'{tau_trial}').touch(); assert again"
        run = gate("-p", "pytest_rerunfailures", "--reruns", "1", body=body, fails=[1])
        assert run.ret == pytest.ExitCode.OK
        run.line("4 of 5 trials passed; at_least 0.8 needs 4: met")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_resumed_run_has_the_same_verdict(self, gate, project, workers):
        gate("--tau-results=runs", *workers)
        (folder,) = (project.path / "runs").iterdir()
        file = folder / "simulations.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[:3]), encoding="utf-8")
        run = gate("--tau-results=runs", "--tau-resume", *workers)
        assert run.ret == pytest.ExitCode.OK
        run.line("tau: resume: 3 of 5 trials reused")
        run.line("5 of 5 trials passed; at_least 0.8 needs 4: met")

    def test_a_single_trial_that_is_selected(self, gate):
        run = gate("-k", "trial-1", fails=[1])
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("0 of 1 trial passed; at_least 0.8 needs 1: missed")

    def test_the_page_for_a_ci_job(self, gate, project):
        gate("--tau-markdown=page.md", fails=[0, 1])
        assert "- ❌ gate of test_own.py::test_it" in (project.path / "page.md").read_text(encoding="utf-8")


class TestStopEarly:
    """Trials that cannot change the verdict of the test are not run."""

    MORE = ", stop_early=True"

    def test_met(self, gate):
        run = gate(at_least=0.6, more=self.MORE)
        assert run.ret == pytest.ExitCode.OK
        run.outcomes(passed=3, skipped=2)
        run.line("3 of 3 trials passed, 2 not run; at_least 0.6 needs 3: met")
        run.line("5 trials planned: 3 run, 2 not run (the gate of the test is decided)")

    def test_missed(self, gate):
        run = gate(fails=[0, 1], more=self.MORE)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.outcomes(failing=1, failed=1, skipped=3)
        run.line("0 of 2 trials passed, 3 not run; at_least 0.8 needs 4: missed")

    def test_over_workers(self, gate):
        run = gate("-n", "2", at_least=0.1, more=self.MORE, trials=40)
        assert run.ret == pytest.ExitCode.OK
        run.line("trials passed,", "not run; at_least 0.1 needs 4: met")

    def test_resumed(self, gate, project):
        gate("--tau-results=runs", at_least=0.6, more=self.MORE)
        run = gate("--tau-results=runs", "--tau-resume", at_least=0.6, more=self.MORE)
        run.outcomes(passed=3, skipped=2)
        run.line("tau: resume: 3 of 3 trials reused")


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"at_least": 80},
            "at_least: expected the share of the trials that must pass, above 0 and at most 1, such as 0.8, got 80: write 0.8 for 80 %",
        ),
        ({"at_least": 0}, "at_least: expected the share of the trials that must pass, above 0"),
        ({"at_least": "0.8"}, "such as 0.8, got '0.8'"),
        ({"at_least": True}, "such as 0.8, got True"),
        ({"at_least": float("nan")}, "such as 0.8, got nan"),
        ({"more": ", stop_early='yes'"}, "stop_early: expected True or False, got 'yes'"),
    ],
    ids=json.dumps,
)
def test_bad_values_are_collection_errors(gate, values, message, workers):
    shown = {
        key: repr(value) if isinstance(value, str) and key == "at_least" else value for key, value in values.items()
    }
    if isinstance(shown.get("at_least"), float):
        shown["at_least"] = "float('nan')"
    run = gate(*workers, **shown)
    run.line("test_own.py::test_it: marker tau: ", message)
    run.lacks(" passed")


def test_stopping_early_needs_a_share(project):
    project.write(
        "test_own.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", stop_early=True)
        def test_it(tau_simulation):
            pass
        """,
    )
    run = project.run("test_own.py")
    run.line("test_own.py::test_it: marker tau: stop_early: needs at_least, the share of the trials that must pass")
