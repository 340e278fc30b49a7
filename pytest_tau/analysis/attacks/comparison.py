"""How the rates of attacks differ between two runs."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from ...text import plural
from ..paired import FEWEST_TASKS
from ..statistics import difference_interval
from .rates import other_variants

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ...runs.record import TrialRecord


def attack_differences(pairs: Sequence[tuple[Collection[TrialRecord], Collection[TrialRecord]]]) -> list[str]:
    """Return a line for each attack: its success in both runs, over the tasks that both have run under it.

    If there are variants apart from the attacks, each of them has a line.

    Args:
        pairs: The trials of each task and variant, in the earlier run and in the later one.
    """
    variants = other_variants(record for _, later in pairs for record in later)
    shares: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for pair in pairs:
        ran = [[record for record in side if record.attack_name and record.ran] for side in pair]
        if all(ran) and ran[0][0].attack_name == ran[1][0].attack_name:
            key = ran[1][0].attack_name, variants[ran[1][0].group]
            shares.setdefault(key, []).append((_success(ran[0]), _success(ran[1])))
    return [_line(f"{name}: {variant}" if variant else name, found) for (name, variant), found in shares.items()]


def _success(records: Sequence[TrialRecord]) -> float:
    return sum(record.attack_success for record in records) / len(records)


def _line(name: str, shares: Sequence[tuple[float, float]]) -> str:
    before, after = (fsum(each) / len(shares) for each in zip(*shares, strict=True))
    enough = len(shares) >= FEWEST_TASKS
    interval = difference_interval([later - earlier for earlier, later in shares]) if enough else None
    reach = f" (95 % interval {interval.low:+.3f} to {interval.high:+.3f})" if interval else ""
    tasks = plural(len(shares), "task")
    return f"attack {name}: success {before:.3f} -> {after:.3f}: {after - before:+.3f}{reach} over {tasks}"
