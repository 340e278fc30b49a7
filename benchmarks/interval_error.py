"""How often the interval of a rate contains the true rate, with few tasks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from pytest_tau.analysis.statistics import binomial, pass_hat_k_interval

from .figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options

#: Tasks, and trials of each.
SIZES = ((5, 1), (5, 4), (10, 1), (10, 4), (20, 1), (20, 4), (50, 4))
#: The beta distributions that the rates of tasks are drawn from.
RATES = {"beta(1, 1)": (1.0, 1.0), "beta(1.4, 0.6)": (1.4, 0.6), "beta(7, 3)": (7.0, 3.0), "beta(1.8, 0.2)": (1.8, 0.2)}
_BATCHES = 4


def interval_error(options: Options) -> Iterator[Figure]:
    """Measure how often the 95 % interval of pass^1 contains the true rate, and how wide it is, with few tasks.

    Tasks are drawn from a population whose rates of passing have a beta distribution; 5x4 are five tasks with four
    trials each. Each figure is of several batches.
    """
    runs = options.count(250, 10)
    for tasks, trials in SIZES[1:4] if options.quick else SIZES:
        for name, (alpha, beta) in RATES.items():
            covered, widths = [], []
            for batch in range(_BATCHES):
                generator = random.Random(f"{tasks}, {trials}, {name}, {batch}")  # noqa: S311 - repeatable
                inside = width = 0.0
                for _ in range(runs):
                    rates = [generator.betavariate(alpha, beta) for _ in range(tasks)]
                    found = pass_hat_k_interval([(trials, binomial(trials, rate, generator)) for rate in rates], 1)
                    assert found is not None, "there are several tasks"
                    inside += found.low <= alpha / (alpha + beta) <= found.high
                    width += found.high - found.low
                covered.append(inside / runs)
                widths.append(width / runs)
            for what, shares in (("covered", covered), ("width", widths)):
                yield Figure(f"{tasks}x{trials} {name}: {what} {sum(shares) / _BATCHES:.3f}", "", shares)
