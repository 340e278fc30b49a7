"""The rooms of a domain: the domain itself, its agent and its tasks, above what all domains share."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .sources import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

DOMAINS = Path(__file__).parents[2] / "domains"
PACKAGE, KIT = "pytest_tau_domains", "_kit"
#: Domains with separate packages for the agent and the tasks.
ROOMY = sorted(
    folder.name for folder in DOMAINS.iterdir() if (folder / "agent").is_dir() or (folder / "tasks").is_dir()
)
MOST_MODULES = 16


def imports_of(file: Path) -> Iterator[tuple[ast.stmt, tuple[str, ...]]]:
    """Each import of something below ``pytest_tau_domains``, as the parts of its name beneath it."""
    package = file.relative_to(DOMAINS).parts[:-1]
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            names = [(node, alias.name.split(".")) for alias in node.names]
            yield from ((node, tuple(parts[1:])) for node, parts in names if parts[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom):
            module = tuple((node.module or "").split(".")) if node.module else ()
            if node.level:
                base = (*package[: len(package) - node.level + 1], *module)
            elif module[:1] == (PACKAGE,):
                base = module[1:]
            else:
                continue
            yield from ((node, (*base, alias.name)) for alias in node.names)


def room_of(parts: tuple[str, ...]) -> str:
    """``agent``, ``tasks`` or ``core`` of the domain that a name belongs to; the kit for names in the kit."""
    if parts[:1] == (KIT,):
        return KIT
    return parts[1] if parts[1:2] in (("agent",), ("tasks",)) else "core"


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def test_the_domains_have_rooms() -> None:
    assert {"airline", "retail", "telecom"} <= set(ROOMY)
    assert len(list(imports_of(DOMAINS / "airline" / "tasks" / "sampler.py"))) > 5


@pytest.mark.parametrize("domain", ROOMY)
def test_agent_and_tasks_never_meet_and_the_domain_needs_neither(domain: str) -> None:
    allowed = {"core": {"core", KIT}, "agent": {"agent", "core", KIT}, "tasks": {"tasks", "core", KIT}}
    against = []
    for file in files_of(DOMAINS / domain):
        room = room_of(file.relative_to(DOMAINS).parts)
        for node, name in imports_of(file):
            declaration = file == DOMAINS / domain / "__init__.py"
            if name[0] not in (domain, KIT) or (room_of(name) not in allowed[room] and not declaration):
                against.append(f"{file.relative_to(DOMAINS)}:{node.lineno} imports {'.'.join(name)}")
    assert not against, "\n".join(against)


@pytest.mark.parametrize("domain", ROOMY)
def test_the_declaration_imports_the_sampler_alone_and_late(domain: str) -> None:
    imports = [(node, room_of(name)) for node, name in imports_of(DOMAINS / domain / "__init__.py")]
    assert {room for node, room in imports if node.col_offset > 0} == {"tasks"}
    assert {room for node, room in imports if node.col_offset == 0} == {"core"}


@pytest.mark.parametrize("domain", ROOMY)
def test_nothing_imports_the_declaration_of_its_domain(domain: str) -> None:
    """It names the agent and imports the sampler, which makes it the top of the domain."""
    modules = {path.stem for path in (DOMAINS / domain).iterdir()}
    upward = [
        f"{file.relative_to(DOMAINS)}:{node.lineno}"
        for file in files_of(DOMAINS / domain)
        for node, name in imports_of(file)
        if name[0] == domain and (len(name) == 1 or name[1] not in modules)
    ]
    assert not upward, "\n".join(upward)


def test_the_kit_imports_no_domain() -> None:
    against = [
        f"{file.relative_to(DOMAINS)}:{node.lineno} imports {'.'.join(name)}"
        for file in files_of(DOMAINS / KIT)
        for node, name in imports_of(file)
        if name[0] != KIT
    ]
    assert not against, "\n".join(against)


@pytest.mark.parametrize("top", [KIT, *ROOMY])
def test_folders_stay_small(top: str) -> None:
    folders = {file.parent for file in files_of(DOMAINS / top)}
    counts = {str(folder.relative_to(DOMAINS)): len(list(folder.glob("[!_]*.py"))) for folder in folders}
    assert not {name: count for name, count in counts.items() if count > MOST_MODULES}
