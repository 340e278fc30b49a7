"""The rooms of a domain: its rules agent and its tasks build on the domain and never on each other."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

DOMAINS = Path(__file__).parents[2] / "domains"
ROOMED = sorted(path.parent for path in DOMAINS.glob("*/agent") if (path.parent / "tasks").is_dir())


def imported_modules(file: Path, nodes: Iterator[ast.AST] | list[ast.stmt]) -> Iterator[str]:
    """Yield the full names of what import statements name; ``from a import b`` is ``a.b``."""
    package = ["pytest_tau_domains", *file.relative_to(DOMAINS).parts[:-1]]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield from (".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names)


def imported_rooms(file: Path, *, deferred: bool = True) -> set[str]:
    """Return which of ``agent`` and ``tasks`` of its own domain a file imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    own = f"pytest_tau_domains.{file.relative_to(DOMAINS).parts[0]}"
    modules = list(imported_modules(file, ast.walk(tree) if deferred else tree.body))
    return {room for room in ("agent", "tasks") for name in modules if f"{name}.".startswith(f"{own}.{room}.")}


def test_there_are_domains_with_rooms() -> None:
    assert DOMAINS / "telecom" in ROOMED


@pytest.mark.parametrize("domain", ROOMED, ids=lambda folder: folder.name)
def test_agent_and_tasks_do_not_know_each_other(domain: Path) -> None:
    assert not [file.name for file in (domain / "agent").rglob("*.py") if "tasks" in imported_rooms(file)]
    assert not [file.name for file in (domain / "tasks").rglob("*.py") if "agent" in imported_rooms(file)]


@pytest.mark.parametrize("domain", ROOMED, ids=lambda folder: folder.name)
def test_the_domain_itself_imports_no_room_but_to_sample_tasks(domain: Path) -> None:
    modules = [file for file in domain.glob("*.py") if file.name != "__init__.py"]
    assert not [file.name for file in modules if imported_rooms(file)]
    assert imported_rooms(domain / "__init__.py") == {"tasks"}
    assert not imported_rooms(domain / "__init__.py", deferred=False)
