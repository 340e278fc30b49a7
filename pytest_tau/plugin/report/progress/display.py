"""The counts of a run so far, and the places where they are shown: a line at a terminal, and a log.

At a terminal the text is shown below pytest's own line, and is erased before pytest writes. In a log it is a line of
its own, which only long runs get.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ...compat import terminal_writer, write_past

if TYPE_CHECKING:
    import pytest

_ERASE_BELOW, _UP = "\x1b[J", "\x1b[A"
#: Of a log: the least seconds between two lines, the part of the run that is worth a line, the most seconds.
_QUIET, _PART, _LONGEST = 30.0, 0.1, 300.0


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


class ProgressLine:
    """A text below the current line of the terminal."""

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        interactive = reporter is not None and reporter.isatty and config.get_verbosity() >= 0
        # A dumb terminal prints control sequences.
        self._writer = terminal_writer(reporter) if interactive and os.environ.get("TERM") != "dumb" else None
        self._shown = ""

    @property
    def enabled(self) -> bool:
        """Return whether there is a terminal that can show the text."""
        return self._writer is not None

    def show(self, text: str) -> None:
        """Show the text, cut to the width of the terminal."""
        if self._writer is None or text == self._shown:
            return
        # The cursor returns to the end of pytest's line. At the bottom, the terminal has scrolled by a line.
        column = self._writer.width_of_current_line + 1
        self._write(f"\n{_ERASE_BELOW}{text[: self._writer.fullwidth - 1]}{_UP}\r\x1b[{column}G")
        self._shown = text

    def clear(self) -> None:
        """Erase the text."""
        if self._shown:
            self._write(_ERASE_BELOW)
            self._shown = ""

    def _write(self, text: str) -> None:
        assert self._writer is not None, "something is shown"
        write_past(self._writer, text)


class WaitThrottle:
    """Limits the lines about trials that are waited for: after 30 seconds without a report, and each time that doubles.

    Args:
        now: The start of the run, in seconds on the clock.
    """

    def __init__(self, now: float) -> None:
        self._reported, self._due = now, _QUIET

    def reset(self, now: float) -> None:
        """Begin anew: a test was reported."""
        self._reported, self._due = now, _QUIET

    def is_due(self, now: float) -> bool:
        """Return whether to write a line now; if so, it counts as written."""
        due = now - self._reported >= self._due
        self._due *= 2 if due else 1
        return due


class LogThrottle:
    """Limits the lines in a log: none in a short run, and some time between them.

    Args:
        now: The start of the run, in seconds on the clock.
    """

    def __init__(self, now: float) -> None:
        self._logged, self._done = now, 0

    def is_due(self, counts: ProgressCounts, now: float) -> bool:
        """Return whether to write a line now; if so, it counts as written."""
        quiet = now - self._logged
        if quiet < _QUIET or counts.done >= counts.total:
            return False
        if counts.done - self._done < counts.total * _PART and quiet < _LONGEST:
            return False
        self._logged, self._done = now, counts.done
        return True


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
