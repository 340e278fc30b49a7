"""The means of partial credit over trials, and their differences between two runs."""

from __future__ import annotations

from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from ...evaluation.partial import COUNTS, SHARES
from ...text import plural
from ..gates.metrics import by_task
from ..paired import FEWEST_TASKS
from ..statistics import difference_interval, mean_interval, share_interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ...runs.record import TrialRecord
    from ..statistics import Interval

    #: The partial credit of a trial, by name.
    _Partial: TypeAlias = Mapping[str, float | None]


class PartialMean(NamedTuple):
    """The mean of a number of partial credit.

    Attributes:
        name: The number.
        mean: Over the trials in which it can be measured.
        interval: The 95 % interval, by resampling tasks; None with fewer than two tasks, and for equal counts.
    """

    name: str
    mean: float
    interval: Interval | None

    @property
    def text(self) -> str:
        """Return the mean with its interval: ``progress 0.812 (0.750 to 0.870)``."""
        return f"{self.name} {self.mean:.3f}" + (f" ({self.interval.format()})" if self.interval else "")


def partial_means(records: Iterable[TrialRecord]) -> list[PartialMean]:
    """Return the mean of each number that any trial with a verdict has, in the order in which they are shown."""
    tasks = by_task(records)
    found = []
    for name in (*SHARES, *COUNTS):
        measured = [[each.partial.get(name) for each in task.ran] for task in tasks.values()]
        values = [[value for value in each if value is not None] for each in measured]
        number = sum(map(len, values))
        if number:
            mean = fsum(value for each in values for value in each) / number
            interval = share_interval(values) if name in SHARES else mean_interval(values)
            # Counts that are all equal have nothing to resample.
            known = interval if interval and interval.low < interval.high else None
            found.append(PartialMean(name, mean, known))
    return found


def unmeasured(records: Iterable[TrialRecord]) -> int:
    """Return the number of trials with a verdict of which partial credit was not measured."""
    return sum(record.ran and not record.partial for record in records)


def difference_lines(
    pairs: Sequence[tuple[Collection[TrialRecord], Collection[TrialRecord]]],
) -> list[str]:
    """Return how partial credit differs between two runs: a line for progress, and one for what else differs.

    There is no line if nothing differs.

    Args:
        pairs: The trials of each task, in the earlier run and in the later one.
    """
    measured = [tuple([each.partial for each in side if each.ran] for side in pair) for pair in pairs]
    found = {name: _means_of_both(name, measured) for name in SHARES}
    tasks = found.pop("progress")
    if not tasks:
        return []
    before, after = _overall(tasks)
    interval = _interval(tasks)
    reach = f" (95 % interval {interval.low:+.3f} to {interval.high:+.3f})" if interval else ""
    reach = f" (no interval with fewer than {FEWEST_TASKS} tasks)" if len(tasks) < FEWEST_TASKS else reach
    line = f"progress {before:.3f} -> {after:.3f}: {after - before:+.3f}{reach}"
    means = {name: [f"{each:.3f}" for each in _overall(both)] for name, both in found.items() if both}
    others = [f"{name} {one} -> {other}" for name, (one, other) in means.items() if one != other]
    if not others and f"{before:.3f}" == f"{after:.3f}":
        return []
    return [line, *([f"partial credit: {', '.join(others)}"] if others else [])]


def _means_of_both(name: str, tasks: Iterable[tuple[list[_Partial], ...]]) -> list[tuple[float, float]]:
    """Return the means of each task that has numbers in both runs, in the earlier run and in the later one."""
    means = [(_mean(name, earlier), _mean(name, later)) for earlier, later in tasks]
    return [(before, after) for before, after in means if before is not None and after is not None]


def _overall(tasks: Collection[tuple[float, float]]) -> tuple[float, float]:
    """Return the means over tasks, in both runs."""
    return fmean(before for before, _ in tasks), fmean(after for _, after in tasks)


def _interval(tasks: Collection[tuple[float, float]]) -> Interval | None:
    """Return the interval of the difference, by resampling tasks; None with few tasks, or if all differ alike."""
    return difference_interval([after - before for before, after in tasks]) if len(tasks) >= FEWEST_TASKS else None


def _mean(name: str, trials: Iterable[_Partial]) -> float | None:
    found = [value for each in trials if (value := each.get(name)) is not None]
    return fsum(found) / len(found) if found else None


def partial_parts(records: Sequence[TrialRecord]) -> list[str]:
    """Return the means as parts of a line, and for how many trials they are not known."""
    found = [each.text for each in partial_means(records)]
    missing = unmeasured(records)
    return [*found, *([f"not measured in {plural(missing, 'trial')}"] if found and missing else [])]
