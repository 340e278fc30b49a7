"""docs/gates.md: each of its examples saves what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_tau.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.exhaustive

PAGE = (Path(__file__).parents[2] / "docs" / "gates.md").read_text(encoding="utf-8")


class Shown(NamedTuple):
    """A command of the page, and the lines that are shown below it; others may be between them."""

    words: list[str]
    lines: list[str]


def commands(section: str) -> Iterator[Shown]:
    """Yield the commands of a section of the page."""
    (text,) = (each for each in re.split(r"^##+ ", PAGE, flags=re.MULTILINE) if each.startswith(section))
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield Shown(shlex.split(command), [line for line in lines if line != "..."])


def check_runs(pytester: pytest.Pytester, section: str) -> None:
    for shown in commands(section):
        if shown.words[0] == "tau":
            assert main(shown.words[1:]) == 0
            continue
        written = pytester.runpytest_inprocess("-pno:asyncio", *shown.words[1:]).stdout.str()
        for line in shown.lines:
            assert " ".join(line.split()) in " ".join(written.split()), "but for the breaks of long lines"


@pytest.fixture(autouse=True)
def _there(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(pytester.path)


def test_plan(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = commands("Planning a run")
    assert main(shown.words[1:]) == 1  # a loss of ten points is not seen
    assert capsys.readouterr().out.splitlines() == shown.lines


def test_gate(pytester: pytest.Pytester) -> None:
    found = [*commands("Stopping early")]
    assert [len(each.lines) for each in found] == [2]
    check_runs(pytester, "Stopping early")


def test_comparison(pytester: pytest.Pytester) -> None:
    found = [*commands("Looks while the run is under way")]
    assert [len(each.lines) for each in found] == [0, 0, 3]
    check_runs(pytester, "Looks while the run is under way")


def test_own_test(pytester: pytest.Pytester) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (pytester.path / "test_bags.py").write_text(block, encoding="utf-8")
    (shown,) = commands("Gates of single tests")
    assert len(shown.lines) == 3
    check_runs(pytester, "Gates of single tests")


def test_the_cost_of_the_page_on_ci(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
    command, *lines = page.partition("$ tau plan")[2].partition("\n```")[0].splitlines()
    assert main(["plan", *shlex.split(command)]) == 0
    assert capsys.readouterr().out.splitlines() == lines
