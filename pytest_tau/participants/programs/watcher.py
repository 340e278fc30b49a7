"""A process that ends groups of processes when the process that started it is gone, by SIGKILL too.

It runs this module as a script, which imports nothing of this package. It reads lines about groups from standard input:
``+NUMBER`` when one has begun, ``-NUMBER`` when it has ended. Nothing is left to do if no group is left at the end of
the input.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

#: Seconds between two looks at the parent: a forked child of it may keep the input open.
_LOOK = 1.0
_POLL = 0.02
#: Seconds that the watcher has to end with this process, when no group is left.
_CLOSING_TIME = 2.0
_SCRIPT = Path(__file__)


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


# In the process that watches


def main(grace: float, parent: int) -> None:
    """Wait for the end of the parent, and end the groups that are left.

    Args:
        grace: Seconds between the request to end and the kill.
        parent: The number of the process that has started this one, which may be gone by now.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups = _read_groups(parent)
    for group in groups:
        signal_group(group, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while (left := [group for group in groups if signal_group(group, 0)]) and time.monotonic() < deadline:
        time.sleep(_POLL)
    for group in left:
        signal_group(group, signal.SIGKILL)


def _read_groups(parent: int) -> set[int]:
    groups: set[int] = set()
    rest = b""
    while True:
        is_gone = os.getppid() != parent
        if not select.select([0], [], [], 0.0 if is_gone else _LOOK)[0]:
            if is_gone:
                return groups
            continue
        chunk = os.read(0, 65_536)
        if not chunk:
            return groups
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))


def signal_group(group: int, number: int) -> bool:
    """Send a signal to a group, and return whether there is one."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS reports a group of zombies as not permitted
        return False
    return True


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
