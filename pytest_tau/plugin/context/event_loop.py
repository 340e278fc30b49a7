"""Event loops in threads of their own: conversations continue while pytest reports or runs another test."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import threading
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Any, TypeVar

from ...clock import new_event_loop, steady
from ...stalls import LoopWatch

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from ...stalls import Stall, TrialTime

T = TypeVar("T")

#: Seconds that cancelled conversations have to finish.
_CLOSING_TIME = 2.0


class EventLoop:
    """Runs coroutines; its thread is started at the first of them.

    A loop that code of a trial blocks for as long as the trial may take is given up. From then on, each coroutine has a
    loop of its own, since the code of other trials may be the same.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._watch: LoopWatch | None = None
        self._was_blocked = self._ends = False
        self._closing = threading.Event()
        # What was submitted and is not done; the lock keeps the end of a loop out of a submission.
        self._waiting: dict[Future[Any], TrialTime | None] = {}
        self._lock = threading.Lock()

    def submit(self, work: Coroutine[Any, Any, T], trial: TrialTime | None = None) -> Future[T]:
        """Start a coroutine; cancelling the future cancels it.

        Args:
            work: The coroutine.
            trial: The trial that it runs; its ``give_up`` ends the future if the loop is given up.
        """
        if self._was_blocked:
            other = EventLoop()
            result = other.submit(work, trial)
            result.add_done_callback(lambda _: other.end())
            return result
        future: Future[T] = Future()
        with self._lock:
            try:
                loop, watch = self.ensure(), self._watch
            except BaseException:
                work.close()  # else Python warns that it was never awaited
                raise
            self._waiting[future] = trial
            if watch is not None and trial is not None:
                watch.begin(trial)
                future.add_done_callback(lambda _: watch.end(trial))
            future.add_done_callback(lambda _: self._waiting.pop(future, None))
            loop.call_soon_threadsafe(_start_on, loop, work, future)
        return future

    def ensure(self) -> asyncio.AbstractEventLoop:
        """Return the loop, started if it does not run."""
        if self._loop is None or self._thread is None or not self._thread.is_alive():
            self._start()
        assert self._loop is not None, "it was started"
        return self._loop

    def _start(self) -> None:
        from ...participants.containment import guard

        self._loop, self._closing = new_event_loop(), threading.Event()
        guard(self._loop)
        work = (self._loop, self._closing)
        self._thread = thread = threading.Thread(target=self._run, args=work, name="tau-conversations", daemon=True)
        self._watch = LoopWatch(self._loop, lambda: thread.ident, functools.partial(self._give_up, *work))
        self._thread.start()

    def _give_up(self, loop: asyncio.AbstractEventLoop, closing: threading.Event, stall: Stall) -> None:
        """Leave a blocked loop and its thread to themselves; what runs on it is ended elsewhere."""
        with self._lock:
            if self._loop is not loop:
                return
            self._loop = self._thread = self._watch = None
            self._was_blocked = True
            closing.set()
            trials = [trial for trial in list(self._waiting.values()) if trial is not None]
        loop.call_soon_threadsafe(loop.stop)  # should the code return after all
        for trial in trials:
            trial.give_up(stall)

    def end(self) -> None:
        """Cancel what still runs, and end the thread and the loop, without waiting for it."""

        async def stop() -> None:
            await _cancel_others(_CLOSING_TIME)
            asyncio.get_running_loop().stop()

        loop = self._loop
        if loop is None:
            return  # it was given up
        self._closing.set()
        if self._watch is not None:
            self._watch.close()
        self._ends = True
        loop.call_soon_threadsafe(lambda: loop.create_task(stop()))

    def close(self) -> None:
        """Cancel the running coroutines, and end the thread."""
        if self._loop is None or self._thread is None or self._loop.is_closed():
            return
        try:
            asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result(_CLOSING_TIME)
        except TimeoutError:
            return  # a coroutine ignores the cancellation; the daemon thread ends with the process
        finally:
            loop, self._loop = self._loop, None
            if self._watch is not None:
                self._watch.close()
            self._closing.set()
            loop.call_soon_threadsafe(loop.stop)
        self._thread.join(_CLOSING_TIME)
        if not self._thread.is_alive():
            loop.close()

    def _run(self, loop: asyncio.AbstractEventLoop, closing: threading.Event) -> None:
        asyncio.set_event_loop(loop)
        with contextlib.suppress(KeyboardInterrupt, SystemExit):  # which asyncio lets out of the loop
            loop.run_forever()
        if loop is not self._loop:  # it was given up, and its code has returned
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                loop.run_until_complete(_cancel_others(_CLOSING_TIME))
        if loop is not self._loop or self._ends:
            loop.close()
        if closing.is_set():
            return
        with self._lock:
            self._loop = None  # later trials have another one
            waiting = list(self._waiting)
        for future in waiting:
            # An agent has stopped the loop: its trial must not be waited for without end.
            with contextlib.suppress(InvalidStateError):
                future.set_exception(RuntimeError("the event loop of the conversations was stopped"))


class BorrowedLoop:
    """Runs a coroutine on an event loop of somebody else that does not run at the time, in a thread of its own.

    Args:
        loop: The loop; its owner runs it again once ``join`` has returned.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T], trial: TrialTime | None = None) -> Future[T]:
        """Start a coroutine; cancelling the future cancels it; ``trial`` is the trial that it runs."""
        future: Future[T] = Future()
        # Fixtures may have set context variables in this thread.
        run = functools.partial(contextvars.copy_context().run, self._run, work, future)
        self._thread = thread = threading.Thread(target=run, name="tau-conversation", daemon=True)
        self._thread.start()
        if trial is not None:
            watch = LoopWatch(self._loop, lambda: thread.ident, trial.give_up)
            watch.begin(trial)
            future.add_done_callback(lambda _: watch.close())
        return future

    def join(self) -> None:
        """Wait until the loop has stopped, for some seconds if a coroutine ignores its cancellation."""
        if self._thread is not None:
            self._thread.join(_CLOSING_TIME)

    def _run(self, work: Coroutine[Any, Any, T], future: Future[T]) -> None:
        loop = self._loop
        with guarded(loop):
            task = loop.create_task(work)
            task.add_done_callback(lambda _: loop.stop())
            future.add_done_callback(lambda _: _cancel(loop, task))
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                loop.run_forever()
        _settle(future, task)


class RunningLoop:
    """Runs a coroutine on the event loop that runs in this thread, which is that of a test."""

    def submit(self, work: Coroutine[Any, Any, T], trial: TrialTime | None = None) -> Future[T]:
        """Start a coroutine; cancelling the future cancels it. The loop, that of pytest's thread, is not watched."""
        del trial
        future: Future[T] = Future()
        _start_on(asyncio.get_running_loop(), work, future)
        return future

    def join(self) -> None:
        """Do nothing: the loop runs on."""


def _start_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], future: Future[T]) -> None:
    """Start a coroutine on the loop that runs in this thread, for a future that is cancelled with it."""

    def end(task: asyncio.Task[T]) -> None:
        work.close()  # if it was cancelled before it began, Python would warn that it was never awaited
        _settle(future, task)

    task = loop.create_task(_settling(work, future))
    task.add_done_callback(end)
    future.add_done_callback(lambda _: _cancel(loop, task))


async def _settling(work: Coroutine[Any, Any, T], future: Future[T]) -> T:
    """Give the result to the future at once: code may block the loop before it calls what waits for the task."""
    result = await work
    with contextlib.suppress(InvalidStateError):
        future.set_result(result)
    return result


def _settle(future: Future[T], task: asyncio.Task[T]) -> None:
    """Give the result of a task to a future that may be cancelled."""
    with contextlib.suppress(InvalidStateError):
        if not task.done():
            future.set_exception(RuntimeError("the event loop of the conversation was stopped"))
        elif task.cancelled():
            future.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(task.result())


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    if not task.done():
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(task.cancel)


@contextlib.contextmanager
def guarded(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Guard the tasks that are made on a loop of somebody else, and let its limits end while the time is frozen."""
    from ...participants.containment import guard

    factory = loop.get_task_factory()
    guard(loop)
    try:
        with steady(loop):
            yield
    finally:
        loop.set_task_factory(factory)


async def _cancel_others(seconds: float | None = None) -> None:
    """Cancel all other tasks of the loop, and wait for them; for some seconds if a number is given."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    done, _ = await asyncio.wait(others, timeout=seconds) if others else (others, others)
    for task in done:
        if not task.cancelled():
            task.exception()  # it is not logged as one that was never retrieved
