"""Two runs of an agent, in the domain and in an edition of it: pass^1 by the values of the policy."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from ...analysis import Interval, Pair, Paired, PassCount, wilson
from ...errors import ConfigurationError
from .varying import noticing, passed_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...environment import Domain
    from ...runs import Run


class Rates(NamedTuple):
    """The rates of passing in both runs, over the tasks that notice a value.

    Attributes:
        name: The value; empty for all tasks of both runs.
        old: What it is in the domain.
        new: What it is in the edition.
        tasks: The tasks.
        before: The rate in the domain; None without tasks.
        after: The rate in the edition, likewise.
        interval: That of the difference, likewise.
    """

    name: str
    old: Any
    new: Any
    tasks: Sequence[str]
    before: float | None = None
    after: float | None = None
    interval: Interval | None = None


def rates_by_value(
    domain: Domain, edition: Domain, runs: tuple[Run, Run], agent: str, names: Sequence[str], split: str
) -> Iterator[Rates]:
    """Yield the rates over all tasks of both runs, then those over the tasks that notice each changed value.

    Args:
        domain: The domain.
        edition: The same as the second run had it.
        runs: The run in the domain, and the one in the edition.
        agent: An agent that reads its policy: a task notices a value that is changed alone if the agent with the text
            of the old policy fails it.
        names: The values.
        split: The tasks.

    Raises:
        ConfigurationError: The second run was made in no edition, or the runs have no task in common.
    """
    changed = {name: new for name, new in edition.spec.values.changed.items() if name in names}
    if not changed:
        raise ConfigurationError(f"{runs[1].name}: expected a run with --tau-edition that changes a value")
    before, after = (_counts(run, domain.name) for run in runs)
    pairs = {task: Pair(before[task], after[task]) for task in after if task in before}
    if not pairs:
        raise ConfigurationError(f"{runs[0].name} and {runs[1].name} have no task of {domain.name} in common")
    yield _rates("", "", "", pairs)
    passing = passed_by(domain, agent, split)
    for name, new in changed.items():
        failed = noticing(domain, agent, name, new, passing, split).failed
        yield _rates(name, domain.spec.values.of(name), new, {task: pairs[task] for task in failed if task in pairs})


def _rates(name: str, old: Any, new: Any, pairs: Mapping[str, Pair]) -> Rates:
    if not pairs:
        return Rates(name, old, new, ())
    paired = Paired([*pairs.values()])
    return Rates(name, old, new, tuple(pairs), paired.before, paired.after, paired.interval or _newcombe(paired))


def _newcombe(paired: Paired) -> Interval:
    """Return the interval of the difference of two rates of few tasks (Newcombe 1998)."""
    before, after = (wilson(rate, len(paired.pairs)) for rate in (paired.before, paired.after))
    below = sqrt((paired.after - after.low) ** 2 + (before.high - paired.before) ** 2)
    above = sqrt((after.high - paired.after) ** 2 + (paired.before - before.low) ** 2)
    return Interval(paired.difference - below, paired.difference + above)


def _counts(run: Run, domain: str) -> dict[str, PassCount]:
    """Return how often each task of a domain has passed in a run."""
    counts: dict[str, PassCount] = {}
    for record in run.records():
        if record.domain == domain and record.ran:
            trials, passed = counts.get(record.task_id, PassCount(0, 0))
            counts[record.task_id] = PassCount(trials + 1, passed + record.passed)
    return counts
