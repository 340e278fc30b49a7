"""Variants of a test on the same tasks, such as two agents: their scores, and the comparison of each two."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from ..runs.groups import split_variants
from ..text import distinct_lines, plural
from .compare import format_difference, format_verdict, in_clusters
from .decidable import clusters_of, uneven_losses
from .paired import Pair, Paired
from .run_records import pass_count, records_by_group
from .scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from ..runs.groups import TaskId
    from ..runs.record import TrialRecord

    #: The trials of a task in one of the variants.
    _Trials: TypeAlias = Sequence[TrialRecord]

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
        doubt: Why the difference decides nothing; empty if it may decide.
        alone: Whether it is the only comparison of the tasks, so that it has a verdict.
    """

    before: str
    after: str
    paired: Paired
    doubt: str
    alone: bool

    def parts(self) -> list[str]:
        """Return the tasks, the difference, and the verdict if there is one, as texts."""
        tasks = plural(len(self.paired.pairs), "task") + in_clusters([self.paired])
        parts = [tasks, format_difference("pass^1", self.paired)]
        verdict = f"not decided: {self.doubt}" if self.doubt else format_verdict(self.paired)
        return [*parts, verdict] if self.alone else parts


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
        scores = tuple(
            Scores.of(name, variant_records).with_intervals(variant_records) for name, variant_records in split.items()
        )
        trials = {name: _by_task(variant_records) for name, variant_records in split.items()}
        compared = [
            (first, second, both)
            for first, second in combinations(split, 2)
            if _are_comparable(split[first], split[second])
            for both in (_both(trials[first], trials[second]),)
            if sum(map(_have_verdicts, both)) >= _FEWEST
        ]
        pairs = (
            VariantPair(
                first, second, _paired([*filter(_have_verdicts, both)]), uneven_losses(both), len(compared) == 1
            )
            for first, second, both in compared
        )
        return cls(scores, tuple(pairs))

    def pair_lines(self, most: int | None = None) -> list[str]:
        """Return the comparisons as lines of text."""
        left = len(self.pairs) - len(self.pairs[:most])
        full = [score.name for score in self.scores]
        names = dict(zip(full, distinct_lines(full, _LONGEST), strict=True))
        return [
            *(f"{names[pair.before]} -> {names[pair.after]}: {'; '.join(pair.parts())}" for pair in self.pairs[:most]),
            *([f"and {plural(left, 'more comparison')} (-v shows them)"] if left else []),
        ]


def _are_comparable(before: Sequence[TrialRecord], after: Sequence[TrialRecord]) -> bool:
    """Return whether two variants are of one test, so that they differ by their trials and not by what is asserted."""
    one_test = before[0].group.variant.test == after[0].group.variant.test
    # A variant that is counted apart, such as an attack, is compared with none, and not with others.
    apart = before[0].group.apart and after[0].group.apart
    return one_test and not apart and before[0].info.inputs == after[0].info.inputs


def records_by_variant(records: Sequence[TrialRecord]) -> dict[str, list[TrialRecord]]:
    """Return the trials of each variant by its name; all of them by an empty name if there are no variants."""
    split = split_variants({record.group: None for record in records})
    names = {group: name for name, groups in split.items() for group in groups}
    by_variant: dict[str, list[TrialRecord]] = {name: [] for name in split}
    for record in records:
        by_variant[names[record.group]].append(record)
    return by_variant


def _by_task(records: Sequence[TrialRecord]) -> dict[TaskId, list[TrialRecord]]:
    return {group.task: trials for group, trials in records_by_group(records, ()).items()}


def _both(before: Mapping[TaskId, _Trials], after: Mapping[TaskId, _Trials]) -> list[tuple[_Trials, _Trials]]:
    return [(trials, after[task]) for task, trials in before.items() if task in after]


def _have_verdicts(sides: tuple[_Trials, _Trials]) -> bool:
    return all(any(record.ran for record in side) for side in sides)


def _paired(tasks: Sequence[tuple[_Trials, _Trials]]) -> Paired:
    return Paired(
        [Pair(pass_count(earlier), pass_count(later)) for earlier, later in tasks], clusters=clusters_of(tasks)
    )
