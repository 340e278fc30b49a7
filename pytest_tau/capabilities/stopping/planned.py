"""The planned trials in their order, how far they are done, and what an earlier session has noted of the run."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from ...plugin.context.run_state import get_context, run_state
from ...plugin.items import group_of, trial_of
from ...plugin.report.trial_reports import records_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from ...runs.groups import Group, TaskId
    from ...runs.record import TrialRecord

#: The name of the capability, under which the rule of a run is recorded.
NAME = "stopping"


def draw_key(seed: int, task: TaskId) -> str:
    """Return by what a task is sorted: each task has its place, whichever others are selected, in every process."""
    return hashlib.sha256("\0".join([str(seed), *task]).encode()).hexdigest()


def noted(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the metadata of a run have of its rule and its looks; empty if it had none."""
    return dict(info.get("capabilities", {}).get(NAME, {}).get("notes") or {})


class PlannedTrials:
    """The planned trials of a run, in the order in which they are run.

    Args:
        config: pytest's configuration.
        draw: Run the tasks in random order: a task's place depends on the run's seed and its id alone.
        whole_tasks: With ``draw``, run all trials of a task before the next one; else a trial of every task first.
    """

    def __init__(self, config: pytest.Config, *, draw: bool, whole_tasks: bool) -> None:
        self._config, self._draw, self._whole_tasks = config, draw, whole_tasks
        self._done: set[str] = set()
        self._reached = 0

    @property
    def trials(self) -> dict[str, Group]:
        """Return the group of each trial by its node id, in order.

        If all workers are on other machines, there are none before the end.
        """
        return run_state(self._config).counts.planned

    @property
    def counts(self) -> Counter[Group]:
        """Return how many trials of each group are planned."""
        return Counter(self.trials.values())

    def order(self, items: list[pytest.Item]) -> None:
        """Put the items that run trials into the random order; other items keep their places."""
        context = get_context(self._config)
        if not self._draw or context is None:
            return
        places: list[int] = []
        keys: dict[pytest.Item, tuple[Any, ...]] = {}
        for place, item in enumerate(items):
            group = group_of(item)
            if group is not None:
                places.append(place)
                trial, key = trial_of(item), draw_key(context.config.seed, group.task)
                keys[item] = (key, trial) if self._whole_tasks else (trial, key)
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
        return [record for record in records_of(self._config) if record.test in first]
