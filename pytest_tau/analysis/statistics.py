"""Intervals by resampling tasks, and percentiles. Pure, without a numerical library.

scipy's bootstrap has BCa, too, but not of ratios of sums over tasks, and takes a second and 200 MB to be there.

A run's trials are not independent: those of one task resemble each other. So tasks are resampled, each with all of its
trials, which is the cluster bootstrap; tasks that move together, such as those of one template, are resampled together.
The intervals are BCa ones, which correct the percentiles of the resamples for bias and skewness.

Of few tasks, the bootstrap is too narrow. That of a proportion is widened to contain Wilson's interval with as many
trials as would vary as the tasks do, but no further than with a trial for each task; others have the percentiles of
Student's distribution. Both take the quantile of Student's distribution for the number of tasks, so that of many tasks
little is left of the difference (``python -m benchmarks --only interval-error``).

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 14, for BCa; Hesterberg, What Teachers
Should Know About the Bootstrap (2015), for its percentiles with few tasks; Wilson (1927), and Korn and Graubard (1998)
for effective numbers of trials; Miller, Adding Error Bars to Evals (2024), for treating a task's trials as a cluster.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import copysign, fsum, pi, sqrt, tan
from statistics import NormalDist
from sys import float_info
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from .metrics import task_reach

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

#: For each task, what the tasks that move with it have in common; None for a task by itself. Empty: for every task.
Clusters: TypeAlias = Sequence[Hashable | None]


#: How often tasks are resampled.
RESAMPLES = 2000
#: The confidence of intervals.
_LEVEL = 0.95
_NORMAL = NormalDist()
_TWO_SIDED = _NORMAL.inv_cdf((1 + _LEVEL) / 2)
#: With more tasks than this for each distinct value, counts are drawn instead of tasks.
_MANY = 60
#: What sums of the same numbers in another order may differ by, relative to the sum of their absolute values.
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """An interval of confidence."""

    low: float
    high: float

    def format(self) -> str:
        """Return the interval as text: ``0.790 to 0.890``."""
        return f"{self.low:.3f} to {self.high:.3f}"

    @property
    def signed(self) -> str:
        """Return that of a difference as text: ``95 % interval -0.100 to +0.020``."""
        return f"95 % interval {self.low:+.3f} to {self.high:+.3f}"


def pass_hat_k_interval(results: Iterable[tuple[int, int]], k: int, clusters: Clusters = ()) -> Interval | None:
    """Return the interval of pass^k.

    Args:
        results: For each task, its trials that ran and how many of them passed.
        k: How many trials must pass.
        clusters: The tasks that move together.

    Returns:
        None with fewer than two tasks that have a trial, and if missing trials decide on a task. Where all tasks have
        the same rate there is nothing to resample, and it is Wilson's interval with a trial for each task: a rate
        varies at most as a coin does.
    """
    ranges = [task_reach(trials, passed, k) if trials else None for trials, passed in results]
    if any(reach and reach.low < reach.high for reach in ranges):
        return None
    return ratio_interval(((reach.low, 1) if reach else (0, 0) for reach in ranges), proportion=True, clusters=clusters)


def mean_interval(
    values_by_task: Iterable[Collection[float]], *, proportion: bool = False, clusters: Clusters = ()
) -> Interval | None:
    """Return the interval of the mean over all trials.

    Args:
        values_by_task: For each task, a value of each of its trials.
        proportion: The values are between 0 and 1.
        clusters: The tasks that move together.

    Returns:
        None with fewer than two tasks that have values. Where all tasks have the same mean, that of a proportion is
        Wilson's interval with a trial for each task: values from 0 to 1 vary at most as a coin does.
    """
    sums = ((fsum(values), len(values)) for values in values_by_task)
    return ratio_interval(sums, proportion=proportion, clusters=clusters)


def difference_interval(differences: Collection[float], clusters: Clusters = ()) -> Interval | None:
    """Return the interval of the mean difference of two runs; that of the runs in the other order is its mirror image.

    Args:
        differences: The difference of each task.
        clusters: The tasks that move together.

    Returns:
        None with fewer than two tasks, or if all differ alike: there is nothing to resample.
    """
    if len(set(differences)) < 2:
        return None
    sums = together(((difference, 1) for difference in differences), clusters)
    here, mirrored = sorted(sums), sorted((-total, number) for total, number in sums)
    # Resamples depend on the order of the values, so one of the two directions is resampled for both.
    interval = ratio_interval(min(here, mirrored), proportion=False)
    if interval is None or here < mirrored:
        return interval
    if here > mirrored:
        return Interval(-interval.high, -interval.low)
    reach = (interval.high - interval.low) / 2
    return Interval(-reach, reach)


def together(sums_by_task: Iterable[tuple[float, int]], clusters: Clusters) -> list[tuple[float, int]]:
    """Return sums and numbers of values, those of tasks that move together added up; of tasks that have values.

    Args:
        sums_by_task: For each task, the sum of the values, and how many there are.
        clusters: The tasks that move together.
    """
    if not any(cluster is not None for cluster in clusters):
        return [(float(total), number) for total, number in sums_by_task if number]
    by_cluster: dict[Hashable, list[tuple[float, int]]] = defaultdict(list)
    for place, (task_sums, cluster) in enumerate(zip(sums_by_task, clusters, strict=True)):
        if task_sums[1]:
            by_cluster[(place,) if cluster is None else cluster].append(task_sums)
    return [(fsum(total for total, _ in sums), sum(number for _, number in sums)) for sums in by_cluster.values()]


def ratio_interval(
    sums_by_task: Iterable[tuple[float, int]], *, proportion: bool, clusters: Clusters = ()
) -> Interval | None:
    """Return the interval of a mean over trials or events, of which tasks have different numbers.

    Args:
        sums_by_task: For each task, the sum of the values, and how many there are.
        proportion: The values are between 0 and 1.
        clusters: The tasks that move together.

    Returns:
        None with fewer than two tasks, or clusters of tasks, that have values.
    """
    cells = Counter(together(sums_by_task, clusters))
    tasks = cells.total()
    if tasks < 2:
        return None
    pairs = sorted(cells)
    counts = tuple(cells[pair] for pair in pairs)
    estimate = _ratio(pairs, counts)
    influence = [above - estimate * below for above, below in pairs]
    spread = fsum(count * effect**2 for count, effect in zip(counts, influence, strict=True))
    rounding = max(_ROUNDING, tasks * float_info.epsilon)
    if spread <= rounding**2 * fsum(count * above**2 for (above, _), count in cells.items()):
        return wilson(estimate, tasks) if proportion else Interval(estimate, estimate)
    resamples = sorted(_resampled(pairs, counts))
    skew = fsum(count * effect**3 for count, effect in zip(counts, influence, strict=True))
    size = fsum(count * abs(above) for (above, _), count in cells.items())
    number = sum(count * below for (_, below), count in cells.items())
    student = student_quantile(tasks - 1)
    wider = 1.0 if proportion else student / _TWO_SIDED * sqrt(tasks / (tasks - 1))
    interval = _bca(resamples, estimate, skew / (6 * spread**1.5), rounding * size / number, wider)
    if not proportion:
        return interval
    variance = spread / number**2 * tasks / (tasks - 1)
    few = wilson(estimate, max(1.0, estimate * (1 - estimate) / variance), student)
    # A rate varies at most as a coin does, thrown once for each task; with unequal weights, for fewer.
    coin = wilson(estimate, number**2 / sum(count * below**2 for (_, below), count in cells.items()))
    return Interval(min(interval.low, max(few.low, coin.low)), max(interval.high, min(few.high, coin.high)))


def percentile_interval(
    values_by_task: Iterable[Collection[float]], share: float, clusters: Clusters = ()
) -> Interval | None:
    """Return the interval of a percentile of all values.

    It is that of the share of values up to the percentile, with tasks as clusters, read off at the values themselves.

    Source: Woodruff, Confidence Intervals for Medians and Other Position Measures (1952).

    Args:
        values_by_task: For each task, its values.
        share: From 0 to 1: 0.5 for the median.
        clusters: The tasks that move together.

    Returns:
        None with fewer than two tasks, or clusters of tasks, that have values.
    """
    tasks = list(values_by_task)
    ordered = sorted(value for values in tasks for value in values)
    estimate = percentile(ordered, share)
    if estimate is None:
        return None
    below = together(((sum(value <= estimate for value in values), len(values)) for values in tasks), clusters)
    if len(below) < 2:
        return None
    spread = fsum((reached - share * number) ** 2 for reached, number in below) * len(below) / (len(below) - 1)
    half = student_quantile(len(below) - 1) * sqrt(spread) / len(ordered)
    low, high = (percentile(ordered, min(1.0, max(0.0, end))) for end in (share - half, share + half))
    return None if low is None or high is None else Interval(low, high)


def percentile(values: Iterable[float], share: float) -> float | None:
    """Return the value below which this share lies, interpolated between neighbours; None if there are no values.

    Args:
        values: In any order.
        share: From 0 to 1: 0.5 for the median.
    """
    ordered = sorted(values)
    if not ordered:
        return None
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def _ratio(pairs: Sequence[tuple[float, int]], counts: Sequence[int]) -> float:
    above = below = 0.0
    for (total, number), count in zip(pairs, counts, strict=True):
        above += total * count
        below += number * count
    return above / below


def _bca(estimates: Sequence[float], estimate: float, acceleration: float, slack: float, wider: float) -> Interval:
    """Return percentiles of the sorted estimates of resamples, corrected for bias and skewness.

    Args:
        estimates: The estimates of resamples, in ascending order.
        estimate: The estimate.
        acceleration: A sixth of the skewness.
        slack: What estimates that are equal may differ by.
        wider: What the quantiles of the normal distribution are multiplied by.
    """
    # Of a discrete distribution, what equals the estimate lies half on either side of it.
    below = (bisect_left(estimates, estimate - slack) + bisect_right(estimates, estimate + slack)) / 2
    bias = _NORMAL.inv_cdf(min(max(below, 0.5), len(estimates) - 0.5) / len(estimates))

    def corrected(quantile: float) -> float:
        shifted = bias + quantile
        # Past its pole the correction has lost its meaning, and the extreme is meant.
        scale = 1 - acceleration * shifted
        position = _NORMAL.cdf(bias + shifted / scale) if scale > 0 else (copysign(1.0, shifted) + 1) / 2
        value = percentile(estimates, position)
        assert value is not None, "there are resamples"
        return value

    return Interval(corrected(-wider * _TWO_SIDED), corrected(wider * _TWO_SIDED))


@lru_cache(maxsize=256)
def student_quantile(freedom: int) -> float:
    """Return the quantile of Student's distribution that the absolute value exceeds with a probability of 5 %.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.5, with an error below 0.005 from
    three degrees of freedom on.

    Args:
        freedom: The degrees of freedom, at least 1.
    """
    if freedom == 1:
        return tan(pi * _LEVEL / 2)
    if freedom == 2:
        return _LEVEL * sqrt(2 / (1 - _LEVEL**2))
    z = _TWO_SIDED
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + fsum(term / freedom**power for power, term in enumerate(terms, 1))


def wilson(rate: float, trials: float, z: float = _TWO_SIDED) -> Interval:
    """Return Wilson's interval of a proportion.

    Args:
        rate: The proportion.
        trials: How many independent trials it is of; it may be an effective number.
        z: How many standard deviations the interval reaches.
    """
    centre = (rate + z**2 / (2 * trials)) / (1 + z**2 / trials)
    reach = z / (1 + z**2 / trials) * sqrt(rate * (1 - rate) / trials + z**2 / (4 * trials**2))
    return Interval(max(0.0, centre - reach) if rate else 0.0, min(1.0, centre + reach) if rate < 1 else 1.0)


def _resampled(pairs: list[tuple[float, int]], counts: tuple[int, ...]) -> Iterator[float]:
    """Yield the ratios of resamples."""
    tasks = sum(counts)
    if tasks > _MANY * len(counts):
        yield from (_ratio(pairs, drawn) for drawn in resampled_counts(counts))
        return
    generator = random.Random(0)  # noqa: S311 - repeatability is wanted, not secrecy
    everyone = [pair for pair, count in zip(pairs, counts, strict=True) for _ in range(count)]
    if len({below for _, below in pairs}) == 1:
        below, tops = pairs[0][1], [above for above, _ in everyone]
        yield from (sum(generator.choices(tops, k=tasks)) / (below * tasks) for _ in range(RESAMPLES))
        return
    for _ in range(RESAMPLES):
        above, below = map(sum, zip(*generator.choices(everyone, k=tasks), strict=True))
        yield above / below


# The intervals of pass^1 to pass^k are of the same resamples, which are what takes the time.
@lru_cache(maxsize=4)
def resampled_counts(counts: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return how often each distinct value is drawn when as many as there are, are drawn with replacement.

    Returns:
        The counts of each resample.
    """
    generator = random.Random(0)  # noqa: S311 - repeatability is wanted, not secrecy
    return tuple(_multinomial(counts, generator) for _ in range(RESAMPLES))


def _multinomial(counts: tuple[int, ...], generator: random.Random) -> tuple[int, ...]:
    left = weight = sum(counts)
    drawn = []
    for count in counts:
        drawn.append(binomial(left, count / weight, generator))
        left, weight = left - drawn[-1], weight - count
    return tuple(drawn)


def binomial(number: int, share: float, generator: random.Random) -> int:
    """Return how many of so many draws succeed.

    Each draw compares a random binary fraction with the share, digit by digit; a digit of all draws is one integer, and
    half of the undecided ones are decided by it.
    """
    if share >= 1:
        return number
    successes, undecided = 0, (1 << number) - 1
    while undecided and share:
        share *= 2
        digits = generator.getrandbits(number)
        if share >= 1:
            share -= 1
            successes += (undecided & ~digits).bit_count()
            undecided &= digits
        else:
            undecided &= ~digits
    return successes
