"""The progress of a run: a line at a terminal, and at intervals a line in a log that is written to a file.

At a terminal the text is shown below pytest's own line, and is erased before pytest writes. In a log it is a line of
its own, which only long runs get.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ...clock import steady_time
from ...text import listed, printable
from ..compat import terminal_writer, write_past
from ..context.run_state import run_state
from ..items import spec_of
from ..wire import TrialReport, is_worker, trial_report

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

#: So many trials that are waited for are named.
_NAMED = 3
#: The least seconds of a trial that an interruption names.
_NOTICEABLE = 2.0
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


def register(config: pytest.Config) -> None:
    """Register the progress; not in a worker, whose controller shows it."""
    if not is_worker(config):
        config.pluginmanager.register(Progress(config), "tau-progress")


class Progress:
    """Counts what is reported, and shows the progress between pytest's own lines once there are trials."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        #: The number of tests; whether trials are among them, which a controller finds out by the first report of one.
        self._total, self._has_trials = 0, False
        self._started = steady_time()
        #: The outcome of each test that was reported, by node id; of a test that runs no trial, none.
        self._outcomes: dict[str, str | None] = {}
        self._numbers: Counter[str | None] = Counter()
        self._cost, self._unpriced = 0.0, 0
        self._log, self._waits, self._waiting = LogThrottle(0.0), WaitThrottle(0.0), dict[str, float]()

    # pytest makes its reporter when it is configured, which may be later than this plugin.

    @cached_property
    def _line(self) -> ProgressLine:
        return ProgressLine(self._config)

    @cached_property
    def _reporter(self) -> Any:
        """The terminal reporter, unless nothing is to be said."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        return reporter if self._config.get_verbosity() >= 0 else None

    @cached_property
    def _in_controller(self) -> bool:
        return self._config.pluginmanager.has_plugin("dsession")

    @property
    def _seconds(self) -> float:
        return steady_time() - self._started

    def _counts(self) -> ProgressCounts:
        passed, failed = self._numbers["passed"], self._numbers["failed"]
        ended = len(self._outcomes)
        return ProgressCounts(ended, self._total, passed, passed + failed, self._cost, self._unpriced, self._seconds)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests, and find out whether there are trials among them."""
        self._total, self._started = len(session.items), steady_time()
        self._has_trials = any(spec_of(item) is not None for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Count the tests in a controller."""
        self._started = self._started if self._total else steady_time()
        self._total = len(ids)

    def pytest_tau_phase_reported(self, trial: TrialReport) -> None:
        """Find out, in a controller, that there are trials."""
        self._has_trials |= trial.simulated

    def pytest_tau_trials_running(self, running: int | None) -> None:
        """Show how many trials run, while the loop waits for them."""
        if running is None:
            self._line.clear()
        else:
            self._line.show(self._counts().text(running))
            self._log_line(running)

    def pytest_tau_trials_waiting(self, trials: Mapping[str, float]) -> None:
        """Name the trials that are waited for, if no test was reported for long."""
        self._waiting = dict(trials)
        if self._waits.is_due(self._seconds):
            self._write_waiting()

    def pytest_keyboard_interrupt(self) -> None:
        """Name the trials that were waited for."""
        self._waiting = {test: seconds for test, seconds in self._waiting.items() if seconds >= _NOTICEABLE}
        self._write_waiting()

    def _write_waiting(self) -> None:
        if self._reporter is None or not self._waiting:
            return
        longest = sorted(self._waiting.items(), key=lambda each: -each[1])
        trials = listed([f"{printable(test)} ({seconds:.0f} s)" for test, seconds in longest], _NAMED)
        self._line.clear()
        self._reporter.ensure_newline()  # pytest continues on a new line
        writer = terminal_writer(self._reporter)
        if writer.width_of_current_line:
            writer.line()  # under xdist, pytest does not know that it has written letters
        self._reporter.write_line(f"tau: waiting for {trials}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logstart(self, nodeid: str) -> Generator[None, None, None]:
        """Show the progress after pytest has written the name of a test."""
        self._line.clear()
        with self._named_domain(nodeid):
            yield
        self._show()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Count a reported test; show the progress after pytest has written its letter."""
        self._line.clear()
        if report.when == "teardown":
            self._count(report)
            self._waiting = {}
            self._waits.reset(self._seconds)
        with self._named_domain(report.nodeid):
            yield
        self._show()

    @contextlib.contextmanager
    def _named_domain(self, nodeid: str) -> Iterator[None]:
        """Let pytest write the name of a domain; below the root directory it would be a path, such as ``..``."""
        if self._reporter is None or nodeid.partition("::")[0] not in run_state(self._config).selection:
            yield
            return
        before, self._reporter.startpath = self._reporter.startpath, self._config.rootpath
        try:
            yield
        finally:
            self._reporter.startpath = before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logfinish(self) -> Generator[None, None, None]:
        """Show the progress after pytest has written its percentage."""
        self._line.clear()
        yield
        if self._in_controller:
            self._show()
        self._log_line(None)

    @pytest.hookimpl(wrapper=True, optionalhook=True)
    def pytest_testnodedown(self) -> Generator[None, object, object]:
        """Erase the progress before xdist writes about a worker."""
        self._line.clear()
        return (yield)

    def pytest_enter_pdb(self) -> None:
        """Erase the progress before the debugger uses the terminal."""
        self._line.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Erase the progress at the end of the run, also of an interrupted one."""
        self._line.clear()

    def _show(self) -> None:
        """Show the progress while a test is run; concurrent trials are shown while the loop waits for them."""
        if not (self._has_trials and self._line.enabled and (self._in_controller or _are_quiet(self._config))):
            return
        if not run_state(self._config).concurrent and len(self._outcomes) < self._total:
            self._line.show(self._counts().text(None if self._in_controller else 1))

    def _log_line(self, running: int | None) -> None:
        if not self._has_trials or self._reporter is None or self._line.enabled:
            return
        counts = self._counts()
        if self._log.is_due(counts, counts.seconds):
            self._reporter.ensure_newline()  # pytest continues on a new line
            self._reporter.write_line(f"tau: {counts.text(running)}")

    def _count(self, report: pytest.TestReport) -> None:
        trial = trial_report(report)
        outcome = trial.record.outcome if trial and trial.record else None
        # Of a test that is run again, the last outcome counts, and the cost of all.
        if report.nodeid in self._outcomes:
            self._numbers[self._outcomes[report.nodeid]] -= 1
        self._outcomes[report.nodeid] = outcome
        self._numbers[outcome] += 1
        usage = trial.usage if trial else None
        if usage is not None:
            self._cost += usage.cost
            self._unpriced += usage.unpriced_calls


def _are_quiet(config: pytest.Config) -> bool:
    """Return whether tests write nothing to the terminal while they run."""
    option = config.option
    live = getattr(option, "log_cli_level", None) or config.getini("log_cli")
    return not live and option.capture != "no" and not option.usepdb
