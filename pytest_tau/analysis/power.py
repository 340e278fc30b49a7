"""The power of a comparison of two runs: which loss so many tasks and trials show, and how often.

An agent is imagined that fails a share of the trials that now pass, equally on every task. A loss is significant once
it exceeds what chance explains; where numbers of trials differ, by both tests: random signs, and outcomes in another
order.

Source: Miller, Adding Error Bars to Evals (2024), with the variance that the difference itself would bring.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

#: What an interval is given for, and how often a difference of the given size is found.
LEVEL, POWER = 0.95, 0.8
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Losses:
    """The power of a comparison with an agent that loses a share of what passes.

    Attributes:
        tasks: How many there are.
        rate: The mean rate of passing before.
        before: One over the number of trials of a task, before; the mean over tasks.
        after: The same for the later run.
        within: The variance of a trial within its task, before; the mean over tasks.
        within_now: The same in the later run.
        seen: The variance of the changes of tasks, whatever it is from; of clusters, for each task as much of it.
        uneven: The share of tasks that have more trials in one of the runs.
        clusters: As how many clusters of equal size the tasks move; None if each moves by itself.
    """

    tasks: int
    rate: float
    before: float
    after: float
    within: float
    within_now: float
    seen: float
    uneven: float = 0.0
    clusters: float | None = None

    @classmethod
    def planned(
        cls, rate: float, within: float, tasks: int, before: float, after: float, clusters: float | None = None
    ) -> Losses:
        """Return the power of a comparison that was not made yet: the changes are those of chance alone.

        Args:
            rate: The mean rate of passing.
            within: The variance of a trial within its task.
            tasks: How many tasks there are.
            before: The number of trials of each task in the earlier run.
            after: The same in the later run.
            clusters: As how many clusters of equal size the tasks move; None if each moves by itself.
        """
        seen = within / before + within / after
        return cls(tasks, rate, 1 / before, 1 / after, within, within, seen, float(before != after), clusters)

    def power(self, share: float) -> float:
        """Return the chance that the loss of this share is significant."""
        loss = share * self.rate
        between = max(0.0, self.rate * (1 - self.rate) - self.within)
        # Of chances p(1 - share), p(1 - p) becomes this on average, as p * p is p less p(1 - p).
        later = (1 - share) * (self.within + share * (self.rate - self.within))
        together = 1.0 if self.clusters is None else self.tasks / self.clusters
        variance = self.seen + (later - self.within_now) * self.after + share**2 * between * together
        # Where chance has made it small, it is still not believed to be much less than what trials alone explain.
        variance = max(variance, (self.within * self.before + later * self.after) / 2)
        limit = _NORMAL.inv_cdf(1 - (1 - LEVEL) / 2)
        by_signs = variance + loss**2 * together
        by_order = self.uneven * self._redistributed(share, later) + (1 - self.uneven) * by_signs
        by_chance, spread = sqrt(max(by_signs, by_order) / self.tasks), sqrt(variance / self.tasks)
        if not spread:
            return float(loss > limit * by_chance)
        return _NORMAL.cdf((loss - limit * by_chance) / spread)

    def _redistributed(self, share: float, later: float) -> float:
        """Return the variance of a task's change if its outcomes are in another order; the mean over tasks.

        Args:
            share: The share of the passing trials that is lost.
            later: The variance of a trial within its task, after the loss.
        """
        before, after = 1 / self.before, 1 / self.after
        trials = before + after
        apart = share**2 * (self.rate - self.within)
        within = (before * self.within + after * later) / trials + before * after / (trials * (trials - 1)) * apart
        return within * (self.before + self.after)

    def smallest(self, power: float = POWER) -> float | None:
        """Return the smallest loss that is significant with this chance; None if not even that of everything is."""
        low, high = 0.0, 1.0
        if self.power(high) < power:
            return None
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (low, middle) if self.power(middle) >= power else (middle, high)
        return high * self.rate
