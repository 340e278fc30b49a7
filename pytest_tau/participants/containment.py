"""Containment of the code of participants: what it raises is a plain error, and it cancels no task but its own."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, TaskFormatError, is_interrupt
from ..models import writable
from .tracebacks import place_of, traceback_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

#: Characters of an exception's text that are kept.
_LONGEST_TEXT = 20_000
#: The participant whose code is running; None for code of this package.
_OWNER: contextvars.ContextVar[object | None] = contextvars.ContextVar("tau_owner", default=None)


class ForeignError(Exception):
    """An exception of a participant that means something to pytest, asyncio or this package, made harmless."""

    def __init__(self, raised: BaseException) -> None:
        self.raised = raised
        super().__init__(describe(raised))


def describe(error: BaseException, *, place: bool = False) -> str:
    """Return the class and the text of an exception.

    Args:
        error: The exception.
        place: Add the line of the participant's own code that raised it.
    """
    raised = raised_by(error)
    text = str(raised)
    text = text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
    line = place_of(raised) if place else None
    return writable(f"{type(raised).__name__}: {text}{f' ({line})' if line else ''}")


def participant_traceback(error: BaseException) -> str | None:
    """Return the traceback of an exception of a participant, without frames of this package above its code.

    Returns:
        The text, with keys masked; None if no code of the participant was running.
    """
    text = traceback_of(raised_by(error))
    return None if text is None else writable(text)


def raised_by(error: BaseException) -> BaseException:
    """Return what a participant has raised itself."""
    return error.raised if isinstance(error, ForeignError) else error


@contextlib.contextmanager
def owned_by(owner: object) -> Iterator[None]:
    """Note, for the tasks that are made and cancelled meanwhile, whose code is running."""
    token = _OWNER.set(owner)
    try:
        yield
    finally:
        _OWNER.reset(token)


@contextlib.contextmanager
def building() -> Iterator[None]:
    """Pass errors of a participant's construction on such that they are not taken for mistakes in the settings."""
    try:
        yield
    except (ConfigurationError, TaskFormatError) as error:
        raise ForeignError(error) from error


class GuardedTask(asyncio.Task[Any]):
    """A task that a participant cannot cancel unless it is the participant's own.

    All async participants of a run share one event loop, on which ``asyncio.all_tasks()`` lists the tasks of other
    trials, and those of this package that run the conversations.

    Attributes:
        cancelled_by_us: Code of this package has cancelled the task.
    """

    def __init__(self, coro: Coroutine[Any, Any, Any], **kwargs: Any) -> None:
        context = kwargs.get("context")
        self._owner = _OWNER.get() if context is None else context.get(_OWNER)
        self.cancelled_by_us = False
        super().__init__(coro, **kwargs)

    def cancel(self, msg: Any = None) -> bool:
        """Cancel the task, unless the code that asks for it is another participant's."""
        by = _OWNER.get()
        if by is not None and by is not self._owner:
            return False
        self.cancelled_by_us |= by is None
        return super().cancel(msg)


def guard(loop: asyncio.AbstractEventLoop) -> None:
    """Make every task of a loop a guarded one."""
    loop.set_task_factory(lambda loop, coro, **kwargs: GuardedTask(coro, loop=loop, **kwargs))


async def run_contained(start: Callable[[], Coroutine[Any, Any, Any]], owner: object) -> Any:
    """Run code of a participant in a task of its own, and return its result.

    Raises:
        asyncio.CancelledError: This package has cancelled it.
        ForeignError: It raised something else that is not an ``Exception``, or has cancelled itself.
        Exception: Anything else that it raises.
    """
    with owned_by(owner):
        task = GuardedTask(_contained(start), loop=asyncio.get_running_loop())
    try:
        return await task
    except asyncio.CancelledError as error:
        if task.cancelled_by_us or not task.done():
            task.cancel()
            raise
        # Without a text of its own, it was no ``raise``, and its traceback shows asyncio's code.
        raise ForeignError(
            error
            if error.args
            else asyncio.CancelledError(
                "the agent's or the user's own code cancelled the task that waited for its answer"
            )
        ) from error


async def _contained(start: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    try:
        return await start()
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        if is_interrupt(error):
            raise
        # asyncio and pytest react to some of these, such as SystemExit and the exception of pytest.skip().
        raise ForeignError(error) from error
