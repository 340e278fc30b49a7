"""A capability is a folder: a copy of the package without it works, and nothing outside of it knows its name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_tau.capabilities import BUNDLED

ROOT = Path(__file__).parents[2]
#: What a copy is tested with: a run that makes every report, and the tests of options, of capabilities, and of exports. All
#: of the quick tier would take minutes for each capability.
RUNS = [
    "--tau-domain mock --tau-trials 2 --tau-gate pass^1>=1 --tau-html run.html --tau-markdown run.md --junitxml run.xml",
    "--maxfail 5 tests/unit/test_capability.py tests/unit/test_cli_options.py tests/plugin/test_options.py "
    "tests/unit/test_export.py::test_a_run_is_the_same_once_it_is_read_back[mock-gold]",
]


def copy_without(name: str, target: Path) -> None:
    ignored = shutil.ignore_patterns(".git", ".venv*", ".tau", ".*_cache", "*.egg-info", "site", ".hypothesis")
    shutil.copytree(ROOT, target, ignore=ignored)
    table = target / "pytest_tau" / "capabilities" / "__init__.py"
    shutil.rmtree(table.parent / name)
    text, found = re.subn(rf'"{name}",?\s*', "", table.read_text(encoding="utf-8"))
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


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BUNDLED)
def test_everything_else_works_without_it(name: str, tmp_path: Path) -> None:
    target = tmp_path / "pytest-tau"
    copy_without(name, target)
    for arguments in RUNS:
        done = in_copy(target, *arguments.split())
        assert done.returncode == 0, done.stdout[-5000:]


def test_nothing_else_knows_their_names() -> None:
    home = ROOT / "pytest_tau" / "capabilities"
    texts = {each: each.read_text(encoding="utf-8") for each in (ROOT / "pytest_tau").rglob("*.py")}
    found = {}
    for name in BUNDLED:
        known = re.compile(rf"\b{name}\b" if "_" in name else rf"capabilities\.{name}\b")
        naming = (each for each, text in texts.items() if name in text and known.search(text))
        found[name] = [str(each) for each in naming if not {home / name, home / "__init__.py"} & {each, *each.parents}]
    assert not any(found.values()), found
