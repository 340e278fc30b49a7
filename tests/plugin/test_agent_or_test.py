"""The page docs/agent_or_test.md, from a red test to a task that is put right."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from pytest_tau.cli import main

ROOT = Path(__file__).parents[2]


def shown(command: str) -> str:
    """Return what the page shows after a command."""
    page = (ROOT / "docs" / "agent_or_test.md").read_text(encoding="utf-8")
    after = page.partition(f"$ {command}\n")[2]
    assert after, command
    return re.split(r"```|^\$ ", after, maxsplit=1, flags=re.MULTILINE)[0]


@pytest.fixture
def example(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A copy of the files of the page."""
    shutil.copytree(ROOT / "examples" / "agent_or_test", pytester.path, dirs_exist_ok=True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(pytester.path)
    monkeypatch.syspath_prepend(str(pytester.path))
    return pytester


def test_the_red_test_names_the_party(example: pytest.Pytester) -> None:
    command = "pytest cancel.json --tau-results runs --tau-run-name red"
    result = example.runpytest(*command.split()[1:])
    result.assert_outcomes(failed=1)
    for part in shown(command).split("…\n"):
        assert part.strip() in result.stdout.str()


@pytest.mark.parametrize("name", ["cancel.json", "accepted.json"])
def test_lint_prints_what_is_shown(example: pytest.Pytester, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["lint", name]) == 0
    assert capsys.readouterr().out == shown(f"tau lint {name}")


def test_what_is_proposed_has_been_accepted(example: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "cancel.json", "--propose", "--json"]) == 0
    (proposed,) = json.loads(capsys.readouterr().out)
    (task,) = json.loads(Path("accepted.json").read_text(encoding="utf-8"))
    without_why = [{**outcome, "why": ""} for outcome in proposed["outcomes"]]
    assert without_why == [{**outcome, "why": ""} for outcome in task["evaluation_criteria"]["outcomes"]]
    assert main(["lint", "accepted.json", "--propose", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_the_task_that_was_put_right_passes(example: pytest.Pytester) -> None:
    result = example.runpytest("accepted.json")
    result.assert_outcomes(passed=1)
    assert shown("pytest accepted.json").removeprefix("…\n") in result.stdout.str()
