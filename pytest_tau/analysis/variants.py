"""Variants of a test on the same tasks, such as two agents: their scores, and the comparison of each two."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from ..runs.groups import split_variants
from ..text import distinct_lines, plural
from .compare import format_difference, format_verdict, pass_counts
from .paired import Pair, Paired
from .scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..runs.groups import TaskId
    from ..runs.record import TrialRecord
    from .paired import PassCount

#: The fewest tasks that are compared: a single one is a single observation.
_FEWEST = 2
#: The most comparisons that are shown, and the most characters of a variant's name in them.
MOST_PAIRS, _LONGEST = 6, 40


class VariantPair(NamedTuple):
    """Two variants, over the tasks of which both have trials with a verdict.

    Attributes:
        before: The name of the first variant.
        after: The name of the second variant.
        paired: The statistics.
        alone: Whether it is the only comparison of the tasks, so that it has a verdict.
    """

    before: str
    after: str
    paired: Paired
    alone: bool

    def parts(self) -> list[str]:
        """Return the tasks, the difference, and the verdict if there is one, as texts."""
        parts = [plural(len(self.paired.pairs), "task"), format_difference("pass^1", self.paired)]
        return [*parts, format_verdict(self.paired)] if self.alone else parts


@dataclass(frozen=True)
class Variants:
    """The variants of the tests on a domain.

    Attributes:
        scores: The scores of each variant, by name.
        pairs: The comparisons of each two variants of one test that have at least two tasks in common, and the same
            inputs: parameters that have no part in the trials, such as what an assertion looks for.
    """

    scores: tuple[Scores, ...]
    pairs: tuple[VariantPair, ...]

    @classmethod
    def of(cls, records: Sequence[TrialRecord]) -> Variants | None:
        """Return the variants among trials; None if all trials are of one."""
        split = records_by_variant(records)
        if len(split) == 1:
            return None
        scores = tuple(Scores.of(name, found).with_intervals(found) for name, found in split.items())
        counts = {name: {group.task: n for group, n in pass_counts(found).items()} for name, found in split.items()}
        found = [
            (one, other, Paired(pairs))
            for one, other in combinations(split, 2)
            if _are_comparable(split[one], split[other])
            if len(pairs := _pairs(counts[one], counts[other])) >= _FEWEST
        ]
        return cls(scores, tuple(VariantPair(*each, alone=len(found) == 1) for each in found))

    def pair_lines(self, most: int | None = None) -> list[str]:
        """Return the comparisons as lines of text."""
        left = len(self.pairs) - len(self.pairs[:most])
        full = [each.name for each in self.scores]
        names = dict(zip(full, distinct_lines(full, _LONGEST), strict=True))
        return [
            *(f"{names[each.before]} -> {names[each.after]}: {'; '.join(each.parts())}" for each in self.pairs[:most]),
            *([f"and {plural(left, 'more comparison')} (-v shows them)"] if left else []),
        ]


def _are_comparable(before: Sequence[TrialRecord], after: Sequence[TrialRecord]) -> bool:
    """Return whether two variants are of one test, so that they differ by their trials and not by what is asserted."""
    one_test = before[0].group.variant.test == after[0].group.variant.test
    # A variant that is counted apart, such as an attack, is compared with none, and not with others.
    apart = before[0].group.apart and after[0].group.apart
    return one_test and not apart and before[0].inputs == after[0].inputs


def records_by_variant(records: Sequence[TrialRecord]) -> dict[str, list[TrialRecord]]:
    """Return the trials of each variant by its name; all of them by an empty name if there are no variants."""
    split = split_variants({record.group: None for record in records})
    names = {group: name for name, groups in split.items() for group in groups}
    found: dict[str, list[TrialRecord]] = {name: [] for name in split}
    for record in records:
        found[names[record.group]].append(record)
    return found


def _pairs(before: Mapping[TaskId, PassCount], after: Mapping[TaskId, PassCount]) -> list[Pair]:
    return [Pair(counts, after[task]) for task, counts in before.items() if task in after]
