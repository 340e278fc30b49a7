"""How the rates of attacks differ between two runs."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from ...text import plural
from ..statistics import difference_interval

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ...runs.record import TrialRecord


def attack_differences(pairs: Sequence[tuple[Collection[TrialRecord], Collection[TrialRecord]]]) -> list[str]:
    """Return a line for each attack: its success in both runs, over the tasks that both have run under it.

    Args:
        pairs: The trials of each task and variant, in the earlier run and in the later one.
    """
    shares: dict[str, list[tuple[float, float]]] = {}
    for pair in pairs:
        ran = [[record for record in side if record.attack_name and record.outcome != "error"] for side in pair]
        if all(ran) and ran[0][0].attack_name == ran[1][0].attack_name:
            shares.setdefault(ran[0][0].attack_name, []).append((_success(ran[0]), _success(ran[1])))
    return [_line(name, found) for name, found in shares.items()]


def _success(records: Sequence[TrialRecord]) -> float:
    return sum(record.attack_success for record in records) / len(records)


def _line(name: str, shares: Sequence[tuple[float, float]]) -> str:
    before, after = (fsum(each) / len(shares) for each in zip(*shares, strict=True))
    interval = difference_interval([later - earlier for earlier, later in shares])
    reach = f" (95 % interval {interval.low:+.3f} to {interval.high:+.3f})" if interval else ""
    tasks = plural(len(shares), "task")
    return f"attack {name}: success {before:.3f} -> {after:.3f}: {after - before:+.3f}{reach} over {tasks}"
