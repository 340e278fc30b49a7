"""How often gates and comparisons are wrong over tasks that move together, with and without their clusters."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from pytest_tau.analysis.paired import FEWEST_TASKS, Pair, Paired, PassCount
from pytest_tau.analysis.statistics import binomial, pass_hat_k_interval
from pytest_tau.capabilities.stopping.looks import judge, plan_looks

from .figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .figures import Options

#: Clusters, tasks of each, and trials of each task in either run.
SIZES = ((6, 10, 4), (10, 5, 1), (10, 5, 4), (20, 5, 1), (20, 5, 4))
#: The parameters of the beta distribution of the rates of clusters, and the share of the clusters on which the later
#: agent is another one, no better and no worse in all.
RATES, CHANGED = (1.4, 0.6), 0.5
#: The loss that is looked for.
LOSS = 0.3
_BATCHES = 4
_SIGNIFICANT = 0.05


class Runs(NamedTuple):
    """Two runs in random order: the pairs of tasks, and the cluster of each."""

    pairs: list[Pair]
    clusters: Sequence[int]


class Errors(NamedTuple):
    """How many of a batch of comparisons and intervals were as their names say."""

    alarms: float = 0.0
    alarms_of_tasks: float = 0.0
    at_looks: float = 0.0
    found: float = 0.0
    covered: float = 0.0
    covered_by_tasks: float = 0.0
    rate_covered: float = 0.0
    rate_covered_by_tasks: float = 0.0


def dependent_tasks(options: Options) -> Iterator[Figure]:
    """Measure how often comparisons and intervals are wrong over tasks that move together.

    Each task of a cluster has the rate of its cluster; 10x5x4 are ten clusters of five tasks with four trials. First,
    the later agent is another one on half of the clusters, and no better in all: the share of false alarms (of a level
    of 0.05; of losses at five looks, of 0.025), and of intervals of the difference and of the rate of the earlier run
    that contain the truth. "By tasks" is the same without the clusters. Then the later agent loses 0.3 of what passes
    on every task: how often this is found. Each figure is of several batches.
    """
    runs = options.count(250, 10)
    for size in SIZES[2:3] if options.quick else SIZES:
        batches = [_batch(size, f"{size}, {batch}", runs) for batch in range(_BATCHES)]
        for name, shares in zip(Errors._fields, zip(*batches, strict=True), strict=True):
            label = f"{'x'.join(map(str, size))}: {name.replace('_', ' ')}"
            yield Figure(f"{label} {sum(shares) / _BATCHES:.3f}", "", [*shares])


def _batch(size: tuple[int, int, int], seed: str, runs: int) -> Errors:
    generator = random.Random(seed)  # noqa: S311 - repeatable
    sums = Errors()
    for _ in range(runs):
        one = _errors(_runs(size, CHANGED, 0.0, generator), _runs(size, 0.0, LOSS, generator))
        sums = Errors(*(so_far + each for so_far, each in zip(sums, one, strict=True)))
    return Errors(*(each / runs for each in sums))


def _errors(same: Runs, less: Runs) -> Errors:
    together, alone = Paired(same.pairs, samples=1000, clusters=same.clusters), Paired(same.pairs, samples=1000)
    found = Paired(less.pairs, clusters=less.clusters)
    rate, results = RATES[0] / sum(RATES), [(pair.before.trials, pair.before.passed) for pair in same.pairs]
    of_clusters, of_tasks = (pass_hat_k_interval(results, 1, clusters) for clusters in (same.clusters, ()))
    assert together.independent >= FEWEST_TASKS
    return Errors(
        alarms=together.p < _SIGNIFICANT,
        alarms_of_tasks=alone.p < _SIGNIFICANT,
        at_looks=_lost_at_looks(same),
        found=found.p < _SIGNIFICANT and found.difference < 0,
        covered=_contains(together.interval, 0.0),
        covered_by_tasks=_contains(alone.interval, 0.0),
        rate_covered=_contains(of_clusters, rate),
        rate_covered_by_tasks=_contains(of_tasks, rate),
    )


def _contains(interval: tuple[float, float] | None, value: float) -> bool:
    return interval is not None and interval[0] <= value <= interval[1]


def _lost_at_looks(runs: Runs) -> bool:
    return any(
        judge(Paired(runs.pairs[: look.tasks], clusters=runs.clusters[: look.tasks]), look).loss
        for look in plan_looks(len(runs.pairs))
    )


def _runs(size: tuple[int, int, int], changed: float, loss: float, generator: random.Random) -> Runs:
    """Return two runs, of which the later fails a share of the trials that would pass."""
    clusters, tasks, trials = size
    found: list[tuple[Pair, int]] = []
    for cluster in range(clusters):
        before = after = generator.betavariate(*RATES)
        if generator.random() < changed:
            after = generator.betavariate(*RATES)
        for _ in range(tasks):
            passed = (binomial(trials, chance, generator) for chance in (before, after * (1 - loss)))
            found.append((Pair(*(PassCount(trials, number) for number in passed)), cluster))
    generator.shuffle(found)
    pairs, labels = zip(*found, strict=True)
    return Runs([*pairs], labels)
