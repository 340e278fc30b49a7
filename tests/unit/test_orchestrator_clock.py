"""The clock of a conversation: the time, or the recorded times of an earlier one."""

from __future__ import annotations

from datetime import UTC, datetime

from pytest_tau.orchestrator.clock import Clock

TIMES = ("2026-01-02T03:04:05.000006+00:00", "2026-01-02T03:04:06.500006+00:00")


def test_recorded_times_are_repeated_and_the_last_one_stays() -> None:
    clock = Clock(TIMES)
    assert [clock.now() for _ in range(4)] == [*TIMES, TIMES[1], TIMES[1]]
    assert clock.elapsed == 1.5


def test_without_recorded_times_it_is_now() -> None:
    clock = Clock()
    before = datetime.now(UTC)
    first, second = (datetime.fromisoformat(clock.now()) for _ in range(2))
    assert before <= first <= second <= datetime.now(UTC)
    assert clock.elapsed == (second - first).total_seconds()


def test_a_clock_that_was_not_read_has_measured_nothing() -> None:
    assert Clock().elapsed == 0.0
    assert Clock(TIMES).elapsed == 0.0
