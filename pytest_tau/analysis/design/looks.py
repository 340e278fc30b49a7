"""The comparison with a baseline while the run is under way: looks, and their bounds.

A look compares the tasks that were run so far, each with all of its trials, with the same tasks of the baseline. Looks
are fixed before the run. A loss is significant if its p-value is within the level of the look, so that the probability
of a false alarm at any look is that of a single comparison at the end.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from ..paired import FEWEST_TASKS
from .power import LEVEL
from .spending import bounds, spent

if TYPE_CHECKING:
    from ..paired import Paired

#: How often the comparison is looked at, the end included.
LOOKS = 5
#: The chance of a false alarm: that of a loss which the usual two-sided test calls significant.
ONE_SIDED = (1 - LEVEL) / 2


class Look(NamedTuple):
    """A look, as it is fixed before the run.

    Attributes:
        tasks: How many tasks have all of their trials by then.
        level: The greatest one-sided p-value that is significant.
        spent: The chance of a false alarm at this look or an earlier one.
    """

    tasks: int
    level: float
    spent: float


def plan_looks(tasks: int) -> tuple[Look, ...]:
    """Return looks at equal distances, the last one at the end; none before there are tasks enough for a p-value.

    Args:
        tasks: How many tasks both runs have.
    """
    places = sorted({ceil(tasks * each / LOOKS) for each in range(1, LOOKS + 1)} - {0})
    places = [place for place in places if place >= FEWEST_TASKS or place == tasks]
    shares = tuple(place / tasks for place in places)
    levels = bounds(shares, ONE_SIDED) if tasks else ()
    return tuple(
        Look(place, level, spent(ONE_SIDED, share)) for place, level, share in zip(places, levels, shares, strict=True)
    )


class Seen(NamedTuple):
    """The result of a look.

    Attributes:
        difference: The later rate less the earlier one, over the tasks so far.
        p: The one-sided p-value of a loss.
        loss: Whether there is a significant loss, which decides the run.
    """

    difference: float
    p: float
    loss: bool


def judge(paired: Paired, look: Look) -> Seen:
    """Return the result of a look.

    Args:
        paired: The comparison over the tasks so far.
        look: The look.
    """
    p = paired.p / 2 if paired.difference < 0 else 1 - paired.p / 2
    return Seen(paired.difference, p, paired.difference < 0 and p <= look.level)
