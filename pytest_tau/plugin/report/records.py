"""The facts of every trial that was reported, in the process that reports: this one, or xdist's controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..context.state import if_active
from ..run.fixtures import SIMULATION, case_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from ...runs.record import TrialRecord

#: What the item of a simulation that was taken from an earlier run is marked with.
RESTORED = pytest.StashKey[bool]()


class TrialRecords:
    """Collects records by node id: of a test that is run again, the last."""

    def __init__(self) -> None:
        self._found: dict[str, TrialRecord] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the record that a finished test has brought along."""
        if report.when == "teardown" and (told := getattr(report, "tau_record", None)) is not None:
            from ...runs.record import TrialRecord

            self._found[report.nodeid] = TrialRecord.from_dict(told)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send the facts along with the last report of a test, also from a worker to its controller."""
        report = yield
        if report.when == "teardown" and (simulation := item.stash.get(SIMULATION, None)) is not None:
            from ...runs.record import TrialRecord

            case = case_of(item)
            domain, task = (case.domain.name, case.task) if case else ("", None)
            restored = item.stash.get(RESTORED, False)
            active = if_active(item.config)
            record = TrialRecord.of(
                simulation,
                task,
                domain,
                item.nodeid,
                restored=restored,
                evaluators=active.evaluators if active else (),
            )
            report.tau_record = record.as_dict()  # type: ignore[attr-defined]
        return report

    @property
    def found(self) -> list[TrialRecord]:
        """In the order of the reports."""
        return list(self._found.values())


def configure(config: pytest.Config) -> None:
    """Begin to collect."""
    config.pluginmanager.register(TrialRecords(), "tau-records")


def records_of(config: pytest.Config) -> list[TrialRecord]:
    """The record of every trial that was reported so far, in order."""
    records = config.pluginmanager.get_plugin("tau-records")
    return records.found if isinstance(records, TrialRecords) else []
