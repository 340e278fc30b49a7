"""The outcomes of trials in one line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..runs.groups import count_tasks, find_variants
from ..text import plural
from .metrics import fewer_trials, pass_hat_k

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..runs.groups import Group
    from ..runs.record import TrialRecord


def given_reference(records: Sequence[TrialRecord]) -> str:
    """Return the sides that were given the reference actions, with the number of trials where it was not in all."""
    found = Counter(side for record in records for side in record.saw_reference)
    return ", ".join(
        side if found[side] == len(records) else f"{side} ({found[side]} of {plural(len(records), 'trial')})"
        for side in ("agent", "user")
        if found[side]
    )


def outside_tools(records: Sequence[TrialRecord]) -> str:
    """Return what has changed environments outside of conversations' calls, and in how many trials; else nothing."""
    found = Counter(tool for record in records for tool in record.outside_tools)
    return ", ".join(f"{tool} ({plural(number, 'trial')})" for tool, number in sorted(found.items()))


def outcome_summary(groups: Mapping[Group, Counter[str]]) -> str:
    """Return tasks, trials, outcomes, pass^k, and what is not counted in it, in one line.

    There is no rate over several variants: their trials are not pooled.

    Args:
        groups: For each group, how many of its trials ``passed``, ``failed``, ended in an ``error``, or are
            ``excluded``; of one at least.
    """
    counts: Counter[str] = sum(groups.values(), Counter())
    variants = find_variants(groups)
    if variants:
        tasks = f"{plural(count_tasks(groups), 'task')}, {plural(len(variants), 'variant')}"
        return f"{tasks}, {plural(counts.total(), 'trial')}; {format_outcomes(counts)}"
    return "; ".join(_pooled(groups.values(), counts))


def format_outcomes(counts: Counter[str]) -> str:
    """Return the numbers of trials that ``passed``, ``failed``, ended in an ``error``, or are excluded, as text."""
    words = {"passed": "passed", "failed": "failed", "error": "errors" if counts["error"] > 1 else "error"}
    words |= {"excluded": "excluded"}
    return ", ".join(f"{counts[name]} {word}" for name, word in words.items() if counts[name])


def _pooled(tasks: Collection[Counter[str]], counts: Counter[str]) -> list[str]:
    results = [(trials["passed"] + trials["failed"], trials["passed"]) for trials in tasks]
    most = max(ran for ran, _ in results)
    rates = [f"pass^{k} {rate:.3f}" for k in range(1, most + 1) if (rate := pass_hat_k(results, k)) is not None]
    parts = [f"{plural(len(tasks), 'task')}, {plural(counts.total(), 'trial')}", format_outcomes(counts)]
    parts.append(" ".join([*rates[:8], *(["…"] if len(rates) > 9 else []), *rates[8:][-1:]]) or "no rate")
    if counts["error"]:
        everything = [(trials.total() - trials["excluded"], trials["passed"]) for trials in tasks]
        parts.append(f"errors are excluded; counting them as failures, pass^1 is {pass_hat_k(everything, 1):.3f}")
    return [*parts, *filter(None, [fewer_trials(results)])]
