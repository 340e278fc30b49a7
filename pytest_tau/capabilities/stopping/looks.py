"""The comparison with a baseline while the run is under way, with ``--tau-stop-early P --tau-fail-on regression``.

A look compares the tasks that were run so far, each with all of its trials, with the same tasks of the baseline. Looks
are fixed before the run. A loss is significant if its p-value is within the level of the look, so that the probability
of a false alarm at any look is that of a single comparison at the end.
"""

from __future__ import annotations

from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from ...analysis import FEWEST_TASKS, LEVEL
from ...text import plural
from .planned import NAME
from .spending import bounds, spent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...analysis import Comparison, Paired, RunRecords
    from ...capability import RunHandle
    from ...runs import TaskId, TrialRecord
    from .planned import PlannedTrials

#: How often the comparison is looked at, the end included.
LOOKS = 5
#: The chance of a false alarm: that of a loss which the usual two-sided test calls significant.
ONE_SIDED = (1 - LEVEL) / 2


class Look(NamedTuple):
    """A look, as it is fixed before the run.

    Attributes:
        tasks: How many tasks have all of their trials by then.
        level: The greatest one-sided p-value that is significant.
        spent: The chance of a false alarm at this look or an earlier one.
    """

    tasks: int
    level: float
    spent: float


def plan_looks(tasks: int) -> tuple[Look, ...]:
    """Return looks at equal distances, the last one at the end; none before there are tasks enough for a p-value.

    Args:
        tasks: How many tasks both runs have.
    """
    places = sorted({ceil(tasks * number / LOOKS) for number in range(1, LOOKS + 1)} - {0})
    places = [place for place in places if place >= FEWEST_TASKS or place == tasks]
    shares = tuple(place / tasks for place in places)
    levels = bounds(shares, ONE_SIDED) if tasks else ()
    return tuple(
        Look(place, level, spent(ONE_SIDED, share)) for place, level, share in zip(places, levels, shares, strict=True)
    )


class Seen(NamedTuple):
    """The result of a look.

    Attributes:
        difference: The later rate less the earlier one, over the tasks so far.
        p: The one-sided p-value of a loss.
        loss: Whether there is a significant loss, which decides the run.
    """

    difference: float
    p: float
    loss: bool


def judge(paired: Paired, look: Look) -> Seen:
    """Return the result of a look.

    Args:
        paired: The comparison over the tasks so far.
        look: The look.
    """
    p = paired.p / 2 if paired.difference < 0 else 1 - paired.p / 2
    return Seen(paired.difference, p, paired.difference < 0 and p <= look.level)


class BaselineLooks:
    """Compares with the baseline at looks that are fixed before the run.

    Attributes:
        taken: The looks so far, each with its results by the name of the variant.
        decided: Whether there is a significant loss; None while the run goes on without one.
    """

    def __init__(self, run: RunHandle, planned: PlannedTrials) -> None:
        self._run, self._planned = run, planned
        self.taken: list[tuple[Look, dict[str, Seen]]] = []
        self.decided: bool | None = None

    @cached_property
    def _before(self) -> RunRecords | None:
        """Return the baseline; None if it cannot be read, which the comparison at the end reports."""
        before: RunRecords | None = self._run.baseline
        return before

    @cached_property
    def tasks(self) -> dict[TaskId, int]:
        """Return, for each task that the baseline has as well, how many trials are planned until all of its are done.

        The tasks are in the order in which they are run. Read it once the planned trials are known.
        """
        if self._before is None:
            return {}
        from ...analysis import paired_groups

        earlier = (record.group for record in self._before.records)
        paired = paired_groups(earlier, dict.fromkeys(self._planned.trials.values()))
        last_numbers: dict[TaskId, int] = {}
        for number, group in enumerate(self._planned.trials.values(), 1):
            if group in paired:
                last_numbers[group.task] = number
        return last_numbers

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """Return the looks, as they were fixed at the start of the run; read it once the trials are known."""
        stored = (self._run.noted(NAME) or {}).get("looks")
        if stored:
            return tuple(Look(look["tasks"], look["level"], look["spent"]) for look in stored)
        return plan_looks(len(self.tasks))

    def check(self) -> bool:
        """Take the looks that are due; return whether there was one."""
        ends = list(self.tasks.values())
        before = len(self.taken)
        while self.decided is None and len(self.taken) < len(self.looks) - 1:
            look = self.looks[len(self.taken)]
            if look.tasks > len(ends) or max(ends[: look.tasks]) > self._planned.reached:
                break
            first = set(list(self.tasks)[: look.tasks])
            records = self._planned.records(max(ends[: look.tasks]))
            self._take(look, [record for record in records if record.group.task in first])
        return len(self.taken) > before

    def _take(self, look: Look, records: Sequence[TrialRecord]) -> None:
        results = self._judged(look, self._compared(records))
        self.taken.append((look, results))
        if any(seen.loss for seen in results.values()):
            self.decided = True

    def _compared(self, records: Sequence[TrialRecord]) -> Comparison | None:
        from ...analysis import Comparison, RunRecords

        return Comparison(self._before, RunRecords("this run", records, {})) if self._before is not None else None

    def _judged(self, look: Look, comparison: Comparison | None) -> dict[str, Seen]:
        if comparison is None:
            return {}
        seen = {name: judge(paired, look) for name, paired in comparison.variants.items()}
        return {name: result._replace(loss=result.loss and not comparison.doubt(name)) for name, result in seen.items()}

    def regression(self) -> bool:
        """Return whether there is a significant loss: as a look has decided, else by the last look, at the end.

        No single comparison at the end decides.
        """
        if self.decided is None and self.looks and len(self.taken) < len(self.looks):
            self._take(self.looks[-1], self._run.records)
            self.decided = bool(self.decided)
        return bool(self.decided)

    def reason(self) -> str:
        """Return why the run was stopped."""
        return f"a significant loss at look {len(self.taken)} of {len(self.looks)}"

    def lines(self) -> list[str]:
        """Return a line for each look; at the end of the run."""
        self.regression()
        look_lines = []
        for number, (look, results) in enumerate(self.taken, 1):
            for name, seen in results.items():
                text = f"{seen.difference:+.3f} over {plural(look.tasks, 'task')}, {_p(seen.p)} (one-sided)"
                limit = f"significant up to {look.level:.2g}"
                look_lines.append(f"look {number} of {len(self.looks)}{f', {name}' if name else ''}: {text}, {limit}")
        return look_lines

    def as_json(self) -> dict[str, Any]:
        """Return the looks with their levels and results, for the metadata of the run."""
        looks: list[dict[str, Any]] = [dict(look._asdict()) for look in self.looks]
        for entry, (_, results) in zip(looks, self.taken, strict=False):
            entry["results"] = {name: seen._asdict() for name, seen in results.items()}
        return {"looks": looks}


def _p(value: float) -> str:
    return f"p = {value:.4f}" if value >= 0.0001 else "p < 0.0001"
