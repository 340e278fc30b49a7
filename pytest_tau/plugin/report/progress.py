"""How far a run is: a line at a terminal, now and then a line in a log that is written to a file; else nothing.

At a terminal the text stands below pytest's own line, and is taken away before pytest writes. In a log it is a line of
its own, after a while that no short run takes.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ..compat import terminal_writer, write_past
from ..context.run_state import run_state
from ..items import spec_of
from ..wire import TrialReport, is_worker, trial_report

if TYPE_CHECKING:
    from collections.abc import Generator

_ERASE_BELOW, _UP = "\x1b[J", "\x1b[A"
_PLUGIN = "tau-progress"
#: Of a log: seconds between two lines at the least, the part of the run that is told of at once, seconds at the most.
_QUIET, _PART, _LONGEST = 30.0, 0.1, 300.0


class ProgressCounts(NamedTuple):
    """What has come of a run so far.

    Attributes:
        done: Tests that were reported.
        total: Tests that there are; 0 where that is not known yet.
        passed: Trials that passed.
        judged: Trials that passed or failed.
        cost: USD of the model calls whose price is known.
        unpriced: Model calls of unknown price.
        seconds: Since the first test began.
    """

    done: int = 0
    total: int = 0
    passed: int = 0
    judged: int = 0
    cost: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    def text(self, running: int | None = None) -> str:
        """It in a line; with how many trials are under way, where that is known."""
        if running is None:
            counts = f"{self.done:,} of {self.total:,} done" if self.total else f"{self.done:,} done"
        else:
            counts = f"{self.done:,} done, {running:,} running, {max(self.total - self.done - running, 0):,} waiting"
        parts = [counts]
        if self.judged:
            parts.append(f"{_percent(self.passed, self.judged)} % passed")
        if self.cost or self.unpriced:
            parts.append(
                f"${self.cost:,.2f}" + (f" and {self.unpriced:,} calls of unknown price" * bool(self.unpriced))
            )
        if self.done and self.total > self.done and self.seconds >= 1:
            parts.append(f"{_time(self.seconds / self.done * (self.total - self.done))} left")
        return "; ".join(parts)


def _percent(part: int, whole: int) -> int:
    """Rounded, but all and nothing only where it is."""
    rounded = round(100 * part / whole)
    return rounded if part in (0, whole) else min(max(rounded, 1), 99)


def _time(seconds: float) -> str:
    """A duration, roughly."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """Shows a text below the terminal's line, and takes it away again.

    Args:
        config: pytest's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        watched = reporter is not None and reporter.isatty and config.get_verbosity() >= 0
        # A terminal that calls itself dumb would print what moves the cursor.
        self._writer = terminal_writer(reporter) if watched and os.environ.get("TERM") != "dumb" else None
        self._shown = ""

    @property
    def watched(self) -> bool:
        """Whether anything is shown at all."""
        return self._writer is not None

    def show(self, text: str) -> None:
        """Show the text, as far as a line has room for it."""
        if self._writer is None or text == self._shown:
            return
        # Back to where pytest goes on with its line; a line further down, the terminal may have scrolled by one.
        column = self._writer.width_of_current_line + 1
        self._write(f"\n{_ERASE_BELOW}{text[: self._writer.fullwidth - 1]}{_UP}\r\x1b[{column}G")
        self._shown = text

    def clear(self) -> None:
        """Take it away."""
        if self._shown:
            self._write(_ERASE_BELOW)
            self._shown = ""

    def _write(self, text: str) -> None:
        assert self._writer is not None, "something is shown"
        write_past(self._writer, text)


class LogThrottle:
    """Decides when a log is told how far the run is: not in a short run, and not all the time.

    Args:
        now: Seconds on the clock, at the run's begin.
    """

    def __init__(self, now: float) -> None:
        self._told, self._done = now, 0

    def is_due(self, tally: ProgressCounts, now: float) -> bool:
        """Whether to tell it now; then it counts as told."""
        quiet = now - self._told
        if quiet < _QUIET or tally.done >= tally.total:
            return False
        if tally.done - self._done < tally.total * _PART and quiet < _LONGEST:
            return False
        self._told, self._done = now, tally.done
        return True


class ProgressPlugin:
    """Follows a run in the process that reports, and has its progress shown.

    Args:
        config: pytest's configuration.
        total: How many tests there are.
        begun: When the first of them could begin, on the monotonic clock.
    """

    def __init__(self, config: pytest.Config, total: int, begun: float) -> None:
        self.progress = Progress(config)
        self._config = config
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._in_controller = config.pluginmanager.has_plugin("dsession")
        self._quiet_tests = self._in_controller or _are_quiet(config)
        self._tally, self._begun = ProgressCounts(total=total), begun
        #: Of each test that was reported, what it adds to the tally.
        self._reported: dict[str, tuple[bool, bool]] = {}
        in_log = self._reporter is not None and config.get_verbosity() >= 0 and not self.progress.watched
        self._log = LogThrottle(begun) if in_log else None

    @property
    def tally(self) -> ProgressCounts:
        """What has come of the run by now."""
        return self._tally._replace(seconds=time.monotonic() - self._begun)

    def pytest_tau_trials_running(self, running: int | None) -> None:
        """Show how many trials run, while the loop waits for them."""
        if running is None:
            self.progress.clear()
        else:
            self.progress.show(self.tally.text(running))
            self._tell_log(running)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logstart(self) -> Generator[None, None, None]:
        """A test begins: pytest may write its name, and then it is waited for."""
        self.progress.clear()
        yield
        self._show()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """A phase of a test has ended, of which pytest may write a letter."""
        self.progress.clear()
        if report.when == "teardown":
            self._count(report)
        yield
        self._show()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logfinish(self) -> Generator[None, None, None]:
        """A test has ended: pytest may write how far it is."""
        self.progress.clear()
        yield
        if self._in_controller:
            self._show()
        self._tell_log(None)

    @pytest.hookimpl(wrapper=True, optionalhook=True)
    def pytest_testnodedown(self) -> Generator[None, object, object]:
        """Something is told of a worker."""
        self.progress.clear()
        return (yield)

    def pytest_enter_pdb(self) -> None:
        """Somebody wants the terminal."""
        self.progress.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """The run is over, also where it was broken off."""
        self.progress.clear()

    def _show(self) -> None:
        """Show how far it is while a test is run; trials side by side are shown when they are waited for."""
        tally = self.tally
        if self._quiet_tests and not run_state(self._config).concurrent and tally.done < tally.total:
            self.progress.show(tally.text(None if self._in_controller else 1))

    def _tell_log(self, running: int | None) -> None:
        if self._log is not None and self._log.is_due(self.tally, time.monotonic()):
            self._reporter.ensure_newline()  # pytest goes on with a line of its own
            self._reporter.write_line(f"tau: {self.tally.text(running)}")

    def _count(self, report: pytest.TestReport) -> None:
        trial = trial_report(report)
        outcome = trial.record.outcome if trial and trial.record else None
        cost, unpriced = _paid(trial.usage if trial else None)
        # Of a test that is run again, the last counts; what each cost is paid.
        before = self._reported.get(report.nodeid, (False, False))
        now = self._reported[report.nodeid] = (outcome == "passed", outcome in ("passed", "failed"))
        tally = self._tally
        self._tally = tally._replace(
            done=len(self._reported),
            passed=tally.passed + now[0] - before[0],
            judged=tally.judged + now[1] - before[1],
            cost=tally.cost + cost,
            unpriced=tally.unpriced + unpriced,
        )


def _are_quiet(config: pytest.Config) -> bool:
    """Whether tests write nothing to the terminal while they run."""
    option = config.option
    live = getattr(option, "log_cli_level", None) or config.getini("log_cli")
    return not live and option.capture != "no" and not option.usepdb


def _paid(usage: dict[str, Any] | None) -> tuple[float, int]:
    """Return the USD of a trial's model calls and how many have an unknown price; replayed calls cost nothing."""
    if usage is None or usage["replayed"]:
        return 0.0, 0
    roles: list[dict[str, Any]] = list(usage["roles"].values())
    return sum(role["known_cost"] for role in roles), sum(role["unpriced_calls"] for role in roles)


def register(config: pytest.Config) -> None:
    """Register what starts to show progress; a worker's is shown by its controller."""
    if not is_worker(config):
        config.pluginmanager.register(ProgressActivator(config), f"{_PLUGIN}-start")


class ProgressActivator:
    """Waits until there are trials to be watched: a project without them pays nothing."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._total, self._begun = 0, 0.0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """In the only process, tests are known now."""
        self._total, self._begun = len(session.items), time.monotonic()
        if any(spec_of(item) is not None for item in session.items):
            self._watch()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Every worker finds the same tests, and only it knows which are trials."""
        self._total, self._begun = len(ids), self._begun or time.monotonic()

    def pytest_tau_phase_reported(self, trial: TrialReport) -> None:
        """In a controller, the first trial is reported."""
        if self._total and trial.simulated:
            self._watch()

    def _watch(self) -> None:
        if watch_of(self._config) is None:
            self._config.pluginmanager.register(ProgressPlugin(self._config, self._total, self._begun), _PLUGIN)


def watch_of(config: pytest.Config) -> ProgressPlugin | None:
    """What watches this run; None before there are trials to be watched."""
    watch = config.pluginmanager.get_plugin(_PLUGIN)
    return watch if isinstance(watch, ProgressPlugin) else None
