"""The content of a build: every module and every data file of the repository."""

from __future__ import annotations

import re
import runpy
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
ROOTS = {"pytest_tau": "pytest_tau", "pytest_tau_domains": "domains", "pytest_tau_tasks": "tasks"}


@pytest.fixture
def arguments(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What setup.py hands to setuptools, which need not be installed."""
    given: dict[str, Any] = {}
    monkeypatch.setitem(sys.modules, "setuptools", SimpleNamespace(setup=given.update))
    monkeypatch.chdir(ROOT)
    runpy.run_path("setup.py")
    return given


def files_of(folder: str) -> set[Path]:
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path for path in files if not any(part.startswith((".", "__pycache__")) for part in path.parts)}


def test_every_file_is_packaged(arguments: dict[str, Any]) -> None:
    packaged: set[Path] = set()
    for package in arguments["packages"]:
        root, *inner = package.split(".")
        packaged |= set((ROOT / arguments["package_dir"][root]).joinpath(*inner).glob("*.py"))
    for root, names in arguments["package_data"].items():
        packaged |= {ROOT / arguments["package_dir"][root] / name for name in names}
    assert packaged == set().union(*map(files_of, ROOTS.values()))
    assert len(packaged) > 300


def test_the_roots_keep_their_names(arguments: dict[str, Any]) -> None:
    assert arguments["package_dir"] == ROOTS
    assert {"pytest_tau.plugin", "pytest_tau_domains.airline", "pytest_tau_tasks"} <= set(arguments["packages"])
    assert {"py.typed"} <= set(arguments["package_data"]["pytest_tau"])
    assert {"airline/policy.md", "airline/db.json"} <= set(arguments["package_data"]["pytest_tau_domains"])
    assert {"airline/tasks.json"} <= set(arguments["package_data"]["pytest_tau_tasks"])
    assert {"reports/html/page/page.html"} <= set(arguments["package_data"]["pytest_tau"])
    templates = {"cli/templates/agents/plain/agent.py.in", "cli/templates/ci/github/tau.yml.in"}
    assert templates <= set(arguments["package_data"]["pytest_tau"])


def test_the_sources_of_the_site_are_not_packaged(arguments: dict[str, Any]) -> None:
    names = [f"{root}/{name}" for root, files in arguments["package_data"].items() for name in files]
    assert [name for name in names if re.search(r"(^|/)(docs|site|images)/|mkdocs", name)] == []
    assert not (ROOT / "MANIFEST.in").exists()
    assert not re.search(r"mkdocs|rich", PROJECT.partition("\ndependencies = [")[2].partition("\n]")[0])
    (extra,) = re.findall(r"^docs = \[(.+)\]$", PROJECT, re.MULTILINE)
    assert "mkdocs-material==" in extra


def entry_points() -> list[EntryPoint]:
    """The scripts, plugins and domains in pyproject.toml, regardless of what an earlier installation has registered."""
    found = []
    for table, lines in re.findall(r"^\[project\.(scripts|entry-points.*)\]\n((?:.+\n)+)", PROJECT, re.MULTILINE):
        group = table.removeprefix("entry-points.").strip('"')
        found += [
            EntryPoint(name, value, group) for name, value in re.findall(r'^([\w-]+) = "(.+)"$', lines, re.MULTILINE)
        ]
    return found


@pytest.mark.parametrize("entry", entry_points(), ids=lambda entry: f"{entry.group}-{entry.name}")
def test_entry_points_resolve(entry: EntryPoint, arguments: dict[str, Any]) -> None:
    entry.load()
    assert {entry.module, entry.module.rpartition(".")[0]} & set(arguments["packages"])


def test_every_bundled_domain_is_registered() -> None:
    entries = entry_points()
    assert {entry.group for entry in entries} == {"scripts", "pytest11", "pytest_tau.domains"}
    registered = {entry.module for entry in entries if entry.group == "pytest_tau.domains"}
    folders = {path.parent.name for path in (ROOT / "domains").glob("[!_]*/__init__.py")}
    assert registered == {f"pytest_tau_domains.{name}" for name in folders}
