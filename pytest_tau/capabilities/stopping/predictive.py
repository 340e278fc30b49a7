"""The probability that a rate of the whole run meets a bound, from the trials that were run so far.

Tasks differ, and the trials of a task vary: each task has a chance of its own to succeed, drawn from a beta
distribution, and its trials succeed with this chance (the beta-binomial model). Neither the mean of the chances nor how
much they differ is known, so both have a prior, and what the trials so far show of them weighs each pair of values:
Jeffreys' prior for the mean, and an even one over the logarithm of the sum of the two parameters. For each pair, mean
and variance of the final value follow exactly, and its distribution is taken to be normal.

Source: Gelman et al., Bayesian Data Analysis (2013), chapter 5, for the model; Saville et al., The utility of Bayesian
predictive probabilities for interim monitoring of clinical trials (Clinical Trials, 2014), for its use.
"""

from __future__ import annotations

from array import array
from collections import Counter
from functools import lru_cache
from math import ceil, comb, exp, floor, isqrt, lgamma, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from ...analysis import task_reach

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...analysis import Gate, TaskTrials
    from ...runs import Group

#: With fewer tasks that have a trial, the probability is not stated: the prior would decide.
FEWEST_TASKS = 8
#: The sums of the parameters of the beta distribution: from tasks that nearly always or never succeed, to equal ones.
_LIKENESS = (0.1, 0.25, 0.6, 1.5, 4.0, 10.0, 25.0, 60.0)
#: The means: so many, and for each root of the number of tasks.
_MEANS, _MEANS_PER_ROOT = 48, 9
_NORMAL = NormalDist()
_ROUNDING = 1e-6


class Cell(NamedTuple):
    """The trials of a task.

    Attributes:
        trials: How many were run.
        successes: How many of them succeeded.
        waiting: How many will be run.
    """

    trials: int
    successes: int
    waiting: int


def probabilities(gate: Gate, tasks: dict[Group, TaskTrials]) -> dict[str, float | None]:
    """Return the probability that each variant meets a gate at the end, by name; None while it is not known."""
    return {name: _probability(gate, variant_tasks) for name, variant_tasks in gate.by_variant(tasks).items()}


def _probability(gate: Gate, tasks: dict[Group, TaskTrials]) -> float | None:
    settled = gate.settled(tasks)
    if settled is not None:
        return float(settled)
    cells = cells_of(gate, gate.tasks(tasks))
    if cells is None:
        return None
    upwards = gate.operator in (">=", ">")
    strict = gate.operator in (">", "<=")
    probability = probability_at_least(cells, gate.limit, gate.metric.trials, strict=strict)
    return probability if probability is None or upwards else 1 - probability


def cells_of(gate: Gate, tasks: Sequence[TaskTrials]) -> Counter[Cell] | None:
    """Return what the final value of a gate is predicted from; None for a metric that is not predicted.

    Trials that are waiting are expected to have a verdict.
    """
    if gate.name == "errors":
        return Counter(Cell(task.reported, task.errors, task.waiting) for task in tasks)
    if gate.name.startswith("pass^"):
        return Counter(Cell(len(task.ran), task.passed, task.waiting) for task in tasks)
    return None


def probability_at_least(cells: Mapping[Cell, int], bound: float, k: int = 1, *, strict: bool = False) -> float | None:
    """Return the probability that the final rate is at least a bound.

    Args:
        cells: How many tasks have each number of trials.
        bound: The bound.
        k: How many trials of a task must succeed together, as in pass^k.
        strict: Whether the rate must exceed the bound.

    Returns:
        None with too few tasks so far, and if a task will have fewer than k trials and has not failed one.
    """
    counted = {cell: count for cell, count in cells.items() if cell.trials + cell.waiting}
    if any(cell.trials + cell.waiting < k and cell.successes == cell.trials for cell in counted):
        return None
    tasks, seen = sum(counted.values()), sum(count for cell, count in counted.items() if cell.trials)
    if seen < FEWEST_TASKS:
        return None
    points = _points(counted, max(_MEANS, _MEANS_PER_ROOT * isqrt(tasks)), k)
    most = max(points.likelihood)
    limit = bound
    if k == 1:
        # The rate is a multiple of this, and the normal distribution is continuous.
        step = 1 / (tasks * max(cell.trials + cell.waiting for cell in counted))
        limit = step * (floor(bound / step + _ROUNDING) + 0.5 if strict else ceil(bound / step - _ROUNDING) - 0.5)
    weights = [exp(likelihood - most) for likelihood in points.likelihood]
    above = sum(
        weight * _above(total / tasks, sqrt(variance) / tasks, limit)
        for weight, total, variance in zip(weights, points.total, points.variance, strict=True)
    )
    return above / sum(weights)


class _Points(NamedTuple):
    """What each pair of parameters implies: the likelihood (log), and mean and variance of the sum over tasks."""

    likelihood: Sequence[float]
    total: Sequence[float]
    variance: Sequence[float]


def _points(cells: Mapping[Cell, int], means: int, k: int) -> _Points:
    sums: list[Sequence[float]] = [[0.0] * (means * len(_LIKENESS))] * 3
    for cell, count in cells.items():
        sums = [
            [so_far + count * value for so_far, value in zip(sum_, of_cell, strict=True)]
            for sum_, of_cell in zip(sums, _of_cell(cell, means, k), strict=True)
        ]
    return _Points(*sums)


def _above(mean: float, deviation: float, limit: float) -> float:
    if not deviation:
        return float(mean >= limit)
    return _NORMAL.cdf((mean - limit) / deviation)


@lru_cache(maxsize=1 << 9)
def _of_cell(cell: Cell, means: int, k: int) -> _Points:
    """Return the points of one task: the likelihood of its trials so far, and mean and variance of its final rate."""
    points = [
        _point(cell, sin(pi / 2 * (number + 0.5) / means) ** 2, likeness, k)
        for number in range(means)
        for likeness in _LIKENESS
    ]
    # Arrays take a quarter of the memory.
    return _Points(*(array("d", column) for column in zip(*points, strict=True)))


def _point(cell: Cell, mean: float, likeness: float, k: int) -> tuple[float, float, float]:
    alpha = mean * likeness + cell.successes
    beta = (1 - mean) * likeness + cell.trials - cell.successes
    likelihood = _log_beta(alpha, beta) - _log_beta(mean * likeness, (1 - mean) * likeness)
    most = cell.trials + cell.waiting
    rates = [task_reach(most, cell.successes + more, k).low for more in range(cell.waiting + 1)]
    if not cell.waiting:
        return likelihood, rates[0], 0.0
    chances = _beta_binomial(cell.waiting, alpha, beta)
    total = sum(chance * rate for chance, rate in zip(chances, rates, strict=True))
    square = sum(chance * rate**2 for chance, rate in zip(chances, rates, strict=True))
    return likelihood, total, max(0.0, square - total**2)


def _beta_binomial(number: int, alpha: float, beta: float) -> list[float]:
    """Return the chances of 0 to ``number`` successes."""
    log_norm = _log_beta(alpha, beta)
    return [
        comb(number, hits) * exp(_log_beta(alpha + hits, beta + number - hits) - log_norm) for hits in range(number + 1)
    ]


def _log_beta(alpha: float, beta: float) -> float:
    return lgamma(alpha) + lgamma(beta) - lgamma(alpha + beta)
