"""Input that would end in a traceback, or use up the memory, is a usage error that names the file and what is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("warm_processes")

DEEP = "[" * 100_000 + "]" * 100_000
DIGITS = "9" * 5_000
NESTED, LONG = "nested more than 200 levels deep", "an integer of more than 4,300 digits"
MOCK = ["--tau-domain", "mock", "--tau-task", "create-task", "--tau-agent", "gold"]


@pytest.mark.parametrize(("value", "problem"), [(DEEP, NESTED), (DIGITS, LONG)])
class TestDocuments:
    def test_a_task_file(self, project, value, problem):
        project.write("mock/t.tau.json", f'[{{"id": {value}}}]')
        project.run("mock/t.tau.json").usage_error("t.tau.json: not valid JSON", problem)

    def test_splits(self, project, a_task, value, problem):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("mock/split_tasks.json", f'{{"base": {value}}}')
        project.run("mock/t.tau.json", "--tau-split", "base").usage_error("split_tasks.json: not valid JSON", problem)

    def test_a_recording(self, project, value, problem):
        project.write("r.json", f'{{"simulations": {value}}}')
        run = project.run(*MOCK[:4], "--tau-agent", "replay:r.json")
        run.usage_error("recording", "r.json: not valid JSON", problem)

    def test_a_quarantine(self, project, value, problem):
        project.write("q.toml", f"a = {value}")
        project.run(*MOCK, "--tau-quarantine", "q.toml").usage_error("--tau-quarantine", "q.toml: not valid TOML")

    def test_an_option(self, project, value, problem):
        run = project.run(*MOCK, "--tau-agent-llm-args", f'{{"a": {value}}}')
        run.usage_error("--tau-agent-llm-args: expected a JSON object, got text that is not valid JSON", problem)

    def test_a_manifest(self, project, value, problem):
        project.run(*MOCK)
        (file,) = project.path.glob(".tau/runs/*/run.json")
        file.write_text(f'{{"format": {value}}}', encoding="utf-8")
        project.run(*MOCK, "--tau-resume").usage_error("run.json: cannot be read: not valid JSON", problem)


@pytest.mark.parametrize("gate", [f"pass^{DIGITS}>=1", f"pass^1>={DIGITS}", f"pass^1>={'(' * 100_000}", DEEP])
def test_gates(project, gate):
    run = project.run(*MOCK, "--tau-gate", gate)
    run.usage_error("--tau-gate: ")
    run.lacks("set_int_max_str_digits")
    assert len(run.text) < 2_000


class TestManifest:
    @pytest.mark.parametrize(
        ("field", "value", "problem"),
        [
            ("planned", [], "planned: input should be a valid dictionary, got []"),
            ("planned", {"mock": {"create-task": "1"}}, "planned.mock.create-task: input should be a valid integer"),
            ("hashes", {"grader": "x", "domains": {}}, "hashes.tasks: missing"),
            (
                "hashes",
                {"grader": 3, "domains": {}, "tasks": {}},
                "hashes.grader: input should be a valid string, got 3",
            ),
            ("hashes", None, "hashes: missing"),
            ("settings", "none", "settings: input should be a valid dictionary, got 'none'"),
            ("resumed", [3], "resumed.0: "),
            ("commit", 7, "commit: input should be a valid string, got 7"),
        ],
    )
    def test_a_field_of_another_type_is_named(self, project, field, value, problem):
        project.run(*MOCK)
        (file,) = project.path.glob(".tau/runs/*/run.json")
        file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | {field: value}), encoding="utf-8")
        project.run(*MOCK, "--tau-resume").usage_error(f"run.json: {problem}")


def test_a_lone_surrogate_in_an_id(project, a_task):
    project.tasks("mock/t.tau.json", [a_task(), a_task("buy\ud800")])
    run = project.run("mock/t.tau.json")
    run.usage_error("t.tau.json: task #1: id: ", r"buy\\ud800", "has a lone surrogate, which is not a character")


class TestNumbers:
    @pytest.mark.parametrize("value", ["10001", "1000000000", DIGITS])
    def test_trials(self, project, value):
        project.run(*MOCK, f"--tau-trials={value}").usage_error(
            "--tau-trials: expected a whole number of at most 10,000"
        )

    def test_trials_of_many_tasks(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task(f"task-{number}") for number in range(26)])
        run = project.run("mock/t.tau.json", "--tau-trials", "10000")
        run.usage_error("26 tasks with 10,000 trials each are more tests than a run can have (250,000)")

    def test_trials_of_a_marker_and_of_a_node_id(self, project):
        project.write("test_it.py", "import pytest\n@pytest.mark.tau(domain='mock', trials=10**9)\n"
                      "def test_it(tau_simulation): pass\n")  # fmt: skip
        project.run("test_it.py").usage_error("marker tau: trials: expected", "at most 10,000", "1000000000")
        project.run("mock::create-task[trial-1000000000]").usage_error("not found")

    def test_other_numbers(self, project):
        project.run(*MOCK, "--tau-generate=1000000000").usage_error("--tau-generate: expected", "at most 100,000")
        project.run(*MOCK, f"--tau-seed={DIGITS}").usage_error("--tau-seed: expected a whole number of at most")
        project.run(*MOCK, "--tau-difficulty=requests=1000000000").usage_error("each N from 0 to 999")


class TestResultsThatCannotBeKept:
    @pytest.mark.parametrize("workers", [[], ["-n", "2"]])
    def test_the_run_fails_and_says_where_they_are(self, project, workers):
        project.write("taken", "a file")
        run = project.run(*MOCK, "--tau-trials", "2", "--tau-results", "taken", *workers)
        run.outcomes(passed=2)
        run.line("tau: mock: 1 task, 2 trials; 2 passed")
        run.line("tau: the run failed: 2 simulations could not be stored")
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        files = [Path(found) for found in re.findall(r"they are in (.*?), which tau merge can join", run.text)]
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        for file in files:
            shutil.rmtree(file.parent)
        assert sorted(json.loads(line)["trial"] for line in lines) == [0, 1]


SLOW = """
import pathlib, time

class Agent:
    def respond(self, message):
        pathlib.Path("started").touch()
        while not pathlib.Path("go").exists():
            time.sleep(0.05)
        return "Bye."
"""


class TestTwoAtOnce:
    ARGS = ["--tau-domain", "mock", "--tau-task", "create-task", "--tau-agent", "slow.py:Agent", "--tau-user", "gold"]

    def _start(self, project, *args):
        (project.path / "started").unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *self.ARGS, *args]
        running = subprocess.Popen(command, cwd=project.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while not (project.path / "started").exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert (project.path / "started").exists()
        return running

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("workers", [[], ["-n", "1"]])
    def test_a_run_that_is_still_running_is_not_resumed(self, project, workers):
        project.write("slow.py", SLOW)
        running = self._start(project, *workers)
        try:
            run = project.run(*self.ARGS, "--tau-resume", *workers)
            run.usage_error("--tau-resume: .tau/runs/", f"is in use: process {running.pid} on", "has used it since")
        finally:
            (project.path / "go").touch()
            running.wait(120)
        run = project.run(*self.ARGS, "--tau-resume", *workers)
        run.line("1 of 1 trial reused from the earlier run")
        (folder,) = project.path.glob(".tau/runs/*")
        assert sorted(file.name for file in folder.iterdir()) == ["run.json", "simulations.jsonl"]

    @pytest.mark.exhaustive
    def test_a_worker_stores_nothing_in_a_run_that_another_process_continues(self, project):
        project.write("slow.py", SLOW)
        project.write(
            "conftest.py",
            """
            import json
            from pathlib import Path

            import pytest

            @pytest.hookimpl(tryfirst=True)
            def pytest_runtest_setup():
                (lock,) = Path().glob(".tau/runs/*/run.lock")
                lock.write_text(json.dumps({"pid": 1, "host": "here", "started": "today"}))
            """,
        )
        (project.path / "go").touch()
        run = project.run(*self.ARGS, "-n", "1", "--tau-trials", "3")
        run.outcomes(errors=3)
        run.line("is in use: process 1 on here has used it since today; wait until it ends, or stop it")
        assert not [*project.path.glob(".tau/runs/*/*.jsonl")]

    @pytest.mark.exhaustive
    @pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
    def test_the_lock_of_a_killed_process_does_not_last(self, project):
        project.write("slow.py", SLOW)
        running = self._start(project)
        os.kill(running.pid, signal.SIGKILL)
        running.wait(120)
        assert [*project.path.glob(".tau/runs/*/run.lock")]
        (project.path / "go").touch()
        run = project.run(*self.ARGS, "--tau-resume")
        run.outcomes(failed=1)
        run.lacks("is in use")
        assert not [*project.path.glob(".tau/runs/*/run.lock")]


def test_an_app_that_there_is_not(project):
    call = {"env_type": "user", "func_name": "grant_app_permission",
            "arguments": {"app_name": "camera", "permission": "sms"}}  # fmt: skip
    task = {"id": "camera", "user_scenario": {"instructions": "Ask."}, "evaluation_criteria": {"actions": []},
            "initial_state": {"initialization_actions": [call]}}  # fmt: skip
    project.tasks("telecom/t.tau.json", [task])
    run = project.run("telecom/t.tau.json", "--tau-agent", "noop", "--tau-user", "noop")
    run.usage_error("task camera: initial_state.initialization_actions.0: cannot be applied", "App 'camera' not found")
