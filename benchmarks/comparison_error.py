"""How often the comparison of two runs is wrong, on agents whose true difference is known."""

from __future__ import annotations

import random
import statistics
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from pytest_tau.analysis.paired import Pair, Paired, PassCount
from pytest_tau.analysis.statistics import binomial

from .figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options

#: Tasks, and trials of each in either run.
SIZES = ((20, 1), (20, 4), (50, 1), (50, 4), (115, 1), (115, 4))
#: Mean rate of passing; the share of the tasks on which the later agent is another one, no better and no worse in all.
AGENTS = {"middling": (0.7, 0.0), "good": (0.9, 0.0), "changed": (0.7, 0.3)}
#: How alike tasks are: the sum of the parameters of the beta distribution of their rates.
_LIKENESS = 2.0
_BATCHES = 8
_SIGNIFICANT = 0.05


class Found(NamedTuple):
    """The shares of comparisons that were significant, and of intervals that contain the truth."""

    significant: list[float]
    covered: list[float]


def comparison_error(options: Options) -> Iterator[Figure]:
    """Measure how often the comparison with a baseline is wrong, on simulated agents whose true difference is known.

    Tasks are drawn from a population of tasks, and trials of them by the task's own rate of passing; 50x4 are 50 tasks
    with four trials in each run. First, both runs are of agents that are equally good and, except for "changed",
    identical: how often is the difference called significant (false alarms, at a level of 0.05), and how often does the
    95 % interval contain 0? Then the later agent loses the detectable loss of comparisons of that size at 80 % power,
    the median of their predictions: how often is the loss found, and how often does the interval contain it?
    Each figure is of several batches; the binomial error of all of them together follows the name.
    """
    comparisons = options.count(250, 25)
    for name, (rate, changed) in AGENTS.items():
        for tasks, trials in SIZES[3:4] if options.quick else SIZES:
            population = _Population(rate, changed, tasks, trials)
            same, predicted = _compare(population, 0.0, comparisons)
            yield from _figures(f"{name} {tasks}x{trials}", same, "false alarms", comparisons)
            loss = statistics.median(predicted) / rate
            less, _ = _compare(population, loss, comparisons)
            yield from _figures(f"{name} {tasks}x{trials} -{loss * rate:.3f}", less, "found", comparisons)


class _Population(NamedTuple):
    rate: float
    changed: float
    tasks: int
    trials: int

    def pairs(self, loss: float, generator: random.Random) -> list[Pair]:
        """Return two runs, of which the later fails a share of the trials that would pass."""
        found = []
        for _ in range(self.tasks):
            before = after = self._chance(generator)
            if generator.random() < self.changed:
                after = self._chance(generator)
            passed = (binomial(self.trials, chance, generator) for chance in (before, after * (1 - loss)))
            found.append(Pair(*(PassCount(self.trials, each) for each in passed)))
        return found

    def _chance(self, generator: random.Random) -> float:
        """Return the rate of passing of a task."""
        return generator.betavariate(self.rate * _LIKENESS, (1 - self.rate) * _LIKENESS)


def _compare(population: _Population, loss: float, comparisons: int) -> tuple[Found, list[float]]:
    """Compare many times, in batches; also return the detectable losses that they predict."""
    found, predicted = Found([], []), []
    for batch in range(_BATCHES):
        significant = covered = 0
        for number in range(comparisons):
            generator = random.Random(f"{population}, {loss:.4f}, {batch}, {number}")  # noqa: S311 - repeatable
            paired = Paired(population.pairs(loss, generator), seed=number, samples=1000)
            significant += paired.p < _SIGNIFICANT and (not loss or paired.difference < 0)
            low, high = paired.interval or (-1.0, 1.0)
            covered += low <= -loss * population.rate <= high
            predicted.append(paired.smallest_loss if paired.smallest_loss is not None else population.rate)
        found.significant.append(significant / comparisons)
        found.covered.append(covered / comparisons)
    return found, predicted


def _figures(name: str, found: Found, what: str, comparisons: int) -> Iterator[Figure]:
    for label, shares in ((what, found.significant), ("covered", found.covered)):
        mean = statistics.fmean(shares)
        error = sqrt(mean * (1 - mean) / (len(shares) * comparisons))
        yield Figure(f"{name}: {label} {mean:.3f} ± {error:.3f}", "", shares)
