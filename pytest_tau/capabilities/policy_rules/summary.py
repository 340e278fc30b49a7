"""The check of the rules of a policy in a trial, how often trials kept them, and which were broken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from ...analysis import mean_interval
from ...capability import Detail, Finding, PageBlock, PageItem, TrialStages, TypedFacts
from ...policy import PolicyReport, report_of
from ...text import listed, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...analysis import Clusters, Interval
    from ...capability import Compared, Measured, TrialView
    from ...models import Simulation

#: Trials, and breaches of each, that the terminal shows of trials that passed.
_TRIALS, _BREACHES = 3, 3
#: Breaches whose evidence the report of a failure shows.
_MOST = 10
#: Characters of an id, and of the reason why a rule could not be checked.
_LONGEST_ID, _PROBLEM = 80, 200


class PolicyStages(TrialStages):
    """Checks the rules in a trial."""

    def __init__(self, view: TrialView) -> None:
        self._view = view

    def graded(self, simulation: Simulation) -> TypedFacts | None:
        """Return what the rules have found, and the numbers of the columns; None without rules or a conversation."""
        view = self._view
        report = report_of(simulation, view.task, view.domain, environment=view.environment, agent=view.agent)
        if report is None:
            return None
        broken = "; ".join(f"{name} ({number})" for name, number in report.counts.items())
        kept = {name: float(name not in report.counts) for name in report.checked}
        return TypedFacts({**report.as_dict(), "broken": broken, "kept": kept}, report)


class BrokenRule(NamedTuple):
    """A rule that was broken.

    Attributes:
        name: The rule.
        trials: In so many trials.
        breaches: So often.
    """

    name: str
    trials: int
    breaches: int


@dataclass(frozen=True)
class PolicyStats:
    """How often trials kept the rules.

    Attributes:
        trials: The trials with a verdict in which rules were checked.
        kept: How many of them kept every rule.
        passed_broken: How many have reward 1 and broke a rule.
        kept_by_task: For each task, 1 for each of these trials that kept every rule, and 0 for the others.
        clusters: The tasks that move together.
        broken: The rules that were broken, the most frequent first.
        problems: The rules that could not be checked, with the reason and the number of trials.
    """

    trials: int
    kept: int
    passed_broken: int
    kept_by_task: tuple[tuple[float, ...], ...]
    clusters: Clusters
    broken: tuple[BrokenRule, ...]
    problems: Mapping[str, tuple[str, int]]

    @classmethod
    def of(cls, trials: Iterable[Measured]) -> PolicyStats | None:
        """Return the numbers over trials; None if no rule was checked, or could not be, in any of them."""
        graded = [trial for trial in trials if trial.record.outcome != "error"]
        if not graded:
            return None
        checked = [(trial.record, trial.facts.score) for trial in graded if trial.facts.score is not None]
        tasks: dict[object, list[float]] = {}
        clusters: dict[object, tuple[str, str] | None] = {}
        for record, score in checked:
            tasks.setdefault(record.group, []).append(score)
            clusters[record.group] = record.moves_with
        broken, breaches = Counter[str](), Counter[str]()
        reasons: dict[str, str] = {}
        failed = Counter[str]()
        for trial in graded:
            broken.update(trial.facts.counts.keys())
            breaches.update(trial.facts.counts)
            failed.update(trial.facts.problems.keys())
            reasons = {**trial.facts.problems, **reasons}
        kept_trials = sum(score == 1 for _, score in checked)
        names = sorted(broken, key=lambda name: (-broken[name], name))
        return cls(
            trials=len(checked),
            kept=kept_trials,
            passed_broken=sum(record.passed and score == 0 for record, score in checked),
            kept_by_task=tuple(map(tuple, tasks.values())),
            clusters=tuple(clusters.values()),
            broken=tuple(BrokenRule(name, broken[name], breaches[name]) for name in names),
            problems={name: (one_line(reasons[name], _PROBLEM), failed[name]) for name in sorted(failed)},
        )

    @cached_property
    def interval(self) -> Interval | None:
        """Return the 95 % interval of the share, by resampling tasks; None with fewer than two tasks."""
        return mean_interval(self.kept_by_task, proportion=True, clusters=self.clusters)

    @property
    def share(self) -> float | None:
        """Return the share of trials that kept every rule; None if none was checked."""
        return self.kept / self.trials if self.trials else None

    @property
    def parts(self) -> list[str]:
        """Return the share in parts: ``0.947 (95 % interval 0.904 to 0.982)``, ``6 of 114 trials broke a rule``."""
        if not self.trials:
            return []
        interval = f" (95 % interval {self.interval.format()})" if self.interval and self.kept < self.trials else ""
        parts = [f"{self.kept / self.trials:.3f}{interval}"]
        if self.kept < self.trials:
            parts.append(f"{self.trials - self.kept:,} of {plural(self.trials, 'trial')} broke a rule")
        if self.passed_broken:
            parts.append(f"{self.passed_broken:,} with reward 1")
        return parts

    @property
    def rules(self) -> list[str]:
        """Return the broken rules in parts: ``confirmation (6 trials, 9 breaches)``."""
        return [f"{rule.name} ({plural(rule.trials, 'trial')}, {_breaches(rule.breaches)})" for rule in self.broken]

    @property
    def unchecked(self) -> list[str]:
        """Return a line for each rule that could not be checked."""
        return [
            f"rule {name!r} could not be checked in {plural(number, 'trial')}: {why}"
            for name, (why, number) in self.problems.items()
        ]


def _breaches(number: int) -> str:
    return f"{number:,} breach{'es' * (number != 1)}"


def read_report(**stored: Any) -> PolicyReport:
    """Return the facts of their stored form.

    Raises:
        ValueError: They are of another form.
    """
    return PolicyReport.read(**stored)


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield how often the rules were kept, and the breaches of trials that passed: others are in failure reports."""
    stats = PolicyStats.of(trial for trial in trials if trial.record.ran)
    if stats is not None and stats.trials:
        line = ", ".join(stats.parts)
        yield Finding(line) if stats.kept < stats.trials else Detail(line)
        if stats.broken:
            yield Finding(f"broken rules: {', '.join(stats.rules)}")
    broken = [trial for trial in trials if trial.record.passed and trial.facts.breaches]
    if broken:
        more = len(broken) > _TRIALS or any(len(trial.facts.breaches) > _BREACHES for trial in broken)
        hint = " (-v shows all)" if more else ""
        yield Finding(f"rules broken in {plural(len(broken), 'trial')} with reward 1{hint}")
    for number, trial in enumerate(broken):
        for line in _of_trial(trial):
            yield Detail(line) if number >= _TRIALS or isinstance(line, Detail) else Finding(line)
    every = PolicyStats.of(trials)
    yield from every.unchecked if every else ()


def _of_trial(trial: Measured) -> Iterator[str]:
    record = trial.record
    test = f"{record.group.parameters}-" if record.group.parameters else ""
    yield f"  {one_line(record.task_id, _LONGEST_ID)}[{one_line(test, _LONGEST_ID)}trial-{record.trial}]"
    for number, breach in enumerate(trial.facts.breaches):
        line = f"    {breach.rule}, {breach.line()}"
        yield line if number < _BREACHES else Detail(line)


def failure(facts: PolicyReport, simulation: Simulation) -> Iterator[str]:
    """Yield the rules that were broken, each with its messages; the evidence as details; what could not be checked."""
    broken: dict[str, list[str]] = {}
    for breach in facts.breaches:
        broken.setdefault(breach.rule, []).append(str(breach.message_idx))
    if broken:
        rules = (
            f"{rule} (message{'s' * (len(numbers) > 1)} {listed(numbers, _BREACHES)})"
            for rule, numbers in broken.items()
        )
        text = f"broke {', '.join(rules)}"
        verdict = simulation.reward_info
        if text not in [
            check.justification for check in (verdict and verdict.custom_checks) or ()
        ]:  # of rules that count
            yield text
    yield from (Detail(f"{breach.rule}, {breach.line()}") for breach in facts.breaches[:_MOST])
    if len(facts.breaches) > _MOST:
        yield Detail(f"and {len(facts.breaches) - _MOST} more")
    yield from (f"rule {name!r} could not be checked: {why}" for name, why in facts.problems.items())


def page(facts: PolicyReport, _simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the breaches, as checks and among the cards."""
    items = [
        PageItem(breach.evidence, breach.rule, message_idx=breach.message_idx, met=False) for breach in facts.breaches
    ]
    yield PageBlock("POLICY", items=items, place="checks")
    if items:
        yield PageBlock("Rules of the policy that were broken", items=items, place="box")


def comparison(compared: Compared) -> list[str]:
    """Return the differences between two runs in broken rules, over tasks that have numbers in both; none if equal."""
    both = [(_checked(earlier), _checked(later)) for earlier, later in compared.tasks if not compared.variants]
    both = [(earlier, later) for earlier, later in both if earlier and later]
    sides = [[trial for pair in both for trial in pair[side]] for side in (0, 1)]
    before, after = map(PolicyStats.of, sides)
    if before is None or after is None or before.share is None or after.share is None:
        return []
    shares = {
        name: [f"{share:.3f}" for side in sides for share in _share(side, name)] for name in _names(before, after)
    }
    changed = [f"{name} {' -> '.join(values)}" for name, values in shares.items() if len(set(values)) == len(sides)]
    if not changed and f"{before.share:.3f}" == f"{after.share:.3f}":
        return []
    line = f"policy {before.share:.3f} -> {after.share:.3f}: {after.share - before.share:+.3f}"
    return [line, *([f"rules kept: {', '.join(changed)}"] if changed else [])]


def _checked(trials: Iterable[Measured]) -> list[Measured]:
    return [trial for trial in trials if trial.facts.score is not None and trial.record.ran]


def _names(*stats: PolicyStats) -> list[str]:
    return list(dict.fromkeys(rule.name for side in stats for rule in side.broken))


def _share(trials: Iterable[Measured], rule: str) -> list[float]:
    """Return the share of the trials with a check of a rule that kept it; empty if it was never checked."""
    scores = [score for trial in trials if (score := trial.facts.score_of(rule)) is not None]
    return [fsum(scores) / len(scores)] if scores else []
