"""Containment of the code of participants: what it raises is a plain error, and it cancels no task but its own."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import sysconfig
import traceback
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, TaskFormatError, is_interrupt
from ..masking import mask_secrets
from ..models import writable
from ..stalls import TRIAL_TIME
from ..text import exception_text, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping
    from types import TracebackType

    from ..stalls import Stall

#: Characters that are kept of the text of an exception, and of a traceback, half of which from its beginning.
_LONGEST = 20_000
#: The participant whose code is running; None for code of this package.
_OWNER: contextvars.ContextVar[object | None] = contextvars.ContextVar("tau_owner", default=None)


#: The folder of this package, whose code does not belong to a participant.
_PACKAGE = str(Path(__file__).parents[1]) + os.sep


class ForeignError(Exception):
    """An exception of a participant that means something to pytest, asyncio or this package, made harmless."""

    def __init__(self, raised: BaseException) -> None:
        self.raised = raised
        super().__init__(describe(raised))


def describe(error: BaseException, *, place: bool = False) -> str:
    """Return the class and the text of an exception, in which keys are masked.

    Args:
        error: The exception.
        place: Add the line of the participant's own code that raised it.
    """
    raised = raised_by(error)
    text = shorten(mask_secrets(exception_text(raised)), _LONGEST)
    line = _place_of(raised) if place else None
    return writable(f"{type(raised).__name__}: {text}{f' ({line})' if line else ''}")


def participant_traceback(error: BaseException, args: Mapping[str, Any] | None = None) -> str | None:
    """Return the traceback of an exception from the participant's own code on; None if it has none of its frames.

    Keys are masked, those of the arguments of model calls too: lines of code and texts of exceptions may have one.
    """
    raised = raised_by(error)
    start = _first(raised.__traceback__, own=True) or _first(raised.__traceback__, own=False)
    if start is None:
        return None
    try:
        text = "".join(traceback.format_exception(type(raised), raised, start))
    except BaseException:  # noqa: BLE001 - code of the participant: the text of an exception may raise anything
        text = "".join(traceback.format_tb(start)) + type(raised).__name__
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n…\n{text[-_LONGEST // 2 :]}"
    return writable(mask_secrets(text.rstrip(), args))


def _place_of(raised: BaseException) -> str | None:
    """Return the last line of the participant's own code in a traceback, else the last line; None without one.

    Own is what belongs neither to Python's library nor to an installed package.
    """
    frames = own_frames(traceback.extract_tb(raised.__traceback__))[-1:]
    return f"line {frames[0].lineno} of {frames[0].filename}" if frames else None


def own_frames(stack: traceback.StackSummary) -> list[traceback.FrameSummary]:
    """Return the frames of a participant's own code; without one, all but those of this package."""
    frames = [frame for frame in stack if not _is_ours(frame.filename)]
    return [frame for frame in frames if not _is_installed(frame.filename)] or frames


def described_stall(stall: Stall) -> str:
    """Return what blocks an event loop: the place in a line, then the stack from the participant's own code on."""
    frames, stack = own_frames(stall.stack), list(stall.stack)
    place = f" at line {frames[-1].lineno} of {frames[-1].filename}" if frames else ""
    summary = traceback.StackSummary.from_list(stack[stack.index(frames[0]) :] if frames else stack)
    text = f"has blocked the event loop for {stall.seconds:.1f} s{place}\n{''.join(summary.format())}".rstrip()
    return writable(mask_secrets(text, {}))


def _first(frames: TracebackType | None, *, own: bool) -> TracebackType | None:
    """Return a traceback from the first frame on that is not of this package, and with ``own`` not installed."""
    while frames is not None:
        file = frames.tb_frame.f_code.co_filename
        if not _is_ours(file) and not (own and _is_installed(file)):
            return frames
        frames = frames.tb_next
    return None


def _is_ours(file: str) -> bool:
    return file.startswith(_PACKAGE)


def _is_installed(file: str) -> bool:
    return file.startswith(("<frozen ", *_installed_folders()))


@cache
def _installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({paths[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


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
        trial_time: The time of the trial whose task it is; None for no trial.
    """

    def __init__(self, coro: Coroutine[Any, Any, Any], **kwargs: Any) -> None:
        context = kwargs.get("context")
        self._owner = _OWNER.get() if context is None else context.get(_OWNER)
        self.trial_time = TRIAL_TIME.get() if context is None else context.get(TRIAL_TIME)
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
