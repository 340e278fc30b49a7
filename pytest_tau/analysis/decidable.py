"""Whether a comparison can decide anything: before the later run is made, and by what both runs have lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..runs.groups import match_groups, split_variants
from ..text import one_line, plural
from .paired import Pair, Paired, PassCount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..runs.groups import Group
    from ..runs.record import TrialRecord
    from .statistics import Clusters

#: At most this is called chance.
SIGNIFICANT = 0.05
#: With fewer tasks that passed before, not even the loss of all of them is significant: its p-value is 0.5 ** tasks.
FEWEST_PASSING = 5
_LONGEST = 200


def paired_groups(before: Iterable[Group], after: Iterable[Group]) -> dict[Group, Group]:
    """Return the groups that an earlier run has as well, in their order, each with that of the earlier run."""
    later = list(after)
    domains = {group.domain for group in later}
    stand_in = domains.pop() if len(domains) == 1 else ""
    known = {group if group.domain else group._replace(domain=stand_in): group for group in before}
    return {group: known[other] for group, other in match_groups(known, later).items()}


def why_undecidable(name: str, before: Mapping[Group, PassCount], after: Iterable[Group]) -> str:
    """Return why a comparison decides nothing, whatever the later run gives; empty if it may decide.

    A loss needs tasks that passed before. With as many that failed before, a gain could be significant, too.

    Args:
        name: The name of the earlier run.
        before: The trials with a verdict of the earlier run.
        after: The groups of the later run.
    """
    pairs = {group: before[other] for group, other in paired_groups(before, after).items()}
    if not pairs:
        return f"no task of this run has a verdict in {name}"
    for variant, groups in split_variants(pairs).items():
        passing = sum(pairs[group].passed > 0 for group in groups)
        failing = sum(pairs[group].passed < pairs[group].trials for group in groups)
        if max(passing, failing) < FEWEST_PASSING:
            of = f" of {one_line(variant, _LONGEST)}" if variant else ""
            passes = f"{plural(passing, 'task')}{of} with a pass in {name}"
            return f"{passes}; a significant loss takes at least {FEWEST_PASSING}"
    return ""


def undecided(paired: Paired, comparisons: int = 1) -> str:
    """Return why no loss could have been significant; empty if one could, or if there is a significant difference.

    Args:
        paired: The comparison.
        comparisons: The number of comparisons that the p-value is corrected for.
    """
    passing, needed = paired.count(lambda pair: pair.before.passed > 0), FEWEST_PASSING
    while comparisons * 0.5**needed >= SIGNIFICANT:
        needed += 1
    if passing >= needed or comparisons * paired.p < SIGNIFICANT:
        return ""
    return f"{plural(passing, paired.unit_name)} passed before, and a loss on fewer than {needed} is never significant"


def uneven_losses(tasks: Iterable[tuple[Sequence[TrialRecord], Sequence[TrialRecord]]]) -> str:
    """Return how the shares of lost trials differ between two runs; empty if chance explains it.

    A lost trial has no verdict that counts: it ended in an error, or is excluded. If trials that fail are lost more
    often than others, such as by a time limit, the rate of what is left is too high. Which of them would have failed is
    not known, but that one run has lost more than the other is.

    Args:
        tasks: The trials of each task in both runs, with those that were lost.
    """
    sides = [both for both in tasks if all(both)]
    pairs = [Pair(*(PassCount(len(side), sum(not record.ran for record in side)) for side in both)) for both in sides]
    if not pairs or (paired := Paired(pairs, clusters=clusters_of(sides))).p >= SIGNIFICANT:
        return ""
    before, after = (
        f"{sum(rate.passed for rate in rates):,} of {plural(sum(rate.trials for rate in rates), 'trial')}"
        for rates in zip(*pairs, strict=True)
    )
    p = f"p = {paired.p:.3f}" if paired.p >= 0.001 else "p < 0.001"
    lost = f"{before} before and {after} after were lost to errors or excluded"
    return f"{lost}, which chance does not explain ({p}); trials that fail may be lost more often than others"


def clusters_of(tasks: Iterable[Iterable[Iterable[TrialRecord]]]) -> Clusters:
    """Return what the tasks that move together have in common, as the trials of either run say; the later one first."""
    return [
        next((record.moves_with for side in reversed([*sides]) for record in side if record.moves_with), None)
        for sides in tasks
    ]
