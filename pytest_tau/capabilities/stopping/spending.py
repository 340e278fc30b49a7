"""Group-sequential bounds: looks at a run while it is under way, without more false alarms than one look has.

Source: Lan and DeMets, Discrete sequential boundaries for clinical trials (Biometrika, 1983), for spending the level
over looks, with the function that resembles the bounds of O'Brien and Fleming (Biometrics, 1979); Armitage, McPherson
and Rowe (JRSS A, 1969) for the chances of crossing them, by numerical integration.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NORMAL = NormalDist()
#: Points of the integration, and how far below 0 it begins, in standard deviations.
_POINTS, _REACH = 240, 6.0


def spent(level: float, share: float) -> float:
    """Return how much of a one-sided level is spent once this share of the trials was run."""
    if share <= 0:
        return 0.0
    return level if share >= 1 else 2 - 2 * _NORMAL.cdf(_NORMAL.inv_cdf(1 - level / 2) / sqrt(share))


@lru_cache(maxsize=64)
def bounds(shares: tuple[float, ...], level: float) -> tuple[float, ...]:
    """Return the one-sided level of each look: a p-value at most as large is significant.

    Args:
        shares: The share of the tasks at each look, ascending; the last one is 1.
        level: The chance of a false alarm at any of the looks.
    """
    levels: list[float] = []
    density: list[tuple[float, float]] = [(0.0, 1.0)]
    before = used = 0.0
    for share in shares:
        to_spend, step = spent(level, share) - used, sqrt(share - before)
        limit = _limit(density, step, to_spend)
        levels.append(1 - _NORMAL.cdf(limit / sqrt(share)))
        density = _continued(density, step, limit, share)
        before, used = share, used + to_spend
    return tuple(levels)


def _limit(density: Sequence[tuple[float, float]], step: float, chance: float) -> float:
    """Return the limit that the process crosses at this look with the given chance; it has crossed none before."""
    low, high = -_REACH, 3 * _REACH
    for _ in range(50):
        middle = (low + high) / 2
        crossed = sum(weight * _NORMAL.cdf((place - middle) / step) for place, weight in density)
        low, high = (middle, high) if crossed > chance else (low, middle)
    return high


def _continued(
    density: Sequence[tuple[float, float]], step: float, limit: float, share: float
) -> list[tuple[float, float]]:
    """Return where the process is that has not crossed the limit: places, each with its weight (Simpson's rule)."""
    low = -_REACH * sqrt(share)
    width = (min(limit, _REACH * sqrt(share)) - low) / _POINTS
    places = [low + number * width for number in range(_POINTS + 1)]
    weights = [width / 3 * (1 if number in (0, _POINTS) else 4 if number % 2 else 2) for number in range(_POINTS + 1)]
    scale = 1 / (step * sqrt(2 * pi))
    return [
        (place, weight * scale * sum(mass * exp(-(((place - start) / step) ** 2) / 2) for start, mass in density))
        for place, weight in zip(places, weights, strict=True)
    ]
