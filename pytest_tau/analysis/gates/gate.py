"""Gates: what a run as a whole must reach, ``[domain:]metric OP value``; and when that is settled."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import inf
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, NamedTuple

from ...errors import ConfigurationError
from ...runs.groups import split_variants
from ...text import figure, one_line, plural, shorten
from .metrics import count_clusters, metric_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...capability.calls import NamedColumn
    from ...runs.groups import Group
    from ...runs.record import TrialRecord
    from ..statistics import Interval
    from .metrics import Metric, Tasks, TaskTrials

_GATE = re.compile(r"(?:([^:<>=]+):)?([^:<>=]+?)\s*([<>=!]+)\s*([^<>=!]+)")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {">=": ge, ">": gt, "<=": le, "<": lt}
#: Means of fractions are not exact: what is meant to be equal is.
_ROUNDING = 1e-9
#: What is said of a gate that trials that were not run could decide either way.
_OPEN = "the remaining trials decide"
#: Characters of a variant's name, and of a gate in an error.
_LONGEST = 80
#: How many trials with the worst values are named.
_MOST_WORST = 3
_EXPECTED = "expected [domain:]metric OP value, such as 'pass^1>=0.8' or 'retail:errors<=0.02'"


@dataclass(frozen=True)
class Gate:
    """A condition that a run must meet.

    Attributes:
        domain: Whose trials count; None for all.
        name: Of the metric.
        metric: It.
        operator: How value and bound compare.
        bound: What it is compared with.
    """

    domain: str | None
    name: str
    metric: Metric = field(compare=False)
    operator: str
    bound: float

    @classmethod
    def parse(cls, text: str, columns: Iterable[NamedColumn] = ()) -> Gate:
        """Parse a gate.

        Args:
            text: The expression.
            columns: The columns of capabilities, some of which are metrics.

        Raises:
            ConfigurationError: The expression is not a gate; the error states what is expected.
        """
        match, quoted = _GATE.fullmatch(text.strip()), repr(shorten(text, _LONGEST))
        if match is None:
            raise ConfigurationError(f"{_EXPECTED}, got {quoted}")
        domain, name, operator, value = (part.strip() if part else part for part in match.groups())
        if operator not in _OPERATORS:
            raise ConfigurationError(f"{quoted}: expected one of {', '.join(_OPERATORS)}, got {shorten(operator)!r}")
        try:
            bound = float(value)
        except ValueError:
            bound = inf
        if not -inf < bound < inf:
            raise ConfigurationError(f"{quoted}: expected a number after {operator}, got {shorten(value)!r}")
        gate = cls(domain, name, metric_named(name, columns), operator, bound)
        gate.check_bound()
        return gate

    def check_bound(self) -> None:
        """Refuse a bound that no value of the metric meets.

        Raises:
            ConfigurationError: There is no such value; the error states which values there are.
        """
        reach = self.metric.reach(())
        if self.holds(reach.low) or self.holds(reach.high):
            return
        least = reach.low + 0.0  # not -0
        most = f"from {least:g} to {reach.high:g}" if reach.high < inf else f"at least {least:g}"
        percent = reach.high == 1 < self.bound <= 100
        hint = f": write {self.bound / 100:g} for {self.bound:g} %" if percent else ""
        raise ConfigurationError(f"{str(self)!r} can never be met, as {self.name} is {most}{hint}")

    def __str__(self) -> str:
        return f"{f'{self.domain}:' if self.domain else ''}{self.name} {self.operator} {self.bound:g}"

    def holds(self, value: float) -> bool:
        """Return whether a value meets the gate."""
        return _OPERATORS[self.operator](value, self.limit)

    @property
    def limit(self) -> float:
        """The bound, moved by what sums lose to rounding, so that a value which is meant to be equal to it is."""
        return self.bound + (_ROUNDING if self.operator in (">", "<=") else -_ROUNDING)

    def tasks(self, tasks: Tasks) -> list[TaskTrials]:
        """Return the tasks that count."""
        return [task for group, task in tasks.items() if self._counts(group)]

    def _counts(self, group: Group) -> bool:
        return self.domain in (None, group.domain) and self.metric.apart in (None, group.apart)

    def verdicts(self, tasks: Tasks) -> list[Verdict]:
        """Return whether the gate is met, as far as trials were run: for each variant, if there are several."""
        return [
            self.verdict(variant_tasks)._replace(variant=name) for name, variant_tasks in self.by_variant(tasks).items()
        ]

    def by_variant(self, tasks: Tasks) -> dict[str, Tasks]:
        """Return the tasks that count, by the name of their variant; the name is empty without variants."""
        split = split_variants(group for group in tasks if self._counts(group))
        return {name: {group: tasks[group] for group in groups} for name, groups in split.items()}

    def verdict(self, tasks: Tasks) -> Verdict:
        """Return whether the gate is met, as far as trials were run, over all tasks."""
        counted = self.tasks(tasks)
        value, settled = self.metric.value(counted), self._settled(tasks)
        basis = "" if self.metric.every else _basis(counted)
        if value is None:
            why = self.metric.lacking(counted) if counted else "no trial was run"
            return Verdict(self, None, None, met=settled if counted else None, why=why, basis=basis)
        interval, clusters = self.metric.interval(counted), count_clusters(counted)
        if not any(task.waiting for task in counted):
            return Verdict(self, value, interval, met=self.holds(value), basis=basis, clusters=clusters)
        why = _OPEN if settled is None else self._reach(counted, met=settled)
        return Verdict(self, value, interval, met=settled, why=why, basis=basis, clusters=clusters)

    def settled(self, tasks: Tasks) -> bool | None:
        """Return whether the gate is certain to be met by each variant, or to be missed; None while that is open."""
        outcomes = {self._settled(variant_tasks) for variant_tasks in self.by_variant(tasks).values()}
        return False if False in outcomes else None if None in outcomes else True

    def worst(self, tasks: Tasks) -> list[tuple[TrialRecord, float]]:
        """Return the trials whose own values are beyond the bound, with these, the worst first; at most three."""
        beyond = [(record, value) for record, value in self.metric.each(self.tasks(tasks)) if not self.holds(value)]
        beyond.sort(key=lambda trial: trial[0].test)  # workers report in any order
        return sorted(beyond, key=lambda trial: trial[1], reverse=self.operator in ("<=", "<"))[:_MOST_WORST]

    def _settled(self, tasks: Tasks) -> bool | None:
        reach = self.metric.reach(self.tasks(tasks))
        ends = {self.holds(reach.low), self.holds(reach.high)}
        if len(ends) == 2 or (ends == {True} and not reach.certain):
            return None
        return ends.pop()

    def _reach(self, tasks: Sequence[TaskTrials], *, met: bool) -> str:
        reach = self.metric.reach(tasks)
        low = (self.operator in (">=", ">")) is met
        end = f"at least {figure(reach.low)}" if low else f"at most {figure(reach.high)}"
        return f"{end} whatever the remaining trials give"


def _basis(tasks: Sequence[TaskTrials]) -> str:
    """Return how many trials count and how many are excluded; empty if none is."""
    counted, excluded = sum(len(task.ran) for task in tasks), sum(len(task.excluded) for task in tasks)
    return f"over {plural(counted, 'trial')}, {excluded:,} more excluded because of the user" if excluded else ""


class Verdict(NamedTuple):
    """The verdict of a gate.

    Attributes:
        value: The metric's value; None if there is none.
        interval: Its 95 % interval; None if there are too few tasks, or clusters of them.
        met: Whether the gate is met; None if that is not decided.
        why: What there is to say beyond the value.
        variant: The name of the variant whose trials count; empty if there are no variants.
        basis: How many trials count and how many are excluded; empty if none is.
        clusters: In how many clusters the tasks are, of which a task by itself is one; 0 if there are none.
    """

    gate: Gate
    value: float | None
    interval: Interval | None
    met: bool | None
    why: str | None = None
    variant: str = ""
    basis: str = ""
    clusters: int = 0

    @property
    def is_open(self) -> bool:
        """Whether trials that were not run could decide either way."""
        return self.why == _OPEN

    def undecided(self, why: str) -> Verdict:
        """Return the verdict if the run lacks trials: none, and why."""
        return self._replace(met=None, why=why)

    def __str__(self) -> str:
        end = {True: "met", False: "missed", None: "not decided"}[self.met]
        name = f"gate {self.gate}" + (f" for {one_line(self.variant, _LONGEST)}" if self.variant else "")
        basis = f"; {self.basis}" if self.basis else ""
        if self.value is None:
            return f"{name}: {end}: {self.why}{basis}"
        interval = self.interval
        between = interval.format() if interval else ""
        if interval and 0 < abs(self.value) < 0.01:
            between = f"{figure(interval.low)} to {figure(interval.high)}"
        over = f" over {plural(self.clusters, 'cluster')}" if self.clusters else ""
        reach = f" (95 % interval{over} {between})" if interval else ""
        if not interval and self.clusters == 1:
            reach = " (no interval: its tasks are one cluster)"
        if self.why:
            end += f", {self.why}"
        elif interval and interval.low < self.gate.bound < interval.high:
            end += f", but {self.gate.bound:g} lies within the interval"
        return f"{name}: {figure(self.value)}{reach}: {end}{basis}"
