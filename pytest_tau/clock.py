"""The clock of limits, pauses and durations, which goes on while a test has frozen or moved the time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

T = TypeVar("T")


#: The clocks of the system, if it has some that cannot be set; the second one goes on while the machine sleeps.
#: Libraries that freeze the time replace the functions of the module ``time`` in all modules, but no reading of these.
_STEADY: int | None = getattr(time, "CLOCK_MONOTONIC", None)
_LASTING: int | None = getattr(time, "CLOCK_BOOTTIME", _STEADY)
#: For other systems: a function in a collection is not replaced.
_MONOTONIC = (time.monotonic,)


def _reading(clock: int | None) -> float:
    return _MONOTONIC[0]() if clock is None else time.clock_gettime(clock)


#: The time of the system when this module was imported, before tests run.
_BEGAN_AT, _BEGAN = time.time(), _reading(_LASTING)


def steady_time() -> float:
    """Return the seconds of a clock that only goes forward, for limits and durations."""
    return _reading(_STEADY)


def utc_now() -> datetime:
    """Return the time of the system, whatever time a test has set."""
    return datetime.fromtimestamp(_BEGAN_AT + _reading(_LASTING) - _BEGAN, UTC)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new event loop whose pauses and limits end while the time is frozen."""
    loop = asyncio.new_event_loop()
    _use(loop)
    return loop


def run_steadily(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a new event loop, as ``asyncio.run`` does."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)


@contextlib.contextmanager
def steady(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let pauses and limits of somebody else's event loop end while the time is frozen."""
    if "time" in getattr(loop, "__dict__", ()) or not _use(loop):
        yield
        return
    try:
        yield
    finally:
        del loop.time


def _use(loop: asyncio.AbstractEventLoop) -> bool:
    """Set the clock of a loop; not of one that has a clock of its own, such as one that is not written in Python."""
    if getattr(type(loop), "time", None) is not asyncio.BaseEventLoop.time:
        return False
    loop.time = steady_time  # type: ignore[method-assign]
    return True
