"""The lock of a run's folder: one process at a time runs or continues a run.

An xdist worker that has outlived its controller still stores the trial that it is at, so each worker has a lock of its
own, and a process that continues the run waits for them.

The operating system releases a lock when its process ends, however it ends. No library: filelock empties the file
that names the process, and the rest is a call of ``fcntl.flock`` or ``msvcrt.locking``.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

from ..documents import DocumentError, read_json
from ..plain import json
from .layout import LOCK, WORKER_LOCKS

if TYPE_CHECKING:
    from pathlib import Path

#: On Windows a locked byte cannot be read, so it is one behind the content.
_LOCKED_BYTE = 1 << 20
#: Another process may delete the file between the opening and the locking of it; so often at most.
_ATTEMPTS = 100
#: Seconds after which a worker without a controller is not waited for any more. execnet ends it after 15.
PATIENCE = 30.0


class FolderInUseError(Exception):
    """Another process uses the folder; the text names it."""


class RunLock:
    """The lock of a run's folder, which must exist.

    Args:
        folder: The run's.
        started: When this run has started, for the message of another process.
        name: The name of the file.
    """

    def __init__(self, folder: Path, started: str, name: str = LOCK) -> None:
        self._path, self._started = folder / name, started
        self._file: int | None = None

    def acquire(self) -> None:
        """Take the lock, or do nothing on a file system without locks.

        Raises:
            FolderInUseError: Another process has it.
        """
        for _ in range(_ATTEMPTS):
            try:
                file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            except OSError:
                return  # a folder that cannot be written, which is reported with the first simulation
            try:
                _lock(file)
                if os.path.samestat(os.fstat(file), self._path.stat()):
                    self._keep(file)
                    return
            except (BlockingIOError, PermissionError):
                os.close(file)
                raise FolderInUseError(self.user()) from None
            except FileNotFoundError:
                pass
            except OSError:
                os.close(file)
                return  # there are no locks here
            os.close(file)

    @property
    def is_held(self) -> bool:
        """Return whether this process has the lock; on a file system without locks, no process has."""
        return self._file is not None

    def release(self) -> None:
        """Delete the file and release the lock, if this process has it; remove a folder that nothing else was in."""
        if self._file is None:
            return
        file, self._file = self._file, None
        if sys.platform == "win32":
            os.close(file)  # an open file cannot be deleted there
        with contextlib.suppress(OSError):
            self._path.unlink()
        if sys.platform != "win32":
            os.close(file)
        with contextlib.suppress(OSError):
            self._path.parent.rmdir()

    def _keep(self, file: int) -> None:
        self._file = file
        text = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "started": self._started})
        with contextlib.suppress(OSError):  # only the message of another process is less exact
            os.truncate(file, 0)
            os.write(file, text.encode())

    def owner(self) -> dict[str, Any] | None:
        """Return the process that has the lock, or had it when it was killed; None if it is not known."""
        try:
            process = read_json(self._path)
        except (OSError, DocumentError):  # it is just about to write it, or there are no locks
            return None
        return process if isinstance(process, dict) else None

    def user(self) -> str:
        """Return a text that names the process that has the lock."""
        process = self.owner() or {}
        try:
            return f"process {process['pid']:d} on {process['host']} has used it since {process['started']}"
        except (KeyError, TypeError, ValueError):
            return "another process uses it"


def worker_lock(folder: Path, started: str, worker: str) -> RunLock:
    """Return the lock of an xdist worker."""
    return RunLock(folder, started, WORKER_LOCKS.replace("*", worker))


def wait_for_workers(folder: Path, seconds: float) -> None:
    """Wait until the workers of a run have ended, and delete what they have left.

    Raises:
        FolderInUseError: A worker has not ended in time.
    """
    end = time.monotonic() + seconds
    for path in sorted(folder.glob(WORKER_LOCKS)):
        lock = RunLock(folder, "", path.name)
        while True:
            try:
                lock.acquire()
                break
            except FolderInUseError:
                if time.monotonic() >= end:
                    raise
            time.sleep(0.05)
        lock.release()


def check_controller(folder: Path, pid: int) -> None:
    """Check that a run is still that of a worker's controller, once the worker has its lock.

    A worker whose controller was killed may have stored nothing yet, so that a process that continues the run did not
    wait for it.

    Raises:
        FolderInUseError: Another process continues the run.
    """
    lock = RunLock(folder, "")
    owner = lock.owner()
    if owner is not None and owner.get("pid") != pid:
        raise FolderInUseError(lock.user())


def _lock(file: int) -> None:
    """Lock an open file.

    Raises:
        BlockingIOError: Another process has locked it; on Windows a PermissionError.
        OSError: The file system has no locks.
    """
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
