"""Event loops in threads of their own, one of a kind for the whole process."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .clock import new_event_loop

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Awaitable, Callable, Coroutine

T = TypeVar("T")

#: Seconds for the calls in flight and the connections to end when the process does.
_CLOSING_TIME = 2.0
#: Seconds for the calls in flight alone.
_CANCELLING_TIME = 0.2
#: Seconds until a loop counts as blocked.
_BLOCKED_TIME = 1.0


async def in_thread(call: Callable[[], T], context: contextvars.Context) -> T:
    """Return the result of a call that may block, made in a daemon thread; one that is cancelled is abandoned there.

    Args:
        call: The call.
        context: The context variables that it sees and sets.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(cast("T", result))
        else:
            future.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(call)
        except BaseException as raised:  # noqa: BLE001 - raised where it is awaited
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nothing waits
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="tau-call", daemon=True).start()
    return await future


class BackgroundLoop:
    """An event loop in a daemon thread, started when it is first used, and once more in a forked child.

    Args:
        name: The name of the thread.
        threads: The most threads for blocking calls; None for the default.
        closing: Awaited on the loop when the process ends, after its tasks were cancelled.
        on_exception: The exception handler of the loop.
    """

    def __init__(
        self,
        name: str,
        *,
        threads: int | None = None,
        closing: Callable[[], Awaitable[Any]] | None = None,
        on_exception: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object] | None = None,
    ) -> None:
        self._name, self._threads, self._closing, self._on_exception = name, threads, closing, on_exception
        self._lock = threading.Lock()
        # By process: a forked child has no thread of its parent's.
        self._loops: dict[int, asyncio.AbstractEventLoop] = {}
        self._thread: threading.Thread | None = None

    def get(self) -> asyncio.AbstractEventLoop:
        """Return the running loop of this process."""
        with self._lock:
            process = os.getpid()
            if process not in self._loops:
                self._loops[process] = self._start()
            return self._loops[process]

    def submit(self, call: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a call, from any thread and any loop; cancelling the future cancels the call."""
        return asyncio.run_coroutine_threadsafe(call, self.get())

    def is_free(self) -> bool:
        """Return whether the loop of this process runs, and no code blocks it; waits for a second."""
        loop, responds = self._loops.get(os.getpid()), threading.Event()
        if loop is None or loop.is_closed():
            return True
        loop.call_soon_threadsafe(responds.set)
        return responds.wait(_BLOCKED_TIME)

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = new_event_loop()
        loop.set_exception_handler(self._on_exception)
        if self._threads is not None:
            loop.set_default_executor(ThreadPoolExecutor(self._threads, thread_name_prefix=self._name))
        self._thread = thread = threading.Thread(target=_run, args=(loop,), name=self._name, daemon=True)
        thread.start()
        atexit.register(self._close, loop, thread)
        return loop

    def _close(self, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        """Stop the loop, without warnings about open sessions and tasks."""
        if not thread.is_alive():
            return
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end_tasks(), loop).result(_CLOSING_TIME)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSING_TIME)
        if not thread.is_alive():
            loop.close()

    async def _end_tasks(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        # A server's task for a connection may answer its request and wait for the next: closing the server ends it.
        await asyncio.wait(others, timeout=_CANCELLING_TIME) if others else None
        if self._closing is not None:
            await self._closing()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    ended = False
    while not ended:
        # A task that raises one of these ends run_forever(). All others would wait for the loop without end.
        with contextlib.suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
            ended = True
