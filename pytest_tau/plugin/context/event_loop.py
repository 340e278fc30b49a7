"""The event loop of a run, in a thread of its own: conversations continue while pytest reports or runs another test."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import InvalidStateError, TimeoutError as TooLong
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent.futures import Future

T = TypeVar("T")

#: Seconds that cancelled conversations have to finish.
_CLOSING_TIME = 2.0


class EventLoop:
    """Runs coroutines; its thread is started at the first of them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        # What was submitted and is not done.
        self._waiting: set[Future[Any]] = set()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine; cancelling the future cancels it."""
        if self._loop is None or self._thread is None or not self._thread.is_alive():
            self._start()
        assert self._loop is not None, "it was started"
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        return future

    def _start(self) -> None:
        from ...participants.containment import guard

        self._loop, self._closing = asyncio.new_event_loop(), threading.Event()
        guard(self._loop)
        work = (self._loop, self._closing)
        self._thread = threading.Thread(target=self._run, args=work, name="tau-conversations", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancel the running coroutines, and end the thread."""
        if self._loop is None or self._thread is None or self._loop.is_closed():
            return
        try:
            asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result(_CLOSING_TIME)
        except TooLong:  # in Python 3.10 not the built-in one
            return  # a coroutine ignores the cancellation; the daemon thread ends with the process
        finally:
            loop, self._loop = self._loop, None
            self._closing.set()
            loop.call_soon_threadsafe(loop.stop)
        self._thread.join(_CLOSING_TIME)
        if not self._thread.is_alive():
            loop.close()

    def _run(self, loop: asyncio.AbstractEventLoop, closing: threading.Event) -> None:
        asyncio.set_event_loop(loop)
        while not closing.is_set() and not loop.is_closed():
            # asyncio lets these two out of the loop; and code that runs on it can stop it. The conversations go on.
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                loop.run_forever()
        for future in list(self._waiting) if loop.is_closed() else ():
            # Nobody closes a running loop but by intent: whoever waits must not wait for ever.
            with contextlib.suppress(InvalidStateError):
                future.set_exception(RuntimeError("the event loop of the conversations was closed"))


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
