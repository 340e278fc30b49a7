"""The metrics of gates, over the trials of tasks: values, intervals, and what they can still become."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from math import comb, fsum, inf
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from ..errors import ConfigurationError, unknown_name
from ..runs.groups import Group
from .columns import COLUMNS
from .metrics import pass_hat_k
from .statistics import Interval, mean_interval, pass_hat_k_interval, proportion_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..runs.record import TrialRecord

_PASS = re.compile(r"pass\^([0-9]{1,9})")


@dataclass
class TaskTrials:
    """The trials of a task.

    Attributes:
        ran: Those that have a verdict.
        errors: How many ended in an error.
        waiting: How many have not been reported.
    """

    ran: list[TrialRecord] = field(default_factory=list)
    errors: int = 0
    waiting: int = 0

    @property
    def passed(self) -> int:
        """Return the number of trials that passed."""
        return sum(record.passed for record in self.ran)


#: The trials of each task; a task of several tests is there once for each.
Tasks = dict[Group, TaskTrials]


def by_task(records: Iterable[TrialRecord], planned: Mapping[Group, int] | None = None) -> Tasks:
    """Return the trials of each task.

    Args:
        records: Those that were reported.
        planned: How many each group will have; by default there are no more.
    """
    found: Tasks = defaultdict(TaskTrials)
    for record in records:
        task = found[record.group]
        if record.outcome == "error":
            task.errors += 1
        else:
            task.ran.append(record)
    for key, trials in (planned or {}).items():
        task = found[key]
        task.waiting = max(0, trials - len(task.ran) - task.errors)
    return found


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


class Metric(Protocol):
    """A number over trials."""

    @property
    def trials(self) -> int:
        """Return how many trials with a verdict a task must have to count."""

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        """Return the value; None if the trials do not give one."""

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        """Return the 95 % interval of the value."""

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        """Return what the value can still become."""

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        """Return why there is no value."""


@dataclass(frozen=True)
class _PassHatK:
    k: int

    @property
    def trials(self) -> int:
        return self.k

    def _results(self, tasks: Sequence[TaskTrials]) -> list[tuple[int, int]]:
        return [(len(task.ran), task.passed) for task in tasks]

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        return pass_hat_k(self._results(tasks), self.k)

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        return pass_hat_k_interval(self._results(tasks), self.k)

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        lows: tuple[list[float], list[float]] = ([], [])
        highs: tuple[list[float], list[float]] = ([], [])
        for task in tasks:
            all_of_them = len(task.ran) + task.waiting
            if all_of_them >= self.k:
                # With fewer trials than k so far, a task may never count, as those that are waiting may be errors.
                open_ = len(task.ran) < self.k
                ways = comb(all_of_them, self.k)
                lows[open_].append(comb(task.passed, self.k) / ways)
                highs[open_].append(comb(task.passed + task.waiting, self.k) / ways)
        low = -_greatest_mean([-value for value in lows[0]], [-value for value in lows[1]], default=0.0)
        return Reach(low, _greatest_mean(*highs, default=1.0), certain=bool(lows[0]))

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        most = max((len(task.ran) for task in tasks), default=0)
        return f"no task has {self.k} trials with a verdict (at most {most})"


@dataclass(frozen=True)
class _Errors:
    trials: ClassVar[int] = 1

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        trials = sum(len(task.ran) + task.errors for task in tasks)
        return sum(task.errors for task in tasks) / trials if trials else None

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        return proportion_interval((len(task.ran) + task.errors, task.errors) for task in tasks)

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        errors, waiting = sum(task.errors for task in tasks), sum(task.waiting for task in tasks)
        trials = sum(len(task.ran) for task in tasks) + errors + waiting
        if not trials:
            return Reach(0.0, 1.0, certain=False)
        return Reach(errors / trials, (errors + waiting) / trials, certain=trials > waiting)

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        del tasks
        return "no trial was run"


@dataclass(frozen=True)
class _Mean:
    """The mean of something over the trials that have a verdict."""

    of: Callable[[TrialRecord], float | None]
    most: float = inf
    trials: ClassVar[int] = 1

    def _values(self, tasks: Sequence[TaskTrials]) -> list[list[float | None]]:
        return [[self.of(record) for record in task.ran] for task in tasks if task.ran]

    def _known(self, tasks: Sequence[TaskTrials]) -> list[list[float]]:
        return [[value for value in values if value is not None] for values in self._values(tasks)]

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        known = [value for values in self._known(tasks) for value in values]
        trials = sum(len(values) for values in self._values(tasks))
        return fsum(known) / trials if trials and len(known) == trials else None

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        return mean_interval(self._known(tasks))

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        known = fsum(value for values in self._known(tasks) for value in values)
        ran, waiting = sum(len(task.ran) for task in tasks), sum(task.waiting for task in tasks)
        if not ran + waiting:
            return Reach(0.0, self.most, certain=False)
        high = (known + self.most * waiting) / (ran + waiting) if waiting else known / ran
        return Reach(known / (ran + waiting), high, certain=self.value(tasks) is not None)

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        unknown = sum(value is None for values in self._values(tasks) for value in values)
        return f"it is unknown for {unknown} trials" if unknown else "no trial has a verdict"


#: By name, apart from pass^K. Means are those of columns.
METRICS: dict[str, Metric] = {
    "errors": _Errors(),
    **{each.metric.name: _Mean(each.metric.value or each.value, each.metric.most) for each in COLUMNS if each.metric},
}


def metric_named(name: str) -> Metric:
    """Return the metric of this name.

    Raises:
        ConfigurationError: There is no metric of this name.
    """
    found = _PASS.fullmatch(name)
    if found and int(found[1]) >= 1:
        return _PassHatK(int(found[1]))
    if name in METRICS:
        return METRICS[name]
    raise ConfigurationError(unknown_name("metric", name, ["pass^1", "pass^4", *METRICS]) + "; pass^K for any K from 1")


def _greatest_mean(fixed: Sequence[float], optional: Sequence[float], *, default: float) -> float:
    """Return the greatest mean of the fixed values and of any of the others."""
    total, number = fsum(fixed), len(fixed)
    for value in sorted(optional, reverse=True):
        if number and value * number <= total:
            break
        total, number = total + value, number + 1
    return total / number if number else default
