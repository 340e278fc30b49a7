"""The functions that do the work of tools: those of the tools, and those of their package that they call by name."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...environment import Domain

#: The folder of this package.
_OWN = Path(__file__).parents[2]
_Node: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
#: Statements that have blocks, each of which ends in an error or does not.
_BLOCKS = ("body", "orelse", "finalbody")
_ERROR = "Error"


class Function(NamedTuple):
    """A function in a source file.

    Attributes:
        file: The file.
        name: Its name, with that of its class.
        first: Its first line, with decorators.
        last: Its last line.
        errors: The lines at which blocks begin that end with a ``raise``, or return a text that begins with ``Error``.
    """

    file: Path
    name: str
    first: int
    last: int
    errors: frozenset[int]


class ToolSources(NamedTuple):
    """Where the work of a domain's tools is done.

    Attributes:
        functions: The functions.
        without_source: The tools that have no source in Python, such as those of a server.
    """

    functions: list[Function]
    without_source: list[str]

    @property
    def files(self) -> list[Path]:
        """The files of the functions."""
        return list(dict.fromkeys(function.file for function in self.functions))


def tool_sources(domain: Domain) -> ToolSources:
    """Return the functions that do the work of a domain's tools.

    These are the functions of the tools, and those that they call, directly or not, by a name that a function or method
    has in the same folder, in modules that the tools' modules import.
    """
    starts: set[tuple[Path, int]] = set()
    modules: dict[str, None] = {}
    without: list[str] = []
    for name, function in _tools(domain):
        code = getattr(function, "__code__", None)
        file = Path(code.co_filename) if code else None
        if code is None or file is None or not file.is_file() or file.is_relative_to(_OWN):
            without.append(name)
            continue
        starts.add((file.resolve(), code.co_firstlineno))
        modules[function.__module__] = None
    parsed = {file: _functions_in(file) for file in _files(modules, {file for file, _ in starts})}
    return ToolSources(_reached(parsed, starts), without)


def _tools(domain: Domain) -> Iterator[tuple[str, Any]]:
    for toolkit in filter(None, (domain.spec.agent_tools, domain.spec.user_tools)):
        for name in toolkit.tool_infos:
            function: Any = toolkit.function(name) or getattr(toolkit, name, None)
            while isinstance(function, functools.partial):
                function = function.func
            unwrapped = inspect.unwrap(function) if callable(function) else function
            yield name, getattr(unwrapped, "__func__", unwrapped)


def _files(modules: Iterable[str], files: set[Path]) -> list[Path]:
    """Return the files of modules and of what they import from the folders of the tools."""
    folders = {file.parent for file in files}
    module_files: dict[Path, None] = dict.fromkeys(sorted(files))
    waiting = [*modules]
    known = {*waiting}
    while waiting:
        module = sys.modules.get(waiting.pop())
        file = _file_of(module)
        if module is None or file is None or not any(file.is_relative_to(folder) for folder in folders):
            continue
        module_files.setdefault(file)
        names = {value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
                 for value in [*vars(module).values()]}  # fmt: skip
        fresh = sorted(name for name in names if isinstance(name, str) and name not in known)
        known.update(fresh)
        waiting += fresh
    return [*module_files]


def _file_of(module: Any) -> Path | None:
    file = getattr(module, "__file__", None)
    path = Path(file).resolve() if isinstance(file, str) else None
    return path if path is not None and path.suffix == ".py" and path.is_file() else None


class _Parsed(NamedTuple):
    function: Function
    used: frozenset[str]

    @property
    def own_name(self) -> str:
        return self.function.name.rpartition(".")[2]


def _functions_in(file: Path) -> list[_Parsed]:
    """Return the functions of a file; one inside of another is a part of that one."""
    functions: list[_Parsed] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                functions.append(_parsed(file, child, prefix))
            else:
                visit(child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix)

    try:
        visit(ast.parse(file.read_bytes()), "")
    except (SyntaxError, ValueError):  # a file that is not what was imported
        return []
    return functions


def _parsed(file: Path, node: _Node, prefix: str) -> _Parsed:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    used = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    used |= {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute)}
    function = Function(file, f"{prefix}{node.name}", first, node.end_lineno or first, frozenset(_error_lines(node)))
    return _Parsed(function, frozenset(used))


def _error_lines(function: _Node) -> Iterator[int]:
    for node in ast.walk(function):
        blocks = [getattr(node, name, None) for name in _BLOCKS] if node is not function else []
        yield from (block[0].lineno for block in blocks if isinstance(block, list) and block and _is_error(block[-1]))
    # What follows an ``if`` without another branch may end in an error, too.
    yield from (statement.lineno for statement in ast.walk(function) if isinstance(statement, ast.Raise))


def _is_error(statement: Any) -> bool:
    if isinstance(statement, ast.Return) and statement.value is not None:
        first = statement.value.values[0] if isinstance(statement.value, ast.JoinedStr) else statement.value
        return isinstance(first, ast.Constant) and str(first.value).startswith(_ERROR)
    return isinstance(statement, ast.Raise)


def _reached(parsed: dict[Path, list[_Parsed]], starts: set[tuple[Path, int]]) -> list[Function]:
    every = [parsed_function for of_file in parsed.values() for parsed_function in of_file]
    by_name: dict[str, list[_Parsed]] = {}
    for parsed_function in every:
        by_name.setdefault(parsed_function.own_name, []).append(parsed_function)
    waiting = [
        parsed_function
        for parsed_function in every
        if (parsed_function.function.file, parsed_function.function.first) in starts
    ]
    reached = {parsed_function.function for parsed_function in waiting}
    while waiting:
        for name in waiting.pop().used:
            for called in by_name.get(name, ()):
                if called.function not in reached:
                    reached.add(called.function)
                    waiting.append(called)
    return [parsed_function.function for parsed_function in every if parsed_function.function in reached]
