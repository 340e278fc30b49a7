"""Ctrl-C while a tool of a domain does not return."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.exhaustive

#: Add 9 and the tool sends Ctrl-C to pytest, and then does not return.
CONFTEST = """
import os
import signal
import time
from pathlib import Path

import pytest_tau

PYTEST = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


class Box:
    def __init__(self):
        self.number = 0


def change(box, by):
    box["number"] = box["number"] + by
    if by == 9:
        time.sleep(2.1)  # a trial that an interruption names has taken two seconds
        os.kill(PYTEST, signal.SIGINT)
        while True:
            WAIT
    return box["number"]


STATE = {"number": 0}


def restore(state):
    STATE.clear()
    STATE.update(state)


DEFINITION
FOLDER = Path(__file__).parent / "box"


def pytest_tau_domains():
    return [pytest_tau.domain_of("box", tools=[add], folder=FOLDER, **GIVEN)]
"""
DOCUMENTED = '''
    """Add.

    Args:
        by: A number.
    """
'''
OWN = f"""
{{}}def add(box: Box, by: int) -> int:
{DOCUMENTED}
    return change(vars(box), by)
GIVEN = {{{{"make": Box, "snapshot": vars}}}}
"""
DEFINITIONS = {
    "object": OWN.format(""),
    "asynchronous": OWN.format("async "),
    "shared": f"""
def add(by: int) -> int:
{DOCUMENTED}
    return change(STATE, by)
GIVEN = {{"snapshot": lambda: STATE, "restore": restore}}
""",
}
#: The reference is not what the agent does, as it is carried out before the run.
AGENT = """
import re

def agent(messages, tools):
    if messages[-1]["role"] == "tool":
        return "Done."
    number = int(re.search(r"[0-9]", messages[-1]["content"])[0])
    return {"tool_calls": [{"name": "add", "arguments": {"by": number}}]}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("kind", "wait", "workers"),
    [
        ("object", "time.sleep(600)", ()),
        ("asynchronous", "time.sleep(600)", ()),
        ("asynchronous", "pass", ("-n", "1")),
        ("shared", "time.sleep(600)", ()),
    ],
)
def test_ctrl_c_ends_the_run_and_names_the_trial(pytester: pytest.Pytester, kind: str, wait: str, workers) -> None:
    source = CONFTEST.replace("WAIT", wait).replace("DEFINITION", DEFINITIONS[kind])
    pytester.makeconftest(source)
    pytester.makepyfile(own=AGENT)
    tasks = [
        {
            "id": name,
            "user_scenario": {"instructions": f"You want {said} to be added."},
            "evaluation_criteria": {"actions": [{"action_id": "a", "name": "add", "arguments": {"by": expected}}]},
        }
        for name, said, expected in (("one", 1, 1), ("two", 9, 8), ("three", 3, 3))
    ]
    (pytester.mkdir("box") / "tasks").mkdir()
    (pytester.path / "box/tasks/tasks.json").write_text(json.dumps(tasks))
    options = ["--tau-domain=box", "--tau-agent=own.py:agent", "--tau-user=gold", "--tau-concurrency=1", *workers]
    options.append("-pno:randomly")  # the first task must be stored before the second one is interrupted
    # A process of its own, which a shell may have started with SIGINT ignored.
    program = "import signal, sys, pytest; signal.signal(2, signal.default_int_handler); sys.exit(pytest.main())"
    run = subprocess.run(
        [sys.executable, "-c", program, *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")},
    )
    assert run.returncode == pytest.ExitCode.INTERRUPTED, run.stdout + run.stderr
    assert re.search(r"^tau: waiting for box::two\[trial-0\] \([2-9] s\)$", run.stdout, re.MULTILINE), run.stdout
    assert "tau: 3 tasks x 1 trial planned: 1 run, 2 not run (session ended early)" in run.stdout
    (stored,) = pytester.path.glob(".tau/runs/*/simulations*.jsonl")
    trials = [json.loads(line) for line in stored.read_text().splitlines()]
    kinds = {trial["task_id"]: (trial["info"] or {}).get("error_kind") for trial in trials}
    assert kinds == {"one": None, "two": "interrupted"}
    for word in ("INTERNALERROR", "Traceback", "never awaited"):
        assert word not in run.stdout + run.stderr
