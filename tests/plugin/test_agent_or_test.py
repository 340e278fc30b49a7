"""The page docs/agent_or_test.md, from a red test to a task that is put right."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_tau.cli import main

ROOT = Path(__file__).parents[2]
#: Without it, pytest-asyncio warns in every run.
QUIET = ("-o", "asyncio_default_fixture_loop_scope=function")


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
    result = example.runpytest(*command.split()[1:], *QUIET)
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
    result = example.runpytest("accepted.json", *QUIET)
    result.assert_outcomes(passed=1)
    assert shown("pytest accepted.json").removeprefix("…\n") in result.stdout.str()


@pytest.fixture
def bookings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_processes: None) -> Path:
    """The project that ``tau init`` makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["init", "."]) == 0
    return tmp_path


def tau(folder: Path, *args: str, errors: str = "") -> tuple[int, str]:
    # In a process of its own: the project's modules have the names of other projects' ones.
    command = [sys.executable, "-c", "import sys; from pytest_tau.cli import main; sys.exit(main())", *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert all(errors and line.startswith(errors) for line in done.stderr.splitlines()), done.stderr
    return done.returncode, done.stdout


def test_one_command_says_what_the_suite_is_worth(bookings: Path) -> None:
    assert tau(bookings, "lint") == (0, shown("tau lint"))
    status, out = tau(bookings, "mutants", "--tau-agent", "agent.py:Agent", errors="plan: ")
    score = shown("tau mutants --tau-agent agent.py:Agent").removeprefix("…\n")
    assert (status, out.endswith(score)) == (0, True), out
    assert f"mutants: {score.partition(' (')[0]} (" in tau(bookings, "lint")[1]


def test_coverage_lists_what_nothing_touches(bookings: Path) -> None:
    status, out = tau(bookings, "coverage", "--max", "1")
    assert status == 0
    parts = shown("tau coverage --max 1").split("…\n")
    assert len(parts) == 5
    places = [out.index(part) for part in parts if part]
    assert places == sorted(places)
    assert places[0] == 0


def test_coverage_has_a_gate_and_a_page(bookings: Path) -> None:
    status, out = tau(bookings, "coverage", "--fail-under", "branches=90", "--html", "coverage.html")
    assert (status, out.splitlines()[-2:]) == (
        1,
        ["too low: bookings: branches: 5 of 6 (83.3 %) is below 90 %", "page: coverage.html"],
    )
    assert "Bookings at an event are paid." in (bookings / "coverage.html").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_the_proposals_for_the_airline_are_those_of_the_page(tmp_path: Path) -> None:
    status, out = tau(tmp_path, "coverage", "--domain", "airline", "--propose-tasks", "8", "--json")
    assert status == 0
    (found,) = json.loads(out)["domains"]
    pairs = [found[part]["pairs"]["touched"] for part in ("kinds", "with_proposed", "chosen_alone")]
    assert pairs == [9, 18, 18]
    assert len(found["proposed"]) == 8
    for kind, row in found["kinds"].items():
        assert found["chosen_alone"][kind]["touched"] >= row["touched"], kind
