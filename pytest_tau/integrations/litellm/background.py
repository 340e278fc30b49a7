"""The one event loop that every call through litellm runs on."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")

#: litellm prepares each call, and looks up each host, in a thread of the loop's; a provider without an asynchronous
#: client keeps one for the whole call.
_THREADS = 64
#: Seconds that the calls in flight and the connections get to end when the process does.
_CLOSING_TIME = 2.0
_STARTING = threading.Lock()


def submit(call: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a call on the background loop, from any thread and any loop; cancelling the future cancels the call."""
    with _STARTING:
        # A forked child has no thread of its parent's.
        loop = _loop(os.getpid())
    return asyncio.run_coroutine_threadsafe(call, loop)


@functools.cache
def _loop(_process: int) -> asyncio.AbstractEventLoop:
    """The process's loop, started at the first call.

    litellm keeps its HTTP clients and a logging task for the whole process, bound to the loop that first used them,
    and finds them again by the loop's address, which a later loop may have as well. Calls come from one loop for
    each trial or thread, here today and gone tomorrow. One loop that outlives them all makes every client usable for
    every call, lets connections be kept open, and is where a limit on calls in flight can be counted without locks.
    """
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="tau-model-call"))
    thread = threading.Thread(target=_run, args=(loop,), name="tau-model-calls", daemon=True)
    thread.start()
    atexit.register(_close, loop, thread)
    return loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def _close(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """End the loop, so that nothing complains of sessions and tasks left open."""
    if not thread.is_alive():
        return
    with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
        asyncio.run_coroutine_threadsafe(_give_up(), loop).result(_CLOSING_TIME)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(_CLOSING_TIME)
    if not thread.is_alive():
        loop.close()


async def _give_up() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    litellm = sys.modules.get("litellm")
    if litellm is not None:
        await litellm.close_litellm_async_clients()
