"""No two files import each other, and inside the plugin a room imports only what is below it."""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .sources import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
#: The folders of the sources, by the names under which they are imported.
ROOTS = {
    "pytest_tau": "pytest_tau",
    "pytest_tau_domains": "domains",
    "pytest_tau_tasks": "tasks",
    "benchmarks": "benchmarks",
}

#: The rooms of the plugin, from the top; a room imports only rooms below it. ``seams`` and the other modules of the
#: ground floor are in no folder; among them, only circles are forbidden.
ROOMS = ("distributed", "collect", "handle", "report", "run", "context", "store", "")

#: Modules that may use private parts of a library: the one that collects them.
COMPATIBILITY = {
    "_pytest": {"pytest_tau/plugin/compat.py"},
    "xdist": {"pytest_tau/plugin/distributed/compat.py"},
}


def modules() -> dict[str, Path]:
    """Return every module by its full name."""
    found = {}
    for name, folder in ROOTS.items():
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join([name, *(parts[:-1] if parts[-1] == "__init__" else parts)])] = path
    return found


MODULES = modules()


def named(node: ast.ImportFrom, package: str) -> Iterator[str]:
    """Yield what a ``from`` import names: the submodule if there is one, else the module."""
    base = package.split(".")
    base = base[: len(base) - node.level + 1] if node.level else []
    module = ".".join([*base, *([node.module] if node.module else [])])
    for alias in node.names:
        yield f"{module}.{alias.name}" if f"{module}.{alias.name}" in MODULES else module


def imported(name: str) -> set[str]:
    """Return the modules of ours that a module imports: at the top, inside functions, and for types."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in nodes_of(MODULES[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= set(named(node, package))
    return (found & MODULES.keys()) - {name}


def own_modules(name: str) -> set[str]:
    """Return the modules inside a package, which its ``__init__`` gathers; none for a module."""
    return (
        {other for other in MODULES if other.startswith(f"{name}.")} if MODULES[name].name == "__init__.py" else set()
    )


@functools.cache
def graph() -> dict[str, set[str]]:
    """Return what each module imports."""
    return {name: imported(name) for name in MODULES}


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import one another, by removing again and again what is in no circle."""
    left = {name: set(others) for name, others in imports.items()}
    while True:
        used = set().union(*left.values()) if left else set()
        free = {name for name, others in left.items() if not others & left.keys() or name not in used}
        if not free:
            break
        left = {name: others - free for name, others in left.items() if name not in free}
    return [sorted(left)] if left else []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_no_two_files_import_each_other() -> None:
    # A package's __init__ gathers its modules; what they import of it would count, what it gathers does not.
    gathered = {name: others - own_modules(name) for name, others in graph().items()}
    assert circles(gathered) == []


def room_of(name: str) -> str | None:
    """Return the room of a module of the plugin; empty for the ground floor, None outside of the plugin."""
    parts = name.split(".")
    if parts[:2] != ["pytest_tau", "plugin"] or len(parts) == 2:
        return None
    return parts[2] if (ROOT / "pytest_tau/plugin" / parts[2]).is_dir() else ""


def test_the_rooms_of_the_plugin_are_those_of_the_list() -> None:
    assert {room_of(name) for name in MODULES} == {*ROOMS, None}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_is_below_it(room: str) -> None:
    above = set(ROOMS[: ROOMS.index(room)])
    against = [
        f"{name} imports {other}"
        for name, others in graph().items()
        if room_of(name) == room
        for other in others
        if room_of(other) in above or other == "pytest_tau.plugin"
    ]
    assert not against, "\n".join(against)


def test_nothing_imports_the_plugin_or_the_commands() -> None:
    """Capabilities included: what they need of a run is in ``pytest_tau.capability.runs``."""
    tops, users = ("pytest_tau.plugin", "pytest_tau.cli"), ("pytest_tau.__main__", "benchmarks")
    against = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if other.startswith(tops) and not name.startswith((*tops, *users))
    ]
    assert not against, "\n".join(against)


@pytest.mark.parametrize("library", COMPATIBILITY)
def test_private_parts_of_a_library_are_used_in_one_module(library: str) -> None:
    against = []
    for name, path in MODULES.items():
        if str(path.relative_to(ROOT)) in COMPATIBILITY[library]:
            continue
        for node in nodes_of(path):
            top = {alias.name.split(".")[0] for alias in node.names} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.ImportFrom) and not node.level:
                top = {(node.module or "").split(".")[0]}
            if library in top:
                against.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not against, "\n".join(against)


def test_foreign_attributes_that_are_private_are_in_the_compatibility_modules() -> None:
    """A private attribute of anything but ``self``, ``cls`` and our own objects says ``noqa: SLF001``."""
    against = [
        f"{path.relative_to(ROOT)}:{number}"
        for name, path in MODULES.items()
        if name.startswith("pytest_tau.plugin") and path.name != "compat.py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "noqa: SLF001" in line
    ]
    assert not against, "\n".join(against)
