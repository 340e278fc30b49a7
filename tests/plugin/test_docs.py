"""What the documentation shows works as it is shown."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_domain_of_the_docs_runs(pytester: pytest.Pytester) -> None:
    python, json = blocks("docs/domains.md", "python"), blocks("docs/domains.md", "json")
    tasks = pytester.mkdir("library") / "tasks"
    tasks.mkdir()
    pytester.path.joinpath("library_domain.py").write_text(python[0], encoding="utf-8")
    pytester.path.joinpath("conftest.py").write_text(python[1], encoding="utf-8")
    pytester.path.joinpath("library/db.json").write_text(json[0], encoding="utf-8")
    pytester.path.joinpath("library/policy.md").write_text(blocks("docs/domains.md", "text")[0], encoding="utf-8")
    tasks.joinpath("lending.json").write_text(json[1], encoding="utf-8")
    pytester.syspathinsert()
    result = pytester.runpytest("-pno:asyncio", "--tau-domain", "library")
    result.assert_outcomes(passed=1)
    result = pytester.runpytest("-pno:asyncio", "--tau-domain", "library", "--tau-agent", "noop")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*books/b1/lent_to*expected "Ines"*got null*'])


def test_the_saboteur_does_what_the_readme_shows(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    agent = "--tau-agent=saboteur:forgets-last-write"
    result = pytester.runpytest("-pno:asyncio", "--tau-domain", "retail", "--tau-split", "small", agent)
    result.assert_outcomes(passed=1, failed=11)
    shown = next(block for block in blocks("README.md", "console") if "saboteur" in block)
    begun = ("reward 0", "database", "  orders", "turning point", "looks like", "  agent", "  user", "tau: retail:")
    lines = [line for line in shown.splitlines() if line.startswith(begun)]
    assert len(lines) == 10
    written = result.stdout.str()
    for line in lines:
        assert line in written


def test_the_example_agent_passes_most(pytester: pytest.Pytester) -> None:
    agent = f"{ROOT / 'examples' / 'account_desk.py'}:AccountDesk"
    result = pytester.runpytest(
        "-pno:asyncio", "--tau-domain", "telecom", "--tau-split", "small", f"--tau-agent={agent}", "--tau-user=gold"
    )
    result.assert_outcomes(passed=18, failed=3)


def test_the_marked_test_of_the_readme_runs(pytester: pytest.Pytester) -> None:
    marked = next(block for block in blocks("README.md", "python") if "pytest.mark.tau" in block)
    pytester.makepyfile(marked)
    result = pytester.runpytest("-pno:asyncio", "-k", "service.airplane and trial-1")
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] > 1


def test_the_python_of_the_readme_runs() -> None:
    code = next(block for block in blocks("README.md", "python") if "load_domain" in block)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["reward"].reward == names["simulation"].reward == 1  # type: ignore[attr-defined]


def test_the_commands_of_the_readme_select_something(pytester: pytest.Pytester) -> None:
    shown = next(block for block in blocks("README.md", "console") if "--tau-split small     " in block)
    commands = [shlex.split(line.removeprefix("$ pytest"), comments=True) for line in shown.splitlines()]
    commands = [command for command in commands if "tests/tasks/refunds.json" not in command and "-n" not in command]
    assert len(commands) == 7
    for command in commands:
        result = pytester.runpytest("-pno:asyncio", "-q", *command)
        assert result.ret == 0
        assert result.parseoutcomes()["passed"] >= 1
