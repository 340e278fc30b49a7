"""--tau-mode voice: what a run reports and stores, workers, usage errors, and that a text run has nothing of it."""

from __future__ import annotations

import json

import pytest
from inner_runs import quick_options

#: An agent of texts without a model, which is interrupted by nobody.
AGENT = """
from pytest_tau.testing import call

class it:
    def __init__(self):
        self.replies = iter([call("create_task", user_id="user_1", title="Buy milk"), "It is done."])

    def respond(self, message):
        return next(self.replies)
"""


@pytest.fixture
def speak(project, a_task):
    def run(*args):
        project.write("parts.py", AGENT)
        project.tasks("mock/t.tau.json", [a_task(one) for one in ("one", "two")])
        return project.run("--tau-agent", "parts.py:it", "--tau-user", "gold", "--tau-mode", "voice", *args)

    return run


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_metrics_are_reported_and_the_conversation_is_stored(speak, project, workers):
    run = speak(
        "--tau-results", "runs", "--tau-gate", "response_rate>=1", "--tau-gate", "response_latency<=3", *workers
    )
    run.outcomes(passed=2)
    assert "not comparable with published voice scores" in run.line("voice ", "simulated talk without sound, regular")
    run.line("answered 2 of 2 after ")
    (folder,) = (project.path / "runs").iterdir()
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert info["settings"]["mode"] == "voice"
    (facts, _) = (
        json.loads(each)["facts"]["voice"]
        for each in (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()
    )
    assert [each["side"] for each in facts["timeline"]["utterances"]] == ["agent", "user", "agent", "user"]
    assert facts["timeline"]["calls"][0]["name"] == "create_task"


def test_a_text_run_imports_nothing_of_it(project, pytester, a_task):
    project.tasks("mock/t.tau.json", [a_task("one")])
    code = """
    import sys

    def pytest_unconfigure(config):
        found = sorted(name for name in sys.modules if name.startswith("pytest_tau.capabilities.voice"))
        print("\\nimported", found)
    """
    project.write("conftest.py", code)
    run = pytester.runpytest_subprocess(*quick_options(), "--tau-agent", "gold", "--tau-user", "gold")
    run.assert_outcomes(passed=1)
    names = ("pytest_tau.capabilities.voice", "pytest_tau.capabilities.voice.task_hook")
    assert f"imported {list(names)}" in run.outlines


def test_bundled_tasks_are_run_alone_and_with_spelled_ids(project):
    run = project.run(
        *("--tau-domain", "retail", "--tau-agent", "rules", "--tau-mode", "voice", "--tau-voice-tasks"),
        *("--tau-voice-conditions", "control", "--tau-num-tasks", "2", "--tau-results", "runs"),
    )
    run.outcomes(passed=2)
    (stored,) = (project.path / "runs").glob("*/simulations.jsonl")
    assert "order hash, W, 7, 1, 7, 1, 1, 8, 0" in stored.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--tau-domain", "retail", "--tau-voice-tasks"), "--tau-voice-tasks needs --tau-mode voice"),
        (
            ("--tau-domain", "mock", "--tau-mode", "voice", "--tau-voice-tasks"),
            "domain 'mock' has no such tasks here; the bundled data of airline, retail have",
        ),
        (("--tau-domain", "telecom", "--tau-mode", "voice", "--tau-solo"), "--tau-mode voice needs a user"),
    ],
)
def test_what_cannot_be_run_in_ticks_is_a_usage_error(project, arguments, problem):
    project.run(*arguments, "--tau-agent", "gold").usage_error(problem)
