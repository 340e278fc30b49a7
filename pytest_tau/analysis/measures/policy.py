"""How often trials kept the rules of their domain's policy, and which rules were broken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from ...text import plural
from ..statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ...runs.record import TrialRecord
    from ..statistics import Interval


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
        broken: The rules that were broken, the most frequent first.
        problems: The rules that could not be checked, with the reason and the number of trials.
    """

    trials: int
    kept: int
    passed_broken: int
    kept_by_task: tuple[tuple[float, ...], ...]
    broken: tuple[BrokenRule, ...]
    problems: Mapping[str, tuple[str, int]]

    @classmethod
    def of(cls, records: Iterable[TrialRecord]) -> PolicyStats | None:
        """Return the numbers over trials; None if no rule was checked, or could not be, in any of them."""
        found = [record for record in records if record.policy is not None and record.outcome != "error"]
        if not found:
            return None
        scores = ((record, record.policy_score) for record in found)
        checked = [(record, score) for record, score in scores if score is not None]
        tasks: dict[object, list[float]] = {}
        for record, score in checked:
            tasks.setdefault(record.group, []).append(score)
        trials, breaches = Counter[str](), Counter[str]()
        reasons: dict[str, str] = {}
        failed = Counter[str]()
        for record in found:
            counts = record.policy_counts
            trials.update(counts.keys())
            breaches.update(counts)
            problems = (record.policy or {}).get("problems") or {}
            failed.update(problems.keys())
            reasons = {**problems, **reasons}
        kept = sum(score == 1 for _, score in checked)
        names = sorted(trials, key=lambda name: (-trials[name], name))
        return cls(
            trials=len(checked),
            kept=kept,
            passed_broken=sum(record.passed and score == 0 for record, score in checked),
            kept_by_task=tuple(map(tuple, tasks.values())),
            broken=tuple(BrokenRule(name, trials[name], breaches[name]) for name in names),
            problems={name: (reasons[name], failed[name]) for name in sorted(failed)},
        )

    @cached_property
    def interval(self) -> Interval | None:
        """Return the 95 % interval of the share, by resampling tasks; None with fewer than two tasks."""
        return share_interval(self.kept_by_task) if len(self.kept_by_task) > 1 else None

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
        return [f"{each.name} ({plural(each.trials, 'trial')}, {_breaches(each.breaches)})" for each in self.broken]

    @property
    def unchecked(self) -> list[str]:
        """Return a line for each rule that could not be checked."""
        return [
            f"rule {name!r} could not be checked in {plural(number, 'trial')}: {why}"
            for name, (why, number) in self.problems.items()
        ]


def _breaches(number: int) -> str:
    return f"{number:,} breach{'es' * (number != 1)}"


def policy_difference_lines(pairs: Sequence[tuple[Collection[TrialRecord], Collection[TrialRecord]]]) -> list[str]:
    """Return the differences between two runs in broken rules, over tasks that have numbers in both; none if equal.

    Args:
        pairs: The trials of each task, in the earlier run and in the later one.
    """
    both = [(_checked(earlier), _checked(later)) for earlier, later in pairs]
    both = [(earlier, later) for earlier, later in both if earlier and later]
    if not both:
        return []
    before, after = (PolicyStats.of(record for pair in both for record in pair[side]) for side in (0, 1))
    if before is None or after is None or before.share is None or after.share is None:
        return []
    sides = [[record for pair in both for record in pair[side]] for side in (0, 1)]
    shares = {
        name: [f"{share:.3f}" for side in sides for share in _share(side, name)] for name in _names(before, after)
    }
    changed = [f"{name} {' -> '.join(found)}" for name, found in shares.items() if len(set(found)) == len(sides)]
    if not changed and f"{before.share:.3f}" == f"{after.share:.3f}":
        return []
    line = f"policy {before.share:.3f} -> {after.share:.3f}: {after.share - before.share:+.3f}"
    return [line, *([f"rules kept: {', '.join(changed)}"] if changed else [])]


def _checked(records: Iterable[TrialRecord]) -> list[TrialRecord]:
    return [record for record in records if record.policy_score is not None and record.ran]


def _names(*stats: PolicyStats) -> list[str]:
    return list(dict.fromkeys(each.name for found in stats for each in found.broken))


def _share(records: Iterable[TrialRecord], rule: str) -> list[float]:
    """Return the share of the trials with a check of a rule that kept it; empty if it was never checked."""
    kept = [found for record in records if (found := record.kept_rule(rule)) is not None]
    return [fsum(kept) / len(kept)] if kept else []
