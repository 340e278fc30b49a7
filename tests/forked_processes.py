"""Forked processes, as those who start them see them: in place of ``subprocess.Popen`` and of execnet's processes.

What forks them is described in ``warm_process.py``.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    # Before any run in this process, or each would have one of its own.
    from execnet import gateway_io
except ImportError:
    gateway_io = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

#: How many bytes the length of a request and the number of a process take.
SIZE = 8


class Forking:
    """The client of a process that forks, which listens at the other end of a socket."""

    def __init__(self, client: socket.socket) -> None:
        self._client, self._lock, self._python = client, threading.Lock(), _of_python(os.environ)

    def can_become(self, environment: Any) -> bool:
        """Return whether a child may have an environment: Python reads its own variables when it starts."""
        return _of_python(environment) == self._python

    def fork(self, code: str) -> Forked:
        """Start a child that runs code, with pipes for its standard input and output."""
        (stdin, to_child), (from_child, stdout) = os.pipe(), os.pipe()
        number, status = self.start([sys.executable, "-c", code], [stdin, stdout, 2])
        for each in (stdin, stdout):
            os.close(each)
        return Forked(number, to_child, from_child, status)

    def start(
        self,
        command: list[str],
        streams: list[int],
        folder: str | None = None,
        environment: Any = None,
        session: bool = False,
    ) -> tuple[int, int]:
        """Start a child for a command of Python with ``-c`` or ``-m``; returns its number and a pipe for its status."""
        request = {
            "command": command[1:],
            "folder": folder or str(Path.cwd()),
            "environment": dict(os.environ if environment is None else environment),
            "dont_write_bytecode": sys.dont_write_bytecode,
            "session": session,
        }
        status, to_us = os.pipe()
        content = json.dumps(request).encode()
        with self._lock:
            socket.send_fds(self._client, [b"%*d" % (SIZE, len(content))], [*streams, to_us])
            self._client.sendall(content)
            number = int(self._client.recv(SIZE, socket.MSG_WAITALL))
        os.close(to_us)
        return number, status


class Forked:
    """A child, with what execnet uses of ``subprocess.Popen``."""

    def __init__(self, number: int, stdin: int, stdout: int, status: int) -> None:
        self.pid, self._status = number, status
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        self.returncode: int | None = None

    def wait(self) -> int:
        """Return the exit status, once the child has ended."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(int(os.read(self._status, 16)))
            os.close(self._status)
        return self.returncode

    def kill(self) -> None:
        """Kill the child unless it has ended."""
        if self.returncode is None and not select.select([self._status], [], [], 0)[0]:
            os.kill(self.pid, signal.SIGKILL)


class Popen(subprocess.Popen[Any]):
    """``subprocess.Popen`` whose child is forked from a warm process, if that can do what the command says.

    Attributes:
        warm: Returns the process for an environment, or None. A subclass has it.
    """

    warm: Callable[[Any], Forking | None]
    _status: int | None = None

    def _execute_child(self, args: Any, executable: Any, *settings: Any) -> None:
        preexec, _, pass_fds, folder, environment, _, _, shell, *pipes = settings
        session = pipes[11]  # behind six files, and settings of signals and users
        environment = os.environ if environment is None else environment
        is_plain = not (executable or preexec or pass_fds or shell) and _is_ours(args, environment)
        process = self.warm(environment) if is_plain else None
        if process is None:
            super()._execute_child(args, executable, *settings)  # type: ignore[misc]
            return
        p2cread, _, _, c2pwrite, _, errwrite, *_ = pipes
        streams = [given if given != -1 else own for own, given in enumerate((p2cread, c2pwrite, errwrite))]
        command = list(map(str, args))
        self.pid, self._status = process.start(command, streams, folder and str(folder), environment, session)
        self._child_created = True
        self._close_pipe_fds(*pipes[:6])  # type: ignore[attr-defined]

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if self._status is None:
            return super()._try_wait(flags)  # type: ignore[misc, no-any-return]
        if flags == os.WNOHANG and not select.select([self._status], [], [], 0)[0]:
            return 0, 0
        status = int(os.read(self._status, 16))
        os.close(self._status)
        return self.pid, status

    def _internal_poll(self, *args: Any, **named: Any) -> int | None:
        if self._status is None:
            return super()._internal_poll(*args, **named)  # type: ignore[misc, no-any-return]
        lock: threading.Lock = self._waitpid_lock  # type: ignore[attr-defined]
        if self.returncode is None and lock.acquire(blocking=False):  # else another thread waits
            try:
                number, status = self._try_wait(os.WNOHANG) if self.returncode is None else (0, 0)
                if number:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                lock.release()
        return self.returncode


def fork_processes(patch: pytest.MonkeyPatch, warm: Callable[[Any], Forking | None]) -> None:
    """Let processes of pytest and ``tau`` that are started here be forked, by what is given for an environment."""
    patch.setattr(subprocess, "Popen", type("Popen", (Popen,), {"warm": staticmethod(warm)}))


def fork_workers(patch: pytest.MonkeyPatch, warm: Callable[[Any], Forking | None]) -> None:
    """Let runs in this process have workers of pytest-xdist that are forked."""
    if gateway_io is None:
        return
    started = gateway_io.Popen2IOMaster.__init__
    plain = [[sys.executable, "-u", *options, "-c", gateway_io.popen_bootstrapline] for options in ([], ["-B"])]

    def start(self: Any, args: list[str], execmodel: Any) -> None:
        process = warm(os.environ) if args in plain else None
        if process is None:
            started(self, args, execmodel)
            return
        self.popen = forked = process.fork(gateway_io.popen_bootstrapline)
        super(gateway_io.Popen2IOMaster, self).__init__(forked.stdin, forked.stdout, execmodel=execmodel)

    patch.setattr(gateway_io.Popen2IOMaster, "__init__", start)


def _is_ours(command: Any, environment: Any) -> bool:
    """Return whether a command is ``tau``, or pytest that rewrites no assertions: it is too late for that."""
    if not isinstance(command, list | tuple) or len(command) < 3 or command[0] != sys.executable:
        return False
    if command[1] == "-c":
        return "pytest_tau.cli" in command[2]
    plain = [*command, *environment.get("PYTEST_ADDOPTS", "").split()]
    return list(command[1:3]) == ["-m", "pytest"] and "--assert=plain" in plain


#: What a child takes over from its own environment: its path and its streams are made anew.
_OF_EACH = ("PYTHONPATH", "PYTHONUNBUFFERED")


def _of_python(environment: Any) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("PYTHON") and name not in _OF_EACH}
