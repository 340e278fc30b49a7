"""Recovery from killed workers, in the xdist controller: a lost trial is run again, once."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ..context.run_state import run_state
from ..items import TRIAL_ID
from ..report.junit import discard_rerun, uncount
from ..seams import SummaryBlock, SummaryLine
from ..wire import add_facts, input_of
from .compat import controller_scheduler, mark_completed, run_again
from .journal import MAX_CRASHES, JournalEntry

if TYPE_CHECKING:
    from collections.abc import Iterator


class CrashRecovery:
    """Schedules lost trials again; reports an error for those that are lost again.

    Args:
        config: The controller's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._crashes: Counter[str] = Counter()
        self._schedule: Any = None
        self._workers = 0
        #: The last test of each worker of which every phase was reported.
        self._reported: dict[Any, str] = {}
        #: The reports of each worker on the test that it runs now.
        self._unfinished: dict[Any, list[pytest.TestReport]] = {}

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Keep the journal of a lost worker, before its tests are distributed to others."""
        journal = run_state(self._config).paths.make_shared() / f"{node.gateway.id}.running"
        if error and journal.exists():
            journal.replace(journal.with_suffix(".lost"))
        sched = controller_scheduler(self._config)
        # A run without trials is left to xdist.
        if error and node in self._reported and sched and run_state(self._config).counts.planned:
            mark_completed(sched, node, self._reported[node])

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport, sched: Any) -> None:
        """Schedule the test of a killed worker again; the worker may also have run prefetched trials."""
        worker = report.node.gateway.id
        entry = JournalEntry.read(run_state(self._config).paths.make_shared() / f"{worker}.lost")
        ran_trial = is_trial(self._config, report.node, crashitem)
        if not ran_trial and not (entry and entry.running):
            return
        self._schedule = sched
        self._crashes[crashitem] += 1
        if self._crashes[crashitem] < MAX_CRASHES:
            if run_again(sched, crashitem):
                self._workers += 1
                self._discard_reports(crashitem, self._unfinished.pop(report.node, []))
                report.outcome = "rerun"  # type: ignore[assignment]
        elif ran_trial:
            _make_error(report, entry if entry and entry.test == crashitem else None)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record which test a worker has finished; remove reruns from ``--junitxml``."""
        node = getattr(report, "node", None)
        if report.when == "teardown":
            self._reported[node] = report.nodeid
            self._unfinished.pop(node, None)
        elif not _is_rerun(report):
            self._unfinished.setdefault(node, []).append(report)
        if _is_rerun(report):
            discard_rerun(self._config, report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, Any] | None:
        """Return category, letter and word of a test that is run again."""
        return ("rerun", "R", ("RERUN", {"yellow": True})) if _is_rerun(report) else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Note the trials that the workers run; their journals were written when they began."""
        running = {}
        for file in run_state(self._config).paths.make_shared().glob("*.running"):
            entry = JournalEntry.read(file)
            if entry and entry.trial and entry.test not in self._reported.values():
                running[entry.test] = time.time() - file.stat().st_mtime
        self._config.hook.pytest_tau_trials_waiting(trials=running)

    def pytest_tau_exit_verdict(self) -> pytest.ExitCode | None:
        """Fail a run in which tests were lost."""
        return pytest.ExitCode.TESTS_FAILED if self._lost() else None

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return the number of lost workers, and whether their tests were run."""
        return SummaryBlock("lost workers", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        lost = "1 worker was" if self._workers == 1 else f"{self._workers} workers were"
        if self._lost():
            yield SummaryLine(f"tau: not every test was run: {lost} lost and not replaced", {"red": True})
        elif self._workers:
            yield SummaryLine(f"tau: {lost} lost; the trials that were running there were run again", {"yellow": True})

    def _discard_reports(self, test: str, unfinished: list[pytest.TestReport]) -> None:
        """Remove the reports on a test that the worker did not finish from the counts of terminal and JUnit XML."""
        for report in unfinished:
            uncount(self._config, report)
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        for reports in terminal.stats.values() if terminal else ():
            reports[:] = [each for each in reports if getattr(each, "nodeid", None) != test]

    def _lost(self) -> bool:
        return self._schedule is not None and bool(self._schedule.has_pending)


def is_trial(config: pytest.Config, node: Any, test: str) -> bool:
    """Return whether a test of a worker runs a trial; of a worker on another machine, by its node id."""
    planned = test in run_state(config).counts.planned
    return planned or (input_of(node).remote and TRIAL_ID.search(test) is not None)


def _is_rerun(report: Any) -> bool:
    # Other plugins give this outcome to reports of a phase; xdist reports a crash with this one.
    return bool(report.outcome == "rerun" and report.when == "???")


def _make_error(report: pytest.TestReport, entry: JournalEntry | None) -> None:
    """Turn the report into that of a trial with an error."""
    report.when = "teardown"  # the phase in which trials and test cases are counted
    report.location = (report.location[0], None, report.nodeid.rpartition("::")[2])
    message = f"the worker crashed {MAX_CRASHES} times while it ran this trial; it is not run again"
    from ..failure_repr import message_repr

    report.longrepr = message_repr(message, report.nodeid)
    if entry and entry.trial:
        from ...runs.record import TrialRecord

        domain, task, number = entry.trial
        named = {"tau_domain": domain, "tau_task": task, "tau_trial": number, "tau_outcome": "error"}
        report.user_properties += named.items()
        record = TrialRecord(
            domain=domain,
            task_id=task,
            trial=number,
            outcome="error",
            reward=0.0,
            termination_reason="infrastructure_error",
            error=message,
            test=report.nodeid,
        )
        add_facts(report, record=record, simulated=True)
