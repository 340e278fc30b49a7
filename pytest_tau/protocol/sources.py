"""The Python sources of a checkout as data: its modules, their constants, classes and imports. Nothing is executed."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Folders in which no texts of the benchmark are.
_SKIPPED = frozenset({"tests", "test", "node_modules", "venv", "site-packages", "build", "dist", "web", "__pycache__"})
#: The fields of statements that have statements.
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


@dataclass
class Module:
    """One source file.

    Attributes:
        path: Its path, relative to the checkout.
        body: Its syntax tree.
        names: What its top level defines, by name: a class, a function, or the expression that is assigned.
        imports: The names that it imports from other modules, each with the parts of the module's name and the name
            there.
    """

    path: Path
    body: ast.Module
    names: dict[str, ast.AST] = field(default_factory=dict)
    imports: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path, text: str) -> Module:
        """Return the module of a source text.

        Raises:
            SyntaxError: It is not Python, or of a later version.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as invalid escapes in strings of others
            module = cls(path, ast.parse(text))
        for node in module.body.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                module.names[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                module.names[node.targets[0].id] = node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                module.names[node.target.id] = node.value
        for statement in _imports(module.body):
            # Relative imports are found by the end of the path, like the others.
            parts = tuple((statement.module or "").split(".")) if statement.module else ()
            module.imports |= {alias.asname or alias.name: (parts, alias.name) for alias in statement.names}
        return module

    @property
    def classes(self) -> list[ast.ClassDef]:
        """Return the classes of the top level."""
        return [node for node in self.names.values() if isinstance(node, ast.ClassDef)]


def _imports(module: ast.Module) -> Iterator[ast.ImportFrom]:
    """Yield the imports of a module, outer ones first; no expression has one, so that none is walked through."""
    level: list[ast.AST] = list(module.body)
    while level:
        yield from (node for node in level if isinstance(node, ast.ImportFrom))
        level = [inner for node in level for name in _BLOCKS for inner in getattr(node, name, ())]


class Checkout:
    """The sources of a checkout.

    Raises:
        ConfigurationError: It has no Python sources.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules = list(self._read())
        if not self.modules:
            raise ConfigurationError(f"{root}: no Python sources: expected a checkout of τ²-bench")

    def _read(self) -> Iterator[Module]:
        for file in filter(self._is_source, sorted(self.root.rglob("*.py"))):
            try:
                yield Module.of(file.relative_to(self.root), file.read_text(encoding="utf-8-sig"))
            except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
                continue  # a file that cannot be read has no texts; what is missing is reported

    def _is_source(self, file: Path) -> bool:
        folders = file.relative_to(self.root).parts[:-1]
        return not any(name in _SKIPPED or name.startswith(".") for name in folders)

    def find_class(self, name: str) -> tuple[Module, ast.ClassDef] | None:
        """Return the first class of this name, with its module."""
        for module in self.modules:
            definition = module.names.get(name)
            if isinstance(definition, ast.ClassDef):
                return module, definition
        return None

    def resolve(self, module: Module, name: str, depth: int = 8) -> tuple[Module, ast.AST] | None:
        """Return what a name stands for at the top level of a module, also if it is imported; None if unknown."""
        if name in module.names:
            return module, module.names[name]
        if name not in module.imports or depth == 0:
            return None
        parts, original = module.imports[name]
        for other in self.modules:
            path_parts = other.path.with_suffix("").parts
            path_parts = path_parts[:-1] if path_parts[-1] == "__init__" else path_parts
            if other is not module and parts and path_parts[-len(parts) :] == parts:
                resolved = self.resolve(other, original, depth - 1)
                if resolved is not None:
                    return resolved
        return None

    def ancestry(self, module: Module, node: ast.ClassDef, depth: int = 8) -> Iterator[tuple[Module, ast.ClassDef]]:
        """Yield a class and the classes that it inherits from, as far as they are in the checkout."""
        yield module, node
        if depth == 0:
            return
        for base in node.bases:
            name = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(name, ast.Name | ast.Attribute):
                resolved = self.resolve(module, name.id if isinstance(name, ast.Name) else name.attr)
                if resolved is not None and isinstance(resolved[1], ast.ClassDef) and resolved[1] is not node:
                    yield from self.ancestry(resolved[0], resolved[1], depth - 1)


def name_of(node: ast.AST | None) -> str:
    """Return the last part of a name such as ``a.b``; empty for another expression."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
