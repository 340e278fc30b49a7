"""Comparison of several runs on the tasks that all of them have, with p-values corrected for their number."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ..runs.groups import count_tasks, match_groups, split_variants
from ..text import plural
from .compare import explain_test, in_clusters, incomplete
from .decidable import SIGNIFICANT, clusters_of, undecided, uneven_losses
from .paired import Pair, Paired
from .run_records import pass_count, records_by_group, unrecorded
from .scores import Rate, first_and_last, rates_of
from .statistics import Interval, pass_hat_k_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..runs.groups import Group
    from ..runs.record import TrialRecord
    from .metrics import PassRate
    from .run_records import RunRecords


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


#: The trials of one run, by group.
_ByGroup = dict["Group", list["TrialRecord"]]


class RunRow(NamedTuple):
    """A run in a table of several.

    Attributes:
        name: The name of the run, with that of the variant if the runs have several.
        trials: Trials that count in rates, on the compared tasks.
        errors: Trials of all its tasks that ended in an error.
        excluded: Trials of all its tasks that are excluded from rates.
        interval: The 95 % interval of pass^1; None with fewer than two tasks.
        rates: pass^k over the compared tasks, for each k that a task has trials for; empty if there are none.
        domains: pass^1 by domain.
        cost: USD of all its trials; None if it is not known.
        other_tasks: Tasks of this run that are not compared.
    """

    name: str
    trials: int
    errors: int
    excluded: int
    interval: Interval | None
    rates: Sequence[Rate]
    domains: Mapping[str, float]
    cost: float | None
    other_tasks: int

    @property
    def rate(self) -> PassRate | None:
        """Return pass^1; None if there are no tasks."""
        return self.rates[0].value if self.rates else None


class Contrast(NamedTuple):
    """The comparison of two of the runs.

    Attributes:
        before: The position of the run that the other one is compared with.
        after: The position of the other one.
        variant: The name of the variant that is compared; empty if there are no variants.
        paired: The test over tasks.
        adjusted: The p-value of the test, corrected by Holm's method.
        by_seed: The number of tasks of which trials with the same number and seed are paired.
        worse: The number of tasks that pass less often.
        better: The number of tasks that pass more often.
        undecided: Why no loss could have been significant, or why a difference decides nothing, such as a run that is
            not complete; empty if it may decide.
    """

    before: int
    after: int
    variant: str
    paired: Paired
    adjusted: float
    by_seed: int
    worse: int
    better: int
    undecided: str

    @property
    def significant(self) -> bool:
        """Return whether the difference is more than chance explains, among all comparisons."""
        return self.adjusted < SIGNIFICANT and not self.undecided

    @property
    def verdict(self) -> str:
        """Return the result in words: a significant loss or gain, none, or that none could have been found."""
        if not self.significant:
            return "not decided" if self.undecided else "no significant difference"
        return "significant loss" if self.paired.difference < 0 else "significant gain"


class ManyRuns:
    """Several runs over the tasks of which each has trials with a verdict.

    Each run is compared with the first one, or with each other one. Trials of one task are paired by number and seed if
    two runs have trials of the same seeds; else the rates of the task are compared. If the runs have variants, each is
    compared with its like: the trials of one task in several variants are not independent.

    Args:
        runs: The runs; of two at least.
        all_pairs: Compare each pair of runs, instead of each run with the first.
    """

    def __init__(self, runs: Sequence[RunRecords], *, all_pairs: bool = False) -> None:
        self.runs, self.all_pairs = runs, all_pairs
        first, *others = [records_by_group(run.records, runs) for run in runs]
        matched = [match_groups(first, other) for other in others]
        # A group has the name that it has in the first run, if that has it.
        self._sides: list[_ByGroup] = [
            first,
            *({m.get(g, g): other[g] for g in other} for m, other in zip(matched, others, strict=True)),
        ]

    @cached_property
    def tasks(self) -> list[Group]:
        """Return the tasks that are compared: those with a verdict in every run."""
        return [key for key in self._sides[0] if all(pass_count(side.get(key, ())).trials for side in self._sides)]

    @cached_property
    def _variants(self) -> dict[str, list[Group]]:
        """Return the compared tasks of each variant by its name, which is empty if there is one."""
        return split_variants(self.tasks)

    @cached_property
    def rows(self) -> list[RunRow]:
        """Return a row for each run, and in it for each variant."""
        return [self._row(number, variant) for number in range(len(self.runs)) for variant in self._variants]

    def name(self, number: int, variant: str) -> str:
        """Return the name of a run, with that of a variant unless it is empty."""
        return f"{self.runs[number].name} [{variant}]" if variant else self.runs[number].name

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Return the comparisons of two runs each, with corrected p-values; empty without tasks."""
        if not self.tasks:
            return []
        numbers = range(len(self.runs))
        chosen = list(combinations(numbers, 2)) if self.all_pairs else [(0, number) for number in numbers[1:]]
        tests = [
            (before, after, variant, *self._pairs(before, after, tasks))
            for before, after in chosen
            for variant, tasks in self._variants.items()
        ]
        adjusted = holm([paired.p for _, _, _, paired, _ in tests])
        return [
            Contrast(
                before,
                after,
                variant,
                paired,
                value,
                by_seed,
                sum(pair.change < 0 for pair in paired.pairs),
                sum(pair.change > 0 for pair in paired.pairs),
                incomplete(self.runs[before], self.runs[after])
                or self._losses(before, after, variant)
                or undecided(paired, len(tests)),
            )
            for (before, after, variant, paired, by_seed), value in zip(tests, adjusted, strict=True)
        ]

    @property
    def regression(self) -> bool:
        """Return whether any run is significantly worse than the one that it is compared with."""
        return any(contrast.significant and contrast.paired.difference < 0 for contrast in self.contrasts)

    @property
    def undecided(self) -> list[str]:
        """Return why a loss could not have been detected, for each comparison of which that is true."""
        return [
            f"{self.name(contrast.after, contrast.variant)} against {self.name(contrast.before, contrast.variant)}: "
            f"{contrast.verdict}: {contrast.undecided}"
            for contrast in self.contrasts
            if contrast.undecided and not contrast.significant
        ]

    @property
    def fails(self) -> bool:
        """Return whether there is a regression, or whether none could have been found."""
        return self.regression or not self.contrasts or bool(self.undecided)

    @property
    def domains(self) -> list[str]:
        """Return the domains of the compared tasks."""
        return sorted({group.domain for group in self.tasks})

    @property
    def compared(self) -> str:
        """Return what is compared, as a sentence."""
        contrasts = self.contrasts
        by_seed = (
            "task"
            if not any(contrast.by_seed for contrast in contrasts)
            else "task and seed"
            if all(contrast.by_seed == len(contrast.paired.pairs) for contrast in contrasts)
            else "task, and by seed where both runs have it"
        )
        tasks = plural(count_tasks(self.tasks), "task") + in_clusters(contrast.paired for contrast in contrasts)
        count = f"{plural(len(self.runs), 'run')} on {tasks} with a verdict in all"
        return f"{count}, paired by {by_seed}"

    @property
    def method(self) -> str:
        """Return how p-values and intervals were computed."""
        many = plural(len(self.contrasts), "comparison")
        return (
            f"{explain_test(contrast.paired for contrast in self.contrasts)}, two-sided mid-p; "
            f"p (Holm): corrected for {many} by Holm's method (1979), significant below {SIGNIFICANT:g}; the intervals "
            "are 95 % intervals of single rates and differences, not corrected"
        )

    def domain_rates(self) -> dict[str, list[tuple[str, list[Rate]]]]:
        """Return for each domain the name of each row with its pass^k, each with the interval.

        Of many k, the first ones and the last.
        """
        rates_by_domain: dict[str, list[tuple[str, list[Rate]]]] = {name: [] for name in self.domains}
        for domain, rows in rates_by_domain.items():
            for number in range(len(self.runs)):
                for variant, compared in self._variants.items():
                    tasks = [key for key in compared if key.domain == domain]
                    counts = [pass_count(self._sides[number][key]) for key in tasks]
                    clusters = clusters_of([side[key] for side in self._sides] for key in tasks)
                    rates = [
                        rate._replace(interval=pass_hat_k_interval(counts, rate.k, clusters))
                        for rate in first_and_last([*rates_of(counts)])
                    ]
                    rows.append((self.name(number, variant), rates))
        return rates_by_domain

    def warnings(self) -> list[str]:
        """Return what makes comparisons doubtful: what differs between the runs apart from agents and their models."""
        differences: dict[str, list[str]] = defaultdict(list)
        reference = self.runs[0]
        for run in self.runs[1:]:
            for part in reference.changed_in(run, self.tasks):
                differences[f"not the same as in {reference.name}: {part}"].append(run.name)
        lines = [f"{text} (in {', '.join(dict.fromkeys(names))})" for text, names in differences.items()]
        lines += unrecorded(self.runs)
        lines += [
            f"{row.name}: {plural(row.errors, 'error')}, which are not compared" for row in self.rows if row.errors
        ]
        lines += [
            f"{row.name}: {plural(row.excluded, 'trial')} excluded from rates, not compared"
            for row in self.rows
            if row.excluded
        ]
        lines += [
            f"{row.name}: {plural(row.other_tasks, 'task')} without a verdict in every run, not compared"
            for row in self.rows
            if row.other_tasks
        ]
        return [*lines, *self.undecided]

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON."""
        return {
            "compared": {"runs": len(self.runs), "tasks": count_tasks(self.tasks), "domains": self.domains},
            "correction": "holm",
            "runs": [_row_dict(row) for row in self.rows],
            "comparisons": [self._contrast_dict(contrast) for contrast in self.contrasts],
            "warnings": self.warnings(),
        }

    def _contrast_dict(self, contrast: Contrast) -> dict[str, Any]:
        paired = contrast.paired
        return {
            "before": self.name(contrast.before, contrast.variant),
            "after": self.name(contrast.after, contrast.variant),
            "difference": paired.difference,
            "interval": list(paired.interval) if paired.interval else None,
            "p": paired.p,
            "p_holm": contrast.adjusted,
            "verdict": contrast.verdict,
            "undecided": contrast.undecided or None,
            "minimum_detectable_loss": paired.smallest_loss,
            "clusters": paired.independent if paired.unit_name == "cluster" else None,
            "tasks_worse": contrast.worse,
            "tasks_better": contrast.better,
            "tasks_paired_by_seed": contrast.by_seed,
        }

    def _row(self, number: int, variant: str) -> RunRow:
        side, compared = self._sides[number], self._variants[variant]
        counts = {key: pass_count(side[key]) for key in compared}
        by_domain: dict[str, list[float]] = defaultdict(list)
        for key, count in counts.items():
            by_domain[key.domain].append(count.share)
        # Of a run without variants all trials belong to the row, whatever their test is called.
        variants = {key.variant for key in compared}
        trials_by_task = {key: trials for key, trials in side.items() if not variant or key.variant in variants}
        records = [record for trials in trials_by_task.values() for record in trials]
        costs = [record.cost for record in records]
        known = [cost for cost in costs if cost is not None]
        return RunRow(
            self.name(number, variant),
            sum(count.trials for count in counts.values()),
            sum(record.outcome == "error" for record in records),
            sum(record.counted_as == "excluded" for record in records),
            pass_hat_k_interval(
                [*counts.values()], 1, clusters_of([by_group[key] for by_group in self._sides] for key in counts)
            ),
            [*rates_of([*counts.values()])],
            {name: sum(shares) / len(shares) for name, shares in sorted(by_domain.items())},
            sum(known) if known and len(known) == len(costs) else None,
            len(trials_by_task) - len(compared),
        )

    def _pairs(self, before: int, after: int, tasks: Sequence[Group]) -> tuple[Paired, int]:
        """Return the test over some of the compared tasks, and of how many of them trials are paired by seed."""
        pairs, by_seed = [], 0
        for key in tasks:
            earlier, later = self._sides[before][key], self._sides[after][key]
            common = _seeds(earlier) & _seeds(later)
            if common:
                earlier, later = (
                    [record for record in side if (record.trial, record.seed) in common] for side in (earlier, later)
                )
            by_seed += bool(common)
            pairs.append(Pair(pass_count(earlier), pass_count(later)))
        clusters = clusters_of((self._sides[before][key], self._sides[after][key]) for key in tasks)
        return Paired(pairs, clusters=clusters), by_seed

    def _losses(self, before: int, after: int, variant: str) -> str:
        """Return how the losses of a variant differ between two runs, over all tasks of both."""
        variants = {key.variant for key in self._variants[variant]}
        earlier, later = self._sides[before], self._sides[after]
        return uneven_losses((earlier[key], later[key]) for key in earlier if key in later and key.variant in variants)


def _seeds(records: Iterable[TrialRecord]) -> set[tuple[int, int]]:
    return {(record.trial, record.seed) for record in records if record.ran and record.seed is not None}


def _row_dict(row: RunRow) -> dict[str, Any]:
    return {
        **row._asdict(),
        "rate": row.rate,
        "interval": list(row.interval) if row.interval else None,
        "rates": {str(rate.k): rate.value for rate in row.rates},
        "domains": dict(row.domains),
    }
