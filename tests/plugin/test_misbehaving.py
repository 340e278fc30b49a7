"""Participants that misbehave: what they raise or cancel counts against them and affects no other trial."""

from __future__ import annotations

import asyncio
import itertools
import json
import time

import pytest

from pytest_tau.plugin.context.event_loop import EventLoop

pytestmark = pytest.mark.exhaustive

#: What a participant raises, by a name that its task has.
RAISED = (
    *("skip", "fail", "xfail", "exit", "system_exit", "keyboard_interrupt", "base_exception", "generator_exit"),
    *("cancelled", "trio", "configuration", "value_error", "surrogate"),
    "model_error",
)
#: Where it does so.
PLACES = ("constructor", "respond", "async", "stop", "close", "greeting")
#: Other ways, with what their failures say.
OTHER = {
    "number-greeting": "its greeting: expected a string, got int 5",
    "async-cancel_all": "CancelledError: the agent's or the user's own code cancelled the task",
    "thread-cancel_all": "CancelledError: the agent's or the user's own code cancelled the task",
    "async-foreign_task": "CancelledError: the agent's or the user's own code cancelled the task",
}

PARTS = """
import asyncio
import threading

import pytest

from pytest_tau.errors import ConfigurationError, ModelError
from pytest_tau.testing import call


class TrioCancelled(BaseException):
    pass


def misbehave(way):
    if way == "skip":
        pytest.skip("not today")
    if way == "fail":
        pytest.fail("not today")
    if way == "xfail":
        pytest.xfail("not today")
    if way == "exit":
        pytest.exit("not today", returncode=0)
    raise {
        "system_exit": SystemExit("not today"),
        "keyboard_interrupt": KeyboardInterrupt("not today"),
        "base_exception": BaseException("not today"),
        "generator_exit": GeneratorExit("not today"),
        "cancelled": asyncio.CancelledError("not today"),
        "trio": TrioCancelled("not today"),
        "configuration": ConfigurationError("not today"),
        "value_error": ValueError("not today"),
        "model_error": ModelError("not today"),
        "surrogate": ValueError("\\ud800"),
    }[way]


class Odd:
    def __init__(self, task):
        self.place, _, self.way = task.id.partition("-")
        self.turn = 0
        self.do("constructor")

    def do(self, place):
        if self.place == place:
            misbehave(self.way)

    @property
    def greeting(self):
        self.do("greeting")
        return 5 if self.place == "number" else None

    def is_stop(self, message):
        self.do("stop")
        return self.side == "user" and message.stop_token is not None

    def close(self):
        self.do("close")

    async def disturb(self):
        if self.way == "cancel_all":
            for task in asyncio.all_tasks():
                task.cancel()
        elif self.way == "foreign_task":
            asyncio.current_task().cancel()
        elif self.place == "async":
            misbehave(self.way)
        await asyncio.sleep(0.01)

    def disturb_from_a_thread(self, loop):
        loop.call_soon_threadsafe(lambda: asyncio.ensure_future(self.disturb()))

    async def respond_async(self, message):
        await asyncio.sleep(0.005)
        if self.place == "async":
            await self.disturb()
        if self.place == "thread":
            thread = threading.Thread(target=self.disturb_from_a_thread, args=(asyncio.get_running_loop(),))
            if self.way == "cancel_all":
                await self.disturb()
            thread.start()
            await asyncio.sleep(0.01)
        return self.next()

    def respond(self, message):
        self.do("respond")
        return self.respond_async(message)


class Agent(Odd):
    side = "agent"

    def next(self):
        self.turn += 1
        return call("create_task", user_id="user_1", title="Buy milk") if self.turn == 1 else "Done."


class User(Odd):
    side = "user"

    def next(self):
        self.turn += 1
        return "Buy milk, please." if self.turn == 1 else "###STOP###"
"""

WAYS = [f"{place}-{way}" for place, way in itertools.product(PLACES, RAISED)] + [*OTHER]


def is_harmless(way, side):
    """Whether the verdict of a participant that misbehaves so stands."""
    place = way.partition("-")[0]
    no_greeting = side == "user" and (place in ("greeting", "number"))
    return place == "close" or no_greeting


@pytest.mark.parametrize(
    "args", [[], ["--tau-concurrency", "4"], ["-n", "2"]], ids=lambda args: "".join(args) or "alone"
)
@pytest.mark.parametrize("side", ["agent", "user"])
def test_whatever_a_participant_raises_is_its_own(project, a_task, side, args):
    tasks = [a_task(name) for way in WAYS for name in (way, f"good-after_{way}")]
    project.tasks("mock/t.tau.json", tasks)
    project.write("parts.py", PARTS)
    run = project.run(f"--tau-{side}", f"parts.py:{side.title()}", "-rA", "--tau-gate", "pass^1>=1", *args)
    bad = [way for way in WAYS if not is_harmless(way, side)]
    good = len(tasks) - len(bad)
    text = run.line("tau: mock:")
    assert f"{good} passed, {len(bad)} {'failed' if side == 'agent' else 'errors'}" in text
    run.line("tau: gate pass^1 >= 1: ", "missed" if side == "agent" else "")
    assert run.ret == (pytest.ExitCode.TESTS_FAILED if side == "agent" else pytest.ExitCode.OK)
    run.lacks("_finalizers")
    simulations = {}
    for line in next(project.path.glob(".tau/runs/*/simulations.jsonl")).read_text("utf-8").splitlines():
        stored = json.loads(line)
        simulations[stored["task_id"]] = stored
    assert set(simulations) == {task["id"] for task in tasks}
    for way in bad:
        assert simulations[way]["termination_reason"] == f"{side}_error", way
        assert (
            OTHER.get(way, "not today" if "un" not in way and "surr" not in way else ":") in simulations[way]["error"]
        )
    for way in set(simulations) - set(bad):
        assert simulations[way]["reward_info"]["reward"] == 1, way
        assert simulations[way]["termination_reason"] == "user_stop", way


def test_an_agent_that_stops_the_event_loop_ends_its_trial(project, a_task):
    project.tasks("mock/t.tau.json", [a_task("a"), a_task("stops"), a_task("c")])
    stopper = """
class Stopper(Agent):
    def respond(self, message):
        return self.stop_loop() if self.place == "stops" else self.respond_async(message)

    async def stop_loop(self):
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return "Done."
"""
    project.write("parts.py", PARTS + stopper)
    run = project.run("--tau-agent", "parts.py:Stopper", "--tau-concurrency=1", "-n", "1")
    run.outcomes(passed=2, errors=1)
    run.line("stops[trial-0]", "the event loop of the conversations was stopped")


def test_a_loop_that_stops_before_its_submission_has_returned_ends_it(monkeypatch):
    call, loops = asyncio.BaseEventLoop.call_soon_threadsafe, []

    def call_slowly(loop, *given, **context):
        handle = call(loop, *given, **context)
        loops.append(loop)
        time.sleep(0.1)
        return handle

    async def stop_loop():
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_soon_threadsafe", call_slowly)
    with pytest.raises(RuntimeError, match="was stopped"):
        EventLoop().submit(stop_loop()).result(5)
    (loop,) = {*loops}
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def test_a_module_that_skips_while_it_is_imported_is_a_usage_error(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("parts.py", "import pytest\npytest.skip('no', allow_module_level=True)\n")
    project.run("--tau-agent", "parts.py:it").usage_error("'parts.py:it' cannot be imported: Skipped: no")


def test_a_process_that_is_ended_from_inside_fails_the_run_under_xdist(project, a_task):
    project.tasks("mock/t.tau.json", [a_task("a"), a_task("b"), a_task("c")])
    project.write(
        "parts.py",
        """
        import os

        from pytest_tau.testing import call

        class Quits:
            def __init__(self, task):
                self.id, self.turn = task.id, 0

            def respond(self, message):
                if self.id == "b":
                    os._exit(0)
                self.turn += 1
                return call("create_task", user_id="user_1", title="Buy milk") if self.turn == 1 else "Done."
        """,
    )
    run = project.run("--tau-agent", "parts.py:Quits", "-n", "1")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("2 passed")


@pytest.mark.parametrize("side", ["agent", "user"])
@pytest.mark.parametrize(
    "reply",
    [
        '"word 1, " * 12_500_000',
        '{"tool_calls": [{"name": "get_users", "arguments": "[" * 100_000_000}]}',
        '{"tool_calls": [{"name": "get_users", "arguments": {}}] * 1_000_000}',
        '{"tool_calls": [{"name": "get_users", "arguments": lots}]}',
    ],
    ids=["text", "arguments", "calls", "laughs"],
)
def test_a_message_of_100_mb_is_a_failure_in_bounded_time(play, side, reply):
    source = f"""
        lots = {{}}
        for _ in range(90):
            lots = {{"a": lots, "b": lots}}

        class it:
            def respond(self, message):
                return {reply}
        """
    start = time.process_time()
    run = play(source, side)
    run.outcomes(**{"failed" if side == "agent" else "errors": 1})
    run.line("ParticipantError: respond() returned a message of more than 1,000,000 characters")
    assert time.process_time() - start < 10
