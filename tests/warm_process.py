"""Processes that are forked from one which has imported what each of them imports: workers, pytest and ``tau``.

A worker that is started afresh takes half a second to import pytest and the plugin, and three with litellm; the tests
start hundreds. A forked one runs the same code, in a process of its own, from the same first line on. The process has
also made one run of its own, so that its children have what a run computes once.

This file is also what that process runs: ``python tests/warm_process.py FD MODULE…``. Each request comes with four file
descriptors: standard input, output and error of the worker, and a pipe for its exit status.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import importlib.metadata
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 8
#: A task of the domain mock.
TASK = {
    "id": "rehearsal",
    "user_scenario": {"instructions": "Have 'Buy milk' put on your list."},
    "evaluation_criteria": {
        "actions": [
            {"action_id": "a", "name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}},
        ]
    },
}


class WarmProcess:
    """The process that forks.

    Args:
        modules: What it imports first.
        environment: Variables that it has in addition.
    """

    def __init__(self, modules: list[str], environment: dict[str, str] | None = None) -> None:
        self._client, server = socket.socketpair()
        self._lock = threading.Lock()
        command = [sys.executable, __file__, str(server.fileno()), *modules]
        self._python = _of_python(os.environ)
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[server.fileno()],
        )
        server.close()

    def can_become(self, environment: dict[str, str]) -> bool:
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

    def close(self) -> None:
        """End the process."""
        self._client.close()
        self._process.wait(timeout=60)


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

    warm: Callable[[Any], WarmProcess | None]
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


def _is_ours(command: Any, environment: Any) -> bool:
    """Return whether a command is ``tau``, or pytest that rewrites no assertions: it is too late for that."""
    if not isinstance(command, list) or len(command) < 3 or command[0] != sys.executable:
        return False
    if command[1] == "-c":
        return "pytest_tau.cli" in command[2]
    plain = [*command, *environment.get("PYTEST_ADDOPTS", "").split()]
    return list(command[1:3]) == ["-m", "pytest"] and "--assert=plain" in plain


def _of_python(environment: Any) -> dict[str, str]:
    # A child's streams are made anew, whatever this says of those of Python.
    return {
        name: value for name, value in environment.items() if name.startswith("PYTHON") and name != "PYTHONUNBUFFERED"
    }


def main() -> list[str] | None:
    """Fork until the client is gone; returns in each child, with the options of Python that say what it has to run."""
    client = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        _import(name)
    _rehearse()
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()  # so that collections in the children copy no page of what was imported
    wakeup, waker = socket.socketpair()
    waker.setblocking(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.fileno())
    statuses: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([client, wakeup], [], [])
        if wakeup in ready:
            wakeup.recv(4096)
            _report(statuses)
        if client not in ready:
            continue
        head, files, _, _ = socket.recv_fds(client, SIZE, 4)
        if not head:
            return None
        request = json.loads(client.recv(int(head), socket.MSG_WAITALL))
        number = os.fork()
        if number == 0:
            signal.set_wakeup_fd(-1)
            for each in (client, wakeup, waker):
                each.close()
            for each in (files[3], *statuses.values()):
                os.close(each)
            return _become(request, files[:3])
        statuses[number] = files[3]
        for each in files[:3]:
            os.close(each)
        client.sendall(b"%*d" % (SIZE, number))


def _import(name: str) -> None:
    """Import a module, or with ``.*`` behind its name a package and all that is in it and can be imported."""
    module = importlib.import_module(name.removesuffix(".*"))
    if name.endswith(".*"):
        for _, inner, _ in pkgutil.walk_packages(module.__path__, f"{module.__name__}.", onerror=lambda _: None):
            with contextlib.suppress(ImportError):  # of an extra, or of another operating system
                importlib.import_module(inner)


def _rehearse() -> None:
    """Run the plugin once, and let the runs of the children use what it finds in modules that they have too."""
    import inner_runs
    import pytest

    inner_runs.quicken(pytest.MonkeyPatch())
    others = {entry.name for entry in importlib.metadata.entry_points(group="pytest11")} - {"tau", "xdist"}
    off = [f"-pno:{name}" for name in ("cacheprovider", "faulthandler", *others)]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mock").mkdir()
        Path(folder, "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        Path(folder, "mock", "t.tau.json").write_text(json.dumps([TASK]), encoding="utf-8")
        status = pytest.main(["--assert=plain", *off, "--tau-agent=gold", f"--rootdir={folder}", folder])
    assert status == pytest.ExitCode.OK, status


def _report(statuses: dict[int, int]) -> None:
    """Write the status of each child that has ended into its pipe."""
    while True:
        try:
            number, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if number == 0:
            return
        pipe = statuses.pop(number)
        with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
            os.write(pipe, b"%d" % status)
        os.close(pipe)


def _become(request: dict[str, Any], files: list[int]) -> list[str]:
    """Give this process the files, folder, environment and arguments of a new one; returns its options."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request["session"]:
        os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.dont_write_bytecode = request["dont_write_bytecode"]
    command: list[str] = request["command"]
    sys.argv, sys.path[0] = [command[0], *command[2:]], "" if command[0] == "-c" else request["folder"]
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    return command[:2]


def _run(option: str, program: str) -> None:
    """Run code or a module as Python does, and end this process."""
    status: Any = 0
    try:
        if option == "-c":
            exec(program, {"__name__": "__main__", "__builtins__": __builtins__})
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code
    if isinstance(status, str):
        print(status, file=sys.stderr)
    _end(status if isinstance(status, int) else int(status is not None))


def _end(status: int) -> None:
    """End as Python does, but without taking apart what has been imported: that takes a fifth of the process's time."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


if __name__ == "__main__":
    OPTIONS = main()
    if OPTIONS is not None:
        _run(*OPTIONS)
