"""How much of a run a verdict needs, and how often it is another one than that of the full run."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_tau.analysis.paired import Pair, Paired, PassCount
from pytest_tau.analysis.statistics import binomial
from pytest_tau.capabilities.stopping.looks import judge, plan_looks
from pytest_tau.capabilities.stopping.plugin import DOUBT, PREDICTIONS
from pytest_tau.capabilities.stopping.predictive import Cell, probability_at_least

from .figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .figures import Options

#: Tasks and trials of each, the bound of the gate, and the probability of ``--tau-stop-early``.
GATE_SIZES, BOUND, PROBABILITY = ((50, 4), (115, 1)), 0.8, 0.99
#: True rates of passing.
RATES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
#: Tasks and trials of each in either run of a comparison; the rate of the earlier run, and the losses of the later one
#: as multiples of the loss of interest, which is the detectable loss.
COMPARISON_SIZES, COMPARED_RATES, LOSSES = ((50, 1), (50, 4), (115, 4)), (0.7, 0.9), (0.0, 1.0, 2.0)
#: How alike tasks are: the sum of the parameters of the beta distribution of their rates; and where they are alike.
_LIKENESS, _ALIKE = 2.0, 1e6
_BATCHES = 8


class Gated(NamedTuple):
    """Runs with a gate.

    Attributes:
        rate: The true rate.
        tasks: How many tasks there are.
        trials: How many trials of each.
        probability: At which probability to stop.
        likeness: How alike tasks are.
        together: How many tasks have one rate, as those of a template do.
    """

    rate: float
    tasks: int
    trials: int
    probability: float = PROBABILITY
    likeness: float = _LIKENESS
    together: int = 1


class Ended(NamedTuple):
    """A simulated run: the share of its trials that were run, whether it passed, and what the full run says."""

    share: float
    verdict: bool
    full: bool


def stopping_error(options: Options) -> Iterator[Figure]:
    """Measure how many trials runs need that end early, and how often their verdict is not that of the full run.

    First, a gate of pass^1 >= 0.8 with --tau-stop-early=0.99, for agents of true rates from 0.5 to 0.95: the share of
    the trials that are run, and of the runs with another verdict than the full run. The worst case follows: all tasks
    alike, at the bound, with --tau-stop-early=0.95; and tasks of templates, five of each, which have one rate. Then, a
    comparison with a baseline at five looks, for agents that have lost 0, 1 and 2 times the detectable loss: the share
    of the trials, how often a loss is found, and how often the usual test finds it at the end of the full run. Without
    a loss, what is found is a false alarm, at a level of 0.025. Tasks are drawn from a population of tasks whose rates
    of passing vary widely; each figure is of several batches.
    """
    runs = options.count(125, 5)
    for tasks, trials in GATE_SIZES[:1] if options.quick else GATE_SIZES:
        for rate in RATES[4:6] if options.quick else RATES:
            yield from _gates(f"rate {rate}", Gated(rate, tasks, trials), runs)
        yield from _gates(f"alike, rate {BOUND}", Gated(BOUND, tasks, trials, 0.95, _ALIKE), runs)
        yield from _gates(f"templates, rate {BOUND}", Gated(BOUND, tasks, trials, together=5), runs)
    for tasks, trials in COMPARISON_SIZES[:1] if options.quick else COMPARISON_SIZES:
        for rate in COMPARED_RATES[:1] if options.quick else COMPARED_RATES:
            yield from _comparisons(rate, tasks, trials, options.count(250, 5))


def _figure(name: str, batches: Sequence[Sequence[float]]) -> Figure:
    mean = statistics.fmean(value for batch in batches for value in batch)
    return Figure(f"{name} {mean:.3f}", "", [statistics.fmean(batch) for batch in batches])


def _gates(name: str, gated: Gated, runs: int) -> Iterator[Figure]:
    found = [[_gated(gated, f"{batch}, {run}") for run in range(runs)] for batch in range(_BATCHES)]
    name = f"gate, {gated.tasks}x{gated.trials}, {name}"
    yield _figure(f"{name}: trials", [[each.share for each in one] for one in found])
    yield _figure(f"{name}: other verdict", [[float(each.verdict != each.full) for each in one] for one in found])


def _gated(gated: Gated, seed: str) -> Ended:
    """Run a gate as ``--tau-stop-early`` does, a trial of every task first."""
    rate, tasks, trials, probability, likeness, together = gated
    generator = random.Random(f"{rate}, {tasks}, {trials}, {seed}")  # noqa: S311 - repeatable
    chances = [chance for _ in range(tasks // together) for chance in [_chance(rate, generator, likeness)] * together]
    if together > 1:
        generator.shuffle(chances)
    passed = [[generator.random() < chance for _ in range(trials)] for chance in chances]
    total = tasks * trials
    full = sum(map(sum, passed)) / total >= BOUND - 1e-9
    doubt, step = DOUBT * (1 - probability), total // PREDICTIONS
    for number in range(step, total, step):
        rounds, more = divmod(number, tasks)
        runs = [rounds + (task < more) for task in range(tasks)]
        cells = Counter(
            Cell(run, sum(outcomes[:run]), trials - run) for run, outcomes in zip(runs, passed, strict=True)
        )
        chance = probability_at_least(cells, BOUND)
        if chance is not None and not doubt < chance < 1 - doubt:
            return Ended(number / total, chance > 0.5, full)
    return Ended(1.0, full, full)


def _comparisons(rate: float, tasks: int, trials: int, runs: int) -> Iterator[Figure]:
    generator = random.Random(f"{rate}, {tasks}, {trials}")  # noqa: S311 - repeatable
    losses = [Paired(_pairs(rate, 0.0, tasks, trials, generator)).smallest_loss for _ in range(100)]
    detectable = statistics.median(rate if loss is None else loss for loss in losses)
    for multiple in LOSSES:
        loss = multiple * detectable
        found = []
        for batch in range(_BATCHES):
            seeds = (f"{rate}, {tasks}, {trials}, {multiple}, {batch}, {run}" for run in range(runs))
            pairs = (_pairs(rate, min(1.0, loss / rate), tasks, trials, random.Random(seed)) for seed in seeds)  # noqa: S311
            found.append([_compared(each) for each in pairs])
        name = f"{tasks}x{trials}, {rate} -{loss:.3f}"
        yield _figure(f"{name}: trials", [[each.share for each in one] for one in found])
        yield _figure(f"{name}: found", [[float(each.verdict) for each in one] for one in found])
        yield _figure(f"{name}: in full", [[float(each.full) for each in one] for one in found])


def _compared(pairs: list[Pair]) -> Ended:
    whole = Paired(pairs)
    full = whole.difference < 0 and whole.p < 0.05
    for look in plan_looks(len(pairs)):
        if judge(Paired(pairs[: look.tasks]), look).loss:
            return Ended(look.tasks / len(pairs), True, full)
    return Ended(1.0, False, full)


def _pairs(rate: float, loss: float, tasks: int, trials: int, generator: random.Random) -> list[Pair]:
    """Return two runs, of which the later fails a share of the trials that would pass."""
    chances = [_chance(rate, generator) for _ in range(tasks)]
    return [
        Pair(*(PassCount(trials, binomial(trials, each, generator)) for each in (chance, chance * (1 - loss))))
        for chance in chances
    ]


def _chance(rate: float, generator: random.Random, likeness: float = _LIKENESS) -> float:
    """Return the rate of passing of a task."""
    return generator.betavariate(rate * likeness, (1 - rate) * likeness)
