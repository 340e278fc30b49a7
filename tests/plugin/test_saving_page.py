"""The examples of docs/gates.md give what the page shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_tau.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.exhaustive, pytest.mark.usefixtures("light_processes", "warm_processes")]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/gates.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return re.split(r"^## ", PAGE.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]


def commands(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the arguments of each command of a section, with the lines that it shows."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for each in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = each.splitlines()
            yield shlex.split(command), [line for line in lines if line]


def output_of(command: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    if command[0] == "tau":
        assert main(command[1:]) == 0
        return capfd.readouterr().out
    ran = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


def in_one_line(text: str) -> str:
    """Return the text without the breaks of long lines."""
    return " ".join(text.split())


def check(title: str, capfd: pytest.CaptureFixture[str]) -> None:
    for command, shown in commands(section(title)):
        found = output_of(command, capfd)
        for line in shown:
            assert in_one_line(line) in in_one_line(found), found


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of retail's data."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data/domains/retail"
    folder.mkdir(parents=True)
    for name in ("domains/retail", "tasks/retail"):
        for file in (ROOT / name).glob("*.json"):
            shutil.copy(file, folder)
    shutil.copy(ROOT / "domains/retail/policy.md", folder)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("shop")
def test_many_runs_give_the_table(capfd: pytest.CaptureFixture[str]) -> None:
    check("Many runs in one table", capfd)


def test_a_change_of_the_policy_runs_a_part_of_the_tasks(shop: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (first, _), (second, shown) = commands(section("Only what a change concerns"))
    output_of(first, capfd)
    policy = shop / "data/domains/retail/policy.md"
    heading = "## Exchange items of a delivered order"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace(heading, f"{heading}\n\nExchange items within 30 days only.\n"), encoding="utf-8")
    found = output_of(second, capfd)
    for line in shown:
        assert in_one_line(line) in in_one_line(found), found
    assert "34 of 172 trials were run" in PAGE and "34 passed, 138 deselected" in found


def test_a_conversation_is_lost_where_the_page_says(shop: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert shop.is_dir()
    check("Continue from a turn", capfd)
