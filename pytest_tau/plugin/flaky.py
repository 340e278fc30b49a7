"""Out of how many: what was planned, what ran and why the rest did not; and the tasks that both pass and fail."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from .fixtures import case_of
from .trial_records import records_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..results.record import TrialRecord

_PLUGIN = "tau-denominators"
#: Flaky tasks that are listed without -v.
_MOST = 10


def flaky_lines(records: Iterable[TrialRecord], verbosity: int = 0) -> list[str]:
    """The tasks some of whose trials passed and some failed, the most uneven last.

    Args:
        records: The run's; trials that ended in an error are nobody's verdict and left out.
        verbosity: pytest's: below 0 nothing is told, above 0 every task is listed.
    """
    trials: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for record in records:
        trials[record.domain, record.task_id][record.outcome] += 1
    counts = {task: (found["passed"], found["passed"] + found["failed"]) for task, found in trials.items()}
    repeated = [task for task, (_, ran) in counts.items() if ran > 1]
    flaky = [task for task in repeated if 0 < counts[task][0] < counts[task][1]]
    if not flaky or verbosity < 0:
        return []
    flaky.sort(key=lambda task: (abs(counts[task][0] / counts[task][1] - 0.5), task))
    shown = flaky if verbosity > 0 else flaky[:_MOST]
    names = {task: f"{task[0]}::{task[1]}" for task in shown}
    width = min(max(map(len, names.values())), 60)
    lines = [f"flaky: {len(flaky)} of {_counted(len(repeated), 'task')} with several trials both passed and failed"]
    for task in shown:
        passed, ran = counts[task]
        lines.append(f"  {_clipped(names[task], 60):<{width}}  {passed} of {ran} passed ({100 * passed / ran:.0f} %)")
    left = len(flaky) - len(shown)
    return [*lines, f"  and {left} more (-v lists them)"] if left else lines


def denominator_lines(
    planned: Mapping[str, tuple[str, str]],
    records: Iterable[TrialRecord],
    reasons: Mapping[str, str] | None = None,
    excluded: Mapping[str, int] | None = None,
) -> list[str]:
    """How many trials were planned, how many have a verdict, and what became of the rest; one line, or none.

    Args:
        planned: Domain and task of each trial that was to be run, by node id.
        records: Of the trials that were run.
        reasons: By node id, why a trial was not run, where that is known.
        excluded: How many trials were left out before, by reason.
    """
    if not planned and not excluded:
        return []
    outcomes = {record.test: record.outcome for record in records if record.test in planned}
    missing = Counter((reasons or {}).get(test, "not reached") for test in planned if test not in outcomes)
    errors = sum(outcome == "error" for outcome in outcomes.values())
    told = [f"{len(outcomes) - errors:,} run"] if errors or missing else ["all run"]
    told += [f"{_counted(errors, 'error')}"] if errors else []
    told += [f"{number:,} not run ({why})" for why, number in missing.most_common()]
    line = f"{_planned(planned)}: {', '.join(told)}" if planned else "no trials planned"
    left_out = ", ".join(f"{number:,} {why}" for why, number in (excluded or {}).items() if number)
    return [f"{line}; left out: {left_out}" if left_out else line]


def _planned(planned: Mapping[str, tuple[str, str]]) -> str:
    tasks = Counter(planned.values())
    each = set(tasks.values())
    if len(each) == 1:
        return f"{_counted(len(tasks), 'task')} x {_counted(each.pop(), 'trial')} planned"
    return f"{_counted(len(tasks), 'task')}, {_counted(len(planned), 'trial')} planned"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _clipped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def configure(config: pytest.Config) -> None:
    """Begin to count what is planned, and what of it is not run."""
    config.pluginmanager.register(Denominators(config), _PLUGIN)


class Denominators:
    """What was planned, and why trials were not run; in the process that reports, and in its workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        #: Domain and task by node id.
        self.planned: dict[str, tuple[str, str]] = {}
        #: By node id, why a trial was not run.
        self.reasons: dict[str, str] = {}
        self._deselected = 0

    @property
    def excluded(self) -> dict[str, int]:
        """How many trials were left out at collection, by reason."""
        shard: Any = self._config.pluginmanager.get_plugin("tau-shard")
        elsewhere = shard.counts.trials - shard.counts.mine if shard and shard.counts else 0
        found = {"in other shards": elsewhere, "deselected": self._deselected - elsewhere}
        return {why: number for why, number in found.items() if number > 0}

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
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear from an xdist worker what was planned; every one plans the same."""
        told = getattr(node, "workeroutput", {}).get(_PLUGIN)
        if told and not self.planned:
            self.planned = {test: (domain, task) for test, (domain, task) in told[0].items()}
            self._deselected = told[1]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Why a test was skipped before it began; whether it is a trial is known at the end."""
        if report.when != "setup":
            return
        if report.skipped and not hasattr(report, "wasxfail"):
            told = dict(report.user_properties).get("tau_not_run")
            reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else "skipped"
            self.reasons[report.nodeid] = str(told) if told else reason.removeprefix("not run: ")
        elif report.failed:
            self.reasons[report.nodeid] = "it broke in its setup"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Both, where there were trials."""
        records = records_of(self._config)
        if self._config.option.collectonly or not (self.planned or records):
            return
        verbosity = self._config.get_verbosity()
        lines = denominator_lines(self.planned, records, self.reasons, self.excluded)
        for line in [*lines, *flaky_lines(records, verbosity)]:
            terminalreporter.write_line(f"tau: {line}")
