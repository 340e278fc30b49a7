"""``--tau-concurrency``: conversations of the next items go on while one is reported; items are run as theirs end."""

from __future__ import annotations

import sys
from itertools import chain, groupby
from typing import TYPE_CHECKING

import pytest

from .progress import Progress
from .workers import upcoming_in_worker

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from .ahead import Ahead

#: What is started ahead in this process.
_AHEAD = pytest.StashKey["Ahead"]()
#: Seconds after which it is looked again, come what may.
_LONGEST_WAIT = 1.0


def ahead_in(config: pytest.Config) -> Ahead | None:
    """What is started ahead in this process; None where nothing is."""
    module = sys.modules.get("pytest_tau.plugin.active")
    active = module.if_active(config) if module else None
    if active is None or config.option.collectonly:
        return None
    if _AHEAD not in config.stash:
        from .ahead import Ahead

        config.stash[_AHEAD] = Ahead(active.config.concurrency)
    ahead = config.stash[_AHEAD]
    return ahead if ahead.most > 1 else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the items of each file or domain in the order in which their conversations end."""
    config = session.config
    ahead = None if _somebody_else_runs(config) else ahead_in(config)
    if ahead is None or (session.testsfailed and not config.option.continue_on_collection_errors):
        return None
    loop = _Loop(session, ahead)
    try:
        loop.run()
    finally:
        ahead.cancel()
        loop.progress.clear()
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """In an xdist worker: start the trials that this worker has been given, while this item is run."""
    ahead = ahead_in(item.config)
    if ahead is not None and hasattr(item.config, "workerinput"):
        ahead.fill([item, *upcoming_in_worker(item)])
    try:
        return (yield)
    finally:
        if ahead is not None:
            ahead.forget(item)


def _somebody_else_runs(config: pytest.Config) -> bool:
    """Whether items are run by xdist, or have to be run in order."""
    distributed = config.pluginmanager.has_plugin("dsession") or hasattr(config, "workerinput")
    return distributed or bool(getattr(config.option, "stepwise", False))


class _Loop:
    """Runs the items of a session; otherwise like pytest's own loop."""

    def __init__(self, session: pytest.Session, ahead: Ahead) -> None:
        self._session, self._ahead = session, ahead
        # Finished in another order, items of one parent do not disturb each other's setup: what they share stays up.
        self._groups = [list(items) for _, items in groupby(session.items, key=lambda item: item.parent)]
        self._done = 0
        self.progress = Progress(session.config)

    def run(self) -> None:
        """Run everything.

        Raises:
            pytest.Session.Failed: Enough has failed.
            pytest.Session.Interrupted: The run is to stop.
        """
        while self._groups:
            group = self._groups[0]
            item = self._next(group)
            group.remove(item)
            if not group:
                self._groups.pop(0)
            self._run(item)

    def _upcoming(self) -> Iterator[pytest.Item]:
        return chain.from_iterable(self._groups)

    def _next(self, group: list[pytest.Item]) -> pytest.Item:
        """The item whose trial has ended, or that has to be run in its own setup; waits where there is neither."""
        ahead = self._ahead
        while True:
            ahead.changed.clear()
            room = ahead.fill(self._upcoming())
            ended = next((item for item in ahead.ended() if item.parent is group[0].parent), None)
            if ended is not None:
                return ended
            other = next((item for item in group if not ahead.started(item)), None)
            if other is not None and (room or not ahead.fits(other)):
                return other
            self._show()
            ahead.changed.wait(_LONGEST_WAIT)

    def _run(self, item: pytest.Item) -> None:
        self.progress.clear()
        nextitem = next(self._upcoming(), None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        self._done += 1
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _show(self) -> None:
        left = sum(len(group) for group in self._groups)
        running = self._ahead.running
        self.progress.show(f"{self._done} done, {running} running, {left - running} waiting")
