"""The numbers of trials that were planned, run, and not run, with the reasons; a line of the terminal summary."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ..context.run_state import get_context, run_state
from ..items import group_of
from ..options import OptionValues
from ..seams import SummaryLine
from ..store.manifest import build_manifest
from ..wire import give_output, is_worker, output_of, read_planned, write_planned
from .trial_reports import records_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ...runs.groups import Group
    from ...runs.record import TrialRecord
    from ..store.run_counts import RunCounts
    from ..wire import PlannedGroups, TrialReport


def count_lines(
    planned: Mapping[str, Group],
    records: Iterable[TrialRecord],
    reasons: Mapping[str, str] | None = None,
    not_collected: Mapping[str, int] | None = None,
) -> list[str]:
    """Return the numbers of trials that were planned, run, and not run, with the reasons; none if all were run.

    Args:
        planned: The group of each planned trial, by node id.
        records: The records of the trials that were run.
        reasons: The reasons why trials were not run, by node id, if known.
        not_collected: The numbers of trials that were excluded at collection, by reason.
    """
    if not planned and not not_collected:
        return []
    from ...runs.manifest import NO_REASON
    from ...text import plural

    outcomes = {
        record.test: "interrupted" if record.info.interrupted else record.outcome
        for record in records
        if record.test in planned
    }
    missing = Counter((reasons or {}).get(test, NO_REASON) for test in planned if test not in outcomes)
    errors, interrupted = (sum(other == outcome for other in outcomes.values()) for outcome in ("error", "interrupted"))
    parts = [f"{len(outcomes) - errors - interrupted:,} run", *([plural(errors, "error")] if errors else [])]
    parts += [f"{interrupted:,} interrupted"] if interrupted else []
    parts += [f"{number:,} not run ({why})" for why, number in missing.most_common()]
    clauses = [f"{_planned(planned)}: {', '.join(parts)}"] if missing or interrupted else []
    clauses += [] if planned else ["no trials planned"]
    elsewhere = ", ".join(f"{number:,} {why}" for why, number in (not_collected or {}).items() if number)
    clauses += [f"excluded: {elsewhere}"] if elsewhere else []
    return ["; ".join(clauses)] if clauses else []


def _planned(planned: Mapping[str, Group]) -> str:
    from ...runs.groups import count_tasks, find_variants
    from ...text import plural

    groups = Counter(planned.values())
    variants = find_variants(groups)
    tasks = count_tasks(groups) if variants else len(groups)
    trials = set(groups.values())
    parts = [plural(tasks, "task"), *([plural(len(variants), "variant")] if variants else [])]
    # Every variant runs every task, as often.
    if len(trials) == 1 and len(groups) == tasks * max(1, len(variants)):
        return f"{' x '.join([*parts, plural(trials.pop(), 'trial')])} planned"
    return f"{', '.join([*parts, plural(len(planned), 'trial')])} planned"


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
        self._config, self._counts, self._interrupted = config, counts, False

    def pytest_keyboard_interrupt(self) -> None:
        """Record that Ctrl-C, or ``pytest.exit``, has ended the run."""
        self._interrupted = True

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the trials that ``-k``, ``-m``, ``--lf`` and other plugins deselect."""
        self._counts.deselected += sum(group_of(item) is not None for item in items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record the planned trials; a worker passes them to its controller, before it says that it has collected."""
        self._counts.planned = {item.nodeid: group for item in session.items if (group := group_of(item)) is not None}
        planned = {test: tuple(group) for test, group in self._counts.planned.items()}
        give_output(self._config, planned=planned, deselected=self._counts.deselected)
        folder = run_state(self._config).paths.shared if is_worker(self._config) else None
        if folder is not None:
            write_planned(folder, planned)
        if self._config.option.collectonly:
            self._store_plan(session)

    def _store_plan(self, session: pytest.Session) -> None:
        """Store the plan of a run with a name that is only collected: machines are going to run parts of it."""
        publisher, context = run_state(self._config).paths.publisher, get_context(self._config)
        if publisher is not None and context is not None and OptionValues(self._config).given("run_name"):
            from ...runs.parts import make_plan

            manifest = build_manifest(session, context.config, run_state(self._config).paths, self._counts)
            publisher.send_plan(make_plan(manifest, self._counts.planned))

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Take the planned trials from a worker on this machine, in the controller."""
        if not self._counts.planned:  # every worker plans the same ones
            self._take(read_planned(run_state(self._config).paths.make_shared()))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the planned trials from a worker, which may be on another machine."""
        output = output_of(node)
        self._take(output.get("planned", {}))
        self._counts.deselected = output.get("deselected", self._counts.deselected)

    def _take(self, planned: PlannedGroups) -> None:
        if planned and not self._counts.planned:
            from ...runs.groups import Group

            self._counts.planned = {test: Group(*group) for test, group in planned.items()}

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Record why a trial was not run: its test was skipped, or ended without it."""
        if report.when == "teardown" or trial.simulated:
            return
        if report.skipped and trial.not_run in (None, "decided"):
            self._counts.skipped.add(report.nodeid)
        if report.skipped and hasattr(report, "wasxfail"):
            self._counts.reasons[report.nodeid] = "expected to fail"
        elif report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "skipped"
            from ...runs.manifest import BUDGET_SPENT, PRICE_UNKNOWN

            why = {"budget": BUDGET_SPENT, "price": PRICE_UNKNOWN}.get(trial.not_run or "")
            reason = why or reason.removeprefix("Skipped: ").removeprefix("not run: ")
            self._counts.reasons[report.nodeid] = reason
        elif report.when == "call":
            self._counts.reasons[report.nodeid] = "the test ended without it"
        elif report.failed:
            self._counts.reasons[report.nodeid] = "setup failed"

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the counts and the flaky tasks, if there were trials."""
        records, counts = records_of(self._config), self._counts
        if self._config.option.collectonly or not (counts.planned or records):
            return
        from ...analysis.scores import flaky_lines

        # A test that asks for its simulation while it runs is a trial as well.
        planned = {
            **counts.planned,
            **{record.test: record.group for record in records if record.test not in counts.planned},
        }
        lines = count_lines(planned, records, counts.reasons, counts.not_collected)
        for line in [*lines, *flaky_lines(records, self._config.get_verbosity())]:
            yield SummaryLine(f"tau: {line}")
        paths = run_state(self._config).paths
        if self._interrupted and planned and paths.home is not None:
            line = stored_line(len(planned.keys() & _stored_tests(paths.used_results)), len(planned))
            yield SummaryLine(f"tau: {line}", {"yellow": True})


def stored_line(stored: int, planned: int) -> str:
    """Return how many trials an interrupted run has stored, and how it is continued."""
    from ...text import plural

    if not stored:
        return f"interrupted: none of {plural(planned, 'trial')} is stored"
    return f"{stored:,} of {plural(planned, 'trial')} stored; to continue, add --tau-resume to the same command"


def _stored_tests(folder: Path | None) -> set[str]:
    """Return the node ids with a whole simulation in a run's folder; more than were reported may be."""
    from ...runs.jsonl import is_interrupted, read_tests
    from ...runs.layout import SIMULATION_FILES

    tests: set[str] = set()
    for file in folder.glob(SIMULATION_FILES) if folder is not None else ():
        with contextlib.suppress(OSError):
            tests |= {test for test, _, line in read_tests(file) if not is_interrupted(line)}
    return tests
