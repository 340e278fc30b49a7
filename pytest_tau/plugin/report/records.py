"""The records of trials: facts are put on pytest's reports, and passed to the plugin's hooks as reports arrive."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from ..context.run_state import run_state
from ..items import item_state, spec_of
from ..wire import add_facts, is_worker, trial_report
from .junit import add_user_properties

if TYPE_CHECKING:
    from collections.abc import Generator

    from ...runs.record import TrialRecord

_PLUGIN = "tau-records"


def register(config: pytest.Config) -> None:
    """Register the collector of the records."""
    config.pluginmanager.register(TrialRecords(config), _PLUGIN)


def records_of(config: pytest.Config) -> list[TrialRecord]:
    """Return the records of the trials that were reported so far, in order; none in a worker."""
    records = config.pluginmanager.get_plugin(_PLUGIN)
    return records.found if isinstance(records, TrialRecords) else []


class TrialRecords:
    """Collects records by node id; of a test that is run again, the last one."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._found: dict[str, TrialRecord] = {}
        self._last: Any = None

    @property
    def found(self) -> list[TrialRecord]:
        """Return the records in the order of the reports."""
        return list(self._found.values())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the facts of the trial on the report; with the last report of a test also the record."""
        report = yield
        if spec_of(item) is not None:
            _add_facts(item, report)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Pass the facts of a trial to the plugin's hooks, before pytest counts the report."""
        trial = trial_report(report)
        if trial is None or is_worker(self._config):
            return
        self._last = report
        if trial.record is not None:
            self._count(report.nodeid, trial.record)
        self._config.hook.pytest_tau_phase_reported(report=report, trial=trial)
        if trial.record is not None:
            self._config.hook.pytest_tau_trial_reported(report=report, trial=trial, record=trial.record)

    def _count_interrupted(self, item: pytest.Item) -> None:
        trial = trial_report(self._last)
        record = item_state(item).record if spec_of(item) is not None else None
        if record is None or trial is None or trial.record is not None or self._last.nodeid != item.nodeid:
            return
        report = copy.copy(self._last)
        report.when = "teardown"
        add_facts(report, record=record)
        self._count(item.nodeid, record)
        self._config.hook.pytest_tau_phase_reported(report=report, trial=report.tau)
        self._config.hook.pytest_tau_trial_reported(report=report, trial=report.tau, record=record)
        add_user_properties(self._config, report)

    def _count(self, nodeid: str, record: TrialRecord) -> None:
        self._found[nodeid] = record
        run_state(self._config).counts.ran.add(nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Count the trial of a test that the end of the run has interrupted, as ``q`` in ``--pdb`` does.

        Such a test has no report on its teardown.
        """
        try:
            return (yield)
        except BaseException:
            self._count_interrupted(item)
            raise


def _add_facts(item: pytest.Item, report: Any) -> None:
    """Add the facts of the item's trial that are known by now."""
    state = item_state(item)
    facts = {name: value for name, value in vars(state.report).items() if value is not None}
    if state.simulation is not None:
        facts |= {"simulated": True, "replay_differences": len(state.simulation.replay_differences or ())}
        facts["record"] = state.record if report.when == "teardown" else None
    add_facts(report, **facts)
