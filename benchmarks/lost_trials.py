"""How often a comparison is wrong where trials that fail are lost more often than trials that pass."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from pytest_tau.analysis.compare import Comparison
from pytest_tau.analysis.decidable import SIGNIFICANT
from pytest_tau.analysis.run_records import RunRecords
from pytest_tau.models import RewardInfo
from pytest_tau.runs.record import TrialRecord

from .figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options

#: Tasks, and trials of each.
SIZES = ((50, 1), (50, 4))
#: Mean rates of passing.
RATES = (0.5, 0.7, 0.9)
#: By name: the shares of failing and of passing trials that are lost in the later run, of which part of it.
LOST = {
    "as many": (0.1, 0.1, 1.0),
    "later half 0.3, 0.05": (0.3, 0.05, 0.5),
    "all 0.3, 0.05": (0.3, 0.05, 1.0),
}
#: The sum of the parameters of the beta distribution of the rates of tasks.
_LIKENESS = 2.0
_BATCHES = 4


def lost_trials(options: Options) -> Iterator[Figure]:
    """Measure what a comparison says where the later run loses trials to errors, and the agents are identical.

    "as many" loses a tenth of its trials in both runs, whatever their outcome; the others lose 0.3 of the trials that
    fail and 0.05 of those that pass, in the later run or in the second half of its tasks. "said" is the share of
    comparisons with a significant gain or loss, "p alone" the same without regard to what was lost, "undecided" the
    share of those of which the losses differ beyond chance. Each figure is of several batches.
    """
    runs = options.count(125, 5)
    for size in SIZES[1:2] if options.quick else SIZES:
        for rate in RATES[1:2] if options.quick else RATES:
            for name in LOST:
                found = [_batch(name, rate, size, batch, runs) for batch in range(_BATCHES)]
                for what in ("said", "p alone", "undecided"):
                    shares = [each[what] / runs for each in found]
                    label = f"{size[0]}x{size[1]}, {rate}, {name}: {what}"
                    yield Figure(f"{label} {sum(shares) / _BATCHES:.3f}", "", shares)


def _batch(name: str, rate: float, size: tuple[int, int], batch: int, runs: int) -> Counter[str]:
    generator, found = random.Random(f"{name}, {rate}, {size}, {batch}"), Counter[str]()  # noqa: S311 - repeatable
    for _ in range(runs):
        comparison = _comparison(name, rate, size, generator)
        (paired,) = comparison.variants.values()
        doubt, p = bool(comparison.doubt("")), paired.p < SIGNIFICANT
        found.update({"said": p and not doubt, "p alone": p, "undecided": doubt})
    return found


def _comparison(name: str, rate: float, size: tuple[int, int], generator: random.Random) -> Comparison:
    tasks, trials = size
    chances = [generator.betavariate(rate * _LIKENESS, (1 - rate) * _LIKENESS) for _ in range(tasks)]
    failing, passing, part = LOST[name]
    before, after = [], []
    for task, chance in enumerate(chances):
        lost = (failing, passing) if task >= tasks * (1 - part) else (0.0, 0.0)
        in_both = lost if name == "as many" else (0.0, 0.0)
        for trial in range(trials):
            before.append(_trial(task, trial, chance, in_both, generator))
            after.append(_trial(task, trial, chance, lost, generator))
    return Comparison(RunRecords("before", before, {}), RunRecords("after", after, {}))


def _trial(task: int, trial: int, chance: float, lost: tuple[float, float], generator: random.Random) -> TrialRecord:
    passed = generator.random() < chance
    verdict = None if generator.random() < lost[passed] else RewardInfo(reward=float(passed))
    return TrialRecord(
        domain="mock", task_id=str(task), trial=trial, termination_reason="user_stop", reward_info=verdict
    )
