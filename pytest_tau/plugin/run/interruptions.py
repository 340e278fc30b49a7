"""What ends the process while trials run: a time limit of pytest-timeout, a signal. The trials are stored before."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ..context.run_state import get_context
from ..items import spec_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

#: Signals that end a process. Ctrl-C is an exception, and nothing is executed after SIGKILL.
_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def register(config: pytest.Config) -> None:
    """Register what stores the trials."""
    interruptions = Interruptions(config)
    config.pluginmanager.register(interruptions, "tau-interruptions")
    config.add_cleanup(interruptions.end_by_signal)


class Interruptions:
    """Stores the trials of this process before it ends."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._signal: int | None = None

    def _keep(self, why: str, test: str | None = None) -> None:
        if (context := get_context(self._config)) is not None:
            context.keep_trials(why, test)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Store the trials if a signal ends the process, unless a handler was set for it."""
        if threading.current_thread() is not threading.main_thread():
            return (yield)  # only the main thread can set handlers
        ours = [number for number in _SIGNALS if signal.getsignal(number) == signal.SIG_DFL]
        for number in ours:
            signal.signal(number, self._end)
        try:
            return (yield)
        finally:
            for number in ours:
                if signal.getsignal(number) == self._end:
                    signal.signal(number, signal.SIG_DFL)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        """End a worker by a signal, as without a handler; end another process as by Ctrl-C, with a summary.

        The trials are stored before, because whoever sends the signal may not wait, and a second signal ends at once.
        """
        self._signal = number
        name = signal.Signals(number).name
        try:
            self._keep(f"the signal {name}")
        finally:
            signal.signal(number, signal.SIG_DFL)
            if hasattr(self._config, "workerinput"):
                self.end_by_signal()
        raise KeyboardInterrupt(f"the signal {name}")

    def end_by_signal(self) -> None:
        """End the process by the signal that it got, if any, so that its exit status says so."""
        if self._signal is not None:
            sys.stdout.flush()
            os.kill(os.getpid(), self._signal)

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> bool | None:
        """Set the timer of pytest-timeout, so that a trial is stored before its test or the process is ended."""
        if spec_of(item) is None:
            return None
        from ...integrations.pytest_timeout import set_timer

        why = f"the time limit of pytest-timeout, {settings.timeout:g} s"
        set_timer(item, settings, lambda test: self._keep(why, test))
        return True
