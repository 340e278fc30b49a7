"""Processes on one queue, in a store with faults; one is killed every few seconds: nothing is lost or counted twice.

``python tests/end_to_end/test_queue_soak.py FOLDER`` does the same with 8 processes and 2,000 trials.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.exhaustive
#: Faults of the store, in the project's conftest.py: refused, slow, and done without an answer.
CONFTEST = """
import random, time
from pytest_tau.runs import store

def faulty(method):
    def call(self, *args):
        chance = random.random()
        if chance < 0.03:
            raise store.StoreError("injected: refused")
        if chance < 0.06:
            time.sleep(0.2)
        answer = method(self, *args)
        if chance > 0.98:
            raise store.StoreError("injected: the answer was lost")
        return answer
    return call

for name in ("write", "create", "names", "read"):
    setattr(store.FolderStore, name, faulty(getattr(store.FolderStore, name)))
"""
AGENT = """
import asyncio

class Agent:
    async def respond(self, message):
        await asyncio.sleep(0.05)
        return "Good-bye."
"""
USER = """
class User:
    def respond(self, message):
        return "Hello." if "help" in str(message.content) else "###STOP###"
"""


def test_nothing_is_lost_and_nothing_counted_twice(tmp_path):
    soak(tmp_path, 3, 160, kills=3)


def soak(tmp_path, processes, trials, kills):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "user.py").write_text(USER)
    url = (tmp_path / "shared").as_uri()
    command = [
        *(sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:randomly", "--tau-domain", "mock"),
        *("--tau-agent", "agent.py:Agent", "--tau-user", "user.py:User", "--tau-trials", str(trials // 16)),
        *("--tau-results", url, "--tau-run-name", "soak", "--tau-queue", "--tau-queue-lease", "6"),
        *("--tau-concurrency", "4", "--tau-policy-rules", "off"),
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TAU_"))}

    def start():
        return subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def merged():
        tau = [
            sys.executable,
            "-c",
            "import sys; from pytest_tau.cli import main; sys.exit(main())",
            "merge",
            f"{url}/soak",
        ]
        return subprocess.run(tau, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    draw, end, killed = random.Random(35), time.monotonic() + 900, 0
    running = [start() for _ in range(processes)]
    while any(process.poll() is None for process in running) and time.monotonic() < end:
        time.sleep(2)
        if killed < kills:
            victim = draw.randrange(processes)
            if running[victim].poll() is None:
                # Some are only paused, and go on when they are long taken for lost.
                running[victim].send_signal(signal.SIGKILL if draw.random() < 0.7 else signal.SIGSTOP)
                killed += 1
                running.append(start())
        elif killed == kills:
            for process in running:
                process.send_signal(signal.SIGCONT)
            killed += 1
    for process in running:
        process.kill()
        process.wait()
    done = merged()
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"mock: 16 tasks, {trials:,} trials" in done.stdout
    assert "missing" not in done.stdout
    assert killed > 0


if __name__ == "__main__":
    soak(Path(sys.argv[1]), 8, 2000, kills=12)
