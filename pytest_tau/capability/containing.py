"""Exceptions of code of a capability or a judge, as a problem that reports show."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import is_interrupt
from ..text import exception_text, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
#: Characters that are kept of the text of an exception.
_LONGEST = 2_000


class Outcome(NamedTuple):
    """What a call has returned, or raised."""

    value: Any = None
    error: BaseException | None = None


def is_contained(error: BaseException) -> bool:
    """Return whether an exception is the fault of the code that raised it: not Ctrl-C, nor the end of its trial."""
    if isinstance(error, asyncio.CancelledError):
        try:
            task = asyncio.current_task()
        except RuntimeError:  # no event loop runs in this thread
            return True
        return task is None or not task.cancelling()
    return not is_interrupt(error)


def problem_of(error: BaseException, stage: str = "") -> str:
    """Return an exception as a problem: ``message: KeyError: 'id'``.

    Args:
        error: The exception.
        stage: What has raised it, if the problem is to name that.
    """
    from ..models.json_values import writable  # every run of pytest imports this module

    text, kind = shorten(exception_text(error), _LONGEST), type(error).__name__
    described = f"{kind}: {text}" if text else kind
    return writable(f"{stage}: " * bool(stage) + described + _place_of(error))


def _place_of(error: BaseException) -> str:
    """Return where code of others has raised an exception: `` (conftest.py, line 12)``; empty for code of this package.

    It is the last line in the file that was called, as opposed to one of a library that the file has called.
    """
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    called = next((file for file, _ in places if not file.startswith((_PACKAGE, "<"))), None)
    last = max((at for at, (file, _) in enumerate(places) if file == called), default=None)
    return "" if called is None or last is None else f" ({Path(called).name}, line {places[last][1]})"


async def outcome_of(function: Callable[..., Any], *args: Any) -> Outcome:
    """Call a function, in a thread unless it is ``async``, so that nothing of it reaches the event loop."""
    from ..background import in_thread  # every run of pytest imports this module

    try:
        if inspect.iscoroutinefunction(function):
            return Outcome(await function(*args))
        value, error = await in_thread(lambda: _call(function, args), contextvars.copy_context())
        return Outcome(await value if inspect.isawaitable(value) else value, error)
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and not is_contained(error):
            raise
        return Outcome(error=error)


def _call(function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    try:
        return Outcome(function(*args))
    except StopIteration as error:  # which a coroutine cannot raise again
        return Outcome(error=RuntimeError(f"StopIteration: {error}"))
    except BaseException as error:  # noqa: BLE001 - a future cannot carry each of them
        return Outcome(error=error)
