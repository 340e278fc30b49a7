"""Processes on one queue: how a run grows with the machines, and what it asks of its store for each trial."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options

#: Turns of the agent in a conversation of the project, after each of which it waits.
_TURNS = 4
#: Counts the requests to the store of one process, and notes its memory in KiB.
_CONFTEST = """
import atexit, collections, json, os, resource
from pytest_tau.runs import store

counts = collections.Counter()

def counted(name, method):
    def call(self, *args):
        counts[name] += 1
        if name in ("write", "create"):
            counts["bytes"] += len(args[1])
        if name == "read":
            args = ([*args[0]],)
            counts["read"] += len(args[0]) - 1
        return method(self, *args)
    return call

for name in ("names", "read", "write", "create"):
    setattr(store.FolderStore, name, counted(name, getattr(store.FolderStore, name)))

def note():
    counts["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open(f"counts-{os.getpid()}.json", "w") as file:
        json.dump(counts, file)

atexit.register(note)
"""
_PARTICIPANTS = f"""
import asyncio, os

class Agent:
    async def respond(self, message):
        await asyncio.sleep(float(os.environ["SECONDS"]))
        return "Let me see."

class User:
    def __init__(self):
        self.turns = 0

    def respond(self, message):
        self.turns += 1
        return "###STOP###" if self.turns > {_TURNS} else "Please."
"""


def many_machines(options: Options) -> Iterator[Figure]:
    """Measure 1, 2, 4 and 8 processes on one queue, each with 100 conversations at once that wait.

    The store is a folder. The ideal is what the answers take if all places are always taken; the wall clock includes
    the start and the end of the processes. Requests are creations, writes, listings and objects that were read.
    """
    at_once, rounds, seconds = options.count(100, 2), options.count(2, 1), 0.01 if options.quick else 5.0
    for processes in (1, 2) if options.quick else (1, 2, 4, 8):
        trials = 16 * math.ceil(processes * at_once * rounds / 16)
        wall, counts = _run(processes, at_once, trials, seconds)
        ideal = trials / (processes * at_once) * _TURNS * seconds
        name = f"{processes} {'process' if processes == 1 else 'processes'}, {trials} trials"
        requests = sum(each.get(what, 0) for each in counts for what in ("names", "read", "write", "create"))
        yield Figure(f"{name}: wall clock to the ideal ({ideal:g} s)", "", [wall / ideal])
        sent = sum(each.get("bytes", 0) for each in counts)
        yield Figure(f"{name}: requests to the store per trial", "", [requests / trials])
        yield Figure(f"{name}: bytes sent per trial", "KB", [sent / trials / 1e3])
        yield Figure(f"{name}: memory of a process", "MB", [max(each["memory"] for each in counts) / 1e3])


def _run(processes: int, at_once: int, trials: int, seconds: float) -> tuple[float, list[dict[str, int]]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(_CONFTEST)
        (folder / "waits.py").write_text(_PARTICIPANTS)
        command = [
            *(sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:randomly", "--tau-domain", "mock"),
            *("--tau-agent", "waits.py:Agent", "--tau-user", "waits.py:User", "--tau-trials", str(trials // 16)),
            *("--tau-results", (folder / "store").as_uri(), "--tau-run-name", "run", "--tau-queue"),
            *("--tau-concurrency", str(at_once)),
        ]
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "TAU_"))}
        environment["SECONDS"] = str(seconds)
        began = time.monotonic()
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running = [subprocess.Popen(command, cwd=folder, env=environment, **quiet) for _ in range(processes)]
        for process in running:
            if process.wait() not in (0, 1):
                raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}")
        wall = time.monotonic() - began
        return wall, [json.loads(each.read_text()) for each in sorted(folder.glob("counts-*.json"))]
