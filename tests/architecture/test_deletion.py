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
#: What a copy is tested with: the tests of the quick tier that reach options, trials, stored runs, and every report. All of
#: the tier would take minutes for each capability.
TESTED = [
    *(f"tests/unit/test_{name}.py" for name in ("capability", "cli_options", "export")),
    *(f"tests/plugin/test_{name}.py" for name in ("options", "outcomes")),
]
#: Tests of these files are about all capabilities at once, or list every module and option.
ABOUT_ALL = {"test_capabilities.py", "test_inert.py", "test_docs.py"}


def copy_without(name: str, target: Path) -> None:
    ignored = shutil.ignore_patterns(
        ".git", ".venv*", "__pycache__", ".tau", ".*_cache", "*.egg-info", "site", ".hypothesis"
    )
    shutil.copytree(ROOT, target, ignore=ignored)
    shutil.rmtree(target / "pytest_tau" / "capabilities" / name)
    table = target / "pytest_tau" / "capabilities" / "__init__.py"
    text = table.read_text(encoding="utf-8")
    without = re.sub(rf'"{name}",?\s*', "", text)
    assert without != text
    table.write_text(without, encoding="utf-8")


def in_copy(target: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    # The packages of the copy, before those of the checkout that the environment has.
    (target / "site").mkdir(exist_ok=True)
    for package, folder in (
        ("pytest_tau", "pytest_tau"),
        ("pytest_tau_domains", "domains"),
        ("pytest_tau_tasks", "tasks"),
    ):
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
    done = in_copy(target, "--tau-domain", "mock")
    assert done.returncode == 0, done.stdout[-3000:]
    found = sorted(file for pattern in TESTED for file in target.glob(pattern))
    # A test of the capability itself is called like it.
    tests = [file for file in found if file.name not in ABOUT_ALL and not file.name.startswith(f"test_{name}")]
    assert len(tests) > 3
    done = in_copy(target, *(str(file.relative_to(target)) for file in tests), "--maxfail=5")
    assert done.returncode == 0, done.stdout[-5000:]


@pytest.mark.parametrize("name", BUNDLED)
def test_nothing_else_knows_its_name(name: str) -> None:
    home = ROOT / "pytest_tau" / "capabilities"
    known = re.compile(rf"\b{name}\b" if "_" in name else rf"capabilities\.{name}\b")
    files = [each for each in (ROOT / "pytest_tau").rglob("*.py") if home / name not in each.parents]
    found = [
        str(each) for each in files if each != home / "__init__.py" and known.search(each.read_text(encoding="utf-8"))
    ]
    assert found == []
