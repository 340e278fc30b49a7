"""``--tau-queue``: the tests of a run are taken one by one, from a queue in the store of the run."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

import pytest

from ...capability import run_of
from ...files import digest
from ...runs import TimedStore
from ...text import plural
from .leases import Leases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...capability import RunHandle, RunStore
    from . import QueueSettings

#: Signs of life during the time of a lease, and looks for work of lost machines.
_BEATS = 4
#: Leases after which a store that fails is given up.
_LEASES = 5
#: The least seconds in which it must answer a request; a lease may be shorter.
_ANSWER = 10.0


def make_queue(config: pytest.Config, settings: QueueSettings) -> object:
    """Return the hooks of the queue.

    Raises:
        pytest.UsageError: The machines share no store, or something else distributes the tests.
    """
    run = run_of(config)
    label = "--tau-queue"
    store = run.store
    if store is None or run.source("run_name") is None:
        remedy = "add --tau-results URL --tau-run-name NAME"
        raise pytest.UsageError(f"{label}: needs a store that all machines share: {remedy}")
    if run.is_worker or getattr(config.option, "dist", "no") != "no":
        raise pytest.UsageError(f"{label}: expected no workers of pytest-xdist; start pytest several times instead")
    if run.option("shard") is not None:
        raise pytest.UsageError(f"{label} and {run.label('shard')}: expected one of them")
    return Queue(config, settings, store)


class Queue:
    """Runs the tests that this machine gets from the queue.

    Args:
        config: pytest's configuration.
        settings: The settings of the queue.
        publisher: What sends the results of this process.
    """

    def __init__(self, config: pytest.Config, settings: QueueSettings, publisher: RunStore) -> None:
        self._config, self._settings, self._publisher = config, settings, publisher
        self._run: RunHandle = run_of(config)
        self._taken: deque[pytest.Item] = deque()
        self._items: list[pytest.Item] = []
        self._piece_of: dict[str, int] = {}
        self._leases = Leases(publisher.store, 0, settings.queue_lease)
        self._lock = threading.Lock()
        self._reported: set[int] = set()
        self._ended = threading.Event()
        #: What the store does not do, since when, and its answer.
        self._failing: dict[str, tuple[float, str]] = {}
        self._given_up = self._warned = False
        #: Seconds between two looks for work once all is taken, and when the next one may be.
        self._pause, self._again = settings.queue_lease / _BEATS / 4, 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run what this machine gets, until all machines together have run everything.

        Raises:
            pytest.Session.Failed: ``--maxfail`` is reached.
            pytest.Session.Interrupted: A plugin has asked to stop.
        """
        option = self._config.option
        if option.collectonly or (session.testsfailed and not option.continue_on_collection_errors):
            return None
        self._items = sorted(session.items, key=lambda item: item.nodeid)
        ids = [item.nodeid for item in self._items]
        self._piece_of = {test: piece for piece, test in enumerate(ids)}
        # Machines that have collected other tests have another queue; the plan of the run refuses them.
        prefix = f"queue/{digest(chr(10).join(ids))}/"
        lease = self._settings.queue_lease
        store = TimedStore(self._publisher.store, lambda: max(lease, _ANSWER))
        self._leases = Leases(store, len(ids), lease, prefix)
        self._run.schedule(self._upcoming)
        self._beat()
        beating = threading.Thread(target=self._keep_beating, name="tau-queue", daemon=True)
        beating.start()
        try:
            self._run_all(session)
        except (KeyboardInterrupt, pytest.exit.Exception):
            self._publisher.hurry()
            raise
        finally:
            self._publisher.wait()
            self._ended.set()
            beating.join(self._publisher.patience)
            self._note_others()
        return True

    def _run_all(self, session: pytest.Session) -> None:
        while (item := self._next()) is not None:
            self._top_up(1 if self._leases.untaken > 2 * self._leases.workers else 0)
            following = self._taken[0] if self._taken else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            with self._lock:
                self._reported.add(self._piece_of[item.nodeid])
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)

    def _next(self) -> pytest.Item | None:
        """Return the next item, once there is one; None once all are done, or if the store has failed for long."""
        while True:
            self._top_up(1)
            if self._taken:
                return self._taken.popleft()
            with self._lock:
                # What is reported here is done once the store has its result.
                if self._leases.is_complete or len(self._leases.done | self._reported) >= len(self._items):
                    return None
            self._beat()  # others wait for this machine as well
            if self._gives_up():
                return None
            time.sleep(self._pause)

    def _gives_up(self) -> bool:
        """Return whether the store has failed for some leases; say so when it begins to."""
        if not self._failing:
            self._warned = False
            return False
        since, problem = min([*self._failing.values()])
        left = since + _LEASES * self._settings.queue_lease - time.monotonic()
        if left <= 0:
            self._given_up = True
            self._publisher.hurry()
        elif not self._warned:
            self._warned = True
            self._run.write(f"queue: waiting for the store, for {left:.0f} more seconds: {problem}")
        return self._given_up

    @contextlib.contextmanager
    def _noting(self, problem: str) -> Iterator[None]:
        """Note since when the store has failed to do something; it is asked again."""
        began = time.monotonic()
        try:
            yield
        except OSError as error:
            since, _ = self._failing.get(problem, (began, ""))
            self._failing[problem] = since, str(error)
        else:
            self._failing.pop(problem, None)

    def _upcoming(self, item: pytest.Item) -> list[pytest.Item]:
        """Return an item and those after it, enough to have as many trials at the same time as there may be."""
        settings = self._run.settings
        limit = settings.concurrency if settings is not None else 1
        if limit > 1:
            self._top_up(sum(map(self._is_started, self._taken)) + limit - 1)
        return [item, *self._taken]

    def _is_started(self, item: pytest.Item) -> bool:
        trial = self._run.trial_of(item)
        return trial is not None and trial.is_started

    def _top_up(self, number: int) -> None:
        """Take items until so many wait here, if there are some; let those go that another machine may have taken."""
        with self._lock:
            if not self._leases.is_alive:
                unbegun = [item for item in self._taken if not self._is_started(item)]
                self._taken = deque(item for item in self._taken if item not in unbegun)
                self._leases.let_go(self._piece_of[item.nodeid] for item in unbegun)
            while len(self._taken) < number and time.monotonic() >= self._again:
                pieces: list[int] = []
                with self._noting("trials cannot be taken"):
                    pieces = self._leases.take(number - len(self._taken))
                self._taken += (self._items[piece] for piece in pieces)
                if not pieces:
                    self._again = time.monotonic() + self._pause

    def _keep_beating(self) -> None:
        while not self._ended.wait(self._settings.queue_lease / _BEATS):
            self._beat()
        self._beat()

    def _beat(self) -> None:
        """Give a sign of life, with the tests whose results the store has."""
        with self._lock:
            reported = set(self._reported)
        stored = self._publisher.is_settled
        with self._noting("no sign of life can be given"), self._lock:
            self._leases.beat(reported if stored else ())

    def _note_others(self) -> None:
        others = [item.nodeid for item in self._items if self._piece_of[item.nodeid] not in self._reported]
        if self._leases.is_complete:
            self._run.declare_part(empty=len(others) == len(self._items) > 0, elsewhere=others)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Add to the summary how many tests this machine has run; fail if the store does not say what others have."""
        if self._items:
            over = f", {self._leases.taken_over} of them of lost machines" if self._leases.taken_over else ""
            self._run.line(f"queue: {len(self._reported)} of {plural(len(self._items), 'test')} run here{over}")
        for request, (since, problem) in sorted(self._failing.items()):
            why = f"{request}, for {time.monotonic() - since:.0f} seconds" if self._given_up else request
            self._run.line(f"queue: {why}: {problem}", red=True)
        if self._given_up:
            where = "" if self._publisher.problems or not self._reported else "; what was run here is in it"
            self._run.line(f"queue: ended, because the store has failed for long{where}", red=True)
            self._run.fail("store failed")
