"""Python files, each parsed once for all tests of this folder, when a test asks for it."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@functools.cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(file: Path) -> list[ast.AST]:
    """Everything in a file, in the order of ``ast.walk``."""
    return list(ast.walk(tree_of(file)))
