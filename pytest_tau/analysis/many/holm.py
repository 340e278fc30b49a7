"""Correction of p-values for several comparisons.

Source: Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal of Statistics, 1979).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the order of the given ones.

    If each is compared with a level, the chance that any of the comparisons without a true difference is called
    significant is at most that level. Nothing is assumed of how the comparisons depend on each other.

    Args:
        p_values: From 0 to 1, one for each comparison.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = largest
    return adjusted
