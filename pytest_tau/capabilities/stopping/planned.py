"""The planned trials in their order, how far they are done, and what an earlier session has noted of the run."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from ...capability import RunHandle
    from ...runs import Group, TaskId, TrialRecord

#: The name of the capability, under which the rule of a run is recorded.
NAME = "stopping"


def draw_key(seed: int, task: TaskId) -> str:
    """Return by what a task is sorted: each task has its place, whichever others are selected, in every process."""
    return hashlib.sha256("\0".join([str(seed), *task]).encode()).hexdigest()


class PlannedTrials:
    """The planned trials of a run, in the order in which they are run.

    Args:
        run: The run.
        draw: Run the tasks in random order: a task's place depends on the run's seed and its id alone.
        whole_tasks: With ``draw``, run all trials of a task before the next one; else a trial of every task first.
    """

    def __init__(self, run: RunHandle, *, draw: bool, whole_tasks: bool) -> None:
        self._run, self._draw, self._whole_tasks = run, draw, whole_tasks
        self._done: set[str] = set()
        self._reached = 0

    @property
    def trials(self) -> Mapping[str, Group]:
        """Return the group of each trial by its node id, in order.

        If all workers are on other machines, there are none before the end.
        """
        return self._run.planned

    @property
    def counts(self) -> Counter[Group]:
        """Return how many trials of each group are planned."""
        return Counter(self.trials.values())

    def order(self, items: list[pytest.Item]) -> None:
        """Put the items that run trials into the random order; other items keep their places."""
        settings = self._run.settings
        if not self._draw or settings is None:
            return
        places: list[int] = []
        keys: dict[pytest.Item, tuple[Any, ...]] = {}
        for place, item in enumerate(items):
            trial = self._run.trial_of(item)
            if trial is not None and trial.group is not None:
                places.append(place)
                number, key = trial.number, draw_key(settings.seed, trial.group.task)
                keys[item] = (key, number) if self._whole_tasks else (number, key)
        for place, item in zip(places, sorted(keys, key=keys.__getitem__), strict=True):
            items[place] = item

    def is_done(self, nodeid: str) -> None:
        """Record that a trial is done: it has run, or was skipped."""
        self._done.add(nodeid)

    @property
    def reached(self) -> int:
        """Return how many trials from the beginning are done.

        Later ones that are done already do not count: those that end soon may be those that fail.
        """
        nodeids = list(self.trials)
        while self._reached < len(nodeids) and nodeids[self._reached] in self._done:
            self._reached += 1
        return self._reached

    def records(self, number: int) -> list[TrialRecord]:
        """Return the records of so many trials from the beginning."""
        first = set(list(self.trials)[:number])
        return [record for record in self._run.records if record.test in first]
