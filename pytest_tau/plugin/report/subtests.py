"""pytest's ``subtests``: a failed one fails the trial of its test, and its report is not that of the trial."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from ...text import plural
from ..wire import add_facts, trial_report

if TYPE_CHECKING:
    from collections.abc import Generator

    from ..wire import Gated


def register(config: pytest.Config) -> None:
    """Register what fails the trials; after the gates, which then decide on reports that have failed."""
    config.pluginmanager.register(Subtests(), "tau-subtests")


class Subtests:
    """Fails the trials of failed subtests, in the process that runs them.

    pytest does so itself, but only when the terminal shows the report: after the gates, and not in a worker.
    """

    def __init__(self) -> None:
        #: For each failed subtest, by the node id of its test, which gate decides instead of it.
        self._failed: defaultdict[str, list[Gated | None]] = defaultdict(list)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> Generator[None, None, None]:
        """Note a failed subtest; fail the trial that has one."""
        trial = trial_report(report)
        if trial is not None and report.when == "call":
            if isinstance(report, pytest.SubtestReport):
                if report.failed:
                    self._failed[report.nodeid].append(trial.gated)
            elif (gates := self._failed.pop(report.nodeid, None)) and report.passed:
                report.outcome, report.longrepr = "failed", f"contains {plural(len(gates), 'failed subtest')}"
                add_facts(report, gated=None if None in gates else "broken" if "broken" in gates else "failing")
        yield
