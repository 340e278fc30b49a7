"""Groups of processes that end with this process, however it ends."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

_SCRIPT = Path(__file__).with_name("watcher.py")
#: Seconds that the watcher has to end with this process, when no group is left.
_CLOSING_TIME = 2.0


class Watcher:
    """The process that ends the groups of this process if it is killed.

    Args:
        grace: Seconds between the request to end and the kill.
    """

    def __init__(self, grace: float) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        # A program can be run without it.
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603 - a script of this package
                [sys.executable, "-I", "-S", str(_SCRIPT), str(grace), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=_SCRIPT.anchor,
                start_new_session=True,
                bufsize=0,
            )
            atexit.register(self._close)

    def add(self, group: int) -> None:
        """End a group if this process ends before ``remove`` is called."""
        self._write(f"+{group}\n")

    def remove(self, group: int) -> None:
        """Forget a group that has ended; its number may be given to another one."""
        self._write(f"-{group}\n")

    def _write(self, line: str) -> None:
        # Short lines are written as a whole, from any thread.
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.write(line.encode())

    def _close(self) -> None:
        assert self._process is not None, "it was started"
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=_CLOSING_TIME)


_LOCK = threading.Lock()
#: By process: a forked child has no watcher.
_WATCHERS: dict[int, Watcher] = {}


def watcher(grace: float) -> Watcher | None:
    """Return the watcher of this process, started at the first call; None if the system has no process groups."""
    if not hasattr(os, "killpg"):  # pragma: no cover - Windows
        return None
    with _LOCK:
        process = os.getpid()
        if process not in _WATCHERS:
            _WATCHERS[process] = Watcher(grace)
        return _WATCHERS[process]
