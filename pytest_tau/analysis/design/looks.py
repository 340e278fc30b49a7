"""The comparison with a baseline while the run is under way: looks, bounds, and when it is futile to go on.

A look compares the tasks that were run so far, each with all of its trials, with the same tasks of the baseline. Looks
and the loss of interest are fixed before the run. A loss is significant if its p-value is within the level of the look,
so that the probability of a false alarm at any look is that of a single comparison at the end.

A run is futile if a significant loss has become improbable: its chance (conditional power) is small even if the agent
loses as much as the loss of interest on the tasks that are left. A run that would have found this loss with a
probability of 80 % then finds it with at least 78 %.

Source: Lan, Simon and Halperin, Stochastically curtailed testing in long-term clinical trials (Sequential Analysis,
1982), for conditional power, and for how much of the power it can cost.
"""

from __future__ import annotations

from math import ceil, sqrt
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ..paired import FEWEST_TASKS
from .power import LEVEL
from .spending import bounds, spent

if TYPE_CHECKING:
    from ..paired import Paired

#: How often the comparison is looked at unless the user says otherwise, the end included.
DEFAULT_LOOKS = 5
#: The chance of a false alarm: that of a loss which the usual two-sided test calls significant.
ONE_SIDED = (1 - LEVEL) / 2
#: A run is futile if a significant loss has at most this chance.
FUTILE = 0.1
_NORMAL = NormalDist()

Decision: TypeAlias = Literal["loss", "futile"]


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


def plan_looks(tasks: int, number: int) -> tuple[Look, ...]:
    """Return looks at equal distances, the last one at the end; none before there are tasks enough for a p-value.

    Args:
        tasks: How many tasks both runs have.
        number: Of looks.
    """
    places = sorted({ceil(tasks * each / number) for each in range(1, number + 1)} - {0})
    places = [place for place in places if place >= FEWEST_TASKS or place == tasks]
    shares = tuple(place / tasks for place in places)
    levels = bounds(shares, ONE_SIDED) if tasks else ()
    return tuple(
        Look(place, level, spent(ONE_SIDED, share)) for place, level, share in zip(places, levels, shares, strict=True)
    )


class Seen(NamedTuple):
    """The result of a look.

    Attributes:
        look: The look.
        difference: The later rate less the earlier one, over the tasks so far.
        p: The one-sided p-value of a loss.
        power: The chance that a loss is significant at the end, if the loss of interest is real; None without one.
        decision: The verdict of the run, if it is decided; None if it goes on.
    """

    look: Look
    difference: float
    p: float
    power: float | None
    decision: Decision | None


def judge(paired: Paired, look: Look, last: Look, loss: float | None) -> Seen:
    """Return the result of a look.

    Args:
        paired: The comparison over the tasks so far.
        look: The look.
        last: The look at the end of the run.
        loss: The loss of interest, greater than 0; None for none, without which no run is futile.
    """
    p = paired.p / 2 if paired.difference < 0 else 1 - paired.p / 2
    power = None if loss is None or look == last else conditional_power(paired, look.tasks / last.tasks, last, loss)
    decision: Decision | None = None
    if paired.difference < 0 and p <= look.level:
        decision = "loss"
    elif power is not None and power <= FUTILE:
        decision = "futile"
    return Seen(look, paired.difference, p, power, decision)


def conditional_power(paired: Paired, share: float, last: Look, loss: float) -> float:
    """Return the chance that a loss is significant at the end, if the agent loses this much on the tasks that are left.

    Args:
        paired: The comparison over the tasks so far.
        share: The share of the tasks that were run, below 1.
        last: The look at the end.
        loss: How much the rate falls.
    """
    changes = [pair.change for pair in paired.pairs]
    mean = fmean(changes)
    # Of tasks that have not changed so far: a loss would change some.
    least = loss * (1 - min(loss, 1.0)) / fmean(pair.after.trials for pair in paired.pairs)
    variance = max(fmean((change - mean) ** 2 for change in changes), least)
    unit = sqrt(variance / last.tasks)
    now, drift = -mean * share / unit, loss / unit * (1 - share)
    limit = _NORMAL.inv_cdf(1 - last.level)
    if not 1 - share:
        return float(now >= limit)
    return _NORMAL.cdf((now + drift - limit) / sqrt(1 - share))
