"""Gates: what a run as a whole must reach, ``[domain:]metric OP value``; and when that is settled."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from math import comb, fsum, inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..errors import ConfigurationError, unknown_name
from .statistics import Interval, mean_interval, pass_hat_k_interval, proportion_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..runs.record import TrialRecord

_GATE = re.compile(r"(?:([^:<>=]+):)?([^:<>=]+?)\s*([<>=!]+)\s*([^<>=!]+)")
_PASS = re.compile(r"pass\^([0-9]+)")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    # Means of fractions are not exact: what is meant to be equal is.
    ">=": lambda value, bound: value >= bound - _ROUNDING,
    ">": lambda value, bound: value > bound + _ROUNDING,
    "<=": lambda value, bound: value <= bound + _ROUNDING,
    "<": lambda value, bound: value < bound - _ROUNDING,
}
_ROUNDING = 1e-9
_EXPECTED = "expected [domain:]metric OP value, such as 'pass^1>=0.8' or 'retail:errors<=0.02'"


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
        """How many passed."""
        return sum(record.passed for record in self.ran)


#: Trials by domain and task.
Tasks = dict[tuple[str, str], TaskTrials]


def by_task(records: Iterable[TrialRecord], planned: Mapping[tuple[str, str], int] | None = None) -> Tasks:
    """The trials of each task.

    Args:
        records: Those that were reported.
        planned: How many each task will have; by default there are no more.
    """
    found: Tasks = defaultdict(TaskTrials)
    for record in records:
        task = found[record.domain, record.task_id]
        if record.outcome == "error":
            task.errors += 1
        else:
            task.ran.append(record)
    for key, trials in (planned or {}).items():
        task = found[key]
        task.waiting = max(0, trials - len(task.ran) - task.errors)
    return found


class Reach(NamedTuple):
    """What a value can still become, whatever the trials bring that are waiting.

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

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        """It; None where the trials do not give it."""

    def interval(self, tasks: Sequence[TaskTrials]) -> Interval | None:
        """Its 95 % interval."""

    def reach(self, tasks: Sequence[TaskTrials]) -> Reach:
        """What it can still become."""

    def lacking(self, tasks: Sequence[TaskTrials]) -> str:
        """Why there is no value."""


@dataclass(frozen=True)
class _PassHatK:
    k: int

    def _results(self, tasks: Sequence[TaskTrials]) -> list[tuple[int, int]]:
        return [(len(task.ran), task.passed) for task in tasks]

    def value(self, tasks: Sequence[TaskTrials]) -> float | None:
        from .metrics import pass_hat_k

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
        return f"no task has {self.k} trials with a verdict, the most is {most}"


@dataclass(frozen=True)
class _Errors:
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
        return f"it is not known of {unknown} trials" if unknown else "no trial has a verdict"


def _cost(record: TrialRecord) -> float | None:
    return None if record.unpriced_calls else record.known_cost


#: Beside pass^K, by name: what it is, and how it is found.
METRICS: dict[str, tuple[str, Metric]] = {
    "errors": ("share of the trials that ended in an error", _Errors()),
    "reward": ("mean reward", _Mean(lambda record: record.reward, 1.0)),
    "cost": ("mean USD of a trial", _Mean(_cost)),
    "duration": ("mean seconds of a trial", _Mean(lambda record: record.duration)),
    "turns": ("mean texts of the agent in a trial", _Mean(lambda record: record.turns)),
    "calls": ("mean tool calls in a trial", _Mean(lambda record: record.calls)),
    "tool-errors": ("mean tool calls in a trial that returned an error", _Mean(lambda record: record.failed_calls)),
}


@dataclass(frozen=True)
class Gate:
    """What a run must reach.

    Attributes:
        domain: Whose trials count; None for all.
        name: Of the metric.
        metric: It.
        operator: How value and bound compare.
        bound: What it is compared with.
    """

    domain: str | None
    name: str
    metric: Metric
    operator: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> Gate:
        """A gate from its text.

        Raises:
            ConfigurationError: It is none; tells what would be.
        """
        found = _GATE.fullmatch(text.strip())
        if found is None:
            raise ConfigurationError(f"{_EXPECTED}, got {text!r}")
        domain, name, operator, value = (part.strip() if part else part for part in found.groups())
        if operator not in _OPERATORS:
            raise ConfigurationError(f"{text!r}: expected one of {', '.join(_OPERATORS)}, got {operator!r}")
        try:
            bound = float(value)
        except ValueError:
            bound = inf
        if not -inf < bound < inf:
            raise ConfigurationError(f"{text!r}: expected a number after {operator}, got {value!r}")
        return cls(domain, name, _metric(name), operator, bound)

    def __str__(self) -> str:
        return f"{f'{self.domain}:' if self.domain else ''}{self.name} {self.operator} {self.bound:g}"

    def holds(self, value: float) -> bool:
        """Whether a value meets the gate."""
        return _OPERATORS[self.operator](value, self.bound)

    def tasks(self, tasks: Tasks) -> list[TaskTrials]:
        """The tasks that count."""
        return [task for (domain, _), task in tasks.items() if self.domain in (None, domain)]

    def verdict(self, tasks: Tasks) -> Verdict:
        """Whether the gate is met, as far as the trials go."""
        counted = self.tasks(tasks)
        value = self.metric.value(counted)
        if value is None:
            why = self.metric.lacking(counted) if counted else "no trial was run"
            return Verdict(self, None, None, met=False, why=why)
        interval = self.metric.interval(counted)
        if not any(task.waiting for task in counted):
            return Verdict(self, value, interval, met=self.holds(value))
        settled = self.settled(tasks)
        why = "not settled" if settled is None else self._reach(counted, met=settled)
        return Verdict(self, value, interval, met=bool(settled), why=why)

    def settled(self, tasks: Tasks) -> bool | None:
        """Whether the gate is certain to be met, or to be missed; None while that is open."""
        reach = self.metric.reach(self.tasks(tasks))
        ends = {self.holds(reach.low), self.holds(reach.high)}
        if len(ends) == 2 or (ends == {True} and not reach.certain):
            return None
        return ends.pop()

    def _reach(self, tasks: Sequence[TaskTrials], *, met: bool) -> str:
        reach = self.metric.reach(tasks)
        low = (self.operator in (">=", ">")) is met
        return (
            f"{f'at least {reach.low:.3f}' if low else f'at most {reach.high:.3f}'} with the trials that were not run"
        )


class Verdict(NamedTuple):
    """What came of a gate.

    Attributes:
        value: The metric's value; None where there is none.
        interval: Its 95 % interval; None where there are too few tasks.
        met: Whether the gate is met.
        why: What there is to say beyond the value.
    """

    gate: Gate
    value: float | None
    interval: Interval | None
    met: bool
    why: str | None = None

    def __str__(self) -> str:
        end = "met" if self.met else "missed"
        if self.value is None:
            return f"gate {self.gate}: {end}: {self.why}"
        interval = self.interval
        reach = f" (95 % interval {interval.told()})" if interval else ""
        if self.why:
            end += f", {self.why}"
        elif interval and interval.low < self.gate.bound < interval.high:
            end += f", but {self.gate.bound:g} lies within the interval"
        return f"gate {self.gate}: {self.value:.3f}{reach}: {end}"


def _metric(name: str) -> Metric:
    found = _PASS.fullmatch(name)
    if found and int(found[1]) >= 1:
        return _PassHatK(int(found[1]))
    if name in METRICS:
        return METRICS[name][1]
    raise ConfigurationError(unknown_name("metric", name, ["pass^1", "pass^4", *METRICS]) + "; pass^K for any K from 1")


def _greatest_mean(fixed: Sequence[float], optional: Sequence[float], *, default: float) -> float:
    """The greatest mean of the fixed values and of any of the others."""
    total, number = fsum(fixed), len(fixed)
    for value in sorted(optional, reverse=True):
        if number and value * number <= total:
            break
        total, number = total + value, number + 1
    return total / number if number else default
