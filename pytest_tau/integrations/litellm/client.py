"""The litellm package, imported at the first call, and the event loop that every call through it runs on."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import importlib
import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import ConfigurationError
from . import compat

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")

#: litellm prepares each call, and looks up each host, in a thread of the loop's; a provider without an asynchronous
#: client keeps one for the whole call.
_THREADS = 64
#: Seconds for the calls in flight and the connections to end when the process does.
_CLOSING_TIME = 2.0
#: Two threads that make their first call at once must not both change the environment.
_IMPORTING = threading.Lock()
_STARTING = threading.Lock()


def load() -> Any:
    """Return the litellm package, imported if it was not yet; that takes seconds.

    It is untyped: checking these modules must not check all of litellm.

    Raises:
        ConfigurationError: The extra ``llm`` is not installed, or does not work.
    """
    with _IMPORTING:
        compat.ignore_warnings()
        return _import()


@functools.cache
def _import() -> Any:
    try:
        with compat.bundled_prices():
            litellm: Any = importlib.import_module("litellm")
        importlib.import_module("tenacity")
    except ImportError as error:
        problem = f"model calls need litellm and tenacity: pip install 'pytest-tau[llm]' ({error})"
        raise ConfigurationError(problem) from error
    compat.silence(litellm)
    return litellm


def submit(call: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a call on the background loop, from any thread and any loop; cancelling the future cancels the call."""
    with _STARTING:
        # A forked child has no thread of its parent's.
        loop = _loop(os.getpid())
    return asyncio.run_coroutine_threadsafe(call, loop)


@functools.cache
def _loop(_process: int) -> asyncio.AbstractEventLoop:
    """Return the loop of a process, started at the first call.

    litellm keeps its HTTP clients and a logging task for the whole process, bound to the loop that first used them,
    and looks them up by the loop's address, which a later loop may have as well. Calls come from the short-lived loops
    of trials and threads. With one loop for the whole process every client is usable for every call, connections
    stay open, and calls in flight are counted without locks.
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
    """Stop the loop, without warnings about open sessions and tasks."""
    if not thread.is_alive():
        return
    with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
        asyncio.run_coroutine_threadsafe(_close_clients(), loop).result(_CLOSING_TIME)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(_CLOSING_TIME)
    if not thread.is_alive():
        loop.close()


async def _close_clients() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    litellm = sys.modules.get("litellm")
    if litellm is not None:
        await litellm.close_litellm_async_clients()
