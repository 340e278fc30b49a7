"""The clock of limits, pauses and durations, which goes on while a test has frozen or moved the time."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

__all__ = ["new_event_loop", "run_steadily", "steady", "steady_time", "utc_now"]

T = TypeVar("T")

_UNBLOCK = (
    "with pytest-socket, add --allow-unix-socket to --disable-socket, or use --allow-hosts=127.0.0.1,localhost if an "
    "agent uses the address of its trial"
)


_CLOCK: int | None = getattr(time, "CLOCK_MONOTONIC", None)
#: The clock that goes on while the machine sleeps.
_LASTING: int | None = getattr(time, "CLOCK_BOOTTIME", _CLOCK)


def _reading(clock: int | None) -> Callable[[], float]:
    """Return what reads a clock that cannot be set; where the system has none to choose, the one of Python.

    Libraries that freeze the time replace the functions of the module ``time`` in all modules, but not one that a
    partial holds, nor a reading of such a clock.
    """
    return functools.partial(time.monotonic) if clock is None else functools.partial(time.clock_gettime, clock)


#: Returns the seconds of a clock that only goes forward, for limits and durations.
steady_time = _reading(_CLOCK)
_lasting_time = _reading(_LASTING)
#: The time of the system when this module was imported, before tests run.
_BEGAN_AT, _BEGAN = time.time(), _lasting_time()


def utc_now() -> datetime:
    """Return the time of the system, whatever time a test has set."""
    return datetime.fromtimestamp(_BEGAN_AT + _lasting_time() - _BEGAN, UTC)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new event loop whose pauses and limits end while the time is frozen.

    Raises:
        ConfigurationError: A plugin blocks the socket that it needs.
    """
    try:
        loop = asyncio.new_event_loop()
    except Exception as error:
        problem = f"no event loop can be made, which needs a local socket: {type(error).__name__}: {error}"
        raise ConfigurationError(f"{problem}; {_UNBLOCK}") from error
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
