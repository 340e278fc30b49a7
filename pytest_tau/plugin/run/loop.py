"""``--tau-concurrency``: conversations of the next items go on while one is reported; items are run as theirs end."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import pytest

from ..context.state import if_active
from ..report.progress import watch_of
from .fixtures import SIMULATION

if TYPE_CHECKING:
    from collections.abc import Generator

    from .prefetch import Ahead

#: What is started ahead in this process.
_AHEAD = pytest.StashKey["Ahead"]()
#: Seconds after which it is looked again, come what may.
_LONGEST_WAIT = 1.0


def ahead_in(config: pytest.Config) -> Ahead | None:
    """What is started ahead in this process; None where nothing is."""
    active = if_active(config)
    if active is None or config.option.collectonly or getattr(config.option, "setupplan", False):
        return None
    if _AHEAD not in config.stash:
        from .prefetch import Ahead

        config.stash[_AHEAD] = Ahead(active.config.concurrency, active.budget)
    ahead = config.stash[_AHEAD]
    return ahead if ahead.most > 1 else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the items of each file or domain in the order in which their conversations end."""
    config = session.config
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Hindrances(), "tau-hindrances")
    ahead = None if _somebody_else_runs(config) else ahead_in(config)
    if ahead is None or (session.testsfailed and not config.option.continue_on_collection_errors):
        return None
    loop = _Loop(session, ahead)
    try:
        loop.run()
    finally:
        ahead.cancel()
        if loop.watch:
            loop.watch.progress.clear()
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """In an xdist worker: start the trials that this worker has been given, while this item is waited for."""
    ahead = ahead_in(item.config)
    if ahead is not None and hasattr(item.config, "workerinput"):
        from ..distributed.worker import due_in_worker

        ahead.fill(due_in_worker(item))
        while ahead.under_way(item):
            for _ in ahead.ended(_LONGEST_WAIT):
                pass  # here, items are run in the order that they come in
            ahead.fill(due_in_worker(item))
    try:
        return (yield)
    finally:
        if ahead is not None:
            ahead.forget(item)
        if SIMULATION in item.stash:
            del item.stash[SIMULATION]  # reported; thousands of them would fill the memory


def _somebody_else_runs(config: pytest.Config) -> bool:
    """Whether items are run by xdist, or have to be run in order."""
    distributed = config.pluginmanager.has_plugin("dsession") or hasattr(config, "workerinput")
    return distributed or bool(getattr(config.option, "stepwise", False))


class _Loop:
    """Runs the items of a session; otherwise like pytest's own loop."""

    def __init__(self, session: pytest.Session, ahead: Ahead) -> None:
        self._session, self._ahead = session, ahead
        # Finished in another order, items of one parent do not disturb each other's setup: what they share stays up.
        groups = groupby(session.items, key=lambda item: item.parent)
        self._groups = deque(dict.fromkeys(items) for _, items in groups)
        self._group_of = {item: number for number, group in enumerate(self._groups) for item in group}
        self._ended: defaultdict[int, deque[pytest.Item]] = defaultdict(deque)
        self._untried = deque(session.items)
        self.watch = watch_of(session.config)
        if self.watch:
            self.watch.side_by_side = True

    def run(self) -> None:
        """Run everything.

        Raises:
            pytest.Session.Failed: Enough has failed.
            pytest.Session.Interrupted: The run is to stop.
        """
        for number in range(len(self._groups)):
            while group := self._groups[0]:
                item = self._next(number, group)
                del group[item]
                self._run(item)
            self._groups.popleft()

    def _next(self, number: int, group: dict[pytest.Item, None]) -> pytest.Item:
        """The item whose trial has ended, or that has to be run in its own setup; waits where there is neither."""
        ahead, patience = self._ahead, 0.0
        while True:
            for item in ahead.ended(patience):
                self._ended[self._group_of[item]].append(item)
            while self._untried and ahead.settled(self._untried[0]):
                self._untried.popleft()
            # With -x, what is to be reported may be the end of it.
            room = not (self._ended[number] and self._session.config.option.maxfail) and ahead.fill(self._untried)
            if self._ended[number]:
                return self._ended[number].popleft()
            other = next((item for item in group if not ahead.started(item)), None)
            if other is not None and (room or not ahead.fits(other)):
                return other
            if self.watch:
                self.watch.waits(ahead.running)
            patience = _LONGEST_WAIT

    def _run(self, item: pytest.Item) -> None:
        nextitem = next(chain.from_iterable(self._groups), None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)


class _Hindrances:
    """Tells because of which fixtures trials were not held side by side; also those of xdist workers."""

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """One line, where there are any."""
        reports = chain.from_iterable(terminalreporter.stats.values())
        told = {one.nodeid: dict(one.user_properties) for one in reports if getattr(one, "user_properties", None)}
        alone = Counter(str(properties["tau_alone"]) for properties in told.values() if "tau_alone" in properties)
        if alone:
            names = ", ".join(f"{name} ({number})" for name, number in alone.most_common())
            trials = "1 trial was" if alone.total() == 1 else f"{alone.total()} trials were"
            terminalreporter.write_line(
                f"tau: {trials} held alone, in the setup of the test, because of fixtures: {names}"
            )
