"""The numbers of trials that were planned, run, and not run, with the reasons; a line of the terminal summary."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ..context.run_state import run_state
from ..items import TRIAL_ID, spec_of
from ..seams import SummaryBlock, SummaryLine
from ..wire import give_output, output_of
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...runs.record import TrialRecord
    from ..store.run_counts import RunCounts
    from ..wire import TrialReport


def count_lines(
    planned: Mapping[str, tuple[str, str]],
    records: Iterable[TrialRecord],
    reasons: Mapping[str, str] | None = None,
    not_collected: Mapping[str, int] | None = None,
) -> list[str]:
    """Return the numbers of trials that were planned, run, and not run, with the reasons; one line, or none.

    Args:
        planned: Domain and task of each planned trial, by node id.
        records: The records of the trials that were run.
        reasons: The reasons why trials were not run, by node id, if known.
        not_collected: The numbers of trials that were excluded at collection, by reason.
    """
    if not planned and not not_collected:
        return []
    from ...text import plural

    outcomes = {record.test: record.outcome for record in records if record.test in planned}
    missing = Counter((reasons or {}).get(test, "not reached") for test in planned if test not in outcomes)
    errors = sum(outcome == "error" for outcome in outcomes.values())
    parts = [f"{len(outcomes) - errors:,} run"] if errors or missing else ["all run"]
    parts += [plural(errors, "error")] if errors else []
    parts += [f"{number:,} not run ({why})" for why, number in missing.most_common()]
    line = f"{_planned(planned)}: {', '.join(parts)}" if planned else "no trials planned"
    elsewhere = ", ".join(f"{number:,} {why}" for why, number in (not_collected or {}).items() if number)
    return [f"{line}; left out: {elsewhere}" if elsewhere else line]


def _planned(planned: Mapping[str, tuple[str, str]]) -> str:
    from ...text import plural

    tasks = Counter(planned.values())
    each = set(tasks.values())
    if len(each) == 1:
        return f"{plural(len(tasks), 'task')} x {plural(each.pop(), 'trial')} planned"
    return f"{plural(len(tasks), 'task')}, {plural(len(planned), 'trial')} planned"


def register(config: pytest.Config) -> None:
    """Register the counter of trials."""
    config.pluginmanager.register(TrialCounter(config, run_state(config).counts), "tau-counts")


class TrialCounter:
    """Counts planned trials and why some were not run; in the process that reports, and in its workers.

    Args:
        config: pytest's configuration.
        counts: The counts of the run; filled here.
    """

    def __init__(self, config: pytest.Config, counts: RunCounts) -> None:
        self._config, self._counts = config, counts
        #: Whether a worker's output has given the planned trials.
        self._informed = False

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the trials that ``-k``, ``-m``, ``--lf`` and other plugins deselect."""
        self._counts.deselected += sum(spec_of(item) is not None for item in items)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record the planned trials; a worker passes them to its controller."""
        specs = {item.nodeid: spec for item in session.items if (spec := spec_of(item)) is not None}
        self._counts.planned = {test: (spec.domain.name, spec.task.id) for test, spec in specs.items()}
        give_output(self._config, planned=self._counts.planned, deselected=self._counts.deselected)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Take the planned trials from node ids, in the controller, in case the workers are interrupted."""
        if not self._informed:
            places = {test: test.rpartition("::") for test in ids if TRIAL_ID.search(test)}
            self._counts.planned = {test: (file, TRIAL_ID.sub("", name)) for test, (file, _, name) in places.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the planned trials from a worker; every worker plans the same ones."""
        output = output_of(node)
        if "planned" in output and not self._informed:
            self._informed = True
            self._counts.planned = {test: (domain, task) for test, (domain, task) in output["planned"].items()}
            self._counts.deselected = output["deselected"]

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Record why a trial was not run: it was skipped, or its setup failed."""
        if report.when != "setup":
            return
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "skipped"
            spent = trial.not_run == "budget"
            why = "the budget was spent" if spent else reason.removeprefix("Skipped: ").removeprefix("not run: ")
            self._counts.reasons[report.nodeid] = why
        elif report.failed:
            self._counts.reasons[report.nodeid] = "it broke in its setup"

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return the counts and the flaky tasks, if there were trials."""
        return SummaryBlock("counts", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        records, counts = records_of(self._config), self._counts
        if self._config.option.collectonly or not (counts.planned or records):
            return
        from ...analysis.flaky import flaky_lines

        lines = count_lines(counts.planned, records, counts.reasons, counts.not_collected)
        for line in [*lines, *flaky_lines(records, self._config.get_verbosity())]:
            yield SummaryLine(f"tau: {line}")
