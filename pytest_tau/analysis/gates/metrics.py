"""The metrics of gates, over the trials of tasks: values, intervals, and what they can still become."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import ConfigurationError, unknown_name
from ...runs.groups import Group
from ...text import plural
from ..columns import COLUMNS, Column, MeanMetric, column_of, with_facts
from ..metrics import task_reach
from ..statistics import (
    Interval,
    mean_interval,
    pass_hat_k_interval,
    percentile,
    percentile_interval,
    ratio_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ...capability.calls import NamedColumn
    from ...runs.record import TrialRecord
    from ..statistics import Clusters

_PASS = re.compile(r"pass\^([0-9]{1,9})")


@dataclass
class TaskTrials:
    """The trials of a task.

    Attributes:
        ran: Those that have a verdict.
        errors: How many ended in an error.
        excluded: Those that have a verdict, but are excluded from rates.
        waiting: How many have not been reported, or were interrupted.
        moves_with: What is equal for tasks that move together; None for a task by itself.
    """

    ran: list[TrialRecord] = field(default_factory=list)
    errors: int = 0
    waiting: int = 0
    excluded: list[TrialRecord] = field(default_factory=list)
    moves_with: tuple[str, str] | None = None

    @property
    def passed(self) -> int:
        """Return the number of trials that passed."""
        return sum(record.passed for record in self.ran)

    @property
    def reported(self) -> int:
        """Return the number of all trials so far, errors and excluded ones included."""
        return len(self.ran) + self.errors + len(self.excluded)


#: The trials of each task; a task of several tests is there once for each.
Tasks = dict[Group, TaskTrials]


def by_task(records: Iterable[TrialRecord], planned: Mapping[Group, int] | None = None) -> Tasks:
    """Return the trials of each task.

    Args:
        records: Those that were reported.
        planned: How many each group will have; by default there are no more.
    """
    tasks: Tasks = defaultdict(TaskTrials)
    for record in records:
        task = tasks[record.group]
        task.moves_with = record.moves_with or task.moves_with
        if record.info.interrupted:
            task.waiting += 1
        elif record.outcome == "error":
            task.errors += 1
        elif record.excluded:
            task.excluded.append(record)
        else:
            task.ran.append(record)
    for key, trials in (planned or {}).items():
        task = tasks[key]
        task.waiting = max(0, trials - task.reported)
    return tasks


def clusters_of(tasks: Iterable[TaskTrials]) -> Clusters:
    """Return what the tasks that move together have in common."""
    return [task.moves_with for task in tasks]


def count_clusters(tasks: Sequence[TaskTrials]) -> int:
    """Return in how many clusters the tasks with trials are, of which a task by itself is one; 0 without clusters."""
    cluster_ids = [task.moves_with for task in tasks if task.reported]
    clusters = {*cluster_ids} - {None}
    return cluster_ids.count(None) + len(clusters) if len(cluster_ids) - cluster_ids.count(None) > len(clusters) else 0


class Reach(NamedTuple):
    """The range of what a value can still become, whatever the outcomes of the trials that are waiting.

    Attributes:
        low: No less than this.
        high: No more than this.
        certain: There will be a value.
    """

    low: float
    high: float
    certain: bool


class Metric(ABC):
    """A number over trials.

    Attributes:
        apart: Which groups count: those whose ``apart`` is the same; None for all.
        every: Whether trials that are excluded from rates count, too.
        trials: How many trials with a verdict a task must have to count.
    """

    apart: str | None = ""
    every: bool = False
    trials: int = 1

    @abstractmethod
    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        """Return the value; None if the trials do not give one."""

    @abstractmethod
    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        """Return the 95 % interval of the value."""

    @abstractmethod
    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        """Return what the value can still become."""

    @abstractmethod
    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        """Return why there is no value."""

    def each(self, tasks: Sequence[TaskTrials]) -> list[tuple[TrialRecord, float]]:
        """Return the trials that have a value of their own, with it; none for a share of trials."""
        return []


@dataclass(frozen=True)
class _PassHatK(Metric):
    trials: int

    @property
    def k(self) -> int:
        return self.trials

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        reach = self.reach([replace(task, waiting=0) for task in tasks])
        return reach.low if reach.certain and reach.low == reach.high else None

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        return pass_hat_k_interval([(len(task.ran), task.passed) for task in tasks], self.k, clusters_of(tasks))

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        # A task without a trial so far may never count, as those that are waiting may be errors: at worst as 0 or 1.
        rates = [
            task_reach(len(task.ran), task.passed, self.k, task.waiting) for task in tasks if task.ran or task.waiting
        ]
        if not rates:
            return Reach(0.0, 1.0, certain=False)
        low, high = (fsum(ends) / len(rates) for ends in zip(*rates, strict=True))
        return Reach(low, high, certain=any(task.ran for task in tasks))

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        counts = [len(task.ran) for task in tasks]
        if not any(counts):
            return "no trial has a verdict"
        if max(counts) < self.k:
            return f"no task has {self.k} trials with a verdict (at most {max(counts)})"
        fewer = sum(0 < len(task.ran) < self.k and task.passed == len(task.ran) for task in tasks)
        trials = f"{'has' if fewer == 1 else 'have'} fewer than {self.k} trials with a verdict and failed none"
        low, high, _ = self.reach(tasks)
        return f"{low:.3f} to {high:.3f}, as {plural(fewer, 'task')} {trials}"


class _Errors(Metric):
    apart, every = None, True

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        trials = sum(task.reported for task in tasks)
        return sum(task.errors for task in tasks) / trials if trials else None

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        sums = ((task.errors, task.reported) for task in tasks)
        return ratio_interval(sums, proportion=True, clusters=clusters_of(tasks))

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        errors, waiting = sum(task.errors for task in tasks), sum(task.waiting for task in tasks)
        trials = sum(task.reported for task in tasks) + waiting
        if not trials:
            return Reach(0.0, 1.0, certain=False)
        return Reach(errors / trials, (errors + waiting) / trials, certain=trials > waiting)

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        del tasks
        return "no trial was run"


class _OfTrials(Metric):
    """A metric over values of trials that have a verdict.

    Attributes:
        of: Returns the value of a trial.
        metric: What is measured.
    """

    def __init__(self, of: Callable[[TrialRecord], float | None], metric: MeanMetric) -> None:
        self.of, self.metric = of, metric
        self.apart, self.every = metric.apart, metric.every

    def _records(self, tasks: Sequence[TaskTrials]) -> list[list[TrialRecord]]:
        """Return the trials of each task that count."""
        trials_by_task = [[*task.ran, *(task.excluded if self.every else ())] for task in tasks]
        counts = self.metric.counts
        return [[record for record in trials if counts is None or counts(record)] for trials in trials_by_task]

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        reason = self.metric.lacking or "no trial has anything to measure"
        return reason if any(task.ran for task in tasks) else "no trial has a verdict"

    def each(self, tasks: Sequence[TaskTrials]) -> list[tuple[TrialRecord, float]]:
        records = [record for trials in self._records(tasks) for record in trials]
        return [(record, value) for record in records if (value := self.of(record)) is not None]


class _Mean(_OfTrials):
    """The mean of something over the trials that count."""

    def _values(self, tasks: Sequence[TaskTrials]) -> list[list[float | None]]:
        return [[self.of(record) for record in records] for records in self._records(tasks)]

    def _known(self, tasks: Sequence[TaskTrials]) -> list[list[float]]:
        return [[value for value in values if value is not None] for values in self._values(tasks)]

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        known = [value for values in self._known(tasks) for value in values]
        trials = sum(len(values) for values in self._values(tasks))
        return fsum(known) / trials if trials and len(known) == trials else None

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        known, clusters = self._known(tasks), clusters_of(tasks)
        if self.metric.most == 1:
            return mean_interval(known, proportion=True, clusters=clusters)
        resampled = mean_interval(known, clusters=clusters)
        # Where all tasks have the same mean there is nothing to resample, and no bound to say how much it may vary.
        return resampled if resampled and resampled.low < resampled.high else None

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        known = fsum(value for values in self._known(tasks) for value in values)
        values = [value for task_values in self._values(tasks) for value in task_values]
        waiting = sum(task.waiting for task in tasks)
        trials, unknown = len(values) + waiting, values.count(None) + waiting
        if not trials:
            return Reach(0.0, self.metric.most, certain=False)
        high = (known + self.metric.most * unknown) / trials if unknown else known / trials
        return Reach(known / trials, high, certain=self.value(tasks) is not None)

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        unknown = sum(value is None for values in self._values(tasks) for value in values)
        return f"it is unknown for {plural(unknown, 'trial')}" if unknown else super().lacking(tasks)


class _OfEvents(_OfTrials):
    """The mean or a percentile over the events of all trials that have a verdict."""

    def __init__(
        self, of: Callable[[TrialRecord], float | None], metric: MeanMetric, events: Callable[[TrialRecord], Any]
    ) -> None:
        super().__init__(of, metric)
        self.events = events

    def _values(self, tasks: Sequence[TaskTrials]) -> list[list[float]]:
        return [
            [value for record in records for value in self.events(record) or ()] for records in self._records(tasks)
        ]

    def _sums(self, tasks: Sequence[TaskTrials]) -> list[tuple[float, int]]:
        task_sums = []
        for records in self._records(tasks):
            events = [self.events(record) or 0 for record in records]
            numbers = [len(measured) if isinstance(measured, list) else measured for measured in events]
            sums = (number * (self.of(record) or 0.0) for number, record in zip(numbers, records, strict=True))
            task_sums.append((fsum(sums), sum(numbers)))
        return task_sums

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        if self.metric.percent:
            values = (value for task_values in self._values(tasks) for value in task_values)
            return percentile(values, self.metric.percent / 100)
        sums = self._sums(tasks)
        number = sum(count for _, count in sums)
        return fsum(total for total, _ in sums) / number if number else None

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        if self.metric.percent:
            estimate = percentile_interval(self._values(tasks), self.metric.percent / 100, clusters_of(tasks))
        else:
            proportion, clusters = self.metric.most == 1, clusters_of(tasks)
            estimate = ratio_interval(self._sums(tasks), proportion=proportion, clusters=clusters)
        return estimate if estimate and estimate.low < estimate.high else None

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        # How many events the trials that are waiting will have is not known.
        value = self.value(tasks)
        if value is None or any(task.waiting for task in tasks):
            return Reach(0.0, self.metric.most, certain=value is not None)
        return Reach(value, value, certain=True)


def _of_columns(columns: Iterable[Column]) -> dict[str, Metric]:
    """Return the metrics of columns, by name."""
    return {column.metric.name: _of_column(column, column.metric) for column in columns if column.metric}


def _of_column(column: Column, metric: MeanMetric) -> Metric:
    of = metric.value or column.value
    return _Mean(of, metric) if metric.events is None else _OfEvents(of, metric, metric.events)


#: Of the core, by name, apart from pass^K. Means are those of columns.
METRICS: dict[str, Metric] = {
    "errors": _Errors(),
    **_of_columns(COLUMNS),
}


def metric_named(name: str, columns: Iterable[NamedColumn] = ()) -> Metric:
    """Return the metric of this name.

    Raises:
        ConfigurationError: There is no metric of this name.
    """
    match = _PASS.fullmatch(name)
    if match and int(match[1]) >= 1:
        return _PassHatK(int(match[1]))
    columns = [*columns]
    metrics = METRICS | _of_columns(with_facts(columns))
    if name in metrics:
        return metrics[name]
    for column in columns:
        if (key := column.of_key(name)) is not None:
            return _of_columns([column_of(key)])[key.column.name]
    known = ["pass^1", "pass^4", *metrics]
    others = ["pass^K for any K from 1", *(column.column.name for column in columns if column.is_of_keys)]
    raise ConfigurationError("; ".join([unknown_name("metric", name, known, sorted(known)), *others]))
