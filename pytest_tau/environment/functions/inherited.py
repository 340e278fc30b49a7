"""Threads that begin with the context variables of the code that starts them, as asyncio's tasks do."""

from __future__ import annotations

import contextvars
import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable


class InheritedContext:
    """Gives threads, and the functions that a pool of threads is given, the context of the code that starts them.

    Args:
        applies: Whether to do so for the code that runs.
    """

    def __init__(self, applies: Callable[[], bool]) -> None:
        self._applies = applies
        self._undo: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Begin, if it was not begun."""
        if self._undo:
            return
        start, submit = threading.Thread.start, ThreadPoolExecutor.submit

        @functools.wraps(start)
        def start_with_context(thread: threading.Thread) -> None:
            # Since Python 3.14, a thread may be given another context.
            if self._applies() and getattr(thread, "_context", None) is None:
                thread.run = functools.partial(contextvars.copy_context().run, thread.run)  # type: ignore[method-assign]
            start(thread)

        @functools.wraps(cast("Any", submit))
        def submit_with_context(pool: ThreadPoolExecutor, function: Any, /, *args: Any, **keywords: Any) -> Any:
            if self._applies():
                args, function = (function, *args), contextvars.copy_context().run
            return submit(pool, function, *args, **keywords)

        self._set(threading.Thread, "start", start_with_context)
        self._set(ThreadPoolExecutor, "submit", submit_with_context)

    def end(self) -> None:
        """Let threads begin as before."""
        for put_back in reversed(self._undo):
            put_back()
        self._undo.clear()

    def _set(self, owner: type, name: str, method: Any) -> None:
        before = getattr(owner, name)
        setattr(owner, name, method)

        def put_back() -> None:
            if getattr(owner, name) is method:  # another library may have replaced it since
                setattr(owner, name, before)

        self._undo.append(put_back)
