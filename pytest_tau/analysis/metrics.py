"""pass^k over tasks."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable


class Range(NamedTuple):
    """The values that a number may have, as trials are missing that decide."""

    low: float
    high: float

    def __format__(self, spec: str) -> str:
        """Return both ends as text, such as ``0.500 to 1.000``."""
        return f"{self.low:{spec}} to {self.high:{spec}}"


#: pass^k: a value, or a range where missing trials decide.
PassRate: TypeAlias = float | Range


def task_reach(trials: int, passed: int, k: int, waiting: int = 0) -> Range:
    """Return from where to where pass^k of a task may be.

    With fewer than k trials it is 0 if one of them failed, as pass^k never exceeds pass^n of n trials. If none did, the
    missing trials decide.

    Args:
        trials: The trials with a verdict.
        passed: How many of them passed.
        k: How many trials must pass.
        waiting: How many trials are still to come.
    """
    if ways := comb(trials + waiting, k):
        return Range(comb(passed, k) / ways, comb(passed + waiting, k) / ways)
    return Range(0.0, float(passed == trials))


def pass_hat_k(results: Iterable[tuple[int, int]], k: int) -> PassRate | None:
    """Chance that k independent trials of a task all pass.

    Args:
        results: For each task, its trials that ran and how many of them passed.
        k: How many trials must pass.

    Returns:
        The mean over the tasks that have a trial, which are the same for each k; None if no task has k trials.

    Source: τ-bench, pass^k, for tasks with k trials: C(passed, k) / C(trials, k).
    """
    ran = [(trials, passed) for trials, passed in results if trials]
    if all(trials < k for trials, _ in ran):
        return None
    reach = [task_reach(trials, passed, k) for trials, passed in ran]
    low, high = (sum(ends) / len(ran) for ends in zip(*reach, strict=True))
    return low if low == high else Range(low, high)


def fewer_trials(results: Iterable[tuple[int, int]]) -> str:
    """Return a note on the tasks with fewer trials than others; empty if there are none.

    Args:
        results: For each task, its trials that ran and how many of them passed.
    """
    counts = [trials for trials, _ in results]
    most = max(counts, default=0)
    fewer = sum(trials < most for trials in counts)
    tasks = f"{plural(fewer, 'task')} with fewer than {most} trials"
    return f"{tasks}: for a greater k, 0 if one failed, else open" if fewer and most > 1 else ""
