"""The event loop of a run, in a thread of its own: conversations continue while pytest reports or runs another test."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import TimeoutError as TooLong
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

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine; cancelling the future cancels it."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name="tau-conversations", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Cancel the running coroutines, and end the thread."""
        if self._loop is None or self._thread is None:
            return
        try:
            asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result(_CLOSING_TIME)
        except TooLong:  # in Python 3.10 not the built-in one
            return  # a coroutine ignores the cancellation; the daemon thread ends with the process
        finally:
            loop, self._loop = self._loop, None
            loop.call_soon_threadsafe(loop.stop)
        self._thread.join(_CLOSING_TIME)
        if not self._thread.is_alive():
            loop.close()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    while True:
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            # asyncio raises these out of the loop, too. The future has passed them to its waiter; the others continue.
            continue
        return


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
