"""The exit status of a run: usage errors, trials that were not run, and the verdicts of other modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ...text import plural
from ..compat import add_to_last_line
from ..context.run_state import get_context, run_state
from ..options import options_given, runs_no_test
from ..seams import SummaryLine
from ..wire import is_worker, trial_report
from .terminal import write_wrapped
from .trial_reports import records_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


#: Options that ask for tasks; the others are settings of the trials that there are.
_ASK_FOR_TASKS = ("tau_domain", "tau_task", "tau_shard")
#: What pytest lists in its short summary, by the character of ``-r``.
_SHOWN_BY = {"x": "xfailed", "X": "xpassed", "f": "failed", "E": "error", "s": "skipped", "p": "passed"}


def register(config: pytest.Config) -> None:
    """Register what sets the exit status."""
    config.pluginmanager.register(ExitStatus(config), "tau-exit-status")


class ExitStatus:
    """Sets the exit status."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._usage_errors = 0
        self._counts = run_state(config).counts
        self._tests_ran = self._others_passed = False
        #: Why no budget can be kept, as it is said of the first trial that this has stopped.
        self._without_price = ""
        self._status = 0

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count collectors that failed with a usage error."""
        self._usage_errors += hasattr(report, "tau_usage_error")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Run nothing in a worker after a usage error: pytest interrupts such a run, and pytest-xdist does not."""
        if self._usage_errors and is_worker(self._config) and not self._config.option.continue_on_collection_errors:
            items.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record that a test has run, and whether one without a simulation has passed."""
        self._tests_ran = True
        trial = trial_report(report)
        self._others_passed |= report.when == "call" and report.passed and not (trial and trial.simulated)
        if trial is not None and trial.not_run == "price" and isinstance(report.longrepr, tuple):
            self._without_price = self._without_price or report.longrepr[2].removeprefix("Skipped: not run: ")

    @property
    def _not_run(self) -> int:
        """Return the number of trials that a budget has stopped."""
        return sum(trial.not_run in ("budget", "price") for _, trial in self._counts.ended)

    @property
    def _not_kept(self) -> int:
        """Return the number of simulations that could not be stored."""
        return sum(trial.results_problem is not None for _, trial in self._counts.ended)

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the reason of an exit status that no other line explains."""
        counts = self._counts
        silent = self._is_success() and not options_given(self._config)
        unexplained = self._without_effect() and not (silent or self._may_be_empty)
        if unexplained and self._status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            text = "tau: no simulation was run; give a domain with --tau-domain, task files or marked tests"
            if counts.planned:
                reasons = sorted(set(counts.reasons.values())) or ["skipped"]
                text = f"tau: no simulation was run (reason: {'; '.join(reasons)})"
            elif names := run_state(self._config).excluded:
                text = (
                    f"tau: no simulation was run; with paths, the named domain is not run ({', '.join(names)}); run "
                    f"pytest without paths, or name its tasks: pytest '{names[0]}::TASK'"
                )
            yield SummaryLine(text, {"yellow": True})
        if self._not_run:
            why = self._without_price.removesuffix(", which has stopped this trial") or "the budget is spent"
            yield SummaryLine(f"tau: {plural(self._not_run, 'trial')} not run: {why}", {"red": True})
        if self._not_kept:
            number = plural(self._not_kept, "simulation")
            text = f"tau: the run failed: {number} could not be stored in the folder of the run"
            yield SummaryLine(text, {"red": True})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
        """Set the exit status, after all other plugins."""
        self._status = exitstatus
        yield
        if is_worker(self._config):
            return
        if self._usage_errors and not self._tests_ran:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        elif session.exitstatus == pytest.ExitCode.OK and self._failures():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif self._may_be_empty and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK
        elif self._is_empty():
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Let the short summary and the last line say why the run fails, before the lines of the gates."""
        yield
        failures = [*self._failures(), *(["no simulation was run"] if self._is_empty() else [])]
        if not failures:
            return
        stats, chars = terminalreporter.stats, terminalreporter.reportchars
        if not terminalreporter.no_summary and not any(stats.get(_SHOWN_BY.get(char)) for char in chars):
            terminalreporter.write_sep("=", "short test summary info", cyan=True, bold=True)
        write_wrapped(terminalreporter, self._config, f"tau: the run failed: {', '.join(failures)}", red=True)
        add_to_last_line(terminalreporter, failures)

    def _failures(self) -> list[str]:
        """Return why the run fails even if no test does."""
        reasons = [*self._config.hook.pytest_tau_exit_verdict()]
        reasons += ["price not known" if self._without_price else "budget spent"] if self._not_run else []
        reasons += ["results not stored"] if self._not_kept else []
        return list(dict.fromkeys(reasons))

    def _is_empty(self) -> bool:
        """Return whether pytest considers a run a success that was to have a simulation and has none."""
        without_effect = self._status == pytest.ExitCode.OK and self._without_effect()
        return without_effect and not (self._is_success() or self._may_be_empty)

    @property
    def _may_be_empty(self) -> bool:
        """Return whether there are trials, and none for this run: more machines than trials, or no change."""
        return self._counts.empty_part

    def _is_success(self) -> bool:
        """Return whether a run without a simulation is one, as other tests passed and no task was asked for."""
        return self._others_passed and not any(
            self._config.getoption(name, None) is not None for name in _ASK_FOR_TASKS
        )

    def _without_effect(self) -> bool:
        """Return whether there are settings of trials, and no simulation took place."""
        dry = runs_no_test(self._config) or getattr(self._config.option, "setuponly", False)
        return get_context(self._config) is not None and not dry and not records_of(self._config) and not self._not_run
