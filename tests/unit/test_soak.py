"""The soak counts what must not happen."""

from __future__ import annotations

import random
import signal

import pytest

from benchmarks.soak import __main__ as command, calls as calls_part
from benchmarks.soak.mutations import mutate
from benchmarks.soak.processes import Ended
from benchmarks.soak.tally import Limits, Tally
from pytest_tau.environment import Environment, ToolError, Toolkit, tool

from . import tiny

pytestmark = pytest.mark.exhaustive


class Leaky(Toolkit[tiny.TinyDB]):
    @tool("read")
    def read_that_writes(self) -> str:
        """Read."""
        self.db.counter += 1
        return "read"

    @tool("write")
    def failure_that_writes(self) -> str:
        """Fail."""
        self.db.counter += 1
        raise ToolError("too late")

    @tool("read")
    def read_that_changes_all(self) -> str:
        """Read."""
        next(self.db.items.scan()).name += "!"
        return "read"

    @tool("read")
    def read_that_escapes(self) -> str:
        """Read."""
        return "read"

    @tool("read")
    def read_that_hangs(self) -> str:
        """Read."""
        signal.pause()
        return "read"


class Sound(Toolkit[tiny.TinyDB]):
    @tool("write")
    def count(self, number: int) -> str:
        """Count.

        Args:
            number: How far.
        """
        self.db.counter += number
        return "counted"


@pytest.fixture
def fuzzed(tmp_path, monkeypatch):
    def run(tools, limit=10.0):
        domain = tiny.make(tmp_path, agent_tools=tools, user_db=None, user_tools=None, sync=None)
        monkeypatch.setattr(calls_part, "load_domain", lambda name, data: domain)
        monkeypatch.setattr(calls_part, "_LIMIT", limit)
        return calls_part.calls(Limits(60, 2))

    return run


def test_calls_that_do_harm_are_counted(fuzzed, monkeypatch):
    call = Environment.call  # which makes a result of what a tool raises

    def escape(environment, name, arguments, side):
        if name == "read_that_escapes":
            raise SystemExit
        return call(environment, name, arguments, side)

    monkeypatch.setattr(Environment, "call", escape)
    tally = fuzzed(Leaky, limit=0.01)
    assert not tally.passed
    for name in (
        *("exceptions that escaped", "calls of more than 10 s", "states changed by a read"),
        *("states changed by a call that failed", "environments changed by a call in another one"),
    ):
        assert tally.counts[name] > 0, name
    assert any("read_that_writes" in example for example in tally.examples)


def test_calls_that_do_no_harm_are_not(fuzzed):
    tally = fuzzed(Sound)
    assert tally.passed
    assert tally.counts["calls"] == 80
    assert tally.counts["calls that changed the state"] > 0
    assert tally.counts["calls that failed"] > 0


@pytest.mark.parametrize("found", [0, 2])
def test_the_exit_status_says_whether_something_was_found(found, monkeypatch, capsys):
    def part(limits):
        """Try it."""
        tally = Tally(("cases",), ("disasters",))
        tally.add("cases", 3)
        tally.find("disasters", "a big one", found)
        return tally

    monkeypatch.setattr(command, "PARTS", {"part": part})
    assert command.main([]) == (1 if found else 0)
    text = capsys.readouterr().out
    assert "3  cases" in text
    assert f"{found}  disasters" in text
    assert ("MISSED" in text) == ("disasters: a big one" in text) == bool(found)


def test_ctrl_c_ends_a_part_after_its_case():
    before, cases = signal.getsignal(signal.SIGINT), 0
    for _ in Limits(60.0).cases("calls"):
        cases += 1
        if cases == 2:
            signal.raise_signal(signal.SIGINT)
    assert cases == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_ctrl_c_interrupts():
    def case():
        for _ in Limits(60.0).cases("calls"):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        case()


@pytest.mark.parametrize(
    ("ended", "crashed"),
    [
        (Ended(1, "1 failed", 1.0, 7), False),
        (Ended(4, "ERROR: no such file", 1.0, 7), False),
        (Ended(3, "", 1.0, 7), True),
        (Ended(70, "", 1.0, 7), True),
        (Ended(1, "INTERNALERROR> KeyError", 1.0, 7), True),
        (Ended(1, "Traceback (most recent call last):", 1.0, 7), True),
    ],
)
def test_a_traceback_is_a_crash(ended, crashed):
    assert ended.crashed is crashed


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".toml"])
def test_a_mutation_is_another_content_of_a_known_kind_and_repeatable(suffix):
    content = b'{"id": "one", "parts": [{"a": 1}, {"a": 2}]}\n' * (3 if suffix == ".jsonl" else 1)
    found = [mutate(content, suffix, random.Random(number)) for number in range(300)]
    assert found == [mutate(content, suffix, random.Random(number)) for number in range(300)]
    assert sum(changed != content for _, changed in found) > 290
    assert len({kind for kind, _ in found}) == (6 if suffix == ".toml" else 10)


def test_cases_end_with_their_number_or_their_time_but_there_is_one():
    assert len(list(Limits(60, 5).cases("part"))) == 5
    assert len(list(Limits(0).cases("part"))) == 1
    first, again = (next(Limits(0, seed=3).cases("part")).random() for _ in range(2))
    assert first == again
