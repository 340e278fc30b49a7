"""Partial credit in reports: the means over trials, their differences between two runs, the numbers of a trial."""

from __future__ import annotations

from functools import partial
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from ...analysis import difference_interval, mean_interval
from ...capability import Detail, LateDetail, PageBlock, TrialStages
from ...text import distinct_lines
from . import COUNTS, SHARES, capability

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from ...analysis import Interval
    from ...capability import Compared, Measured, TrialView
    from ...models import Simulation

    #: The partial credit of a trial, by name.
    _Partial: TypeAlias = Mapping[str, float | None]

#: The counts; the core has a column of its own of the last one.
_COUNTS = (*COUNTS, "failed_calls")
#: Characters of the name of a variant.
_LONGEST = 45


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


class PartialStages(TrialStages):
    """Takes the numbers of a trial from its verdict."""

    def __init__(self, _view: TrialView) -> None:
        """Keep nothing."""

    def graded(self, simulation: Simulation) -> dict[str, Any] | None:
        """Return the numbers; None without a verdict, or if its kind has none."""
        verdict = simulation.reward_info
        return None if verdict is None else verdict.partial


def partial_means(trials: Iterable[Measured]) -> list[PartialMean]:
    """Return the mean of each number that any trial with a verdict has, in the order in which they are shown."""
    from ...analysis import by_task, clusters_of

    tasks = by_task(trial.record for trial in trials)
    means = []
    for name in (*SHARES, *_COUNTS):
        measured = [[(capability.read(record.facts) or {}).get(name) for record in task.ran] for task in tasks.values()]
        values = [[value for value in numbers if value is not None] for numbers in measured]
        number = sum(map(len, values))
        if number:
            mean = fsum(value for task_values in values for value in task_values) / number
            clusters = clusters_of(tasks.values())
            interval = mean_interval(values, proportion=name in SHARES, clusters=clusters)
            # Counts that are all equal have nothing to resample.
            known = interval if interval and interval.low < interval.high else None
            means.append(PartialMean(name, mean, known))
    return means


def summary(trials: Sequence[Measured]) -> Iterator[LateDetail]:
    """Yield the means, of each variant."""
    from ...analysis import records_by_variant

    by_record = {id(trial.record): trial for trial in trials}
    split = records_by_variant([trial.record for trial in trials])
    for name, records in zip(distinct_lines([*split], _LONGEST), split.values(), strict=True):
        yield LateDetail(partial(_line, name, [by_record[id(record)] for record in records]))


def _line(name: str, trials: Sequence[Measured]) -> str:
    parts = [mean.text for mean in partial_means(trials)]
    return (f"{name}: " if name else "") + ", ".join(parts) if parts else ""


def failure(_facts: _Partial, simulation: Simulation) -> Iterator[str]:
    """Yield the numbers of the trial."""
    if simulation.reward_info is not None:
        yield Detail(simulation.reward_info.partial_text)


def page(facts: _Partial, _simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the numbers that were measured, each with its name."""
    shares = [(name, f"{value:.3f}") for name in SHARES if (value := facts.get(name)) is not None]
    counts = [(name, str(value)) for name in _COUNTS if (value := facts.get(name)) is not None]
    yield PageBlock("Partial credit", rows=[*shares, *counts])


def comparison(compared: Compared) -> list[str]:
    """Return how partial credit differs between two runs: a line for progress, and one for what else differs.

    There is no line if nothing differs, or if there are variants.
    """
    from ...analysis import FEWEST_TASKS

    if compared.variants:
        return []
    measured = [tuple([trial.facts for trial in side if trial.record.ran] for side in pair) for pair in compared.tasks]
    means_by_name = {name: _means_of_both(name, measured) for name in SHARES}
    by_task = means_by_name.pop("progress")
    clusters = [pair[1][0].record.moves_with for pair, means in zip(compared.tasks, by_task, strict=True) if means]
    tasks = [*filter(None, by_task)]
    if not tasks:
        return []
    before, after = _overall(tasks)
    if len(tasks) < FEWEST_TASKS:
        reach = f" (no interval with fewer than {FEWEST_TASKS} tasks)"
    else:
        interval = difference_interval([after - before for before, after in tasks], clusters)
        reach = f" ({interval.signed})" if interval else ""
    line = f"progress {before:.3f} -> {after:.3f}: {after - before:+.3f}{reach}"
    means = {
        name: [f"{mean:.3f}" for mean in _overall([*filter(None, both)])]
        for name, both in means_by_name.items()
        if any(both)
    }
    others = [f"{name} {earlier} -> {later}" for name, (earlier, later) in means.items() if earlier != later]
    if not others and f"{before:.3f}" == f"{after:.3f}":
        return []
    return [line, *([f"partial credit: {', '.join(others)}"] if others else [])]


def _means_of_both(name: str, tasks: Iterable[tuple[list[_Partial], ...]]) -> list[tuple[float, float] | None]:
    """Return the means of each task in the earlier run and in the later one; None if either has no numbers."""
    means = [(_mean(name, earlier), _mean(name, later)) for earlier, later in tasks]
    return [None if before is None or after is None else (before, after) for before, after in means]


def _overall(tasks: Collection[tuple[float, float]]) -> tuple[float, float]:
    """Return the means over tasks, in both runs."""
    return fmean(before for before, _ in tasks), fmean(after for _, after in tasks)


def _mean(name: str, trials: Iterable[_Partial]) -> float | None:
    values = [value for shares in trials if (value := shares.get(name)) is not None]
    return fsum(values) / len(values) if values else None
