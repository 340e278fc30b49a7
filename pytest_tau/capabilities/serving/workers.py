"""Threads for tools, which may block; a thread that does not come back does not keep the process from ending."""

from __future__ import annotations

import asyncio
import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

#: Seconds without a job done after which a job that waits gets a further thread.
_PATIENCE = 0.02


class NotInTimeError(Exception):
    """A function was not done in time.

    Attributes:
        begun: It runs, and goes on; else it was never begun.
    """

    def __init__(self, *, begun: bool) -> None:
        self.begun = begun
        super().__init__()


class Workers:
    """Runs functions in daemon threads; used on one event loop.

    One thread is the fastest for functions that only compute, as threads take turns. Further ones are started while a
    job waits and none is done, because the functions wait for something or hang.

    Args:
        size: The most threads, without those that were given up.

    Attributes:
        given_up: Functions that still run after their time; each has a thread.
    """

    def __init__(self, size: int) -> None:
        self._size, self.given_up = size, 0
        self._threads = self._jobs_open = self._jobs_done = 0
        self._watching = False
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()

    async def run(self, function: Callable[[], T], seconds: float, done: Callable[[], None]) -> T:
        """Return the result of a function.

        Args:
            function: Runs in a thread.
            seconds: The time that is waited for it.
            done: Called on the event loop when the function has ended, or was not begun; also after its time.

        Raises:
            NotInTimeError: The time is over.
            Exception: Anything that the function raises.
        """
        job: Future[T] = Future()
        waiting = asyncio.wrap_future(job)
        waiting.add_done_callback(lambda _: self._end(done))
        self._jobs_open += 1
        self._jobs.put((job, function))
        if self._threads == 0:
            self._start_thread()
        elif self._jobs_open > self._threads and not self._watching:
            self._watch(self._jobs_done)
        await asyncio.wait({waiting}, timeout=seconds)
        if waiting.done():
            return waiting.result()
        if job.cancel():
            raise NotInTimeError(begun=False)
        self.given_up += 1
        waiting.add_done_callback(self._come_back)
        raise NotInTimeError(begun=True)

    def _watch(self, done: int) -> None:
        """Look again soon: start a thread if a job waits, and none was done meanwhile."""

        def look() -> None:
            if self._jobs_done == done and self._threads < self._size + self.given_up and not self._jobs.empty():
                self._start_thread()
            self._watching = False
            if not self._jobs.empty():
                self._watch(self._jobs_done)

        self._watching = True
        asyncio.get_running_loop().call_later(_PATIENCE, look)

    def _start_thread(self) -> None:
        self._threads += 1
        threading.Thread(target=self._work, daemon=True, name="tau-serve").start()

    def _end(self, done: Callable[[], None]) -> None:
        self._jobs_open -= 1
        self._jobs_done += 1
        done()

    def _come_back(self, waiting: asyncio.Future[Any]) -> None:
        self.given_up -= 1
        waiting.exception()  # else asyncio logs that it was never retrieved

    def _work(self) -> None:
        while True:
            job, function = self._jobs.get()
            if not job.set_running_or_notify_cancel():
                continue
            try:
                result = function()
            except Exception as error:  # noqa: BLE001 - raised where it is awaited
                job.set_exception(error)
            except BaseException as error:  # noqa: BLE001 - a tool must not end the server
                job.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
            else:
                job.set_result(result)
