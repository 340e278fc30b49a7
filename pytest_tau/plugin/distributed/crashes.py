"""Crashed workers, in the xdist controller: the trial that one was running is an error, and named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ...clock import steady_time
from ..context.run_state import run_state
from ..items import TRIAL_ID
from ..wire import add_facts, input_of

if TYPE_CHECKING:
    from ...runs.groups import Group


class CrashReporter:
    """Reports the trial of a crashed worker as an error, and names the trials that run when the run is interrupted."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        #: The tests that workers run now, and when they began, by the monotonic clock.
        self._running: dict[str, float] = {}

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Turn the report on a crash into that of a trial, unless another plugin runs its test again."""
        if report.outcome == "failed" and is_trial(self._config, report.node, crashitem):
            _make_error(report, run_state(self._config).counts.planned.get(crashitem))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note which test a worker begins."""
        self._running[nodeid] = steady_time()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which test has ended, or has crashed its worker."""
        if report.when not in ("setup", "call"):
            self._running.pop(report.nodeid, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Name the trials that the workers run."""
        planned, now = run_state(self._config).counts.planned, steady_time()
        waiting = {test: now - began for test, began in self._running.items() if test in planned}
        self._config.hook.pytest_tau_trials_waiting(trials=waiting)


def is_trial(config: pytest.Config, node: Any, test: str) -> bool:
    """Return whether a test of a worker runs a trial; of a worker on another machine, by its node id."""
    planned = test in run_state(config).counts.planned
    return planned or (input_of(node).remote and TRIAL_ID.search(test) is not None)


def _make_error(report: pytest.TestReport, group: Group | None) -> None:
    """Turn the report into that of a trial with an error.

    Args:
        report: The report of xdist.
        group: The group of the trial; None if it is not known, as of a worker on another machine.
    """
    from ...models import INTERRUPTED, Notes
    from ...runs.record import TrialRecord
    from ..failure_repr import message_repr

    report.when = "teardown"  # the phase in which trials and test cases are counted
    report.location = (report.location[0], None, report.nodeid.rpartition("::")[2])
    worker = report.node.gateway.id
    message = f"worker {worker} crashed while it ran this trial; --tau-resume runs it again"
    report.longrepr = message_repr(message, report.nodeid)
    match = TRIAL_ID.search(report.nodeid)
    if group is None or match is None:
        return
    number = int(match[1])
    properties = {"tau_domain": group.domain, "tau_task": group.task_id, "tau_trial": number, "tau_outcome": "error"}
    report.user_properties += properties.items()
    record = TrialRecord(
        domain=group.domain,
        task_id=group.task_id,
        trial=number,
        termination_reason="infrastructure_error",
        error=message,
        test=report.nodeid,
        info=Notes(error_kind=INTERRUPTED),
    )
    add_facts(report, record=record, simulated=True, interrupted=True)
