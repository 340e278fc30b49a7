"""Numbers over simulations."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def pass_hat_k(results: Iterable[tuple[int, int]], k: int) -> float | None:
    """Chance that k independent trials of a task all pass.

    Args:
        results: For each task, its trials that ran and how many of them passed.
        k: How many trials must pass.

    Returns:
        The mean over the tasks that have k trials of C(passed, k) / C(trials, k); None if no task has.

    Source: τ-bench, pass^k.
    """
    rates = [comb(passed, k) / comb(trials, k) for trials, passed in results if trials >= k]
    return sum(rates) / len(rates) if rates else None
