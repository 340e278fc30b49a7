"""The rate over all tasks, estimated from a part of them whose probabilities of being drawn are known.

Each task counts by the inverse of its probability (Horvitz and Thompson, JASA 1952): a task that was drawn with a
probability of 0.1 stands for ten. The tasks of one probability are a stratum. The interval is Wilson's with the number
of independent tasks that would give the variance of the weighted rate (its effective sample size; Korn and Graubard,
Survey Methodology, 1998).
"""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean, variance
from typing import TYPE_CHECKING, NamedTuple

from ..statistics import Interval, wilson

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

    Args:
        tasks: The tasks that were run and have a verdict.
    """
    strata: dict[float, list[float]] = defaultdict(list)
    for task in tasks:
        strata[task.chance].append(task.share)
    if not strata:
        return None
    sizes = {chance: len(shares) / chance for chance, shares in strata.items()}
    whole = sum(sizes.values())
    value = sum(sizes[chance] * fmean(shares) for chance, shares in strata.items()) / whole
    if sum(map(len, strata.values())) < 2:
        return WeightedRate(value, None)
    spread = sum(
        (sizes[chance] / whole) ** 2 * _variance(shares, value) / len(shares) for chance, shares in strata.items()
    )
    # Without any spread: as many tasks as equal weights would need for the same variance (Kish 1965).
    equal = 1 / sum((1 / chance / whole) ** 2 * len(shares) for chance, shares in strata.items())
    number = value * (1 - value) / spread if spread and 0 < value < 1 else equal
    return WeightedRate(value, wilson(value, number))


def _variance(shares: list[float], rate: float) -> float:
    """Return the variance of tasks in a stratum; of a single one, that of trials of the whole rate."""
    return variance(shares) if len(shares) > 1 else rate * (1 - rate)
