"""Prefetching: trials are started before pytest runs their item."""

from __future__ import annotations

import queue
import re
from typing import TYPE_CHECKING

import pytest

from ...clock import steady_time
from ...world import WORLDS
from ..items import item_state, spec_of, trial_of
from .fixture_effects import changes_world, fixtures_before_trial
from .readiness import blocking_fixtures, is_ready, waits_for_setup
from .setup import make_environment, make_participant, make_trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...chat import Role
    from ...models import ModelUsage
    from ..context.budget import Budget
    from .trials import TrialFuture

#: The names of the fixtures that pytest makes of ``setup_module`` and its like.
_XUNIT = re.compile(r"_xunit_(setup_[a-z]+)_fixture_.*")


class TrialPrefetcher:
    """Starts trials of upcoming items, so that a number of them run at the same time.

    Args:
        limit: The number of trials that run at the same time.
        budget: The run's budget; once it is spent, no trial is started.
    """

    def __init__(self, limit: int, budget: Budget) -> None:
        self.limit = limit
        self._budget = budget
        self._running: dict[pytest.Item, TrialFuture] = {}
        self._finished: queue.SimpleQueue[pytest.Item] = queue.SimpleQueue()
        self._started: set[pytest.Item] = set()
        self._repeated: set[pytest.Item] = set()
        self._unfit: set[pytest.Item] = set()

    @property
    def running(self) -> int:
        """Return the number of running trials, with finished ones that ``drain_finished`` has not yielded yet."""
        return len(self._running)

    def waiting(self) -> dict[str, float]:
        """Return the seconds since the start of each running trial, by node id."""
        now = steady_time()
        return {item.nodeid: now - trial.began for item, trial in self._running.items()}

    def fill(self, upcoming: Iterable[pytest.Item]) -> bool:
        """Start trials of the items that come next, in order; return whether there is room for more.

        None is started while a fixture of a test, a class or a module may have changed what tools see.
        """
        limit = self._budget.limit
        if not WORLDS.is_lasting or (limit is not None and self._budget.spent >= limit):
            return True
        for item in upcoming:
            if self.running >= self.limit:
                break
            if not self.is_started(item) and self.can_prefetch(item):
                self._start(item)
        return self.running < self.limit

    def is_started(self, item: pytest.Item) -> bool:
        """Return whether the item's trial was started, or the item has run."""
        return item in self._started

    def is_running(self, item: pytest.Item) -> bool:
        """Return whether the item's trial runs, or ``drain_finished`` has not yielded it yet."""
        return item in self._running

    def is_settled(self, item: pytest.Item) -> bool:
        """Return whether there is nothing left to start for the item."""
        return item in self._started or item in self._unfit

    def runs_alone(self, item: pytest.Item) -> bool:
        """Return whether no other trial may run with the item, whose fixtures may change what its tools see."""
        # What is noted of an item that cannot be prefetched is noted here, too.
        return not (self.is_started(item) or self.can_prefetch(item)) and any(
            changes_world(definition) and not (definition and is_ready(definition))
            for definition in fixtures_before_trial(item)
        )

    def drain_finished(self, timeout: float = 0.0) -> Iterator[pytest.Item]:
        """Yield the items whose trials have finished since the last call, in that order.

        Args:
            timeout: Seconds to wait for the first.
        """
        try:
            item = self._finished.get(timeout=timeout) if timeout else self._finished.get_nowait()
            while True:
                trial = self._running.pop(item, None)
                if trial is not None and not (trial.lost and self._repeat(item, trial)):
                    yield item
                item = self._finished.get_nowait()
        except queue.Empty:
            return

    def _repeat(self, item: pytest.Item, lost: TrialFuture) -> bool:
        """Start the trial of an item anew, which another trial has blocked; return whether it was started.

        What its model calls have used and cost counts.
        """
        self._repeated.add(item)
        self._start(item, lost.trial.models.ledger.usage)
        return item in self._running

    def release(self, item: pytest.Item) -> None:
        """Cancel the item's trial if the item has run and has not waited for it."""
        self._started.add(item)
        trial = self._running.pop(item, None)
        if trial is not None:
            trial.interrupt("the end of its test")

    def cancel(self) -> None:
        """End the running trials, which have no result."""
        for trial in self._running.values():
            trial.interrupt("the end of the run")

    def can_prefetch(self, item: pytest.Item) -> bool:
        """Return whether the item's trial can be started before the item runs."""
        if item in self._unfit:
            return False
        blocking = blocking_fixtures(item)
        lasting = next((name for name in blocking if not waits_for_setup(item, name)), None)
        if lasting is not None:
            self._unfit.add(item)
            if lasting:
                item_state(item).report.serial_because = _XUNIT.sub(r"\1", lasting)
        return not blocking

    def _start(self, item: pytest.Item, used: Mapping[Role, ModelUsage] | None = None) -> None:
        """Start the trial; if that fails, the item's own setup raises the same error and reports it.

        Args:
            item: The item.
            used: What a trial that was lost has used of its models.
        """
        from .models import trial_models
        from .trials import TrialFuture

        spec = spec_of(item)
        assert spec is not None, "what can be prefetched has a task"
        try:
            environment = make_environment(item, spec)
            models = trial_models(item, spec, trial_of(item), environment, used)
            agent, user = make_participant("agent", item, spec), make_participant("user", item, spec)
            trial = TrialFuture(item, spec, make_trial(item, spec, trial_of(item), environment, models), agent, user)
            trial.start(repeatable=item not in self._repeated)
        except pytest.exit.Exception:
            raise
        except (Exception, SystemExit, pytest.skip.Exception, pytest.fail.Exception):  # noqa: BLE001
            # A hook of another plugin may raise anything, and may skip or fail its item.
            self._unfit.add(item)
            return
        self._started.add(item)
        self._running[item] = item_state(item).trial = trial
        trial.add_done_callback(lambda: self._finished.put(item))
