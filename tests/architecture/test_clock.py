"""Limits, pauses and event loops of trials use the clock that no test freezes."""

from __future__ import annotations

import ast
from pathlib import Path

from .sources import nodes_of

PACKAGE = Path(__file__).parents[2] / "pytest_tau"
#: The parts that run in the process of a test.
PARTS = ("background.py", "chat", "environment", "orchestrator", "plugin/context", "plugin/run", "runner")
FROZEN = {("time", "monotonic"), ("time", "perf_counter"), ("asyncio", "new_event_loop"), ("asyncio", "run")}


def test_no_part_of_a_trial_reads_a_clock_that_a_test_may_freeze() -> None:
    files = [
        file
        for part in PARTS
        for file in ([PACKAGE / part] if part.endswith(".py") else (PACKAGE / part).rglob("*.py"))
    ]
    assert len(files) > 50
    found = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}: use pytest_tau.clock"
        for file in files
        for node in nodes_of(file)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (node.value.id, node.attr) in FROZEN
    ]
    assert found == []
