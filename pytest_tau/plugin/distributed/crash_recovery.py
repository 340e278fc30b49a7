"""In the xdist controller: a trial whose worker was killed is run again, once."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ..wire import share_folder
from .worker import MOST_CRASHES, Note

if TYPE_CHECKING:
    from collections.abc import Generator

#: How the id of a trial looks: ``task[trial-0]``, or ``test[task-trial-0]``.
TRIAL = re.compile(r"[\[-]trial-\d+[-\]]")


class Crashes:
    """Has trials run again; tells it where one was lost for good."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._crashes: Counter[str] = Counter()
        self._schedule: Any = None
        self._workers = 0
        #: The last test that each worker reported whole.
        self._reported: dict[Any, str] = {}

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker is gone; before its tests are given to others, let them know what it did."""
        note = share_folder(self._config) / f"{node.gateway.id}.running"
        if error and note.exists():
            note.replace(note.with_suffix(".lost"))
        session = self._config.pluginmanager.getplugin("dsession")
        if error and node in self._reported and session and session.sched:
            _complete(session.sched, node, self._reported[node])

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport, sched: Any) -> None:
        """A worker was killed while it ran this test, and maybe held trials of others."""
        worker = report.node.gateway.id
        note = Note.read(share_folder(self._config) / f"{worker}.lost")
        is_trial = TRIAL.search(crashitem) is not None
        if not is_trial and not (note and note.under_way):
            return
        self._schedule = sched
        self._crashes[crashitem] += 1
        if self._crashes[crashitem] < MOST_CRASHES:
            if _run_again(sched, crashitem):
                self._workers += 1
                self._forget(crashitem)
                report.outcome = "rerun"  # type: ignore[assignment]
        elif is_trial:
            _make_error(report, note if note and note.test == crashitem else None)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what is no result out of ``--junitxml``, where it has made a test case without a name."""
        if report.when == "teardown":
            self._reported[getattr(report, "node", None)] = report.nodeid
        if not _is_rerun(report):
            return
        from _pytest.junitxml import xml_key

        xml = self._config.stash.get(xml_key, None)
        if xml is not None:
            case = xml.node_reporter(report)
            if case in xml.node_reporters_ordered:
                xml.node_reporters_ordered.remove(case)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, Any] | None:
        """How a test that is run again is told."""
        return ("rerun", "R", ("RERUN", {"yellow": True})) if _is_rerun(report) else None

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
        """A run that has lost tests is no success."""
        yield
        if self._lost() and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was run again, and what was not."""
        lost = "1 worker was" if self._workers == 1 else f"{self._workers} workers were"
        if self._lost():
            terminalreporter.write_line(f"tau: not every test was run: {lost} lost, and not replaced", red=True)
        elif self._workers:
            terminalreporter.write_line(f"tau: {lost} lost; the trials under way there were run again", yellow=True)

    def _forget(self, test: str) -> None:
        """Uncount what the worker has reported of a test that it did not finish."""
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        for reports in terminal.stats.values() if terminal else ():
            reports[:] = [each for each in reports if getattr(each, "nodeid", None) != test]

    def _lost(self) -> bool:
        return self._schedule is not None and bool(self._schedule.has_pending)


def _is_rerun(report: Any) -> bool:
    # Of other plugins, reports of this outcome have one of pytest's phases.
    return bool(report.outcome == "rerun" and report.when == "???")


def _complete(sched: Any, node: Any, test: str) -> None:
    """A worker that is killed right after the report of a test has not told xdist that the test is over."""
    if hasattr(sched, "assigned_work"):
        for unit in sched.assigned_work.get(node, {}).values():
            if test in unit:
                unit[test] = True
    elif sched.collection and node in getattr(sched, "node2pending", {}):
        pending, index = sched.node2pending[node], sched.collection.index(test)
        if index in pending:
            pending.remove(index)


def _run_again(sched: Any, test: str) -> bool:
    """Have a test run again; returns whether it will be."""
    if hasattr(sched, "workqueue"):
        return True  # --dist=loadscope and its kin have done so
    try:
        sched.mark_test_pending(test)
    except NotImplementedError:
        return False
    return True


def _make_error(report: pytest.TestReport, note: Note | None) -> None:
    """Make the report that of a trial that ended in an error."""
    from ..report.failures import told

    report.when = "teardown"  # the last phase: what counts trials and test cases looks there
    report.location = (report.location[0], None, report.nodeid.rpartition("::")[2])
    message = f"the worker was killed while it ran this trial, {MOST_CRASHES} times; it is not run again"
    report.longrepr = told(message, report.nodeid)
    if note and note.trial:
        domain, task, number = note.trial
        named = {"tau_domain": domain, "tau_task": task, "tau_trial": number, "tau_outcome": "error"}
        report.user_properties += named.items()
        lost: Any = report
        lost.tau_record = {"domain": domain, "task_id": task, "trial": number, "outcome": "error", "reward": 0.0}
        lost.tau_record |= {"termination_reason": "infrastructure_error", "error": message, "test": report.nodeid}
