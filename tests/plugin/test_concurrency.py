"""``--tau-concurrency``: concurrent trials within pytest's protocol.

Models are in the conftest.py of the project. They write what they do, and what pytest does, into one log of events, and
wait for one another by events, so that who is first does not depend on how fast the machine is.
"""

from __future__ import annotations

import itertools
import json
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import time
from xml.etree import ElementTree as ET

import pytest
from inner_runs import quick_options

from .conftest import _QUICK, Run

pytestmark = pytest.mark.exhaustive

#: A conftest.py. ``BEFORE`` says of a task which events must have been before its user goes on.
CONFTEST = '''
import asyncio
import json
import threading
from pathlib import Path

import pytest

from pytest_tau.chat import ChatReply, Usage
from pytest_tau.errors import ModelError

EVENTS = Path(__file__).with_name("events.txt")
BEFORE, WRONG, LOST, HANG = {}, (), (), ()
happened = []


def note(what, name):
    happened.append(f"{what} {name}")
    with EVENTS.open("a") as file:
        file.write(f"{what} {name}\\n")


async def until(*events):
    """Waits until all of this has happened."""
    for _ in range(2000):
        if all(event in happened for event in events):
            return
        await asyncio.sleep(0.002)
    raise AssertionError(f"not all of this has happened: {events}")


async def pause(name):
    await until(*BEFORE.get(name, ()))
    if name in HANG:
        await asyncio.sleep(60)


SCRIPT


def called(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


class Fake:
    def __init__(self, name, role):
        self.name, self.role = name, role

    async def complete(self, request):
        message = await (self.user if self.role == "user" else self.agent)(request.messages[-1])
        usage = Usage(prompt_tokens=10, completion_tokens=2)
        return ChatReply(message={"role": "assistant", **message}, usage=usage, cost=0.25, seconds=0.5)

    async def user(self, last):
        if "Done" not in last["content"]:
            note("begin", self.name)
            return {"content": "Buy milk, please."}
        try:
            await pause(self.name)
        except asyncio.CancelledError:
            note("cancelled", self.name)
            raise
        if self.name in LOST:
            raise ModelError("provider down")
        note("end", self.name)
        return {"content": "###STOP###"}

    async def agent(self, last):
        if last["role"] == "tool":
            return {"content": "Done."}
        title = "Buy beer" if self.name in WRONG else "Buy milk"
        return called("create_task", user_id="user_1", title=title)


def short(nodeid):
    return nodeid.rpartition("::")[2].replace("[trial-0]", "").replace("-trial-0]", "]")


def pytest_tau_make_model(item, role):
    if role == "agent":
        note("made", short(item.nodeid))
    return Fake(short(item.nodeid), role)


def on_main(what, item):
    note(what, short(item.nodeid))
    assert threading.current_thread() is threading.main_thread()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    on_main("setup", item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    on_main("call", item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item):
    on_main("teardown", item)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.failed:
        note("report", short(report.nodeid))
'''

LLMS = ("--tau-agent-llm", "fake/agent", "--tau-user-llm", "fake/user")


class World:
    """A project with models that keep a log of events."""

    def __init__(self, project, a_task):
        self.project, self._a_task = project, a_task
        self.conftest()

    def conftest(self, script="", more=""):
        text = CONFTEST.replace("SCRIPT", textwrap.dedent(script)) + textwrap.dedent(more)
        self.project.write("conftest.py", text)

    def tasks(self, *names, file="mock/t.tau.json"):
        self.project.tasks(file, [self._a_task(name) for name in names])

    def run(self, *args, plugins=(), llms=LLMS):
        self.project.path.joinpath("events.txt").unlink(missing_ok=True)
        quick = quick_options(*plugins)
        pytester = self.project._pytester
        return Run(pytester.runpytest_inprocess(*quick, *llms, *args, no_reraise_ctrlc=True))

    @property
    def log(self):
        return self.project.path.joinpath("events.txt").read_text(encoding="utf-8").splitlines()

    def of(self, *kinds):
        """The names in events of these kinds, in order."""
        return [event.partition(" ")[2] for event in self.log if event.partition(" ")[0] in kinds]

    def made_first(self, after=None):
        """The names of the trials that were begun before any item was set up, or any other one after an event."""
        log = self.log[self.log.index(after) :] if after is not None else self.log
        return [
            event.partition(" ")[2]
            for event in itertools.takewhile(lambda e: "setup " not in e, log)
            if event.startswith("made ")
        ]

    def most(self):
        """How many conversations there were at the same time."""
        now = most = 0
        for event in self.log:
            now += event.startswith("begin ") - event.startswith(("end ", "cancelled "))
            most = max(most, now)
        return most

    def kept(self, *, interrupted=False):
        """The ids of the tasks whose simulations are stored: those that ended, or those that were interrupted."""
        files = self.project.path.glob(".tau/runs/*/*.jsonl")
        stored = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return [
            simulation["task_id"]
            for simulation in stored
            if ((simulation.get("info") or {}).get("error_kind") == "interrupted") is interrupted
        ]

    def process(self, *args, **options):
        """Run pytest in a process of its own."""
        command = [sys.executable, "-m", "pytest", *_QUICK, *LLMS, *args]
        return subprocess.Popen(command, cwd=self.project.path, text=True, **options)


@pytest.fixture
def world(project, a_task):
    # What a run imports is taken away again; see conftest.py.
    return World(project, a_task)


class TestHowMany:
    """So many trials at the same time."""

    def test_up_to_n_and_not_beyond(self, world):
        """Each waits until three have begun: with fewer, nothing would go on."""
        world.conftest('BEFORE = {name: ("begin a", "begin b", "begin c") for name in "abcdefg"}')
        world.tasks(*"abcdefg")
        world.run("--tau-concurrency", "3").outcomes(passed=7)
        assert world.most() == 3
        assert world.of("begin") == list("abcdefg")

    def test_8_with_a_model(self, world):
        world.conftest('BEFORE = {name: ["begin " + other for other in "abcdefgh"] for name in "abcdefghij"}')
        world.tasks(*"abcdefghij")
        world.run().outcomes(passed=10)
        assert world.most() == 8

    AGENT = """
        import conftest

        class Agent:
            def __init__(self, task):
                self.name = task.id

            async def respond(self, message):
                conftest.note("begin", self.name)
                await conftest.pause(self.name)
                conftest.note("end", self.name)
                return "Done. ###STOP###"
    """

    def test_1_without(self, world):
        world.tasks(*"abc")
        world.project.write("parts.py", self.AGENT)
        world.run("--tau-agent", "parts.py:Agent", llms=()).outcomes(failed=3)
        assert world.most() == 1

    def test_an_async_agent_without_a_model_from_the_ini(self, world):
        world.conftest('BEFORE = {name: ("begin a", "begin b") for name in "abcd"}')
        world.tasks(*"abcd")
        world.project.write("parts.py", self.AGENT)
        world.project.ini("tau_concurrency = 2")
        world.run("--tau-agent", "parts.py:Agent", llms=()).outcomes(failed=4)
        assert world.most() == 2

    @pytest.mark.parametrize("value", ["0", "-1", "x", "1.5", ""])
    def test_what_is_no_number(self, world, value):
        world.tasks("a")
        world.run(f"--tau-concurrency={value}").usage_error("--tau-concurrency", "expected")


class TestOrder:
    """Items are run as their conversations end; each as pytest runs it."""

    def test_within_a_file_as_they_end(self, world):
        world.conftest('BEFORE = {"a": ["report c"], "b": ["report a"], "d": ["end b"]}')
        world.tasks(*"abcd")
        world.run().outcomes(passed=4)
        assert world.of("report") == list("cabd")

    def test_one_after_another_in_the_order_of_the_file(self, world):
        world.tasks(*"abcd")
        world.run("--tau-concurrency", "1").outcomes(passed=4)
        assert world.log == [
            f"{what} {name}"
            for name in "abcd"
            for what in ("setup", "made", "begin", "end", "call", "report", "teardown")
        ]

    def test_trials_that_ended_meanwhile_are_reported_in_that_order(self, world):
        """b, c and d end while the test of a runs, in another order than that of their start."""
        world.tasks(*"abcd")
        world.conftest(
            'BEFORE = {"b": ["setup a", "end c"], "c": ["setup a", "end d"], "d": ["setup a"]}',
            """
            import time

            def pytest_tau_simulation_finished(item):
                while short(item.nodeid) == "a" and not {"end b", "end c", "end d"} <= set(happened):
                    time.sleep(0.005)
            """,
        )
        world.run().outcomes(passed=4)
        assert world.of("report") == ["a", "d", "c", "b"]

    def test_files_one_after_another_but_begun_before(self, world):
        world.conftest('BEFORE = {"a": ["end c", "end d"], "d": ["end c"]}')
        world.tasks("a", "b")
        world.tasks("c", "d", file="mock/u.tau.json")
        world.run().outcomes(passed=4)
        assert world.of("report") == ["b", "a", "c", "d"]

    def test_a_class_between_functions_of_a_module(self, world):
        """c ends first, and its module is the one of a, but the class comes in between."""
        world.conftest('BEFORE = {"test_a[create-task]": ["end test_c[create-task]"]}')
        world.project.write(
            "test_own.py",
            """
            import pytest

            pytestmark = pytest.mark.tau(domain="mock", tasks="create-task")

            def test_a(tau_simulation):
                pass

            class TestBetween:
                def test_b(self, tau_simulation):
                    pass

            def test_c(tau_simulation):
                pass
            """,
        )
        world.run().outcomes(passed=3)
        assert [name.partition("[")[0] for name in world.of("report")] == ["test_a", "test_b", "test_c"]

    def test_each_is_set_up_called_and_torn_down_once_and_by_itself(self, world):
        world.conftest('BEFORE = {"a": ["end d"], "b": ["end c"]}')
        world.tasks(*"abcdef")
        world.run("--tau-concurrency", "3").outcomes(passed=6)
        done = [event for event in world.log if event.split()[0] in ("setup", "call", "teardown")]
        assert len(done) == 18
        for number in range(0, 18, 3):
            name = done[number].split()[1]
            assert done[number : number + 3] == [f"setup {name}", f"call {name}", f"teardown {name}"]

    def test_durations_are_those_of_the_conversations(self, world):
        """All run at once, and the last ones are not waited for."""
        world.conftest("async def pause(name):\n    await asyncio.sleep(0.1)\n")
        world.tasks(*"abcd")
        run = world.run("--durations=0", "--durations-min=0.1", "--junitxml=r.xml")
        run.outcomes(passed=4)
        for name in "abcd":
            run.line("s setup", f"mock/t.tau.json::{name}[trial-0]")
        cases = list(ET.parse(world.project.path / "r.xml").getroot().iter("testcase"))
        assert sorted(case.get("name") for case in cases) == [f"{name}[trial-0]" for name in "abcd"]
        assert all(float(case.get("time")) >= 0.1 for case in cases)


class TestEndings:
    """Finished trials are stored, running ones are cancelled, no new ones are started."""

    SCRIPT = 'WRONG, HANG = ("b",), ("c",)\nBEFORE = {"b": ["report a", "begin c", "begin d"], "d": ["end b"]}'

    @pytest.mark.parametrize("option", ["-x", "--maxfail=1"])
    def test_the_first_failure(self, world, option):
        world.conftest(self.SCRIPT)
        world.tasks(*"abcdefg")
        run = world.run(option, "--tau-concurrency", "3")
        run.outcomes(passed=1, failed=1)
        run.line("stopping after 1 failures")
        assert world.of("report") == ["a", "b"]
        assert "c" in world.of("cancelled")
        assert {"a", "b"} <= set(world.kept()) <= {"a", "b", "d"}
        assert "c" in world.kept(interrupted=True)
        # One more had room when d, which was waiting for b, finished before b was reported.
        assert not {"f", "g"} & set(world.of("begin"))

    def test_nothing_is_begun_once_a_failure_has_ended(self, world):
        world.conftest('WRONG = ("a",)\nHANG = ("b",)')
        world.tasks(*"abcd")
        world.run("-x", "--tau-concurrency", "2").outcomes(failed=1)
        assert world.of("begin") == ["a", "b"]
        assert world.of("cancelled") == ["b"]

    def test_the_second_failure_and_then_those_that_failed(self, world):
        world.conftest('WRONG, HANG = ("a", "b"), ("c", "d")\nBEFORE = {"b": ["report a"]}')
        world.tasks(*"abcd")
        world.run("--maxfail=2", "--tau-concurrency", "3").outcomes(failed=2)
        run = world.run("--lf", "--maxfail=2")
        run.outcomes(failed=2)
        assert sorted(world.of("begin")) == ["a", "b"]

    @pytest.mark.parametrize("raised", ["KeyboardInterrupt", "pytest.exit('enough')"])
    @pytest.mark.parametrize("where", ["pytest_tau_simulation_finished", "pytest_tau_simulation_started"])
    def test_an_interruption(self, world, raised, where):
        world.conftest(
            'HANG = ("b",)\nBEFORE = {"a": ["begin b"], "c": ["report a"]}',
            f"""
            def {where}(item):
                if short(item.nodeid) == "c":
                    raise {raised}
            """,
        )
        world.tasks(*"abc")
        run = world.run()
        assert run.ret == pytest.ExitCode.INTERRUPTED
        run.line("!!!", raised.partition("(")[0].replace("pytest.exit", "Exit: enough"))
        run.lacks("Traceback")
        run.lacks("INTERNALERROR")
        assert world.of("cancelled") == ["b"]
        assert world.kept() == ["a", "c"]
        assert world.kept(interrupted=True) == ["b"]

    def test_an_interruption_by_another_test(self, world):
        world.conftest('HANG = ("b",)')
        world.tasks(*"ab")
        world.project.write("test_plain.py", "def test_it(): raise KeyboardInterrupt")
        run = world.run("test_plain.py", "mock")
        assert run.ret == pytest.ExitCode.INTERRUPTED
        run.lacks("Traceback")
        assert world.of("report") == []

    @pytest.mark.parametrize("concurrency", ["1", "8"])
    def test_ctrl_c(self, world, concurrency):
        world.conftest('HANG = ("b",)')
        world.tasks(*"ab")
        process = world.process("--tau-concurrency", concurrency, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        _until(lambda: "begin b" in world.log and "a" in world.of("report") and world.kept())
        # An interruption of the lazy imports of a's report would end the process by the signal (CPython, exec of a string).
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=120)
        assert process.returncode == pytest.ExitCode.INTERRUPTED, text
        assert "KeyboardInterrupt" in text
        assert "1 passed in" in text
        for word in ("Traceback", "never awaited", "was destroyed", "INTERNALERROR", "Error"):
            assert word not in text, text
        assert world.of("cancelled") == ["b"]
        assert world.kept() == ["a"]
        assert world.kept(interrupted=True) == ["b"]


def _until(true):
    for _ in range(6000):
        try:
            if true():
                return
        except FileNotFoundError:
            pass
        time.sleep(0.02)
    raise AssertionError("it did not happen")


class TestOptions:
    """Options of pytest that choose, order or show."""

    def test_last_failed_and_failed_first(self, world):
        world.conftest('WRONG = ("b", "d")')
        world.tasks(*"abcd")
        world.run().outcomes(passed=2, failed=2)
        world.run("--lf").outcomes(failed=2)
        assert sorted(world.of("begin")) == ["b", "d"]
        world.run("--ff", "--tau-concurrency", "1").outcomes(passed=2, failed=2)
        assert world.of("begin") == ["b", "d", "a", "c"]
        world.run("--ff", "--tau-concurrency", "2").outcomes(passed=2, failed=2)
        assert sorted(world.of("begin")[:2]) == ["b", "d"]

    @pytest.mark.parametrize("option", ["--sw", "--stepwise", "--sw-skip"])
    def test_stepwise_goes_in_order_one_by_one(self, world, option):
        world.conftest('WRONG = ("b", "c")')
        world.tasks(*"abcd")
        run = world.run(option)
        assert world.of("begin") == (["a", "b"] if option != "--sw-skip" else ["a", "b", "c"])
        assert world.most() == 1
        run.line("Interrupted: Test failed, continuing from this test next run.")
        world.run(option)
        assert world.of("begin")[0] == ("b" if option != "--sw-skip" else "c")

    @pytest.mark.parametrize("option", ["--collect-only", "--setup-plan"])
    def test_nothing_is_begun_where_nothing_is_run(self, world, option):
        world.tasks(*"ab")
        run = world.run(option)
        assert run.ret == pytest.ExitCode.OK, run.text
        assert option == "--collect-only" or world.of("made", "begin") == []

    def test_setup_only(self, world):
        world.tasks(*"ab")
        run = world.run("--setup-only")
        run.line("SETUP    F tau_simulation")
        assert sorted(world.of("begin")) == ["a", "b"]

    def test_a_choice_by_keyword(self, world):
        world.tasks("aa", "ab", "bb")
        world.run("-k", "aa or bb").outcomes(passed=2, deselected=1)
        assert sorted(world.of("begin")) == ["aa", "bb"]

    def test_no_terminal(self, world):
        world.conftest('WRONG = ("b",)')
        world.tasks(*"ab")
        run = world.run("-p", "no:terminal")
        assert (run.ret, run.text) == (pytest.ExitCode.TESTS_FAILED, "")

    @pytest.mark.parametrize(("option", "shown"), [("-q", ".."), ("-v", "::b[trial-0] PASSED"), ("-qq", "..")])
    def test_verbosity(self, world, option, shown):
        world.tasks(*"ab")
        run = world.run(option)
        run.line(shown)
        run.lacks("running")
        run.lacks("\x1b")

    def test_tests_that_are_not_ours_in_between(self, world):
        world.tasks(*"ab", file="b/mock/t.tau.json")
        for folder in "ac":
            world.project.write(f"{folder}/test_{folder}.py", "def test_1(): pass\ndef test_2(): pass\n")
        world.run().outcomes(passed=6)
        assert world.of("report")[:2] == world.of("report")[-2:] == ["test_1", "test_2"]
        assert world.made_first() == ["a", "b"]

    def test_a_run_without_anything_of_ours(self, world):
        world.project.write("test_plain.py", "def test_1(): pass\ndef test_2(): pass\n")
        world.run().outcomes(passed=2)
        assert world.of("report") == ["test_1", "test_2"]


class TestOtherPlugins:
    """pytest-rerunfailures, pytest-asyncio."""

    @pytest.mark.parametrize("concurrency", ["1", "8"])
    def test_a_rerun_is_a_new_conversation(self, world, concurrency):
        pytest.importorskip("pytest_rerunfailures")
        world.conftest(
            "class Once:\n    def __contains__(self, name):\n        return name == 'b' and happened.count('begin b') == 1\n"
            "WRONG = Once()\nBEFORE = {}"
        )
        world.tasks(*"abc")
        args = ("--reruns", "2", "--tau-concurrency", concurrency, "-v", "--junitxml=r.xml")
        run = world.run(*args, plugins=["rerunfailures"])
        run.outcomes(passed=3, rerun=1)
        assert sorted(world.of("begin")) == ["a", "b", "b", "c"]
        assert sorted(world.kept()) == ["a", "b", "b", "c"]
        run.line("::b[trial-0] RERUN")
        run.line("tau: 1 trial run again: only the last outcome counts, also in rates and gates")
        cases = ET.parse(world.project.path / "r.xml").getroot().findall(".//testcase[@name='b[trial-0]']")
        outcomes = [
            one.get("value") for case in cases for one in case.iter("property") if one.get("name") == "tau_outcome"
        ]
        assert outcomes == ["failed", "passed"]

    def test_async_tests(self, world):
        pytest.importorskip("pytest_asyncio")
        world.conftest('BEFORE = {"test_it[create-task-trial-1]": ["begin test_it[create-task-trial-2]"]}')
        world.project.ini("asyncio_default_fixture_loop_scope = function")
        world.project.write(
            "test_own.py",
            """
            import asyncio

            import pytest

            pytestmark = [pytest.mark.asyncio, pytest.mark.tau(domain="mock", tasks="create-task", trials=3)]

            async def test_it(tau_simulation, tau_env, tau_agent):
                await asyncio.sleep(0)
                assert tau_simulation.reward == 0  # it asks for another task
                assert tau_env.dump()["agent"]["tasks"]["task_3"]["title"] == "Buy milk"
                assert tau_agent is not None
            """,
        )
        run = world.run(plugins=["asyncio"])
        run.outcomes(passed=3)
        run.lacks("run serially")
        assert world.most() == 2


class TestOwnSetup:
    """Items that have to be set up before their trial are run as pytest runs them, the others are prefetched."""

    def marked(self, world, *bodies):
        """Tests of one's own, each on one task."""
        head = 'import pytest\n\npytestmark = pytest.mark.tau(domain="mock", tasks="create-task")\n\n'
        world.project.write("test_own.py", head + "\n\n".join(textwrap.dedent(body) for body in bodies))

    AFTER = "def test_after(tau_simulation):\n    assert tau_simulation.messages\n"

    @pytest.mark.parametrize(
        ("fixture", "body", "checked"),
        [
            ("tau_agent", "return lambda messages, tools: 'Mine. Done'", "'Mine' in sim.messages[2].content"),
            ("tau_user", "return lambda messages, tools: 'Hello. ###STOP###'", "'Hello' in sim.messages[1].content"),
            ("tau_env, env", "tau_env.marked = 3\n    return tau_env", "env.marked == 3"),
            ("tau_task, task", "return tau_task.model_copy(update={'id': 'other'})", "sim.task_id == 'other'"),
            ("tau_simulation", "tau_simulation.error = 'seen'\n    return tau_simulation", "sim.error == 'seen'"),
            ("tau_trial", "return 7", "sim.trial == 7"),
        ],
    )
    @pytest.mark.parametrize("where", ["conftest.py", "test_own.py"])
    def test_a_fixture_of_ours_that_is_overridden(self, world, fixture, body, checked, where):
        name = fixture.partition(",")[0]
        takes = name if name in body else "tau_task"
        takes = "" if name == "tau_task" and "tau_task" not in body else takes
        override = f"@pytest.fixture\ndef {name}({takes}):\n    {body}\n"
        test = f"def test_it(tau_simulation, tau_env):\n    sim, env = tau_simulation, tau_env\n    assert {checked}\n"
        self.marked(world, *([override] if where == "test_own.py" else []), test)
        if where == "conftest.py":
            world.conftest(more=override)
        run = world.run()
        run.outcomes(passed=1)
        run.line(f"tau: 1 trial was run serially, in the setup of the test, because of fixtures: {name} (1)")
        assert world.made_first() == []

    def test_an_override_for_one_folder(self, world):
        world.tasks(*"ab")
        world.tasks(*"cd", file="own/mock/t.tau.json")
        world.project.write(
            "own/conftest.py",
            """
            import pytest

            @pytest.fixture
            def tau_agent():
                return lambda messages, tools: "Mine. ###STOP###"
            """,
        )
        run = world.run()
        run.outcomes(passed=2, failed=2)
        run.line("tau: 2 trials were run serially", "because of fixtures: tau_agent (2)")
        assert world.made_first() == ["a", "b"]
        assert [event for event in world.log if event in ("setup c", "made c", "setup d", "made d")] == [
            "setup c",
            "made c",
            "setup d",
            "made d",
        ]

    def test_parameters_in_the_place_of_a_fixture(self, world):
        self.marked(
            world,
            """
            @pytest.mark.parametrize("tau_agent", ["gold", "noop"])
            def test_it(tau_agent, tau_simulation):
                assert tau_simulation.reward == (tau_agent == "gold")
            """,
        )
        run = world.run("--tau-concurrency", "8", llms=())
        run.outcomes(passed=2)
        run.line("because of fixtures: tau_agent (2)")

    def test_function_fixtures_before_and_after_the_trial(self, world):
        """What is set up before a trial may have a part in it; what is set up after it has none."""
        self.marked(
            world,
            """
            @pytest.fixture
            def shop(monkeypatch):
                monkeypatch.setenv("SHOP", "open")
                return "open"

            def test_before(shop, tau_simulation):
                pass

            def test_after(tau_simulation, shop, capsys):
                pass

            @pytest.mark.parametrize("number", [1, 2])
            def test_number(number, tau_simulation):
                pass
            """,
        )
        run = world.run()
        run.outcomes(passed=4)
        run.line("tau: 1 trial was run serially", "because of fixtures: shop (1)")
        # No other trial runs while the test has changed the environment.
        assert world.made_first() == []
        others = world.made_first(after="teardown test_before[create-task]")
        assert [name.partition("[")[0] for name in others] == ["test_after", "test_number", "test_number"]

    def test_a_fixture_that_is_only_waited_for_does_not_hide_another(self, world):
        self.marked(world, self.AFTER, self.AFTER.replace("after", "again"))
        world.conftest(
            more="""
            @pytest.fixture(scope="session", autouse=True)
            def service():
                pass

            @pytest.fixture
            def tau_agent():
                return "noop"
            """
        )
        run = world.run()
        run.line("tau: 2 trials were run serially", "because of fixtures: tau_agent (2)")

    @pytest.mark.parametrize("scope", ["function", "class", "module", "package"])
    def test_autouse_fixtures(self, world, scope):
        self.marked(world, self.AFTER, self.AFTER.replace("after", "again"))
        world.conftest(
            more=f"""
            @pytest.fixture(scope="{scope}", autouse=True)
            def everywhere():
                note("fixture", "up")
                yield
                note("fixture", "down")
            """
        )
        run = world.run()
        run.outcomes(passed=2)
        run.line("tau: 2 trials were run serially", "because of fixtures: everywhere (2)")
        assert world.of("fixture") == ["up", "down"] * (2 if scope in ("function", "class") else 1)
        assert world.log[1] == "fixture up"

    @pytest.mark.parametrize(("module", "is_serial"), [("pytest_randomly", False), ("someones_plugin", True)])
    def test_the_seed_of_pytest_randomly_has_no_effect_on_a_trial(self, world, module, is_serial):
        """It is a fixture of every test where Faker is installed, too."""
        world.tasks(*"ab")
        world.conftest(
            more=f"""
            def faker_seed():
                return 7

            faker_seed.__module__ = {module!r}
            faker_seed = pytest.fixture(autouse=True)(faker_seed)
            """
        )
        run = world.run("--tau-concurrency", "2")
        run.outcomes(passed=2)
        assert ("run serially" in run.text) == is_serial

    @pytest.mark.parametrize("concurrency", ["1", "8"])
    def test_a_fixture_of_the_whole_session_is_set_up_before_any_trial(self, world, concurrency):
        world.tasks(*"abcd")
        world.conftest(
            more="""
            @pytest.fixture(scope="session", autouse=True)
            def server():
                note("fixture", "up")
                yield
                note("fixture", "down")
            """
        )
        run = world.run("--tau-concurrency", concurrency)
        run.outcomes(passed=4)
        run.lacks("run serially")
        assert world.log[:3] == ["setup a", "fixture up", "made a"]
        assert world.log[-1] == "fixture down"
        second = next(event for event in world.log[1:] if event.startswith("setup"))
        made = [event for event in world.log[: world.log.index(second)] if event.startswith("made")]
        assert len(made) == (4 if concurrency == "8" else 1)

    def test_a_fixture_of_the_whole_session_that_fails(self, world):
        """No conversation is started if its test cannot pass."""
        world.tasks(*"abcd")
        world.conftest(
            more="""
            @pytest.fixture(scope="session", autouse=True)
            def server():
                raise RuntimeError("port taken")
            """
        )
        world.run().outcomes(errors=4)
        assert world.of("begin") == []

    def test_xunit_setup(self, world):
        self.marked(
            world,
            "def setup_module():\n    import conftest\n    conftest.note('fixture', 'up')\n",
            "def test_it(tau_simulation):\n    pass\n",
            "class TestIt:\n    def setup_method(self):\n        self.ready = 1\n\n"
            "    def test_it(self, tau_simulation):\n        assert self.ready\n",
        )
        run = world.run()
        run.outcomes(passed=2)
        run.line("because of fixtures: setup_module (2)")
        assert world.of("fixture") == ["up"]

    def test_skip_and_xfail(self, world):
        """No conversation for what is skipped; a failure that is expected is one."""
        world.tasks("z")
        self.marked(
            world,
            """
            @pytest.mark.skip
            def test_skip(tau_simulation):
                pass

            @pytest.mark.skipif("True", reason="today")
            def test_skipif(tau_simulation):
                pass

            @pytest.mark.xfail
            def test_xfail(tau_simulation):
                assert tau_simulation.reward == 1

            @pytest.mark.xfail(run=False)
            def test_not_run(tau_simulation):
                pass

            def test_it(tau_simulation):
                pass
            """,
        )
        run = world.run()
        run.outcomes(passed=2, skipped=2, xfailed=2)
        run.lacks("run serially")
        assert sorted(name.partition("[")[0] for name in world.of("begin")) == ["test_it", "test_xfail", "z"]

    def test_a_test_that_is_skipped_in_its_setup_wants_no_trial(self, world):
        world.tasks(*"ab")
        world.conftest(
            'BEFORE = {"a": ["end b"]}',
            """
            @pytest.hookimpl(trylast=True)
            def pytest_runtest_setup(item):
                if item.name.startswith("a"):
                    pytest.skip("not today")
            """,
        )
        world.run().outcomes(passed=1, skipped=1)

    def test_classes_and_parameters(self, world):
        world.project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", num_tasks=2, trials=2)
            class TestIt:
                seen = []

                @pytest.mark.parametrize("word", ["x", "y"])
                def test_it(self, tau_task, tau_trial, word, tau_simulation):
                    assert (tau_simulation.task_id, tau_simulation.trial) == (tau_task.id, tau_trial)
                    self.seen.append((tau_task.id, tau_trial, word))

                def test_all(self, tau_simulation):
                    pass

            def test_seen():
                assert len(set(TestIt.seen)) == len(TestIt.seen) == 8
            """,
        )
        world.run().outcomes(passed=13)
        assert len(world.made_first()) >= 8

    def test_many_that_have_to_be_run_alone_do_not_slow_the_rest_down(self, world):
        """Each item is looked at a few times, and not once for every other."""
        world.project.write(
            "test_many.py", "import pytest\n@pytest.mark.parametrize('n', range(300))\ndef test_it(n): pass\n"
        )
        world.tasks("z")
        world.conftest(
            more="""
            from pytest_tau.plugin.run import prefetch

            looked, original = [], prefetch.blocking_fixtures

            @pytest.fixture(scope="session", autouse=True)
            def count():
                def counted(item):
                    looked.append(item)
                    return original(item)
                prefetch.blocking_fixtures = counted
                yield
                prefetch.blocking_fixtures = original

            def pytest_terminal_summary(terminalreporter):
                terminalreporter.write_line(f"looked {len(looked) <= 4 * 301}")
            """
        )
        run = world.run("-q")
        run.outcomes(passed=301)
        run.line("looked True")


class TestHooks:
    """Called in the main thread, in the order of the conversation, once."""

    def test_in_order_and_once(self, world):
        world.tasks(*"abc")
        world.conftest(
            'BEFORE = {"a": ["end b"], "b": ["end c"]}',
            """
            def pytest_tau_simulation_started(item, task, trial):
                on_main("hook", item)
                item.said = []

            def pytest_tau_message(item, message):
                on_main("hook", item)
                item.said.append(message)

            def pytest_tau_simulation_finished(item, simulation):
                on_main("hook", item)
                assert item.said == simulation.messages
                assert [message.turn_idx for message in item.said] == list(range(len(item.said)))
                note("whole", short(item.nodeid))
            """,
        )
        world.run().outcomes(passed=3)
        assert world.of("whole") == ["c", "b", "a"]
        assert world.of("hook") == ["c"] * 8 + ["b"] * 8 + ["a"] * 8

    @pytest.mark.parametrize("concurrency", ["1", "8"])
    @pytest.mark.parametrize(
        "hook", ["simulation_started", "message", "simulation_finished", "make_agent", "make_user"]
    )
    @pytest.mark.parametrize("raised", ["raise RuntimeError('my hook')", "pytest.fail('my hook')"])
    def test_one_that_raises_is_an_error_of_its_item(self, world, hook, raised, concurrency):
        world.tasks(*"abc")
        world.conftest(more=f"def pytest_tau_{hook}(item):\n    if item.name[0] == 'b':\n        {raised}\n")
        run = world.run("--tau-concurrency", concurrency)
        run.outcomes(passed=2, errors=1)
        run.line("my hook")
        run.lacks("INTERNALERROR")

    def test_the_trial_of_one_that_raises_at_its_start_ends_and_is_stored(self, world):
        world.tasks("a")
        world.conftest(
            'BEFORE = {"a": ["hook a"]}',
            "def pytest_tau_simulation_started(item):\n    note('hook', 'a')\n    raise RuntimeError('my hook')\n",
        )
        world.run("--tau-concurrency", "1").outcomes(errors=1)
        assert world.kept() == ["a"]

    def test_one_that_skips(self, world):
        world.tasks(*"abc")
        world.conftest(
            more="def pytest_tau_make_agent(item):\n    if item.name[0] == 'b':\n        pytest.skip('no')\n"
        )
        world.run().outcomes(passed=2, skipped=1)
        assert sorted(world.of("begin")) == ["a", "c"]

    def test_one_that_fails_its_item_before_the_trial_ends_that(self, world):
        """Its result is no longer needed, and it would still cost money; b waits until it is cancelled."""
        world.tasks(*"ab")
        world.conftest(
            """
            async def pause(name):
                note("pause", name)
                await (asyncio.sleep(60) if name == "a" else until("cancelled a"))
            """,
            """
            import time

            def pytest_tau_message(item, message):
                if item.name[0] == "a" and message.turn_idx == 4:
                    while "pause a" not in happened:
                        time.sleep(0.002)
                    pytest.fail("seen enough")
            """,
        )
        world.run("--tau-concurrency", "1").outcomes(passed=1, errors=1)
        assert world.of("cancelled") == ["a"]


class TestMoney:
    """A budget, and cassettes."""

    def test_a_budget_that_runs_out_with_several_under_way(self, world):
        """Each costs a dollar: those that are running when two are paid for are stopped, and are not failures."""
        world.conftest("")
        world.tasks(*"abcdefgh")
        run = world.run("--tau-budget", "2", "--tau-concurrency", "3", "-rs")
        not_run = int(run.line("trials not run: the budget is spent").split()[1])
        run.outcomes(**({"passed": 8 - not_run} if not_run < 8 else {}), skipped=not_run)
        assert 6 <= not_run <= 8
        run.line("SKIPPED", "which has stopped this trial")
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        assert len(world.kept()) == 8 - not_run
        # A call in flight of each of the others is finished.
        assert float(run.line("tau: models together:").rpartition("$")[2]) <= 2 + 2 * 0.25

    def test_the_same_cassettes_at_any_speed(self, world):
        names = [f"t{number}" for number in range(10)]
        world.tasks(*names)
        world.conftest('WRONG = ("t3",)\nBEFORE = {"t0": ["end t7"], "t4": ["end t5", "end t9"]}')
        world.run("--tau-record", "--tau-cassettes", "wide", "--tau-concurrency", "10").outcomes(passed=9, failed=1)
        world.conftest('WRONG = ("t3",)')
        world.run("--tau-record", "--tau-cassettes", "narrow", "--tau-concurrency", "1").outcomes(passed=9, failed=1)
        wide, narrow = (self._cassettes(world.project.path / folder) for folder in ("wide", "narrow"))
        assert len(wide) == 10
        assert wide == narrow
        world.conftest(
            "raise_if_asked = True",
            "def pytest_tau_make_model(item): return Never()\nclass Never:\n    async def complete(self, request): raise AssertionError\n",
        )
        for concurrency in ("1", "8"):
            run = world.run("--tau-replay", "--tau-cassettes", "wide", "--tau-concurrency", concurrency)
            run.outcomes(passed=9, failed=1)

    @staticmethod
    def _cassettes(folder):
        """Each file without its times."""
        return {
            path.relative_to(folder).as_posix(): path.read_bytes().splitlines()[:-1]
            for path in folder.rglob("*.cassette")
        }


class TestAgents:
    """Foreign code that blocks, hangs or leaves."""

    def run(self, world, body, *args, **options):
        world.tasks(*"abcd")
        world.project.write(
            "parts.py",
            "import sys, threading, time\nimport conftest\n\nclass Agent:\n    def __init__(self, task):\n"
            "        self.name = task.id\n\n" + textwrap.indent(textwrap.dedent(body), "    "),
        )
        return world.run("--tau-agent", "parts.py:Agent", "--tau-concurrency", "4", *args, llms=(), **options)

    def test_blocking_ones_run_side_by_side_in_threads(self, world):
        run = self.run(
            world,
            """
            barrier = threading.Barrier(4)

            def respond(self, message):
                self.barrier.wait(5)
                assert threading.current_thread() is not threading.main_thread()
                return "Done. ###STOP###"
            """,
        )
        run.outcomes(failed=4)
        run.lacks("BrokenBarrierError")
        run.lacks("AssertionError")

    def test_one_that_hangs_is_left_behind(self, world):
        run = self.run(
            world,
            """
            def respond(self, message):
                if self.name == "b":
                    threading.Event().wait(30)
                return "Done. ###STOP###"
            """,
            "--tau-timeout",
            "0.3",
            "-v",
        )
        run.outcomes(failed=4)
        lines = [line for line in run.text.splitlines() if "FAILED" in line and "::" in line and "%" in line]
        assert "::b[trial-0]" in lines[-1]
        run.line("no end after 0.3 s")

    @pytest.mark.parametrize("kind", ["def", "async def"])
    def test_one_that_leaves(self, world, kind):
        run = self.run(
            world,
            f"""
            {kind} respond(self, message):
                if self.name == "b":
                    sys.exit("bye")
                return "Done. ###STOP###"
            """,
        )
        run.outcomes(failed=4)
        run.line("SystemExit: bye")

    @pytest.mark.parametrize("kind", ["def", "async def"])
    def test_one_that_raises_keyboard_interrupt_is_at_fault_and_the_run_goes_on(self, world, kind):
        run = self.run(
            world,
            f"""
            {kind} respond(self, message):
                if self.name == "b":
                    raise KeyboardInterrupt
                return "Done. ###STOP###"
            """,
        )
        run.outcomes(failed=4)
        run.line("KeyboardInterrupt: ", "parts.py")
        run.lacks("INTERNALERROR")
        assert run.text.count("Traceback (most recent call last)") == 1, "that of the agent"


class Screen:
    """What a terminal shows of what was written to it; knows no more than is needed here."""

    def __init__(self, text, width):
        self.lines, self.row, self.column = [""], 0, 0
        self.seen = []
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", text):
            self._take(part, width)

    def _take(self, part, width):
        if part == "\n":
            self.row += 1
            self.column = 0
            if self.row == len(self.lines):
                self.lines.append("")
        elif part == "\r":
            self.column = 0
        elif part.endswith("m") and part.startswith("\x1b"):
            pass
        elif part == "\x1b[J":
            del self.lines[self.row + 1 :]
            self.lines[self.row] = self.lines[self.row][: self.column]
        elif part == "\x1b[A":
            self.row -= 1
        elif part.startswith("\x1b[") and part.endswith("G"):
            self.column = int(part[2:-1]) - 1
        else:
            assert "\x1b" not in part, f"an unknown sequence: {part!r}"
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + part + line[self.column + len(part) :]
            self.column += len(part)
            # pytest's own header may be wider: it names files.
            assert "running" not in part or self.column <= width, "wider than the terminal"
        if (shown := self.lines[self.row].strip()) and "running" in shown:
            self.seen.append(shown)


class TestProgress:
    """A line at a terminal, while something is waited for."""

    @pytest.mark.parametrize("option", ["-v", "--color=yes"])
    def test_shown_and_taken_away(self, world, option):
        world.conftest('BEFORE = {"a": ["report b"], "c": ["report a"], "d": ["report c"]}')
        world.conftest(
            'BEFORE = {"a": ["report b"], "c": ["report a"], "d": ["report c"]}',
            # Each ends a moment after the one before was reported, so that it is waited for.
            "async def pause(name):\n    await until(*BEFORE.get(name, ()))\n    await asyncio.sleep(0.05)\n",
        )
        world.tasks(*"abcd")
        ours, theirs = pty.openpty()
        env = {**os.environ, "COLUMNS": "100", "TERM": "xterm", "NO_COLOR": ""}
        process = world.process(option, "--tau-concurrency", "2", stdout=theirs, stderr=theirs, env=env)
        os.close(theirs)
        text = b""
        while piece := _read(ours):
            text += piece
        os.close(ours)
        assert process.wait(10) == 0, text.decode()
        screen = Screen(text.decode(), 100)
        counts = {shown.partition(";")[0] for shown in screen.seen}
        assert {"0 done, 2 running, 2 waiting", "3 done, 1 running, 0 waiting"} <= counts
        assert not [line for line in screen.lines if "running" in line], screen.lines
        shown = "\n".join(screen.lines)
        assert ("mock/t.tau.json ....   " in shown) if option != "-v" else (shown.count("PASSED   ") == 4), shown

    def test_not_without_a_terminal(self, world):
        world.tasks(*"abcd")
        run = world.run("--tau-concurrency", "2", "--color=yes")
        run.outcomes(passed=4)
        run.lacks("running,")


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end is closed
        return b""
