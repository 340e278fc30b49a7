"""Comparison of a run with an earlier one, task by task: what changed, and whether that is more than chance."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from ..capability.calls import columns_in
from ..runs.groups import count_tasks, distinguish, match_groups, split_variants
from ..text import listed, one_line, plural
from .decidable import SIGNIFICANT, clusters_of, undecided, uneven_losses
from .facts import fact_lines, rates_name
from .paired import FEWEST_TASKS, Pair, Paired
from .power import POWER
from .run_records import pass_count, records_by_group, unrecorded
from .scores import persona_lines, powers_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..runs.groups import Group
    from .run_records import RunRecords

#: So many tasks of a kind are named, each with so many characters.
_NAMED, _LONGEST = 10, 200


class Comparison:
    """Two runs, over the tasks of which both have trials that ran.

    Trials of different tests, or of one test with different parameters, are different observations, each compared with
    its like.

    Attributes:
        pairs: The tasks that are compared, by the group of their trials in the later run and in its order.
        only_before: Tasks that the later run has no trial of.
        only_after: Tasks that the earlier run has no trial of.
        without_verdict: Tasks in both of which one side has only errors.
        errors: Trials that ended in an error, in each run; they are not compared.
        not_counted: Trials that are excluded from rates, likewise.
    """

    def __init__(self, before: RunRecords, after: RunRecords) -> None:
        self.before, self.after = before, after
        runs = (before, after)
        earlier, later = (records_by_group(run.records, runs) for run in runs)
        matched = match_groups(earlier, later)
        compared = set(matched.values())
        self.only_before = [group for group in earlier if group not in compared]
        self.only_after = [group for group in later if group not in matched]
        both = {group: (earlier[other], later[group]) for group, other in matched.items()}
        counts = {
            group: Pair(pass_count(trials_before), pass_count(trials_after))
            for group, (trials_before, trials_after) in both.items()
        }
        self.pairs = {group: pair for group, pair in counts.items() if all(rate.trials for rate in pair)}
        self._both = both
        self.without_verdict = [group for group in both if group not in self.pairs]
        self.errors = tuple(sum(record.outcome == "error" for record in run.records) for run in runs)
        self.not_counted = tuple(sum(record.counted_as == "excluded" for record in run.records) for run in runs)

    @cached_property
    def variants(self) -> dict[str, Paired]:
        """Return the test over the tasks of each variant, by its name; empty if no task can be compared.

        If there is a single variant, its name is empty.
        """
        split = split_variants(self.pairs) if self.pairs else {}
        return {name: self._paired(groups) for name, groups in split.items()}

    @property
    def domains(self) -> dict[str, Paired]:
        """Return the test for each domain."""
        by_domain: dict[str, list[Group]] = defaultdict(list)
        for key in self.pairs:
            by_domain[key.domain].append(key)
        return {name: self._paired(groups) for name, groups in sorted(by_domain.items())}

    def _paired(self, groups: Sequence[Group]) -> Paired:
        clusters = clusters_of(self._both[group] for group in groups)
        return Paired([self.pairs[group] for group in groups], clusters=clusters)

    @property
    def significant(self) -> bool:
        """Return whether the difference of any variant is more than chance explains."""
        return any(paired.p < SIGNIFICANT for paired in self.variants.values())

    @property
    def regression(self) -> bool:
        """Return whether any variant is significantly worse in the later run."""
        return any(
            paired.p < SIGNIFICANT and paired.difference < 0 and not self.doubt(name)
            for name, paired in self.variants.items()
        )

    @property
    def incomplete(self) -> str:
        """Return which runs are not complete, and why; empty if both are."""
        return incomplete(self.before, self.after)

    def doubt(self, variant: str) -> str:
        """Return why the difference of a variant decides nothing, however large it is; empty if it may decide."""
        return self.incomplete or self._losses.get(variant, "")

    @cached_property
    def _losses(self) -> dict[str, str]:
        """Return how the losses of each variant differ between the runs; tasks that have lost all trials count."""
        losses = {}
        for name, groups in split_variants(self.pairs).items():
            variants = {group.variant for group in groups}
            losses[name] = uneven_losses(both for group, both in self._both.items() if group.variant in variants)
        return losses

    @property
    def undecided(self) -> list[str]:
        """Return why a loss could not have been detected, for each variant of which that is true."""
        reasons = {name: self.doubt(name) or undecided(paired) for name, paired in self.variants.items()}
        return [f"{one_line(name, _LONGEST)}: {why}" if name else why for name, why in reasons.items() if why]

    @property
    def worse(self) -> list[tuple[Group, Pair]]:
        """Return the tasks that pass less often, the largest loss first."""
        losses = [(key, pair) for key, pair in self.pairs.items() if pair.change < 0]
        return sorted(losses, key=lambda task: task[1].change)

    @property
    def better(self) -> list[tuple[Group, Pair]]:
        """Return the tasks that pass more often, the largest gain first."""
        gains = [(key, pair) for key, pair in self.pairs.items() if pair.change > 0]
        return sorted(gains, key=lambda task: -task[1].change)

    @property
    def changed(self) -> list[str]:
        """Return what verdicts depend on that differs between the runs, as far as both have recorded it."""
        return self.before.changed_in(self.after, self.pairs)

    def lines(self, *, verdict: bool = True) -> list[str]:
        """Return the comparison as lines of text; the first says what was compared.

        Args:
            verdict: Whether each difference is called significant or not, as by a single comparison.
        """
        lines = [self._compared(), *self._excluded()]
        if not self.variants:
            return [*lines, "nothing can be compared: no task has trials with a verdict in both runs"]
        for name, paired in self.variants.items():
            difference = format_difference(rates_name(self.before.info, self.after.info), paired)
            why = self.doubt(name) or undecided(paired)
            verdict_text = f"not decided: {why}" if why else "; ".join([format_verdict(paired), *self._power(paired)])
            verdict_text = verdict_text if verdict else ""
            if name:
                lines.append(
                    "; ".join([f"{one_line(name, _LONGEST)}: {difference}", *([verdict_text] if verdict_text else [])])
                )
            else:
                lines += [difference, *([verdict_text] if verdict_text else [])]
        if len(self.variants) == 1 and len(domains := self.domains) > 1:
            lines += [format_difference(f"  {name or 'unknown domain'}", paired) for name, paired in domains.items()]
        if len(self.variants) == 1 and (powers := powers_line(*zip(*self.pairs.values(), strict=True))):
            lines.append(powers)
        columns, several = columns_in(self.after.info), len(self.variants) > 1
        compared = [self._both[group] for group in self.pairs]
        lines += fact_lines(self.before.records, self.after.records, columns, compared, variants=several)
        lines += persona_lines(self.before.records, self.after.records)
        for word, tasks in (("worse", self.worse), ("better", self.better)):
            if tasks:
                lines.append(f"{word} on {plural(len(tasks), 'task')}: {self._named(tasks)}")
        if not (self.worse or self.better):
            lines.append("every task passes as often as before")
        test = explain_test(self.variants.values())
        lines.append(f"{test}, two-sided mid-p, exact; interval by its inversion (Hartigan 1969)")
        return lines

    def conclusions(self) -> list[str]:
        """Return in one sentence for each variant whether it changed, and which loss would have been seen."""
        sentences = []
        for name, paired in self.variants.items():
            prefix = f"{one_line(name, _LONGEST)}: " if name else ""
            rates = f"pass^1 {paired.before:.3f} -> {paired.after:.3f}"
            if paired.p < SIGNIFICANT and not self.doubt(name):
                sentences.append(f"{prefix}{format_verdict(paired)} against {self.before.name}: {rates}")
                continue
            if why := self.doubt(name) or undecided(paired):
                sentences.append(f"{prefix}not decided against {self.before.name}: {why} ({rates})")
                continue
            loss, often = paired.smallest_loss, f"{100 * POWER:.0f} %"
            seen = f"a loss above {loss:.3f} would have been seen, at {often} power" if loss is not None else ""
            seen = seen or f"too few {paired.unit_name}s to see any loss, at {often} power"
            sentences.append(f"{prefix}no detectable change against {self.before.name}; {seen} ({rates})")
        return sentences

    def warnings(self) -> list[str]:
        """Return what makes the comparison doubtful."""
        changed = [f"not the same in both runs: {', '.join(differing)}"] if (differing := self.changed) else []
        return [*changed, *unrecorded([self.before, self.after])]

    def _compared(self) -> str:
        sizes = [sorted({rate.trials for rate in rates}) for rates in zip(*self.pairs.values(), strict=True)]
        numbers = [str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" for counts in sizes]
        trials = f", trials per task: {' and '.join(dict.fromkeys(numbers))}" if numbers else ""
        tasks = f"{plural(count_tasks(self.pairs), 'task')}{in_clusters(self.variants.values())}"
        return f"{self.after.name} compared with {self.before.name}: {tasks} in both{trials}"

    def _excluded(self) -> list[str]:
        parts = [
            f"{plural(count_tasks(tasks), 'task')} only in {side.name}"
            for side, tasks in ((self.before, self.only_before), (self.after, self.only_after))
            if tasks
        ]
        or_excluded = "or excluded trials " if any(self.not_counted) else ""
        if self.without_verdict:
            parts.append(
                f"{plural(count_tasks(self.without_verdict), 'task')} with only errors {or_excluded}in one of the runs"
            )
        if any(self.errors):
            parts.append(f"{plural(self.errors[0], 'error')} before and {self.errors[1]:,} after")
        if any(self.not_counted):
            before, after = self.not_counted
            parts.append(f"{plural(before, 'trial')} excluded from rates before and {after:,} after")
        return [f"excluded: {', '.join(parts)}"] if parts else []

    def _power(self, paired: Paired) -> list[str]:
        smallest = paired.smallest_loss
        often = f"{POWER:.0%}".replace("%", " %")
        if smallest is not None:
            return [f"minimum detectable loss at {often} power: {smallest:.3f}"]
        text = f"too few {paired.unit_name}s to detect any loss at {often} power"
        # If a difference was found, this estimate would only confuse.
        return [] if paired.p < SIGNIFICANT else [text]

    def _named(self, tasks: Sequence[tuple[Group, Pair]]) -> str:
        several = len({key.domain for key in self.pairs}) > 1
        # Of single trials, the direction says it all.
        single = {rate.trials for pair in self.pairs.values() for rate in pair} == {1}
        differences = distinguish(self.pairs)
        names = [
            f"{key.domain}:" * several
            + one_line(key.task_id, _LONGEST)
            + (f" [{one_line(differences[key], _LONGEST)}]" if differences[key] else "")
            + f" ({pair.before} -> {pair.after})" * (not single)
            for key, pair in tasks
        ]
        return listed(names, _NAMED)


def format_verdict(paired: Paired) -> str:
    """Return whether the later rate differs by more than chance explains."""
    if paired.p >= SIGNIFICANT:
        return "no significant difference"
    return "a significant loss" if paired.difference < 0 else "a significant gain"


def explain_test(compared: Iterable[Paired]) -> str:
    """Return which test was used."""
    tests = list(compared)
    clusters = any(paired.unit_name == "cluster" for paired in tests)
    test = f"sign-flip test over {'clusters of ' * clusters}tasks (Fisher 1935)"
    if not any(paired.uneven for paired in tests):
        return test
    return f"the larger p of {test} and, as numbers of trials differ, permutation of trials within tasks"


def incomplete(*runs: RunRecords) -> str:
    """Return which of some runs are not complete, and why; empty if all are."""
    return "; ".join(f"{run.name} is not complete: {run.incomplete}" for run in runs if run.incomplete)


def in_clusters(compared: Iterable[Paired]) -> str:
    """Return in how many clusters the tasks of comparisons are, as text; empty if each task moves by itself."""
    numbers = sorted({paired.independent for paired in compared if paired.unit_name == "cluster"})
    return f" in {' and '.join(plural(number, 'cluster') for number in numbers)}" if numbers else ""


def format_difference(name: str, paired: Paired) -> str:
    """Return both rates, their difference, its interval and its probability, as a line of text."""
    interval = paired.interval
    reach = interval.signed if interval else f"no interval with fewer than {FEWEST_TASKS} {paired.unit_name}s"
    p = f"p = {paired.p:.3f}" if paired.p >= 0.001 else "p < 0.001"
    return f"{name} {paired.before:.3f} -> {paired.after:.3f}: {paired.difference:+.3f} ({reach}, {p})"
