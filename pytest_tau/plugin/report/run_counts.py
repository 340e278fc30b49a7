"""Out of how many: what was planned, what ran and why the rest did not. Terminal, report and ``run.json`` ask here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ..distributed.crash_recovery import TRIAL
from ..run.fixtures import case_of
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...runs.record import TrialRecord

_PLUGIN = "tau-denominators"


def denominator_lines(
    planned: Mapping[str, tuple[str, str]],
    records: Iterable[TrialRecord],
    reasons: Mapping[str, str] | None = None,
    left_out: Mapping[str, int] | None = None,
) -> list[str]:
    """How many trials were planned, how many have a verdict, and what became of the rest; one line, or none.

    Args:
        planned: Domain and task of each trial that was to be run, by node id.
        records: Of the trials that were run.
        reasons: By node id, why a trial was not run, where that is known.
        left_out: How many trials were left out at collection, by reason.
    """
    if not planned and not left_out:
        return []
    from ...text import plural

    outcomes = {record.test: record.outcome for record in records if record.test in planned}
    missing = Counter((reasons or {}).get(test, "not reached") for test in planned if test not in outcomes)
    errors = sum(outcome == "error" for outcome in outcomes.values())
    told = [f"{len(outcomes) - errors:,} run"] if errors or missing else ["all run"]
    told += [plural(errors, "error")] if errors else []
    told += [f"{number:,} not run ({why})" for why, number in missing.most_common()]
    line = f"{_planned(planned)}: {', '.join(told)}" if planned else "no trials planned"
    elsewhere = ", ".join(f"{number:,} {why}" for why, number in (left_out or {}).items() if number)
    return [f"{line}; left out: {elsewhere}" if elsewhere else line]


def _planned(planned: Mapping[str, tuple[str, str]]) -> str:
    from ...text import plural

    tasks = Counter(planned.values())
    each = set(tasks.values())
    if len(each) == 1:
        return f"{plural(len(tasks), 'task')} x {plural(each.pop(), 'trial')} planned"
    return f"{plural(len(tasks), 'task')}, {plural(len(planned), 'trial')} planned"


def configure(config: pytest.Config) -> None:
    """Begin to count what is planned, and what of it is not run."""
    config.pluginmanager.register(Denominators(config), _PLUGIN)


def denominators_of(config: pytest.Config) -> Denominators:
    """Those of a run."""
    found: Any = config.pluginmanager.get_plugin(_PLUGIN)
    assert isinstance(found, Denominators)  # registered for every run
    return found


class Denominators:
    """What was planned, and why trials were not run; in the process that reports, and in its workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        #: Domain and task by node id.
        self.planned: dict[str, tuple[str, str]] = {}
        #: By node id, why a trial was not run.
        self.reasons: dict[str, str] = {}
        self._deselected = 0
        #: Whether a worker has told what it has planned.
        self._told = False

    @property
    def trials(self) -> dict[str, dict[str, int]]:
        """How many trials of each task are planned, by domain and task id."""
        found: dict[str, dict[str, int]] = {}
        for (domain, task), number in Counter(self.planned.values()).items():
            found.setdefault(domain, {})[task] = number
        return found

    @property
    def left_out(self) -> dict[str, int]:
        """How many trials were left out at collection, by reason."""
        shard: Any = self._config.pluginmanager.get_plugin("tau-shard")
        elsewhere = shard.counts.trials - shard.counts.mine if shard and shard.counts else 0
        found = {"in other shards": elsewhere, "deselected": self._deselected - elsewhere}
        return {why: number for why, number in found.items() if number > 0}

    @property
    def excluded(self) -> dict[str, int]:
        """How many trials were not run so far, by reason: those left out, and those of the planned ones."""
        ran = {record.test for record in records_of(self._config)}
        return {**self.left_out, **Counter(why for test, why in self.reasons.items() if test not in ran)}

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """By ``-k``, ``-m``, ``--lf``, and whatever else chooses."""
        self._deselected += sum(case_of(item) is not None for item in items)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what is to be run; a worker has its controller know."""
        cases = {item.nodeid: case for item in session.items if (case := case_of(item)) is not None}
        self.planned = {test: (case.domain.name, case.task.id) for test, case in cases.items()}
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[_PLUGIN] = [self.planned, self._deselected]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """In the controller: what node ids tell, should the workers be interrupted before they tell more."""
        if not self._told:
            places = {test: test.rpartition("::") for test in ids if TRIAL.search(test)}
            self.planned = {test: (file, TRIAL.sub("", name)) for test, (file, _, name) in places.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear from an xdist worker what was planned; every one plans the same."""
        told = getattr(node, "workeroutput", {}).get(_PLUGIN)
        if told and not self._told:
            self._told = True
            self.planned = {test: (domain, task) for test, (domain, task) in told[0].items()}
            self._deselected = told[1]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Why a trial was not run: it was skipped before it began, or its setup broke."""
        if report.when != "setup" or "tau" not in report.keywords:
            return
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "skipped"
            spent = "tau_not_run" in dict(report.user_properties)
            told = "the budget was spent" if spent else reason.removeprefix("Skipped: ").removeprefix("not run: ")
            self.reasons[report.nodeid] = told
        elif report.failed:
            self.reasons[report.nodeid] = "it broke in its setup"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The denominators and the flaky tasks, where there were trials."""
        records = records_of(self._config)
        if self._config.option.collectonly or not (self.planned or records):
            return
        from ...analysis.flaky import flaky_lines

        lines = denominator_lines(self.planned, records, self.reasons, self.left_out)
        for line in [*lines, *flaky_lines(records, self._config.get_verbosity())]:
            terminalreporter.write_line(f"tau: {line}")
