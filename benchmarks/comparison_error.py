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
#: Tasks, trials of each in the earlier and the later run, and the share of trials that are lost to errors.
UNEVEN = ((30, 1, 10, 0.0), (20, 4, 1, 0.0), (50, 1, 4, 0.0), (50, 2, 8, 0.0), (50, 4, 4, 0.1))
#: Agents whose tasks are alike, as above.
NEARLY_ALL = {"alike 0.97": (0.97, 0.0), "alike 0.9": (0.9, 0.0)}
#: How alike tasks are: the sum of the parameters of the beta distribution of their rates; and where they are alike.
_LIKENESS, _ALIKE = 2.0, 1e6
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
    The same follows for runs that have different numbers of trials, such as 30x1,10: one before and ten later.
    "50x4 lost" are runs of which each tenth trial is lost to an error. There, the tasks of some agents are alike, so
    that each passes nearly always.
    Each figure is of several batches; the binomial error of all of them together follows the name.
    """
    comparisons = options.count(250, 25)
    even = [(tasks, trials, trials, 0.0) for tasks, trials in SIZES]
    for agents, sizes in (
        (AGENTS, even[3:4] if options.quick else even),
        (AGENTS | NEARLY_ALL, UNEVEN[:1] if options.quick else UNEVEN),
    ):
        for name, (rate, changed) in agents.items():
            for size in sizes:
                alike = _ALIKE if name in NEARLY_ALL else _LIKENESS
                yield from _errors(name, _Population(rate, changed, alike, *size), comparisons)


def _errors(name: str, population: _Population, comparisons: int) -> Iterator[Figure]:
    same, predicted = _compare(population, 0.0, comparisons)
    label = f"{name} {population.size}"
    yield from _figures(label, same, "false alarms", comparisons)
    loss = statistics.median(predicted) / population.rate
    less, _ = _compare(population, loss, comparisons)
    yield from _figures(f"{label} -{loss * population.rate:.3f}", less, "found", comparisons)


class _Population(NamedTuple):
    rate: float
    changed: float
    likeness: float
    tasks: int
    before: int
    after: int
    lost: float

    @property
    def size(self) -> str:
        """Return tasks and trials, as a name."""
        trials = str(self.before) if self.before == self.after else f"{self.before},{self.after}"
        return f"{self.tasks}x{trials}{' lost' if self.lost else ''}"

    def pairs(self, loss: float, generator: random.Random) -> list[Pair]:
        """Return two runs, of which the later fails a share of the trials that would pass."""
        found = []
        for _ in range(self.tasks):
            before = after = self._chance(generator)
            if generator.random() < self.changed:
                after = self._chance(generator)
            sides = ((self.before, before), (self.after, after * (1 - loss)))
            found.append(Pair(*(self._count(trials, chance, generator) for trials, chance in sides)))
        return found

    def _count(self, trials: int, chance: float, generator: random.Random) -> PassCount:
        ran = max(1, trials - binomial(trials, self.lost, generator)) if self.lost else trials
        return PassCount(ran, binomial(ran, chance, generator))

    def _chance(self, generator: random.Random) -> float:
        """Return the rate of passing of a task."""
        return generator.betavariate(self.rate * self.likeness, (1 - self.rate) * self.likeness)


def _compare(population: _Population, loss: float, comparisons: int) -> tuple[Found, list[float]]:
    """Compare many times, in batches; also return the detectable losses that they predict."""
    found, predicted = Found([], []), []
    for batch in range(_BATCHES):
        significant = covered = 0
        for number in range(comparisons):
            generator = random.Random(f"{tuple(population)}, {loss:.4f}, {batch}, {number}")  # noqa: S311 - repeatable
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
