"""A capability is a folder: a copy of the package without it works, and nothing outside of it knows its name."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_tau.capabilities import BUNDLED

ROOT = Path(__file__).parents[2]
#: What a copy is tested with: the tests of the quick tier that reach options, trials, stored runs, and every report. All of
#: the tier would take minutes for each capability.
TESTED = [
    *(f"tests/unit/test_{name}.py" for name in ("capability", "cli_options", "export")),
    *(f"tests/plugin/test_{name}.py" for name in ("options", "outcomes")),
]
#: In how many copies the capabilities are missing, and in how many of them each is.
COPIES, MISSING = 6, 3


def gone_in(copy: int) -> list[str]:
    """Return the capabilities that a copy lacks: of any two, each is in a copy without the other."""
    ways = itertools.combinations(range(COPIES), MISSING)
    return [name for name, copies in zip(BUNDLED, ways, strict=False) if copy in copies]


def copy_without(names: list[str], target: Path) -> None:
    ignored = shutil.ignore_patterns(".git", ".venv*", ".tau", ".*_cache", "*.egg-info", "site", ".hypothesis")
    shutil.copytree(ROOT, target, ignore=ignored)
    table = target / "pytest_tau" / "capabilities" / "__init__.py"
    text = table.read_text(encoding="utf-8")
    for name in names:
        shutil.rmtree(table.parent / name)
        text, found = re.subn(rf'"{name}",?\s*', "", text)
        assert found == 1
    table.write_text(text, encoding="utf-8")


def in_copy(target: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    # The packages of the copy, before those of the checkout that the environment has.
    (target / "site").mkdir(exist_ok=True)
    for package, folder in {
        "pytest_tau": "pytest_tau",
        "pytest_tau_domains": "domains",
        "pytest_tau_tasks": "tasks",
    }.items():
        link = target / "site" / package
        if not link.exists():
            link.symlink_to(target / folder)
    environment["PYTHONPATH"] = str(target / "site")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
    return subprocess.run(command, cwd=target, env=environment, capture_output=True, text=True, check=False)


def test_each_is_missing_where_another_one_is_not() -> None:
    gone = [gone_in(copy) for copy in range(COPIES)]
    for name, other in itertools.permutations(BUNDLED, 2):
        assert any(name in names and other not in names for names in gone), (name, other)


@pytest.mark.exhaustive
@pytest.mark.parametrize("copy", range(COPIES))
def test_everything_else_works_without_them(copy: int, tmp_path: Path) -> None:
    target = tmp_path / "pytest-tau"
    copy_without(gone_in(copy), target)
    for arguments in (["--tau-domain", "mock"], [*TESTED, "--maxfail=5"]):
        done = in_copy(target, *arguments)
        assert done.returncode == 0, done.stdout[-5000:]


def test_nothing_else_knows_their_names() -> None:
    home = ROOT / "pytest_tau" / "capabilities"
    texts = {each: each.read_text(encoding="utf-8") for each in (ROOT / "pytest_tau").rglob("*.py")}
    found = {}
    for name in BUNDLED:
        known = re.compile(rf"\b{name}\b" if "_" in name else rf"capabilities\.{name}\b")
        others = (each for each in texts if not {home / name, home / "__init__.py"} & {each, *each.parents})
        found[name] = [str(each) for each in others if known.search(texts[each])]
    assert not any(found.values()), found
