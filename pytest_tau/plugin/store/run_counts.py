"""The numbers of a run's trials: planned, run, and not run by reason; for terminal, report and ``run.json``."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...analysis.comparability import Comparability
    from ...runs.groups import Group
    from ...runs.record import TrialRecord
    from ..wire import TrialReport


@dataclass
class RunCounts:
    """The trials of a run, by node id.

    Attributes:
        planned: The group of each planned trial.
        shard: The shard that is run, such as ``2/4``; empty for no shard.
        selection: The ids of the tests to which the run is limited; None for no limit.
        whole: The group of each trial of the whole run, of which those in other parts are not planned here; empty if
            there are no other parts.
        reasons: The reasons why trials were not run.
        skipped: The tests whose trials were not run on purpose, as they were skipped or are expected to fail.
        ended: The trials whose tests have ended, by node id; a test that is run again is there several times.
        deselected: The number of deselected trials, including those in other parts.
        in_other_shards: The number of trials in other shards, or that are not on the list of selected ones.
        empty_part: Whether there are trials, but none in this part.
    """

    planned: dict[str, Group] = field(default_factory=dict)
    shard: str = ""
    selection: list[str] | None = None
    whole: dict[str, Group] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    ended: list[tuple[str, TrialReport]] = field(default_factory=list)
    deselected: int = 0
    in_other_shards: int = 0
    empty_part: bool = False

    @property
    def records(self) -> dict[str, TrialRecord]:
        """Return the records of the trials that have ended, by node id; of a test that is run again, the last."""
        return {test: trial.record for test, trial in self.ended if trial.record is not None}

    @property
    def missing(self) -> list[str]:
        """Return the planned trials that were to run and have neither a verdict nor an error of their own."""
        records = self.records
        return [
            test
            for test in self.planned
            if test not in self.skipped and ((record := records.get(test)) is None or record.info.interrupted)
        ]

    @functools.cached_property
    def comparability(self) -> Comparability | None:
        """Return how far the run can be compared with τ²-bench, at its end; None if this does not apply."""
        from ...analysis.comparability import comparability

        return comparability(records) if (records := self.records.values()) else None

    @property
    def stopped_usage(self) -> list[dict[str, Any]]:
        """Return the model calls of each trial that a budget has stopped, by role, as JSON."""
        stopped = [trial for _, trial in self.ended if trial.not_run in ("budget", "price")]
        return [trial.usage.as_dict()["roles"] for trial in stopped if trial.usage]

    @property
    def trials(self) -> dict[str, dict[str, int]]:
        """Return how many trials of each task are planned, by domain and task id."""
        counts: dict[str, dict[str, int]] = {}
        for group in self.planned.values():
            tasks = counts.setdefault(group.domain, {})
            tasks[group.task_id] = tasks.get(group.task_id, 0) + 1
        return counts

    @property
    def not_collected(self) -> dict[str, int]:
        """Return how many trials were excluded at collection, by reason."""
        from ...runs.manifest import DESELECTED, IN_OTHER_SHARDS

        counts = {IN_OTHER_SHARDS: self.in_other_shards, DESELECTED: self.deselected - self.in_other_shards}
        return {why: number for why, number in counts.items() if number > 0}

    @property
    def excluded(self) -> dict[str, int]:
        """Return how many trials were not run so far, by reason: those excluded at collection, and planned ones."""
        # A test that only uses ``tau_env`` is not planned.
        missing = self.planned.keys() - self.records.keys()
        reasons = [why for test, why in self.reasons.items() if test in missing]
        return {**self.not_collected, **Counter(reasons)}
