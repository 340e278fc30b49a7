"""Trials that something outside of them has ended: they are stored, and gates over such a run are not decided."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from inner_runs import quick_options

from pytest_tau.cli import main

WORKERS = [(), ("-n", "2")]
GATE = ("--tau-gate", "pass^1>=0.5")
#: Its third trial stops in its second turn, by what the test says.
AGENT = """
import os
import pathlib
import signal
import sys
import threading
import time


def stop():
    # A signal meets the main thread where it waits for this trial, not on its way there.
    for _ in range(30_000):
        if sys._current_frames()[threading.main_thread().ident].f_code.co_filename.endswith("waiting.py"):
            break
        time.sleep(0.001)
    else:
        raise RuntimeError("the run does not wait for the trial")
    {stop}


class Agent:
    def __init__(self, seed):
        self.seed, self.turns = seed, 0
        with pathlib.Path("began").open("a+") as file:
            file.write("x")
            self.stops = file.tell() == 3

    {kind} respond(self, message):
        self.turns += 1
        if self.turns == 1:
            return {{"tool_calls": [{{"name": "get_users", "arguments": {{}}}}]}}
        if self.stops:
            stop()
        if self.turns == 2:
            arguments = {{"user_id": "user_1", "title": "Buy milk"}}
            return {{"tool_calls": [{{"name": "create_task", "arguments": arguments}}]}}
        return "Done."


class User:
    turns = 0

    def respond(self, message):
        self.turns += 1
        return "Please." if self.turns == 1 else "###STOP###"
"""
HANGS = "time.sleep(30)"
#: Brings the timer of pytest-timeout forward, whose limit no other trial reaches.
RINGS = f"signal.setitimer(signal.ITIMER_REAL, 0.1); {HANGS}"
LIMIT = ("-p", "pytest_timeout", "--timeout=30", "--timeout-method=signal")


@pytest.fixture
def stopped(project, a_task, monkeypatch):
    """Runs five trials, the third of which is stopped; in a process of its own unless that cannot hurt this one."""

    def run(*args, stop=HANGS, kind="def", own_process=False):
        project.write("sides.py", AGENT.format(stop=stop, kind=kind))
        project.tasks("mock/t.tau.json", a_task())
        sides = ("--tau-agent", "sides.py:Agent", "--tau-user", "sides.py:User", "--tau-trials", "5")
        args = ("mock", *sides, "--tau-results=runs", "--tau-run-name=it", *args)
        if not own_process:
            return project.run(*args)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        command = [sys.executable, "-m", "pytest", *quick_options(), *args]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=100, cwd=project.path)

    return run


@pytest.fixture
def stored(project):
    """Returns the stored simulations by the numbers of their trials; of a trial that was run again, the last one."""

    def read():
        files = sorted((project.path / "runs").rglob("simulations*.jsonl"))
        lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return {line["trial"]: line for line in lines}

    return read


def check_interrupted(simulation, why):
    assert simulation["termination_reason"] == "infrastructure_error"
    assert simulation["error"].startswith("interrupted by ")
    assert why in simulation["error"]
    assert simulation["info"]["error_kind"] == "interrupted"
    assert simulation["reward_info"] is None
    assert [message["role"] for message in simulation["messages"]][-2:] == ["assistant", "tool"]
    assert simulation["conditions"]["agent"].endswith("sides.py:Agent")


class TestPytestTimeout:
    """A time limit of pytest-timeout ends a trial in the setup of its test."""

    @pytest.fixture(autouse=True)
    def _installed(self):
        pytest.importorskip("pytest_timeout")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_by_signal(self, stopped, stored, workers):
        run = stopped(*GATE, *LIMIT, *workers, stop=RINGS)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.outcomes(passed=4, errors=1)
        run.line("tau: 1 task x 5 trials planned: 4 run, 1 interrupted")
        run.line("tau: gate pass^1 >= 0.5: 1.000", "not decided, 1 trial of 5 not run to the end")
        (simulation,) = [each for each in stored().values() if each["error"]]
        check_interrupted(simulation, "the time limit of pytest-timeout, 30 s")

    def test_an_agent_that_blocks_the_loop(self, stopped, stored):
        stop = "signal.setitimer(signal.ITIMER_REAL, 0.1); time.sleep(1)"
        run = stopped(*GATE, *LIMIT, kind="async def", stop=stop)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: gate pass^1 >= 0.5: 1.000", "not decided")
        check_interrupted(stored()[2], "the time limit of pytest-timeout, 30 s")

    def test_other_gates(self, stopped):
        run = stopped("--tau-gate", "errors<=0", "--tau-gate", "pass^5>=0.5", *LIMIT, stop=RINGS)
        run.line("tau: gate errors <= 0: 0.000", "not decided, the remaining trials decide")
        run.line("tau: gate pass^5 >= 0.5: not decided")

    @pytest.mark.exhaustive
    def test_by_thread(self, stopped, stored, project):
        limit = ("-p", "pytest_timeout", "--timeout=5", "--timeout-method=thread")
        run = stopped(*limit, own_process=True)
        assert run.returncode == 1
        assert "Timeout" in run.stdout + run.stderr
        check_interrupted(stored()[2], "the time limit of pytest-timeout, 5 s")
        resumed = stopped("--tau-resume", *GATE, stop="pass")
        resumed.outcomes(passed=5)
        resumed.line("tau: resume: 2 of 5 trials reused")
        resumed.line("tau: gate pass^1 >= 0.5: 1.000", "met")
        assert stored()[2]["reward_info"]["reward"] == 1

    @pytest.mark.exhaustive
    def test_by_thread_in_a_worker(self, stopped, stored):
        limit = ("-p", "pytest_timeout", "--timeout=5", "--timeout-method=thread")
        run = stopped(*GATE, "-n2", *limit, own_process=True)
        assert run.returncode == 1
        assert "4 run, 1 interrupted" in run.stdout
        assert "not decided, 1 trial of 5 not run to the end" in run.stdout
        (simulation,) = [each for each in stored().values() if each["error"]]
        check_interrupted(simulation, "the time limit of pytest-timeout, 5 s")

    def test_a_test_that_is_no_trial(self, project):
        project.write(
            "test_own.py",
            f"""
            import signal
            import time

            def test_it():
                {RINGS}
            """,
        )
        project.run(".", "--tau-domain=mock", "--tau-num-tasks=1", *LIMIT).outcomes(passed=1, failed=1)

    def test_an_async_test_whose_agent_catches_the_exception(self, project, stored):
        pytest.importorskip("pytest_asyncio")
        project.write(
            "test_own.py",
            f"""
            import signal
            import time

            import pytest

            class Agent:
                def respond(self, message):
                    try:
                        {RINGS}
                    except BaseException:
                        return "Done."

            class Awaited(Agent):
                async def respond(self, message):
                    return super().respond(message)

            @pytest.mark.asyncio
            @pytest.mark.tau(domain="mock", num_tasks=1, user="gold")
            async def test_it(tau_run):
                await tau_run(agent=Awaited)
            """,
        )
        scope = ("-o", "asyncio_default_fixture_loop_scope=function")
        run = project.run("test_own.py", "--tau-results=runs", "-p", "asyncio", *scope, *LIMIT)
        run.outcomes(failed=1)
        assert "interrupted by the time limit" in stored()[0]["error"]


class TestExits:
    """An exception in pytest's thread, and signals."""

    @pytest.mark.parametrize(
        ("raised", "status", "why"),
        [
            ("pytest.exit('enough', returncode=0)", 1, "Exit: enough"),
            ("pytest.exit('enough')", 2, "Exit: enough"),
            ("pytest.fail('too long')", 1, "Failed: too long"),
            ("raise SystemExit(0)", 1, "SystemExit: 0"),
        ],
    )
    def test_an_exception_of_an_alarm(self, stopped, stored, project, raised, status, why):
        project.write(
            "conftest.py",
            f"""
            import signal
            import pytest

            def ring(number, frame):
                {raised}

            @pytest.fixture(autouse=True, scope="session")
            def alarm():
                before = signal.signal(signal.SIGALRM, ring)
                yield
                signal.signal(signal.SIGALRM, before)
            """,
        )
        run = stopped(*GATE, stop=f"os.kill(os.getpid(), signal.SIGALRM); {HANGS}")
        assert run.ret == status
        run.line("tau: gate pass^1 >= 0.5: 1.000", "not decided")
        run.lacks(": met")
        check_interrupted(stored()[2], why)

    def test_trials_that_run_at_the_same_time_when_the_first_failure_ends_the_run(self, stopped, stored, project):
        project.write("conftest.py", "def pytest_tau_simulation_finished(simulation): assert not simulation.messages")
        run = stopped("-x", "--tau-concurrency=3")
        run.outcomes(errors=1)
        errors = [each["error"] for each in stored().values() if each["error"]]
        assert errors
        assert {*errors} == {"interrupted by the end of the run"}
        project.write("conftest.py", "")
        stopped("--tau-resume", stop="pass").outcomes(passed=5)

    @pytest.mark.exhaustive
    def test_sigterm(self, stopped, stored):
        run = stopped(own_process=True, stop=f"os.kill(os.getpid(), signal.SIGTERM); {HANGS}")
        assert run.returncode == -signal.SIGTERM
        assert "tau: 2 of 5 trials stored; to continue, add --tau-resume to the same command" in run.stdout
        assert "KeyboardInterrupt: the signal SIGTERM" in run.stdout
        check_interrupted(stored()[2], "the signal SIGTERM")

    @pytest.mark.exhaustive
    def test_sigterm_of_the_controller(self, stopped, stored):
        run = stopped("-n2", own_process=True, stop=f"os.kill(os.getppid(), signal.SIGTERM); {HANGS}")
        assert run.returncode == -signal.SIGTERM
        assert "to continue, add --tau-resume to the same command" in run.stdout
        (interrupted,) = [simulation for simulation in stored().values() if simulation["error"]]
        check_interrupted(interrupted, "interrupted by")

    @pytest.mark.exhaustive
    def test_sigterm_of_a_worker(self, stopped, stored):
        run = stopped(*GATE, "-n2", own_process=True, stop=f"os.kill(os.getpid(), signal.SIGTERM); {HANGS}")
        assert run.returncode == pytest.ExitCode.TESTS_FAILED
        assert "not decided, 1 trial of 5 not run to the end" in run.stdout
        (simulation,) = [each for each in stored().values() if each["error"]]
        check_interrupted(simulation, "the signal SIGTERM")

    @pytest.mark.exhaustive
    def test_a_worker_that_is_killed(self, stopped, stored):
        run = stopped(*GATE, "-n2", own_process=True, stop="os._exit(1)")
        assert run.returncode == pytest.ExitCode.TESTS_FAILED
        assert "crashed while it ran this trial" in run.stdout
        assert "4 run, 1 interrupted" in run.stdout
        assert "not decided, 1 trial of 5 not run to the end" in run.stdout
        assert len(stored()) == 4
        resumed = stopped(*GATE, "--tau-resume", stop="pass")
        resumed.outcomes(passed=5)
        resumed.line("tau: resume: 4 of 5 trials reused")

    def test_a_handler_of_somebody_else_is_kept(self, stopped):
        def mine(number, frame):
            raise AssertionError

        before = signal.signal(signal.SIGTERM, mine)
        try:
            stopped(stop="assert signal.getsignal(signal.SIGTERM).__name__ == 'mine'").outcomes(passed=5)
        finally:
            signal.signal(signal.SIGTERM, before)
        assert signal.getsignal(signal.SIGTERM) == before


class TestGates:
    """Gates over fewer trials than were to run."""

    def test_a_setup_that_fails(self, stopped, project):
        project.write(
            "conftest.py",
            """
            import pytest

            @pytest.fixture(autouse=True)
            def broken(request):
                assert "trial-1" not in request.node.name
            """,
        )
        run = stopped(*GATE, stop="pass")
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: gate pass^1 >= 0.5: 1.000", "not decided, 1 trial of 5 not run to the end")

    def test_skipped_trials_are_not_missing(self, stopped, project):
        project.write(
            "conftest.py",
            """
            import pytest

            @pytest.fixture(autouse=True)
            def absent(request):
                if "trial-1" in request.node.name:
                    pytest.skip("not now")
            """,
        )
        run = stopped(*GATE, stop="pass")
        assert run.ret == pytest.ExitCode.OK
        run.line("tau: gate pass^1 >= 0.5: 1.000", "met")

    @pytest.mark.parametrize("passes", [True, False])
    def test_of_a_test(self, project, stored, passes):
        pytest.importorskip("pytest_timeout")
        project.write(
            "test_own.py",
            f"""
            import signal
            import time

            import pytest

            class Hanging:
                def respond(self, message):
                    {RINGS}

            @pytest.fixture
            def tau_agent(tau_trial):
                return Hanging if tau_trial == 1 else "gold"

            @pytest.mark.tau(domain="mock", num_tasks=1, trials=5, at_least=0.8, user="gold")
            def test_it(tau_simulation, tau_trial):
                assert {passes} or tau_trial != 3
            """,
        )
        run = project.run("test_own.py", "--tau-results=runs", *LIMIT)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.outcomes(passed=4, errors=1) if passes else run.outcomes(passed=3, errors=1, failing=1)
        verdict = "4 of 4 trials passed, 1 interrupted; at_least 0.8 needs 4: met"
        run.line(verdict if passes else "3 of 4 trials passed, 1 interrupted; at_least 0.8 needs 4: not decided")
        assert stored()[1]["info"]["error_kind"] == "interrupted"

    def test_of_joined_runs(self, stopped, project, capsys):
        pytest.importorskip("pytest_timeout")
        stopped(*LIMIT, stop=RINGS)
        (folder,) = (project.path / "runs").iterdir()
        assert main(["merge", str(folder), "--gate", "pass^1>=0.5"]) == 1
        found = capsys.readouterr().out
        assert "not decided, trials are missing" in found
        stopped("--tau-resume", stop="pass")
        assert main(["merge", str(folder), "--gate", "pass^1>=0.5"]) == 0
        assert "met" in capsys.readouterr().out
