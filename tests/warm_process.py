"""Processes that are forked from one which has imported what each of them imports: workers, pytest and ``tau``.

A worker that is started afresh takes half a second to import pytest and the plugin, and three with litellm; the tests
start hundreds. A forked one runs the same code, in a process of its own, from the same first line on. The process has
also made runs of its own, so that its children have what a run computes once. Who starts a process sees it as
``forked_processes.py`` describes.

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
from typing import Any

from forked_processes import SIZE, Forking, fork_processes, fork_workers

#: Domains of which a run loads files.
DOMAINS = ("airline", "retail", "telecom")
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


class WarmProcess(Forking):
    """The process that forks.

    Args:
        modules: What it imports first.
    """

    def __init__(self, modules: list[str]) -> None:
        client, server = socket.socketpair()
        super().__init__(client)
        command = [sys.executable, __file__, str(server.fileno()), *modules]
        # Without settings of the test that needs the process first.
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TAU_"))}
        self._process = subprocess.Popen(
            command,
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[server.fileno()],
        )
        server.close()

    def close(self) -> None:
        """End the process."""
        self._client.close()
        self._process.wait(timeout=60)


class WarmerProcess(Forking):
    """A process that forks, and is itself forked from one, without importing and rehearsing the same again.

    Args:
        warm: The process that it is forked from.
        modules: What it imports in addition.
        environment: Variables that it has in addition.
    """

    def __init__(self, warm: WarmProcess, modules: list[str], environment: dict[str, str]) -> None:
        client, server = socket.socketpair()
        super().__init__(client)
        command = [sys.executable, "-c", f"import __main__; __main__.serve_input({modules})"]
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TAU_"))}
        with Path(os.devnull).open("wb") as nothing:
            streams = [server.fileno(), nothing.fileno(), 2]
            _, self._status = warm.start(command, streams, "/", {**own, **environment})
        server.close()

    def close(self) -> None:
        """End the process, and wait for it."""
        self._client.close()
        os.read(self._status, 16)
        os.close(self._status)


def main() -> list[str] | None:
    """Import, and serve the client; returns in each child, with the options of Python that say what it has to run."""
    client = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        _import(name)
    _rehearse()
    for thread in threading.enumerate()[1:]:
        thread.join(timeout=10)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()  # so that collections in the children copy no page of what was imported
    return _serve(client)


def serve_input(modules: list[str]) -> None:
    """Import more, and serve the client at standard input; this process, and each that it forks, ends in here."""
    client = socket.socket(fileno=os.dup(0))
    for name in modules:
        _import(name)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()
    options = _serve(client)
    if options is not None:
        _run(*options)


def _serve(client: socket.socket) -> list[str] | None:
    """Fork until the client is gone; returns in each child, with its options of Python."""
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
    """Run the plugin and the domains, and let the runs of the children use what this finds in modules and files."""
    import inner_runs
    import pytest

    inner_runs.quicken(pytest.MonkeyPatch())
    others = {entry.name for entry in importlib.metadata.entry_points(group="pytest11")} - {"tau", "xdist"}
    off = [f"-pno:{name}" for name in ("cacheprovider", "faulthandler", *others)]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mock").mkdir()
        Path(folder, "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        Path(folder, "mock", "t.tau.json").write_text(json.dumps([TASK]), encoding="utf-8")
        plain = ["--assert=plain", *off, f"--rootdir={folder}", f"--tau-results={folder}/runs"]
        runs = [["--tau-agent=gold", f"{folder}/mock"]]
        runs += [["--tau-agent=rules", f"--tau-domain={name}", "--tau-num-tasks=3"] for name in DOMAINS]
        os.chdir(folder)  # away from a project of the test that needs this process first
        for run in runs:
            status = pytest.main([*plain, *run])
            assert status == pytest.ExitCode.OK, (run, status)
        os.chdir("/")


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


def _become(request: dict[str, Any], files: list[int]) -> list[str] | None:
    """Give this process the files, folder, environment and arguments of a new one; returns its options."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request["session"]:
        os.setsid()
    path = [os.environ, request["environment"]]
    own, asked = ([part for part in each.get("PYTHONPATH", "").split(os.pathsep) if part] for each in path)
    sys.path[1 : 1 + len(own)] = asked
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.dont_write_bytecode = request["dont_write_bytecode"]
    command: list[str] = request["command"]
    sys.argv, sys.path[0] = [command[0], *command[2:]], "" if command[0] == "-c" else request["folder"]
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    return _with_children(command[:2]) if _may_start_workers(command) else command[:2]


def _may_start_workers(command: list[str]) -> bool:
    return any(word.startswith(("-n", "--tx")) for word in command)


def _with_children(options: list[str]) -> list[str] | None:
    """Let the processes that this child starts be forked too, by one that stays as this one is now.

    It is a child of this one, in its group, so that a signal reaches what it would reach otherwise.
    """
    import pytest

    client, server = socket.socketpair()
    number = os.fork()
    if number == 0:
        client.close()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        return _serve(server)
    server.close()
    forking = Forking(client)

    def warm(environment: Any) -> Forking | None:
        return forking if forking.can_become(environment) else None

    def end() -> None:
        client.close()
        os.waitpid(number, 0)

    atexit.register(end)
    fork_workers(pytest.MonkeyPatch(), warm)
    fork_processes(pytest.MonkeyPatch(), warm)
    return options


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
