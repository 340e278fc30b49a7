"""The numbers of outcomes of trials, and pass^k over tasks."""

from __future__ import annotations

from collections import Counter
from math import comb
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..runs.groups import count_tasks, find_variants
from ..text import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..runs.groups import Group
    from ..runs.record import TrialRecord


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
    if draws := comb(trials + waiting, k):
        return Range(comb(passed, k) / draws, comb(passed + waiting, k) / draws)
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


def given_reference(records: Sequence[TrialRecord]) -> str:
    """Return the sides that were given the reference actions, with the number of trials where it was not in all."""
    sides = Counter(side for record in records for side in record.info.saw_reference)
    return ", ".join(
        side if sides[side] == len(records) else f"{side} ({sides[side]} of {plural(len(records), 'trial')})"
        for side in ("agent", "user")
        if sides[side]
    )


def outside_tools(records: Sequence[TrialRecord]) -> str:
    """Return what has changed environments outside of conversations' calls, and in how many trials; else nothing."""
    counts = Counter(tool for record in records for tool in record.info.outside_tools)
    return ", ".join(f"{tool} ({plural(number, 'trial')})" for tool, number in sorted(counts.items()))


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
