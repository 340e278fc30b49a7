"""docs/gates.md: the commands of its examples give what the page shows below them."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_tau.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.exhaustive, pytest.mark.usefixtures("light_processes", "warm_processes")]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")


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
            yield Shown(shlex.split(command), [line for line in lines if line not in ("", "...")])


@pytest.fixture
def check(pytester: pytest.Pytester, capfd: pytest.CaptureFixture[str]):
    """Run commands, compare what they write with what is shown, and return the output of the last one."""

    def run(*found: Shown) -> str:
        written = ""
        for shown in found:
            capfd.readouterr()
            if shown.words[0] == "tau":
                assert main(shown.words[1:]) == 0
                written = capfd.readouterr().out
            else:
                written = pytester.run(sys.executable, "-m", *shown.words).stdout.str()
            for line in shown.lines:
                assert " ".join(line.split()) in " ".join(written.split()), "but for the breaks of long lines"
        return written

    return run


@pytest.fixture(autouse=True)
def _there(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(pytester.path)


@pytest.fixture
def shop(pytester: pytest.Pytester) -> Path:
    """A folder with a copy of retail's data."""
    folder = pytester.path / "data/domains/retail"
    folder.mkdir(parents=True)
    for name in ("domains/retail", "tasks/retail"):
        for file in (ROOT / name).glob("*.json"):
            shutil.copy(file, folder)
    shutil.copy(ROOT / "domains/retail/policy.md", folder)
    return pytester.path


def test_plan(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = commands("Planning a run")
    assert main(shown.words[1:]) == 1  # a loss of ten points is not seen
    assert capsys.readouterr().out.splitlines() == shown.lines


@pytest.mark.parametrize(
    ("section", "lines"), [("Stopping early", [2]), ("Looks while the run is under way", [0, 0, 3])]
)
def test_stopping(check, section: str, lines: list[int]) -> None:
    found = [*commands(section)]
    assert [len(each.lines) for each in found] == lines
    check(*found)


def test_own_test(pytester: pytest.Pytester, check) -> None:
    (block,) = (text for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "at_least" in text)
    (pytester.path / "test_bags.py").write_text(block, encoding="utf-8")
    (shown,) = commands("Gates of single tests")
    assert len(shown.lines) == 2
    check(shown)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("section", ["Many runs in one table", "Continue from a turn"])
def test_table_and_fork(check, section: str) -> None:
    check(*commands(section))


def test_a_change_of_the_policy_runs_a_part_of_the_tasks(shop: Path, check) -> None:
    first, second = commands("Only what a change concerns")
    check(first._replace(lines=[]))
    policy = shop / "data/domains/retail/policy.md"
    heading = "## Exchange items of a delivered order"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace(heading, f"{heading}\n\nExchange items within 30 days only.\n"), encoding="utf-8")
    assert "34 passed, 138 deselected" in check(second)


def test_the_cost_of_the_page_on_ci(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    command, *lines = page.partition("$ tau plan")[2].partition("\n```")[0].splitlines()
    assert main(["plan", *shlex.split(command)]) == 0
    assert capsys.readouterr().out.splitlines() == lines
