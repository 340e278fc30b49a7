"""The clock of limits, and the worlds of fixtures."""

from __future__ import annotations

import asyncio
import datetime as dt
import time

import pytest

from pytest_tau import clock
from pytest_tau.world import InWorld, Worlds

freezegun = pytest.importorskip("freezegun")
time_machine = pytest.importorskip("time_machine")

DAY = "2024-05-15"
STOPPED = [lambda: freezegun.freeze_time(DAY), lambda: time_machine.travel(DAY, tick=False)]


@pytest.mark.parametrize("stop", STOPPED)
def test_the_clock_goes_on_while_the_time_is_frozen(stop):
    before, began = clock.utc_now(), clock.steady_time()
    with stop():
        assert dt.datetime.now(dt.UTC).year == 2024
        while clock.steady_time() == began:
            pass
        assert clock.steady_time() > began
        assert clock.utc_now() >= before
    assert abs(clock.utc_now().timestamp() - time.time()) < 60


def test_a_pause_on_an_own_loop_ends_while_the_time_is_frozen():
    with freezegun.freeze_time(DAY):
        assert clock.run_steadily(asyncio.sleep(0.001, "over")) == "over"


def test_a_pause_on_a_foreign_loop_ends_while_the_clock_is_set():
    loop = asyncio.new_event_loop()
    with freezegun.freeze_time(DAY), clock.steady(loop), clock.steady(loop):
        assert loop.run_until_complete(asyncio.sleep(0.001, "over")) == "over"
    assert "time" not in vars(loop)
    loop.close()


def test_a_loop_with_a_clock_of_its_own_keeps_it():
    class Loop(asyncio.SelectorEventLoop):
        def time(self):
            return 7.0

    loop = Loop()
    with clock.steady(loop):
        assert loop.time() == 7.0
    loop.close()


class TestWorlds:
    @pytest.fixture
    def worlds(self, monkeypatch):
        made = Worlds()
        monkeypatch.setattr("pytest_tau.world.WORLDS", made)
        return made

    def test_a_value_belongs_to_a_world(self, worlds):
        known = InWorld(list)
        known.value.append("process")
        worlds.enter("session", lasts=True)
        known.value.append("session")
        with worlds.another():
            assert known.value == []
        assert known.value == ["session"]
        worlds.leave("session")
        assert known.value == ["process"]

    def test_what_begins_later_is_another_world_after_an_earlier_one_has_ended(self, worlds):
        known = InWorld(list)
        worlds.enter("first")
        worlds.enter("second")
        known.value.append("both")
        worlds.leave("first")
        assert known.value == []
        worlds.leave("first")  # pytest may report the end of a fixture twice
        worlds.leave("second")
        assert worlds.current is None

    def test_only_fixtures_of_the_session_last(self, worlds):
        assert worlds.is_lasting
        worlds.enter("session", lasts=True)
        assert worlds.is_lasting
        with worlds.another():
            assert not worlds.is_lasting
