"""The rates of passing of some trials: pass^k with its interval, by persona, of an idle agent; and flaky tasks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from ..runs.groups import distinguish
from ..text import by_numbers, one_line, plural
from .metrics import PassRate, pass_hat_k
from .statistics import Interval, pass_hat_k_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..runs.groups import Group
    from ..runs.record import TrialRecord


#: So many of pass^1, pass^2 … are shown, and the last; only these get intervals, which take a while.
_FIRST_RATES = 8


class Rate(NamedTuple):
    """pass^k.

    Attributes:
        k: How many trials of a task must pass.
        value: The chance that they do.
        interval: Where it lies with 95 % confidence; None with fewer than two tasks, and for a range.
    """

    k: int
    value: PassRate
    interval: Interval | None = None


class Floor(NamedTuple):
    """The number of tasks that an agent that does nothing passes, if they can be graded without a judge."""

    passed: int
    tasks: int

    @property
    def rate(self) -> float:
        """Return pass^k of that agent, whatever k."""
        return self.passed / self.tasks


@dataclass(frozen=True)
class Scores:
    """Scores of the trials of some tasks. Errors are excluded from rates unless stated otherwise.

    Attributes:
        name: The domain, or what the tasks have in common.
        tasks: How many tasks there are; a task of several tests counts for each.
        passed: Trials with reward 1.
        failed: Trials with less.
        errors: Trials without a verdict on the agent.
        excluded: Trials that are excluded from rates because of a fault of the simulated user.
        rates: pass^k for each k that some task has so many trials of.
        with_errors: Likewise, with errors counted as failures; without intervals.
        mean_reward: Over trials; None if none was graded.
    """

    name: str
    tasks: int
    passed: int
    failed: int
    errors: int
    rates: tuple[Rate, ...] = ()
    with_errors: tuple[Rate, ...] = ()
    mean_reward: float | None = None
    excluded: int = 0

    @property
    def trials(self) -> int:
        """Return the number of all trials, errors and excluded ones included."""
        return self.passed + self.failed + self.errors + self.excluded

    @classmethod
    def of(cls, name: str, records: Sequence[TrialRecord]) -> Scores:
        """Return the scores of these trials."""
        results = outcomes_by_group(records)
        counts = Counter(record.counted_as for record in records)
        ran = [(task["passed"] + task["failed"], task["passed"]) for task in results.values()]
        every = [(task.total() - task["excluded"], task["passed"]) for task in results.values()]
        graded = [record.reward for record in records if record.ran]
        return cls(
            name=name,
            tasks=len(results),
            passed=counts["passed"],
            failed=counts["failed"],
            errors=counts["error"],
            rates=tuple(rates_of(ran)),
            with_errors=tuple(rates_of(every)) if counts["error"] else (),
            mean_reward=fmean(graded) if graded else None,
            excluded=counts["excluded"],
        )

    def without_rates(self, tasks: int) -> Scores:
        """Return the counts of trials that are not pooled, as they are of several variants.

        Args:
            tasks: The number of different tasks.
        """
        return replace(self, tasks=tasks, rates=(), with_errors=(), mean_reward=None)

    def shown_rates(self) -> list[Rate]:
        """Return the rates that are shown: the first ones and the last."""
        return first_and_last(self.rates)

    def with_intervals(self, records: Sequence[TrialRecord]) -> Scores:
        """Return these scores, with the intervals of the rates that are shown."""
        tasks = outcomes_by_group(records)
        results = [(task["passed"] + task["failed"], task["passed"]) for task in tasks.values()]
        together = {record.group: record.moves_with for record in records}
        clusters = [together[group] for group in tasks]
        shown_ks = {rate.k for rate in self.shown_rates()}
        rates = [
            rate._replace(interval=pass_hat_k_interval(results, rate.k, clusters)) if rate.k in shown_ks else rate
            for rate in self.rates
        ]
        return replace(self, rates=tuple(rates))


def outcomes_by_group(records: Iterable[TrialRecord]) -> dict[Group, Counter[str]]:
    """Return how many trials of each group ``passed``, ``failed``, ended in an ``error``, or are ``excluded``."""
    outcomes: dict[Group, Counter[str]] = defaultdict(Counter)
    for record in records:
        outcomes[record.group][record.counted_as] += 1
    return dict(outcomes)


def first_and_last(rates: Sequence[Rate]) -> list[Rate]:
    """Return the rates that are shown of many: the first ones and the last."""
    return [*rates[:_FIRST_RATES], *rates[_FIRST_RATES:][-1:]]


def rates_of(results: Sequence[tuple[int, int]]) -> Iterable[Rate]:
    """Yield pass^k for each k that a task has trials for, without intervals.

    Args:
        results: For each task, its trials that ran and how many of them passed.
    """
    for k in range(1, max((trials for trials, _ in results), default=0) + 1):
        value = pass_hat_k(results, k)
        if value is not None:
            yield Rate(k, value)


def powers_line(before: Sequence[tuple[int, int]], after: Sequence[tuple[int, int]]) -> str:
    """Return pass^k of two runs for each k above 1 that both have trials for, as a line; empty without any.

    Args:
        before: For each task, its trials in the earlier run that ran, and how many of them passed.
        after: The same of the later run.
    """
    earlier, later = (
        {rate.k: rate.value for rate in first_and_last([*rates_of(counts)])} for counts in (before, after)
    )
    return ", ".join(f"pass^{k} {earlier[k]:.3f} -> {later[k]:.3f}" for k in earlier if k > 1 and k in later)


#: Flaky tasks that are listed without -v, and characters of each name.
_MOST, _LONGEST = 10, 60


def flaky_lines(records: Iterable[TrialRecord], verbosity: int = 0) -> list[str]:
    """Return the tasks some of whose trials passed and some failed, as lines of text, the most uneven last.

    A task that several tests run counts for each of them.

    Args:
        records: The run's records; trials that ended in an error are not counted.
        verbosity: pytest's: below 0 nothing is listed, above 0 every task is.
    """
    trials = outcomes_by_group(records)
    counts = {
        group: (outcomes["passed"], outcomes["passed"] + outcomes["failed"]) for group, outcomes in trials.items()
    }
    repeated = [group for group, (_, ran) in counts.items() if ran > 1]
    flaky = [group for group in repeated if 0 < counts[group][0] < counts[group][1]]
    if not flaky or verbosity < 0:
        return []

    def order(group: Group) -> tuple[float, str, tuple[object, ...], Group]:
        passed, ran = counts[group]
        return abs(passed / ran - 0.5), group.domain, by_numbers(group.task_id), group

    flaky.sort(key=order)
    visible = flaky if verbosity > 0 else flaky[:_MOST]
    differences = distinguish(trials)
    names = {group: _name(group, differences[group]) for group in visible}
    width = max(map(len, names.values()))
    lines = [f"flaky: {len(flaky)} of {plural(len(repeated), 'task')} with several trials both passed and failed"]
    for group in visible:
        passed, ran = counts[group]
        lines.append(f"  {names[group]:<{width}}  {passed} of {ran} passed ({100 * passed / ran:.0f} %)")
    left = len(flaky) - len(visible)
    return [*lines, f"  and {left} more (-v lists them)"] if left else lines


def _name(group: Group, difference: str) -> str:
    return one_line(f"{group.domain}::{group.task_id}{f' [{difference}]' if difference else ''}", _LONGEST)


#: The name of the users of a run without a persona.
NO_PERSONA = "no persona"


def persona_lines(before: Sequence[TrialRecord], after: Sequence[TrialRecord]) -> list[str]:
    """Return pass^1 by persona, if a run has given its users one."""
    names = sorted({_persona(record) for record in (*before, *after)})
    if names in ([], [NO_PERSONA]):
        return []
    lines = []
    for name in names:
        rates = [_rate([record for record in side if _persona(record) == name]) for side in (before, after)]
        lines.append(f"pass^1 with {name}: {' -> '.join(rates)}")
    return lines


def pass_1(trials: Iterable[tuple[TrialRecord, bool]]) -> float | None:
    """Return pass^1 of trials, each with whether it counts as passed."""
    tasks: dict[object, list[bool]] = {}
    for record, passed in trials:
        tasks.setdefault(record.group, []).append(passed)
    return fmean(fmean(verdicts) for verdicts in tasks.values()) if tasks else None


def _persona(record: TrialRecord) -> str:
    drawn = (record.conditions or {}).get("persona")
    return f"persona {', '.join(map(str, drawn.values()))}" if isinstance(drawn, dict) and drawn else NO_PERSONA


def _rate(records: Sequence[TrialRecord]) -> str:
    rate = pass_1((record, record.passed) for record in records if record.ran)
    return "not run" if rate is None else f"{rate:.3f}"
