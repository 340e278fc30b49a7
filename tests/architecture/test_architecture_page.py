"""The page on the architecture, and the guide for contributors: every file, folder and name in them exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from for_each import for_each

from .sources import tree_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
#: A path from the repository's root in a code span, with the name of a definition after ``::``.
REFERENCE = re.compile(r"`((?:pytest_tau|domains|docs|examples|scripts|tasks|tests)/[\w./-]*)(?:::(\w+))?`")
#: A path inside the package, as the sections on flows give it.
INNER = re.compile(r"`((?:plugin|integrations)/[\w./]+)`")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
REFERENCES = sorted({*REFERENCE.findall(PAGE), *REFERENCE.findall(CONTRIBUTING)})


def rows() -> list[list[str]]:
    """Return the cells of the table of changes, row by row."""
    table = PAGE.partition("## Where to make a change\n")[2]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def definitions(file: Path) -> set[str]:
    """Return the names that a module defines at its top level."""
    names = set()
    for node in tree_of(file).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def packages(folder: Path) -> list[str]:
    """Return the names of the packages in a folder."""
    return sorted(path.parent.name for path in folder.glob("*/__init__.py"))


@for_each({"::".join(filter(None, each)): each for each in REFERENCES})
def test_every_path_and_name_exists(place: tuple[str, str]) -> None:
    path, name = place
    target = ROOT / path
    assert target.is_dir() if path.endswith("/") else target.exists()
    if name:
        assert name in definitions(target)


@for_each(sorted(set(INNER.findall(PAGE))))
def test_every_path_inside_the_package_exists(path: str) -> None:
    assert (ROOT / "pytest_tau" / path).exists()


def test_every_row_names_a_place() -> None:
    assert 10 <= len(rows()) <= 15
    for _change, places in rows():
        assert REFERENCE.search(places), places
    changes = [change for change, _places in rows()]
    assert len(set(changes)) == len(changes)


def test_the_drawings_show_every_package() -> None:
    drawing, inside = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    apart = {"integrations", "testing"}
    assert [name for name in packages(ROOT / "pytest_tau") if f"{name}/" not in drawing and name not in apart] == []
    assert [name for name in packages(ROOT / "pytest_tau" / "plugin") if f"{name}/" not in inside] == []
    assert all(f"`{name}/`" in PAGE for name in apart)


@pytest.mark.exhaustive
def test_the_state_objects_exist() -> None:
    table = PAGE.partition("## State of a run\n")[2].partition("## ")[0]
    names = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    defined = set().union(*(definitions(file) for file in (ROOT / "pytest_tau").rglob("*.py")))
    assert len(names) >= 2
    assert set(names) <= defined
