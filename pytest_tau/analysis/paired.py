"""Statistics of two runs of the same tasks: a paired test over tasks, the interval of the difference, its power.

A task's difference is that of its rates of passing, over all trials of either run: trials of one task are no
independent evidence, tasks are. Were the two agents alike, each difference would be as likely with the other sign; the
test asks how often signs at random lead as far from nothing as those that were found. Nothing is assumed of how
difficult tasks are, or how differently.

Signs are not alike where a task has more trials in one of the runs: of a single trial before and four now, which nearly
always pass, most losses are of a quarter, and gains are of a whole. There a second test redistributes the outcomes of
each such task over its trials, and the larger p-value counts. The second holds its level if the agents are identical,
whatever the numbers of trials; the first, if they differ on single tasks and not in all.

Nor are tasks of one template. Tasks that name one cluster change their signs together, and the interval draws subsets
of clusters (Gail, Mark, Carroll, Green and Pee, Statistics in Medicine 1996). The mean stays that over tasks.

- The test is Fisher's for paired differences (The Design of Experiments, 1935, section 21), which evaluations of search
  engines took up (Smucker, Allan and Carterette, CIKM 2007). With one trial a task it is McNemar's.
- The second is a permutation test within strata; of one task it is Fisher's exact test.
- What is as far as what was found counts half (mid-p), without which the test would stay well below its level, the
  more the fewer tasks differ (Lancaster 1961; for McNemar's test Fagerland, Lydersen and Laake, 2013).
- The interval inverts the same test: means of random subsets of the differences (Hartigan, JASA 1969). Where numbers of
  trials differ, it has also what trials alone explain, of both rates' Wilson intervals (Newcombe 1998).
- The smallest difference is that of ``design.power``.

Not scipy: its permutation test samples signs where this is exact (0.5 s instead of 0.5 ms for 200 tasks), and it has
neither mid-p nor the interval. It takes a second to import.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cached_property
from math import comb, lcm, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from .chance import Seen, Values, tails
from .power import LEVEL, Losses
from .statistics import Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .statistics import Clusters

#: With fewer tasks, or clusters of tasks, no interval of 95 % can be had: not even all signs alike are rare enough.
FEWEST_TASKS = 6
#: How many random subsets are drawn.
SAMPLES = 10_000


class PassCount(NamedTuple):
    """A task's trials that ran, of one run, and how many of them passed."""

    trials: int
    passed: int

    @property
    def share(self) -> float:
        """Return the rate."""
        return self.passed / self.trials

    def __str__(self) -> str:
        return f"{self.passed} of {self.trials}"


class Pair(NamedTuple):
    """A task in both runs; each has trials that ran."""

    before: PassCount
    after: PassCount

    @property
    def change(self) -> float:
        """Return how much more often it passes now, from -1 to 1."""
        return self.after.share - self.before.share


class Change(NamedTuple):
    """How a cluster of tasks changed, or a task by itself.

    Attributes:
        total: The sum of the changes of its tasks, in units.
        tasks: How many tasks it has.
    """

    total: int
    tasks: int


class Paired:
    """The comparison of two runs over the tasks that they share.

    Args:
        pairs: A pair for each task; of one at least.
        seed: Of what is sampled; the same gives the same numbers.
        samples: How many, for the interval.
        clusters: The tasks that move together.
    """

    def __init__(self, pairs: Sequence[Pair], seed: int = 0, samples: int = SAMPLES, clusters: Clusters = ()) -> None:
        self.pairs = pairs
        self._seed, self._samples = seed, samples
        self._clusters = clusters or [None] * len(pairs)
        # In whole numbers sums are exact, and ties are ties.
        self._unit = lcm(*(rate.trials for pair in pairs for rate in pair))
        self._changes = self._clustered(range(len(pairs)))

    def _clustered(self, places: Iterable[int]) -> Counter[Change]:
        """Return how often each change is there among some tasks, those of a cluster added up."""
        by_cluster: dict[object, list[int]] = defaultdict(list)
        for place in places:
            by_cluster[self._cluster(place)].append(self._in_units(self.pairs[place]))
        return Counter(Change(sum(changes), len(changes)) for changes in by_cluster.values())

    def _cluster(self, place: int) -> object:
        cluster = self._clusters[place]
        return (place,) if cluster is None else cluster

    @cached_property
    def independent(self) -> int:
        """Return the number of clusters of tasks, of which a task by itself is one."""
        return self._changes.total()

    @property
    def unit_name(self) -> str:
        """Return what is independent of each other: ``task``, or ``cluster`` if tasks move together."""
        return "task" if self.independent == len(self.pairs) else "cluster"

    def count(self, counts: Callable[[Pair], bool]) -> int:
        """Return the number of clusters with a task that meets a condition."""
        return len({self._cluster(place) for place, pair in enumerate(self.pairs) if counts(pair)})

    def _in_units(self, pair: Pair) -> int:
        before, after = (rate.passed * (self._unit // rate.trials) for rate in pair)
        return after - before

    @property
    def before(self) -> float:
        """Return the mean rate of passing in the earlier run."""
        return fmean(pair.before.share for pair in self.pairs)

    @property
    def after(self) -> float:
        """Return the mean rate of passing in the later run."""
        return fmean(pair.after.share for pair in self.pairs)

    @cached_property
    def difference(self) -> float:
        """Return the later rate less the earlier."""
        return self._sum / (self._unit * len(self.pairs))

    @property
    def _sum(self) -> int:
        return sum(change.total * number for change, number in self._changes.items())

    @cached_property
    def p(self) -> float:
        """Return the two-sided mid-p of no difference."""
        if not self._sum:
            return 1.0
        side = self._sum > 0
        tests = (True, False) if self.uneven else (True,)
        return min(1.0, 2 * max(tails(self._parts(signs=signs))[side] for signs in tests))

    @cached_property
    def uneven(self) -> bool:
        """Return whether a task has more trials in one of the runs."""
        return any(pair.before.trials != pair.after.trials for pair in self.pairs)

    def _parts(self, *, signs: bool) -> dict[Values, Seen]:
        """Return the differences with what they could have been as well.

        Args:
            signs: Each with the opposite sign; else those of tasks with more trials in one of the runs as the task's
                outcomes in another order make them.
        """
        even = [place for place, pair in enumerate(self.pairs) if signs or pair.before.trials == pair.after.trials]
        changes = self._changes if signs else self._clustered(even)
        parts = [
            (Values(-abs(total), 2 * abs(total), (0.5, 0.5)), Seen(number, total * number))
            for (total, _), number in changes.items()
        ]
        uneven = Counter(pair for pair in self.pairs if not signs and pair.before.trials != pair.after.trials)
        parts += [
            (self._redistributed(pair), Seen(tasks, self._in_units(pair) * tasks)) for pair, tasks in uneven.items()
        ]
        merged: dict[Values, Seen] = {}
        for values, seen in parts:
            if values.step and len(values.chances) > 1:
                known = merged.get(values, Seen(0, 0))
                merged[values] = Seen(known.numbers + seen.numbers, known.total + seen.total)
        return merged

    def _redistributed(self, pair: Pair) -> Values:
        """Return the differences of a task whose outcomes are those of its trials in random order (hypergeometric)."""
        (before, passed_before), (after, passed_after) = pair
        passed, least, most = (
            passed_before + passed_after,
            max(0, passed_before + passed_after - before),
            min(after, passed_before + passed_after),
        )
        chances = (
            comb(after, later) * comb(before, passed - later) / comb(before + after, passed)
            for later in range(least, most + 1)
        )
        first = self._in_units(Pair(PassCount(before, passed - least), PassCount(after, least)))
        return Values(first, self._unit // before + self._unit // after, tuple(chances))

    @cached_property
    def interval(self) -> Interval | None:
        """Return where the true difference lies with 95 % confidence; None with too few tasks, or clusters of them."""
        if self.independent < FEWEST_TASKS:
            return None
        if len({change.total / change.tasks for change in self._changes}) == 1:
            # All tasks changed alike: what 95 % confidence leaves open that none of so many tasks has shown.
            unseen = 1 - ((1 - LEVEL) / 2) ** (1 / self.independent)
            seen = self.difference * (1 - unseen)
            return Interval(seen - unseen, seen + unseen)
        means = sorted(_subset_means(self._changes, self._seed, self._samples))
        mirrored = [-mean for mean in reversed(means)]
        # The subset that is empty has no mean. The test counts it, as equal to whatever is asked for.
        empty = 0.5**self.independent
        share = ((1 - LEVEL) / 2 - empty / 2) / (1 - empty)
        low, high = (
            quantile / self._unit for quantile in (_mid_quantile(means, share), -_mid_quantile(mirrored, share))
        )
        if self.uneven:
            least, most = self._by_trials()
            low, high = min(low, least), max(high, most)
        # Whether 0 is rejected is known from the test, and not left to the samples.
        if self.p >= 1 - LEVEL:
            low, high = min(low, 0.0), max(high, 0.0)
        elif self._sum > 0:
            low = max(low, means[bisect_right(means, 0.0)] / self._unit)
        else:
            high = min(high, means[bisect_left(means, 0.0) - 1] / self._unit)
        return Interval(low, high)

    def _by_trials(self) -> Interval:
        """Return where the difference lies by chance of trials alone, from the Wilson intervals of both rates."""
        runs = zip(*self.pairs, strict=True)
        earlier, later = (len(rates) / fmean(1 / count.trials for count in rates) for rates in runs)
        before, after = wilson(self.before, earlier), wilson(self.after, later)
        below = sqrt((self.after - after.low) ** 2 + (before.high - self.before) ** 2)
        above = sqrt((after.high - self.after) ** 2 + (self.before - before.low) ** 2)
        return Interval(self.difference - below, self.difference + above)

    @cached_property
    def smallest_loss(self) -> float | None:
        """Return the loss that this many tasks and trials show four times out of five, at a level of 5 %.

        An agent is imagined that fails a share of the trials that now pass, equally on every task. How much trials of a
        task vary, and how much tasks differ beyond that, is taken from the two runs. None if not even the loss of
        everything would show.
        """
        if self.independent < FEWEST_TASKS - 1:
            return None
        power = losses(self.pairs)
        if self.independent == len(self.pairs):
            return power.smallest()
        centre, tasks = self.difference * self._unit, len(self.pairs)
        moved = sum((total - size * centre) ** 2 * number for (total, size), number in self._changes.items())
        squares = sum(size**2 * number for (_, size), number in self._changes.items())
        # The clusters say as much as so many of equal size.
        return replace(power, clusters=tasks**2 / squares, seen=moved / (tasks * self._unit**2)).smallest()


def _subset_means(changes: Mapping[Change, int], seed: int, samples: int) -> list[float]:
    """Return means of random subsets that are not empty: a true centre exceeds each of them as often as not."""
    generator = random.Random(seed)  # noqa: S311 - repeatability is wanted, not secrecy
    means: list[float] = []
    while len(means) < samples:
        total = size = 0
        for change, number in changes.items():
            chosen = generator.getrandbits(number).bit_count()
            total, size = total + change.total * chosen, size + change.tasks * chosen
        if size:
            means.append(total / size)
    return means


def _mid_quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value below which this share lies, counting half of the values equal to it."""
    start = 0
    while start < len(ordered):
        end = bisect_left(ordered, True, start, key=lambda value: value > ordered[start])
        if (start + end) / 2 >= share * len(ordered):
            return ordered[start]
        start = end
    return ordered[-1]


def losses(pairs: Sequence[Pair]) -> Losses:
    """Return the power of a comparison of so many tasks and trials, which vary as they did here."""
    rate = fmean(pair.before.share for pair in pairs)
    # The variance of a trial within its task, without bias: before, and as it is now.
    within, within_now = (
        fmean(_variance_within(rate, pair) for pair, rate in zip(pairs, rates, strict=True))
        for rates in zip(*pairs, strict=True)
    )
    seen = fmean(pair.change**2 for pair in pairs) - fmean(pair.change for pair in pairs) ** 2
    before, after = (fmean(1 / count.trials for count in rates) for rates in zip(*pairs, strict=True))
    uneven = fmean(pair.before.trials != pair.after.trials for pair in pairs)
    return Losses(len(pairs), rate, before, after, within, within_now, seen, uneven)


def _variance_within(rate: PassCount, pair: Pair) -> float:
    """Return the variance of a task's trials; a single trial shows none, and is pooled with that of the other run."""
    trials, passed = rate if rate.trials > 1 else map(sum, zip(*pair, strict=True))
    return passed * (trials - passed) / (trials * (trials - 1))
