"""The outcomes of trials in one line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..text import plural
from .metrics import pass_hat_k

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..runs.record import TrialRecord


def given_reference(records: Sequence[TrialRecord]) -> str:
    """Return the sides that were given the reference actions, with the number of trials if it was not in all of them.

    Args:
        records: The trials.
    """
    found = Counter(side for record in records for side in record.saw_reference)
    return ", ".join(
        side if found[side] == len(records) else f"{side} ({found[side]} of {plural(len(records), 'trial')})"
        for side in ("agent", "user")
        if found[side]
    )


def outcome_summary(tasks: Mapping[str, Counter[str]]) -> str:
    """Return tasks, trials, outcomes, pass^k, and what is not counted in it, in one line.

    Args:
        tasks: For each task, how many of its trials ``passed``, ``failed``, or ended in an ``error``; of one at least.
    """
    results = [(trials["passed"] + trials["failed"], trials["passed"]) for trials in tasks.values()]
    counts: Counter[str] = sum(tasks.values(), Counter())
    most = max(ran for ran, _ in results)
    rates = [f"pass^{k} {rate:.3f}" for k in range(1, most + 1) if (rate := pass_hat_k(results, k)) is not None]
    fewer = sum(ran < most for ran, _ in results)
    parts = [f"{plural(len(tasks), 'task')}, {plural(sum(counts.values()), 'trial')}"]
    words = {"passed": "passed", "failed": "failed", "error": "errors" if counts["error"] > 1 else "error"}
    parts.append(", ".join(f"{counts[name]} {word}" for name, word in words.items() if counts[name]))
    parts.append(" ".join([*rates[:8], *(["…"] if len(rates) > 9 else []), *rates[8:][-1:]]) or "no rate")
    if counts["error"]:
        everything = [(sum(trials.values()), trials["passed"]) for trials in tasks.values()]
        parts.append(f"errors are left out of the rate; counted as failures pass^1 is {pass_hat_k(everything, 1):.3f}")
    if fewer and most > 1:
        parts.append(f"{plural(fewer, 'task')} with fewer than {most} trials, counted up to those")
    return "; ".join(parts)
