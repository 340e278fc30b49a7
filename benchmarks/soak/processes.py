"""Runs of pytest and of ``tau`` in forked processes, which have imported everything already."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

# Imported before the fork, so that no run pays for it.
import pytest_tau.runner  # noqa: F401
from pytest_tau import load_domain
from pytest_tau.cli import main as tau_main

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds after which a process counts as one that hangs.
LIMIT = 120.0
#: The exit status of a process in which an exception escaped.
ESCAPED = 70
_OTHERS = sorted({entry.name for entry in entry_points(group="pytest11")} - {"tau", "xdist"})
_QUIET = ["--assert=plain", "-pno:cacheprovider", *(f"-pno:{name}" for name in _OTHERS)]


class Ended(NamedTuple):
    """A process that has ended.

    Attributes:
        status: Its exit status, negative for a signal; None if it hung.
        text: What it wrote, to both streams.
        seconds: How long it ran.
        group: The group of its processes, of which some may still run.
    """

    status: int | None
    text: str
    seconds: float
    group: int

    @property
    def crashed(self) -> bool:
        """Return whether an exception escaped, or an internal error was reported."""
        words = ("Traceback (most recent call last)", "INTERNALERROR", "Fatal Python error")
        return self.status in (ESCAPED, 3) or any(word in self.text for word in words)


def pytest_run(folder: Path, *arguments: str, kill_after: float | None = None, whole_group: bool = False) -> Ended:
    """Run pytest; with ``kill_after`` seconds it is killed, alone or with its workers."""
    _warm_up()

    def work() -> int:
        return int(pytest.main([*_QUIET, *arguments]))

    return _forked(work, folder, kill_after, whole_group=whole_group)


def tau_run(folder: Path, *arguments: str) -> Ended:
    """Run a ``tau`` command."""
    _warm_up()
    return _forked(lambda: tau_main(arguments), folder)


def _warm_up() -> None:
    for name in ("mock", "airline", "retail", "telecom"):
        load_domain(name)


def _forked(
    work: Callable[[], int], folder: Path, kill_after: float | None = None, *, whole_group: bool = False
) -> Ended:
    with tempfile.NamedTemporaryFile() as output:
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            _in_child(work, folder, output.fileno())
        status = _wait(child, start, kill_after, whole_group=whole_group)
        seconds = time.monotonic() - start
        if kill_after is None or whole_group:
            kill_group(child)  # Workers of a process that hung.
        return Ended(status, Path(output.name).read_text("utf-8", "replace"), seconds, child)


def _in_child(work: Callable[[], int], folder: Path, output: int) -> None:
    """Do the work and end the process."""
    status = ESCAPED
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.environ.update(COLUMNS="200", HOME=str(folder))
        for name in ("TAU_DATA", "PYTEST_ADDOPTS", "CI", "GITHUB_ACTIONS"):
            os.environ.pop(name, None)
        os.dup2(output, 1)
        os.dup2(output, 2)
        status = work()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - its traceback is what is looked for
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _wait(child: int, start: float, kill_after: float | None, *, whole_group: bool) -> int | None:
    """Return the exit status of a process; None if it had to be ended."""
    killed = hung = False
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return None if hung else os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        if kill_after is not None and seconds >= kill_after and not killed:
            killed = True
            if whole_group:
                kill_group(child)
            else:
                os.kill(child, signal.SIGKILL)
        elif seconds >= LIMIT and not hung:
            hung = True
            kill_group(child)
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)


def kill_group(leader: int) -> None:
    """Kill the processes of a group that still run."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
