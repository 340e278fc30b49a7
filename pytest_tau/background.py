"""Event loops in threads of their own, one of a kind for the whole process."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Awaitable, Callable, Coroutine

T = TypeVar("T")

#: Seconds for the calls in flight and the connections to end when the process does.
_CLOSING_TIME = 2.0
#: Seconds for the calls in flight alone.
_CANCELLING_TIME = 0.2
#: Seconds until a loop counts as blocked after Ctrl-C, and until the code that has blocked it has ended.
_BLOCKED_TIME, _INTERRUPT_TIME = 1.0, 0.2


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
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
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

    def interrupt(self) -> bool:
        """Interrupt code that blocks the loop of this process, after Ctrl-C; return whether the loop is free then."""
        loop, thread = self._loops.get(os.getpid()), self._thread
        return loop is None or thread is None or loop.is_closed() or unblock(loop, thread)

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
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
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
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


def unblock(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> bool:
    """Interrupt the code that keeps a loop from running, such as an endless loop, as Ctrl-C does in the main thread.

    Return whether the loop runs then.

    A thread that sleeps is not affected. One that runs Python code would slow down all others, and abort the process at
    its end if compiled code has called it, such as that of pydantic.

    Args:
        loop: The loop.
        thread: The thread in which it runs, which ignores ``KeyboardInterrupt``.
    """
    responds = threading.Event()
    loop.call_soon_threadsafe(responds.set)
    if not responds.wait(_BLOCKED_TIME) and thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))
    return responds.wait(_INTERRUPT_TIME)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    ended = False
    while not ended:
        # A task that raises one of these ends run_forever(). All others would wait for the loop without end.
        with contextlib.suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
            ended = True
