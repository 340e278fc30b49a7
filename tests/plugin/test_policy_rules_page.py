"""The page on rules of a policy: its table, its output, and its example."""

from __future__ import annotations

import json
import re
from pathlib import Path

from import_file import import_file

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/policy.md").read_text(encoding="utf-8")

#: Lends a book for too long, without asking.
AGENT = """
from pytest_tau.testing import ScriptedParticipant, call

class it(ScriptedParticipant):
    def __init__(self):
        super().__init__([call("lend", book="Emma", days=60), "Done."])

class user(ScriptedParticipant):
    def __init__(self):
        super().__init__(["I want Emma.", "###STOP###"])
"""


def shown_output(first: str) -> list[str]:
    """The lines of the block of output that begins like this."""
    blocks = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    return next(block for block in blocks if block.startswith(first)).splitlines()


def test_the_table_is_that_of_the_domains() -> None:
    """``python scripts/policy_rules.py`` brings it up to date."""
    module = import_file(ROOT / "scripts" / "policy_rules.py")
    assert module.page() == PAGE
    assert "| retail | `one-call`, " in module.tables()


def test_the_output_of_the_saboteur_is_real(project, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    command = re.search(r"\$ pytest (--tau-domain retail .*)", PAGE)
    assert command is not None
    run = project.run(*command[1].split())
    run.outcomes(passed=1)
    for line in shown_output("tau: retail"):
        assert line in run.text


def test_the_example_runs(project, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    project.write("conftest.py", blocks[0])
    project.write("parts.py", AGENT)
    action = {"action_id": "a", "name": "lend", "arguments": {"book": "Emma", "days": 60}}
    task = {
        "id": "emma",
        "user_scenario": {"instructions": "You want Emma."},
        "evaluation_criteria": {"actions": [action], "reward_basis": ["DB"]},
    }
    project.write("tasks.json", json.dumps([task]))
    run = project.run("--tau-domain", "desk", "--tau-agent", "parts.py:it", "--tau-user", "parts.py:user")
    run.outcomes(passed=1)
    for line in shown_output("tau:                 broken rules: confirmation (1 trial, 1 breach), month"):
        assert line in run.text
