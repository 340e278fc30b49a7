"""The timers of pytest-timeout, with something that is done before a timer ends a test or the process."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest_timeout

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


def set_timer(item: Any, settings: Any, before: Callable[[str | None], None]) -> None:
    """Set the timer of a test, as pytest-timeout does.

    Args:
        item: The test.
        settings: Those of pytest-timeout.
        before: Called with the node id of the test that the timer ends; with None if it ends the process.
    """
    by_signal = settings.method == "signal" and threading.current_thread() is threading.main_thread()
    item.cancel_timeout = _set_alarm(item, settings, before) if by_signal else _start_thread(item, settings, before)


def _set_alarm(item: Any, settings: Any, before: Callable[[str | None], None]) -> Callable[[], None]:
    """Set the timer of the method ``signal``, which raises an exception in the test; return what stops it."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        __tracebackhide__ = True
        if _is_reached(settings):
            before(item.nodeid)
        pytest_timeout.timeout_sigalrm(item, settings)

    def stop() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, settings.timeout)
    return stop


def _start_thread(item: Any, settings: Any, before: Callable[[str | None], None]) -> Callable[[], None]:
    """Start the timer of the method ``thread``, which ends the process; return what stops it."""

    def ring() -> None:
        if _is_reached(settings):
            before(None)
        pytest_timeout.timeout_timer(item, settings)

    def stop() -> None:
        timer.cancel()
        timer.join()

    timer = threading.Timer(settings.timeout, ring)
    timer.start()
    return stop


def _is_reached(settings: Any) -> bool:
    """Return whether the limit ends the test; in a debugger, it may not."""
    return settings.disable_debugger_detection or not pytest_timeout.is_debugging()
