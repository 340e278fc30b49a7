"""A process that ends groups of processes when the process that started it is gone, by SIGKILL too.

It is run as a script and imports nothing of this package. It reads lines about groups from standard input: ``+NUMBER``
when one has begun, ``-NUMBER`` when it has ended. Nothing is left to do if no group is left at the end of the input.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

#: Seconds between two looks at the parent: a forked child of it may keep the input open.
_LOOK = 1.0
_POLL = 0.02


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
        _signal(group, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while (left := [group for group in groups if _signal(group, 0)]) and time.monotonic() < deadline:
        time.sleep(_POLL)
    for group in left:
        _signal(group, signal.SIGKILL)


def _read_groups(parent: int) -> set[int]:
    """Return the groups that are left when the parent ends."""
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


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group, and return whether there is one."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS reports a group of zombies as not permitted
        return False
    return True


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
