"""``--tau-concurrency``: trials of upcoming items run while an item is reported; items run as their trials finish."""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import chain, groupby
from typing import TYPE_CHECKING

from ..context.run_state import get_context, run_state
from ..items import get_item_state
from ..options import runs_no_test
from ..wire import is_worker

if TYPE_CHECKING:
    from collections.abc import Generator

    import pytest

    from .prefetch import TrialPrefetcher

#: Seconds after which the loop looks again, in case a notification was lost.
_LONGEST_WAIT = 1.0


def _ensure_prefetcher(config: pytest.Config) -> TrialPrefetcher | None:
    """Return the prefetcher of this process, made at the first call; None if trials are not prefetched."""
    context, state = get_context(config), run_state(config)
    if context is None or runs_no_test(config):
        return None
    if state.prefetcher is None:
        from .prefetch import TrialPrefetcher

        state.prefetcher = TrialPrefetcher(context.config.concurrency, context.budget)
    prefetcher: TrialPrefetcher = state.prefetcher
    return prefetcher if prefetcher.limit > 1 else None


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the items of each file or domain in the order in which their trials finish."""
    config = session.config
    prefetcher = None if _runs_elsewhere(config) else _ensure_prefetcher(config)
    if prefetcher is None or (session.testsfailed and not config.option.continue_on_collection_errors):
        return None
    run_state(config).concurrent = True
    try:
        _Loop(session, prefetcher).run()
    except KeyboardInterrupt:
        _interrupt(config)
        raise
    finally:
        prefetcher.cancel()
        config.hook.pytest_tau_trials_running(running=None)
    return True


def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Start the trials of upcoming items while this item is waited for, in an xdist worker."""
    prefetcher, upcoming = _ensure_prefetcher(item.config), run_state(item.config).upcoming
    if prefetcher is not None and upcoming is not None:
        alone = prefetcher.runs_alone(item)
        if not alone:
            prefetcher.fill(upcoming(item))
        while prefetcher.running if alone else prefetcher.is_running(item):
            for _ in prefetcher.drain_finished(_LONGEST_WAIT):
                pass  # a worker runs its items in order
            if not alone:
                prefetcher.fill(upcoming(item))
    try:
        return (yield)
    except KeyboardInterrupt:
        _interrupt(item.config)
        raise
    finally:
        if prefetcher is not None:
            prefetcher.release(item)
        if (state := get_item_state(item)) is not None:
            state.drop()


def _interrupt(config: pytest.Config) -> None:
    """Let the summary and the end of the run wait for no function of a domain that has not returned."""
    if (context := get_context(config)) is not None:
        context.interrupt()


def _runs_elsewhere(config: pytest.Config) -> bool:
    """Return whether xdist or pytest's own loop runs the items; ``--stepwise`` needs their order."""
    distributed = config.pluginmanager.has_plugin("dsession") or is_worker(config)
    return distributed or bool(getattr(config.option, "stepwise", False))


class _Loop:
    """Runs the items of a session like pytest's own loop, except for their order."""

    def __init__(self, session: pytest.Session, prefetcher: TrialPrefetcher) -> None:
        self._session, self._prefetcher = session, prefetcher
        # Items of one parent may run in any order, because the fixtures that they share stay set up.
        groups = groupby(session.items, key=lambda item: item.parent)
        self._groups = deque(dict.fromkeys(items) for _, items in groups)
        self._group_of = {item: number for number, group in enumerate(self._groups) for item in group}
        self._finished: defaultdict[int, deque[pytest.Item]] = defaultdict(deque)
        self._untried = deque(session.items)

    def run(self) -> None:
        """Run all items.

        Raises:
            pytest.Session.Failed: ``--maxfail`` is reached.
            pytest.Session.Interrupted: A plugin has asked to stop.
        """
        for number in range(len(self._groups)):
            while group := self._groups[0]:
                item = self._next(number, group)
                del group[item]
                self._run(item)
            self._groups.popleft()

    def _next(self, number: int, group: dict[pytest.Item, None]) -> pytest.Item:
        """Return an item whose trial has finished, or whose trial must run in its setup; wait for one if necessary."""
        prefetcher, timeout = self._prefetcher, 0.0
        while True:
            for item in prefetcher.drain_finished(timeout):
                self._finished[self._group_of[item]].append(item)
            while self._untried and prefetcher.is_settled(self._untried[0]):
                self._untried.popleft()
            other = self._unstarted(group)
            alone = other is not None and prefetcher.runs_alone(other)
            # With -x, the next report may end the run: nothing more is started before it.
            waits = alone or (self._finished[number] and self._session.config.option.maxfail)
            room = not waits and prefetcher.fill(self._untried)
            if self._finished[number]:
                return self._finished[number].popleft()
            other = self._unstarted(group)
            if other is not None and (not prefetcher.running if alone else room or not prefetcher.can_prefetch(other)):
                return other
            hook = self._session.config.hook
            hook.pytest_tau_trials_running(running=prefetcher.running)
            hook.pytest_tau_trials_waiting(trials=prefetcher.waiting())
            timeout = _LONGEST_WAIT

    def _unstarted(self, group: dict[pytest.Item, None]) -> pytest.Item | None:
        return next((item for item in group if not self._prefetcher.is_started(item)), None)

    def _run(self, item: pytest.Item) -> None:
        nextitem = next(chain.from_iterable(self._groups), None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)
