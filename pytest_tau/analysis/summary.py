"""Summary of a run's trials in numbers: for each domain, and for groups of its tasks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from ..models import STOPS
from ..text import by_numbers, error_line
from .columns import COLUMNS
from .scores import Floor, Scores
from .statistics import percentile
from .unseen import UnseenAgent, unseen_agents
from .usage import total_usage
from .variants import Variants, records_by_variant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..models import ModelUsage
    from ..runs.groups import TaskId
    from ..runs.record import TrialRecord

#: The group of tasks that have no value of it.
NO_VALUE = "(none)"


@dataclass(frozen=True)
class TrialStats:
    """Averages of what a trial took, without those that ended in an error.

    Attributes:
        means: The mean of each column that has a unit, by its name.
        p50: Seconds below which half of the trials stayed.
        p95: Seconds below which 95 % of the trials stayed.
    """

    means: Mapping[str, float]
    p50: float
    p95: float


@dataclass(frozen=True)
class DomainSummary:
    """Summary of the trials of a domain.

    Attributes:
        scores: How they did; without rates if there are variants, whose trials are not pooled.
        variants: The variants of the tests; None if there is one.
        floor: What an agent that does nothing would have got on the same tasks; None if that is not known.
        endings: How conversations ended, the most frequent first: the user's token, or the reason. Without errors.
        faults: The reasons of errors, likewise.
        messages: What errors said, likewise.
        unmet: In how many failed trials each check was not met, likewise.
        reached: In how many trials each other right outcome of a task was reached, likewise.
        stats: What a trial took; None if none was graded.
        usage: The sums over the model calls of all trials, errors included; None if there were none.
        unseen: The agents that are not built in and of which no model call was seen.
        restored: How many trials were taken from an earlier run.
        groups: The scores by what tasks are grouped by; empty if no task has it.
        records: The trials of each variant, by its name; an empty name if there is one. For means that are only
            computed if they are shown.
    """

    scores: Scores
    variants: Variants | None
    floor: Floor | None
    endings: tuple[tuple[str, int], ...]
    faults: tuple[tuple[str, int], ...]
    messages: tuple[tuple[str, int], ...]
    unmet: tuple[tuple[str, int], ...]
    stats: TrialStats | None
    usage: ModelUsage | None
    unseen: tuple[UnseenAgent, ...]
    restored: int
    groups: Mapping[str, tuple[Scores, ...]]
    reached: tuple[tuple[str, int], ...] = ()
    records: Mapping[str, Sequence[TrialRecord]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the domain's name."""
        return self.scores.name


def summarise(
    records: Iterable[TrialRecord],
    *,
    floors: Mapping[TaskId, bool] | None = None,
    group_by: Sequence[str] = (),
) -> list[DomainSummary]:
    """Return the summary of each domain, sorted by name.

    Args:
        records: The trials' facts.
        floors: Whether an agent that does nothing passes, by task; tasks may be missing.
        group_by: Of ``GROUPS``.
    """
    domains: dict[str, list[TrialRecord]] = defaultdict(list)
    for record in records:
        domains[record.domain].append(record)
    return [_domain(name, domain_records, floors or {}, group_by) for name, domain_records in sorted(domains.items())]


def ending(record: TrialRecord) -> str:
    """Return how a conversation ended: the user's token, the reason, or that it was not graded."""
    if record.outcome == "error" and record.termination_reason in STOPS:
        return "not graded"
    return record.stop_token or record.termination_reason


def _domain(
    name: str, records: list[TrialRecord], floors: Mapping[TaskId, bool], group_by: Sequence[str]
) -> DomainSummary:
    ran = [record for record in records if record.ran]
    errors = [record for record in records if record.outcome == "error"]
    tasks = dict.fromkeys(record.group.task for record in records)
    verdicts = [floors[task] for task in tasks if task in floors]
    scores, variants = Scores.of(name, records), Variants.of(records)
    used = [usage for record in records for usage in record.model_usage.values()]
    return DomainSummary(
        scores=scores.without_rates(len(tasks)) if variants else scores.with_intervals(records),
        variants=variants,
        floor=Floor(sum(verdicts), len(verdicts)) if verdicts else None,
        endings=_most_frequent(ending(record) for record in ran),
        faults=_most_frequent(ending(record) for record in errors),
        messages=_most_frequent(message for record in errors if (message := error_line(record.error or ""))),
        unmet=_most_frequent(check for record in ran for check in dict.fromkeys(record.failed_checks)),
        reached=_most_frequent(
            f"{record.task_id} outcome {record.reached_outcome}" for record in ran if record.reached_outcome is not None
        ),
        stats=_stats(ran) if ran else None,
        usage=total_usage(used) if used else None,
        unseen=tuple(unseen_agents(records)),
        restored=sum(record.restored for record in records),
        records=records_by_variant(records),
        groups={group: _grouped(group, records_by_variant(records)) for group in group_by},
    )


def _most_frequent(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(names).items(), key=lambda counted: (-counted[1], counted[0])))


def _stats(records: list[TrialRecord]) -> TrialStats:
    p50, p95 = (percentile((record.duration for record in records), share) for share in (0.5, 0.95))
    assert p50 is not None
    assert p95 is not None
    means = {column.name: fmean(column.value(record) for record in records) for column in COLUMNS if column.unit}
    return TrialStats(means, p50, p95)


def _grouped(group: str, split: Mapping[str, Sequence[TrialRecord]]) -> tuple[Scores, ...]:
    """Return the scores of each group of tasks, and in it of each variant, as their trials are not pooled."""
    by_value: dict[tuple[str, str], list[TrialRecord]] = defaultdict(list)
    for variant, records in split.items():
        for record in records:
            value = record.groups.get(group)
            # A task has one of the others, and any number of tags.
            values = dict.fromkeys(value.split(", ")) if value and group == "tags" else [value or NO_VALUE]
            for group_value in values:
                by_value[group_value, variant].append(record)
    if all(value == NO_VALUE for value, _ in by_value):
        return ()
    variants = list(split)
    ordered = sorted(by_value, key=lambda key: (key[0] == NO_VALUE, by_numbers(key[0]), variants.index(key[1])))
    names = {(value, variant): f"{value} [{variant}]" if variant else value for value, variant in by_value}
    return tuple(Scores.of(names[key], by_value[key]).with_intervals(by_value[key]) for key in ordered)
