"""What is printed goes through one function, which makes the texts of others harmless."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from .sources import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "pytest_tau").rglob("*.py"))
#: How many calls of a file print something else than a call of ``printable``, and what.
OTHERS = {
    "cli/__init__.py": 1,  # the version
    "cli/init.py": 1,  # names that the command was given
    "cli/schema.py": 1,  # a path that the command was given
    "commands/output.py": 1,  # JSON, which has escapes of its own
    "plugin/failure_repr.py": 3,  # lines that the constructor has made printable
    "plugin/report/progress.py": 2,  # numbers, and node ids that are made printable
    "plugin/report/terminal.py": 2,  # commands of this package, and parts of printable lines
}


def printed() -> Iterator[tuple[str, bool]]:
    """Every call of ``print``, ``write_line`` and a terminal writer's ``line``: its file, and if it is printable."""
    for file in SOURCES:
        for node in nodes_of(file):
            if isinstance(node, ast.Call) and node.args and _prints(node.func):
                yield file.relative_to(ROOT / "pytest_tau").as_posix(), _is_call_of_printable(node.args[0])


def _is_call_of_printable(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "printable"


def _prints(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id == "print"
    if not isinstance(function, ast.Attribute):
        return False
    on_writer = function.attr == "line" and isinstance(function.value, ast.Name) and function.value.id == "tw"
    return function.attr == "write_line" or on_writer


def test_what_is_printed_is_made_printable() -> None:
    found = list(printed())
    assert sum(printable for _, printable in found) >= 6
    assert Counter(file for file, printable in found if not printable) == OTHERS
