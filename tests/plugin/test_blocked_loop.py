"""Code that blocks the event loop of the trials: it is named, its trial ends, and no other trial is charged for it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time

import pytest
from inner_runs import quick_options

from pytest_tau.plugin.context.event_loop import EventLoop

AGENT = """
    import asyncio
    import itertools
    import time

    from pytest_tau.testing import call

    numbers = itertools.count()

    class Agent:
        def __init__(self):
            self.number = next(numbers)
            self.replies = [call("create_task", user_id="user_1", title="Buy milk"), "Done.", "Done."]

        async def respond(self, message):
            await asyncio.sleep(0.01)
            BLOCKING
            return self.replies.pop(0)
"""


@pytest.fixture
def blocking(project, a_task):
    """Runs six trials of an agent with the line of code in each of its turns."""

    def run(line, *args):
        project.write("own.py", AGENT.replace("BLOCKING", line))
        project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(6)])
        return project.run("mock", "--tau-agent", "own.py:Agent", "--tau-user", "gold", "-rA", *args)

    return run


def stored(project):
    """The stored simulations, of all parts of the run."""
    files = project.path.glob(".tau/runs/*/simulations*.jsonl")
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_it_is_named_with_its_stack_and_no_other_trial_is_lost(project, blocking, workers):
    run = blocking(
        "time.sleep(3 if self.number == 2 else 0)", "--tau-timeout", "0.5", "--tau-concurrency", "6", *workers
    )
    failed = 2 if workers and "2 failed" in run.text else 1  # each worker counts for itself
    run.outcomes(passed=6 - failed, failed=failed)
    run.line("no end after 0.5 s: the agent has blocked the event loop for ", "at line ", "own.py")
    run.line("time.sleep(3 if self.number == 2 else 0)")
    found = stored(project)
    assert len(found) == 6
    assert sorted(each["termination_reason"] for each in found).count("timeout") == failed


def test_each_trial_is_judged_if_each_of_them_blocks(project, blocking):
    run = blocking("time.sleep(2)", "--tau-timeout", "0.3", "--tau-concurrency", "6")
    run.outcomes(failed=6)
    assert [each["termination_reason"] for each in stored(project)] == ["timeout"] * 6


def test_short_blocks_of_others_are_not_charged(project, blocking):
    run = blocking("time.sleep(0.12)", "--tau-timeout", "0.7", "--tau-concurrency", "6")
    run.outcomes(passed=6)
    assert {each["termination_reason"] for each in stored(project)} == {"user_stop"}


def test_own_short_blocks_are_charged(project, blocking):
    run = blocking("for _ in range(40): time.sleep(0.05); await asyncio.sleep(0)", "--tau-timeout", "0.3", "-k", "t1")
    run.line("no end after 0.3 s")
    assert [each["termination_reason"] for each in stored(project)] == ["timeout"]


def test_a_synchronous_agent_blocks_its_thread_alone(project, blocking):
    project.write("own.py", "")
    run = blocking("time.sleep(3 if self.number == 2 else 0)", "--tau-timeout", "0.5")
    run.line("has blocked the event loop")
    source = AGENT.replace("async def", "def").replace("await asyncio.sleep(0.01)", "")
    project.write("own_sync.py", source.replace("BLOCKING", "time.sleep(3 if self.number == 2 else 0)"))
    run = project.run("mock", "--tau-agent", "own_sync.py:Agent", "--tau-user", "gold", "--tau-timeout", "0.5",
                      "--tau-concurrency", "6")  # fmt: skip
    run.outcomes(passed=5, failed=1)
    run.line("no end after 0.5 s (waited ")
    run.lacks("has blocked the event loop")


@pytest.mark.parametrize(
    ("stage", "reason", "text"),
    [
        ("def __init__(self): time.sleep(2)", "infrastructure_error", "capability 'slow': trial has blocked"),
        ("def message(self, message): time.sleep(2)", "infrastructure_error", "capability 'slow': message has blocked"),
        ("async def call(self, call): time.sleep(2)", "infrastructure_error", "capability 'slow': call has blocked"),
        ("async def graded(self, simulation): time.sleep(2)", "user_stop", "has blocked the event loop"),
    ],
    ids=["trial", "message", "call", "graded"],
)
def test_a_capability_that_blocks_is_named(project, blocking, stage, reason, text):
    project.write(
        "conftest.py",
        f"""
        import time
        from pytest_tau import Capability, TrialStages

        class Stages(TrialStages):
            {stage}

        def pytest_tau_capabilities():
            return [Capability("slow", trial=lambda view: Stages())]
        """,
    )
    run = blocking("", "--tau-timeout", "0.3", "-k", "t1")
    run.line(text)
    (found,) = stored(project)
    assert found["termination_reason"] == reason
    assert (found["reward_info"] or {}).get("reward") == (1.0 if reason == "user_stop" else 0.0)


SLOW_EVALUATOR = """
    import time

    class Slow:
        name = "SLOW"

        def evaluate(self, task, messages, environment):
            time.sleep(2)
            return 1.0

    def pytest_tau_evaluators():
        return [Slow()]
"""


def test_an_evaluator_that_blocks_leaves_the_conversation(project, blocking, a_task):
    project.write("conftest.py", SLOW_EVALUATOR)
    project.write("own.py", AGENT.replace("BLOCKING", ""))
    criteria = {"reward_basis": ["SLOW"]}
    project.tasks("mock/t.tau.json", [a_task("t1", criteria=criteria)])
    run = project.run("mock", "--tau-agent", "own.py:Agent", "--tau-user", "gold", "--tau-timeout", "0.3")
    run.outcomes(errors=1)
    run.line("no verdict: the trial has blocked the event loop for ")
    run.line("looks like the harness's fault: the event loop was blocked")
    (found,) = stored(project)
    assert (found["termination_reason"], found["reward_info"]) == ("user_stop", None)
    assert len(found["messages"]) > 4


def test_an_agent_whose_construction_blocks_is_cut_off(project, a_task):
    project.tasks("mock/t.tau.json", [a_task("t1")])
    project.write(
        "conftest.py",
        """
        import time

        class Agent:
            def __init__(self):
                time.sleep(2)

            async def respond(self, message):
                return "Done."

        def pytest_tau_make_agent(item):
            return Agent
        """,
    )
    run = project.run("mock", "--tau-user", "gold", "--tau-timeout", "0.3")
    run.outcomes(failed=1)
    assert [each["termination_reason"] for each in stored(project)] == ["timeout"]


LENDER = """
import os

from pytest_tau.testing import ScriptedParticipant, call

class Agent(ScriptedParticipant):
    def __init__(self):
        os.environ["TAU_TEST_BLOCKS"] = "1"
        super().__init__([call("lend", title="Emma"), "Done."])
"""


@pytest.mark.parametrize(
    ("condition", "said", "reasons"),
    [
        ("'TAU_TEST_BLOCKS' in os.environ", "tool 'lend' of domain 'shelf' has blocked", {"infrastructure_error"}),
        ("True", "task 'lend-emma': its reference actions: the trial has blocked", set()),
    ],
    ids=["conversation", "reference"],
)
def test_a_tool_that_blocks_is_no_fault_of_the_agent(shelf, project, monkeypatch, condition, said, reasons):
    monkeypatch.setenv("TAU_TEST_BLOCKS", "1")
    monkeypatch.delenv("TAU_TEST_BLOCKS")
    source = (project.path / "conftest.py").read_text(encoding="utf-8")
    blocks = f'        import os, time; time.sleep(2 if {condition} else 0)\n        return "lent"'
    slow = source.replace('        return "lent"', blocks)
    assert slow != source
    project.write("conftest.py", slow)
    project.write("own.py", LENDER)
    options = ("--tau-timeout", "0.3", "--tau-agent", "own.py:Agent", "--tau-user", "gold")
    run = project.run("shelf::lend-emma", "--tau-domain", "shelf", *options)
    run.line(f"{said} the event loop for ")
    assert {each["termination_reason"] for each in stored(project)} == reasons


@pytest.mark.exhaustive
def test_ctrl_c_ends_a_run_whose_loop_is_blocked(project, a_task):
    line = "open('blocked', 'w').close(); time.sleep(1000)"
    project.write("own.py", AGENT.replace("BLOCKING", line))
    project.tasks("mock/t.tau.json", [a_task("t1")])
    command = [sys.executable, "-m", "pytest", *quick_options(), "mock", "--tau-agent", "own.py:Agent"]
    # A shell may have its processes ignore the signal.
    process = subprocess.Popen(
        [*command, "--tau-user", "gold"],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        while not (project.path / "blocked").exists() and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == pytest.ExitCode.INTERRUPTED, out


def test_a_trial_that_has_ended_does_not_wait_for_a_loop_that_code_blocks_then():
    loop, released = EventLoop(), threading.Event()

    async def work():
        asyncio.get_running_loop().call_soon(released.wait)
        return "a result"

    try:
        assert loop.submit(work()).result(timeout=60) == "a result"
    finally:
        released.set()
        loop.end()
