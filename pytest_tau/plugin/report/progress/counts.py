"""The counts of a run so far, and their text."""

from __future__ import annotations

from typing import NamedTuple


class ProgressCounts(NamedTuple):
    """The counts of a run so far.

    Attributes:
        done: Tests that were reported.
        total: All tests; 0 while their number is unknown.
        passed: Trials that passed.
        judged: Trials that passed or failed.
        cost: USD of the model calls whose price is known.
        unpriced: Model calls with unknown price.
        seconds: Seconds since the start of the first test.
    """

    done: int = 0
    total: int = 0
    passed: int = 0
    judged: int = 0
    cost: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    def text(self, running: int | None = None) -> str:
        """Return the counts in a line, with the number of running trials if it is known."""
        if running is None:
            counts = f"{self.done:,} of {self.total:,} done" if self.total else f"{self.done:,} done"
        else:
            counts = f"{self.done:,} done, {running:,} running, {max(self.total - self.done - running, 0):,} waiting"
        parts = [counts]
        if self.judged:
            parts.append(f"{_percent(self.passed, self.judged)} % passed")
        if self.cost or self.unpriced:
            parts.append(
                f"${self.cost:,.2f}" + (f" and {self.unpriced:,} calls with unknown price" * bool(self.unpriced))
            )
        if self.done and self.total > self.done and self.seconds >= 1:
            parts.append(f"{_time(self.seconds / self.done * (self.total - self.done))} left")
        return "; ".join(parts)


def _percent(part: int, whole: int) -> int:
    """Return a rounded percentage; 0 and 100 only if they are exact."""
    rounded = round(100 * part / whole)
    return rounded if part in (0, whole) else min(max(rounded, 1), 99)


def _time(seconds: float) -> str:
    """Return a duration, roughly."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
