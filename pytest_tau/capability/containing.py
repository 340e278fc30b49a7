"""Exceptions of code of a capability, as a problem that reports show."""

from __future__ import annotations

import asyncio

from ..errors import is_interrupt
from ..text import exception_text, shorten

#: Characters that are kept of the text of an exception.
_LONGEST = 2_000


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
    return writable(f"{stage}: " * bool(stage) + (f"{kind}: {text}" if text else kind))
