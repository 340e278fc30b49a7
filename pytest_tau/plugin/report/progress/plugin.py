"""The plugin that counts what is reported, and shows the progress between pytest's own lines."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import pytest

from ....text import listed, printable
from ...compat import terminal_writer
from ...context.run_state import run_state
from ...items import spec_of
from ...wire import TrialReport, is_worker, trial_report
from .display import LogThrottle, ProgressCounts, ProgressLine, WaitThrottle

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

_PLUGIN = "tau-progress"
#: So many trials that are waited for are named.
_NAMED = 3
#: The least seconds of a trial that an interruption names.
_NOTICEABLE = 2.0


class ProgressPlugin:
    """Counts what is reported, in the process that reports, and shows the progress.

    Args:
        config: pytest's configuration.
        total: The number of tests.
        started: The earliest start of the first test, on the monotonic clock.
    """

    def __init__(self, config: pytest.Config, total: int, started: float) -> None:
        self._line = ProgressLine(config)
        self._config = config
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._in_controller = config.pluginmanager.has_plugin("dsession")
        self._quiet_tests = self._in_controller or _are_quiet(config)
        self._counts, self._started = ProgressCounts(total=total), started
        #: Whether each test that was reported passed, and has a verdict, by node id.
        self._reported: dict[str, tuple[bool, bool]] = {}
        in_log = self._reporter is not None and config.get_verbosity() >= 0 and not self._line.enabled
        self._log = LogThrottle(started) if in_log else None
        self._waits, self._waiting = WaitThrottle(started), dict[str, float]()

    @property
    def counts(self) -> ProgressCounts:
        """Return the counts by now."""
        return self._counts._replace(seconds=time.monotonic() - self._started)

    def pytest_tau_trials_running(self, running: int | None) -> None:
        """Show how many trials run, while the loop waits for them."""
        if running is None:
            self._line.clear()
        else:
            self._line.show(self.counts.text(running))
            self._log_line(running)

    def pytest_tau_trials_waiting(self, trials: Mapping[str, float]) -> None:
        """Name the trials that are waited for, if no test was reported for long."""
        self._waiting = dict(trials)
        if self._waits.is_due(time.monotonic()):
            self._write_waiting()

    def pytest_keyboard_interrupt(self) -> None:
        """Name the trials that were waited for."""
        self._waiting = {test: seconds for test, seconds in self._waiting.items() if seconds >= _NOTICEABLE}
        self._write_waiting()

    def _write_waiting(self) -> None:
        if self._reporter is None or self._config.get_verbosity() < 0 or not self._waiting:
            return
        longest = sorted(self._waiting.items(), key=lambda each: -each[1])
        named = listed([f"{printable(test)} ({seconds:.0f} s)" for test, seconds in longest], _NAMED)
        self._line.clear()
        self._reporter.ensure_newline()  # pytest continues on a new line
        writer = terminal_writer(self._reporter)
        if writer.width_of_current_line:
            writer.line()  # under xdist, pytest does not know that it has written letters
        self._reporter.write_line(f"tau: waiting for {named}")

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
            self._waits.reset(time.monotonic())
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
        if not self._line.enabled:
            return
        counts = self.counts
        if self._quiet_tests and not run_state(self._config).concurrent and counts.done < counts.total:
            self._line.show(counts.text(None if self._in_controller else 1))

    def _log_line(self, running: int | None) -> None:
        if self._log is not None and self._log.is_due(self.counts, time.monotonic()):
            self._reporter.ensure_newline()  # pytest continues on a new line
            self._reporter.write_line(f"tau: {self.counts.text(running)}")

    def _count(self, report: pytest.TestReport) -> None:
        trial = trial_report(report)
        outcome = trial.record.outcome if trial and trial.record else None
        cost, unpriced = _paid(trial.usage if trial else None)
        # Of a test that is run again, the last outcome counts, and the cost of all.
        before = self._reported.get(report.nodeid, (False, False))
        now = self._reported[report.nodeid] = (outcome == "passed", outcome in ("passed", "failed"))
        counts = self._counts
        self._counts = counts._replace(
            done=len(self._reported),
            passed=counts.passed + now[0] - before[0],
            judged=counts.judged + now[1] - before[1],
            cost=counts.cost + cost,
            unpriced=counts.unpriced + unpriced,
        )


def _are_quiet(config: pytest.Config) -> bool:
    """Return whether tests write nothing to the terminal while they run."""
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
    """Register what starts to show progress; not in a worker, whose controller shows it."""
    if not is_worker(config):
        config.pluginmanager.register(ProgressActivator(config), f"{_PLUGIN}-start")


class ProgressActivator:
    """Registers the plugin once there are trials, so that other runs do without it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._total, self._started = 0, 0.0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests; register the plugin if there are trials among them."""
        self._total, self._started = len(session.items), time.monotonic()
        if any(spec_of(item) is not None for item in session.items):
            self._activate()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Count the tests in a controller; only its workers know which of them are trials."""
        self._total, self._started = len(ids), self._started or time.monotonic()

    def pytest_tau_phase_reported(self, trial: TrialReport) -> None:
        """Register the plugin in a controller, at the first report of a trial."""
        if self._total and trial.simulated:
            self._activate()

    def _activate(self) -> None:
        manager = self._config.pluginmanager
        if not manager.has_plugin(_PLUGIN):
            manager.register(ProgressPlugin(self._config, self._total, self._started), _PLUGIN)
