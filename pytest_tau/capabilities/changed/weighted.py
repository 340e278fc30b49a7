"""The rate over all tasks, estimated from a part of them whose probabilities of being drawn are known.

Each task counts by the inverse of its probability (Horvitz and Thompson, JASA 1952): a task that was drawn with a
probability of 0.1 stands for ten. The tasks of one probability are a stratum. The interval joins Wilson's intervals of
the strata, whose squared distances from their rates add up (Zou, Huang and Zhang, Computational Statistics and Data
Analysis, 2009): a few drawn tasks that all pass do not show that every other task passes, too.
"""

from __future__ import annotations

from collections import defaultdict
from math import sqrt
from statistics import fmean, variance
from typing import TYPE_CHECKING, NamedTuple

from ...analysis import Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable


class WeightedTask(NamedTuple):
    """A task that was run.

    Attributes:
        share: The share of its trials that passed.
        chance: The probability with which it was drawn, above 0 and at most 1.
    """

    share: float
    chance: float


class WeightedRate(NamedTuple):
    """The rate over all tasks.

    Attributes:
        value: The estimate.
        interval: Its 95 % interval; None with fewer than two tasks.
    """

    value: float
    interval: Interval | None


def weighted_rate(tasks: Iterable[WeightedTask]) -> WeightedRate | None:
    """Return the rate over all tasks; None if none was run.

    If every drawn task was run and each stratum is drawn without replacement, the estimate is unbiased: over all draws,
    its mean is the rate of a run of all tasks.
    """
    strata: dict[float, list[float]] = defaultdict(list)
    for task in tasks:
        strata[task.chance].append(task.share)
    if not strata:
        return None
    sizes = {chance: len(shares) / chance for chance, shares in strata.items()}
    total = sum(sizes.values())
    value = sum(sizes[chance] * fmean(shares) for chance, shares in strata.items()) / total
    if sum(map(len, strata.values())) < 2:
        return WeightedRate(value, None)
    below = above = 0.0
    for chance, shares in strata.items():
        rate, weight = fmean(shares), sizes[chance] / total
        reach = wilson(rate, _number(shares, rate))
        below, above = below + (weight * (rate - reach.low)) ** 2, above + (weight * (reach.high - rate)) ** 2
    return WeightedRate(value, Interval(max(0.0, value - sqrt(below)), min(1.0, value + sqrt(above))))


def _number(shares: list[float], rate: float) -> float:
    """Return the number of single trials that would have the variance of these tasks, at least one for each task."""
    spread = variance(shares) if len(shares) > 1 else 0.0
    return max(len(shares), rate * (1 - rate) * len(shares) / spread) if spread else len(shares)
