"""What is known of a comparison before the later run is made: its tasks, and whether it can decide anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..runs.groups import match_groups, split_variants
from ..text import one_line, plural
from .compare import FEWEST_PASSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..runs.groups import Group
    from .paired import PassCount

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
            found = f"{plural(passing, 'task')}{of} with a pass in {name}"
            return f"{found}; a significant loss takes at least {FEWEST_PASSING}"
    return ""
