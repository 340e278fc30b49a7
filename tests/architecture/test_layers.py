"""The arrows between the parts, read from the sources: every import counts, deferred or for types alone."""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest_tau

from .sources import nodes_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGE, DOMAINS = ROOT / "pytest_tau", ROOT / "domains"

#: What each part of pytest_tau may import of the others, from the ground up. In addition to the arrows of the design
#: there are ``domains`` (finding them), ``testing`` (test doubles) and the ground: ``errors``, ``text``, ``files``,
#: ``documents``, ``garbage``, ``background``, ``carried``, ``masking``, ``plain``, ``proxies``, ``actors``,
#: ``clock``, ``rows``, ``stalls``, ``terminal``, ``world``.
#: Participants know the environment for the tools that they are offered and for recognising a replayed result; the
#: orchestrator knows the participants' protocol.
_GROUND = {
    *("errors", "text", "terminal", "files", "documents", "garbage", "background", "carried", "masking", "plain"),
    *("actors", "clock", "proxies", "rows", "settings", "stalls", "variables", "world"),
}
_LAYERS = {
    *_GROUND,
    "models",
    "language",
    "environment",
    "capability",
    "chat",
    "knowledge",
    "endpoint",
    "protocol",
    "participants",
    "orchestrator",
    "evaluation",
    "policy",
    "references",
}
_LAYERS |= {"run_settings", "diagnosis", "runner"}
_STORED = {"runs", "regrade", "lint", "analysis", "reports"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "text": set(),
    "terminal": {"text"},
    "files": set(),
    "plain": set(),
    "documents": {"plain"},
    "garbage": set(),
    "background": {"clock"},
    "clock": {"errors"},
    "stalls": {"clock"},
    "world": set(),
    "actors": {"errors"},
    "carried": set(),
    "masking": {"variables"},
    "variables": set(),
    "proxies": {"variables"},
    "rows": set(),
    "settings": {"text", "plain", "documents", "rows"},
    "models": _GROUND,
    # What a text says, whoever reads it.
    "language": _GROUND,
    "environment": {*_GROUND, "models"},
    # What a capability is, not which there are: the core loops over them.
    "capability": {*_GROUND, "models", "environment"},
    "chat": {*_GROUND, "models", "language"},
    # The tools of searches are tools of an environment; some of them call models.
    "knowledge": {*_GROUND, "models", "environment", "chat"},
    "endpoint": {*_GROUND, "models", "environment", "chat"},
    "protocol": {*_GROUND, "models", "environment"},
    "participants": {*_GROUND, "models", "language", "environment", "chat", "endpoint", "protocol"},
    # Types of options ask what there is, such as personas.
    "run_settings": {*_GROUND, "environment", "participants"},
    "orchestrator": {*_GROUND, "models", "environment", "capability", "participants", "run_settings"},
    "evaluation": {*_GROUND, "models", "language", "environment", "chat", "protocol", "capability"},
    # Rules look at a conversation and its state, never at a verdict.
    "policy": {*_GROUND, "models", "language", "environment"},
    "references": {*_GROUND, "models", "language", "environment", "knowledge", "evaluation", "policy"},
    "diagnosis": {
        *(*_GROUND, "models", "language", "environment", "capability"),
        *("evaluation", "references", "policy", "run_settings"),
    },
    "runner": _LAYERS - {"runner"},
    "episodes": {*_LAYERS, "runs"},
    "runs": _LAYERS,
    "regrade": {*_LAYERS, "runs", "analysis"},
    "lint": {*_LAYERS, "regrade"},
    "analysis": {*_LAYERS, "runs"},
    "reports": {*_LAYERS, "runs", "regrade", "analysis"},
    "submission": {*_LAYERS, "runs", "regrade", "analysis", "reports"},
    "play": {*_LAYERS, "episodes", "reports"},
    "domains": {*_GROUND, "environment"},
    "testing": {
        *_GROUND,
        "models",
        "language",
        "environment",
        "chat",
        "endpoint",
        "participants",
        "evaluation",
        "domains",
    },
    # Below the participants, but for the packages that step conversations: see below.
    "integrations": {*_LAYERS, "domains", "episodes"},
    "plugin": {*_LAYERS, *_STORED, "domains", "integrations"},
    # What commands of ``tau`` have in common, those of capabilities included.
    "commands": {*_LAYERS, "runs", "analysis", "domains", "integrations"},
    "cli": {*_LAYERS, *_STORED, "commands", "submission", "domains", "episodes", "play", "integrations"},
    # Ideas: each imports the core, and no other idea.
    "capabilities": {*_LAYERS, *_STORED, "integrations", "commands"},
    # The public names, resolved at first use.
    "__init__": {*_LAYERS, "domains", "episodes", "integrations"},
    "__main__": {"cli"},
}

#: Third parties that a part may import. Nothing below the plugin knows pytest.
THIRD_PARTIES: dict[str, set[str]] = {
    "documents": {"tomllib"},
    "models": {"pydantic"},
    "chat": {"pydantic", "tenacity", "tiktoken"},
    # By name, when a trial is served first: see listener.load_web.
    "endpoint": set(),
    "environment": {"pydantic", "pydantic_core", "docstring_parser"},
    "protocol": {"pydantic", "docstring_parser"},
    "knowledge": {"pydantic"},
    "participants": {"pydantic", "pydantic_core", "tau2"},
    "runner": {"pydantic"},
    "runs": {"pydantic", "fsspec"},
    "reports": {"matplotlib"},
    "capabilities": {"aiohttp", "coverage", "numpy", "opentelemetry", "pydantic", "pytest", "syrupy", "urllib3"},
    "submission": {"pydantic"},
    "commands": {"pytest"},  # loads the plugins and conftest.py files of a project
    "plugin": {"pytest", "_pytest", "pluggy", "xdist", "execnet", "anyio"},
}


class Import(NamedTuple):
    """A module that a file imports, by its full name; ``from a import b`` is ``a``, or ``a.b`` where a is a package."""

    file: Path
    line: int
    module: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


def imports_of(file: Path, package: str, root: Path) -> Iterator[Import]:
    """Every import in a file, wherever it stands."""
    folder = [package, *file.relative_to(root).parts[:-1]]
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # ``from . import reporting`` names modules, ``from .reporting import x`` names one.
            names = [f"{module}.{alias.name}" for alias in node.names] if node.module is None else [module]
            for name in names:
                yield Import(file, node.lineno, name)


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


SOURCES = sorted(PACKAGE.rglob("*.py"))
CONTENT = sorted(DOMAINS.rglob("*.py"))
PARTS = sorted({part_of(file) for file in SOURCES})


@functools.cache
def imports() -> list[Import]:
    return [found for file in SOURCES for found in imports_of(file, "pytest_tau", PACKAGE)]


@functools.cache
def imports_of_domains() -> list[Import]:
    return [found for file in CONTENT for found in imports_of(file, "pytest_tau_domains", DOMAINS)]


def test_the_sources_were_found() -> None:
    assert {
        "models",
        "environment",
        "participants",
        "orchestrator",
        "evaluation",
        "diagnosis",
        "runner",
        "plugin",
    } <= set(PARTS)
    assert len(imports()) > 200
    assert len(imports_of_domains()) > 30


def test_a_part_imports_only_what_lies_below_it() -> None:
    allowed = {part: {"pytest_tau", part} | MAY_IMPORT[part] for part in PARTS}
    against = [
        str(found)
        for found in imports()
        if found.module.split(".")[0] == "pytest_tau"
        and [*found.module.split("."), "pytest_tau"][1] not in allowed[part_of(found.file)]
        # Capabilities are above everything that has a public name.
        and not (part_of(found.file) == "capabilities" and found.module.partition(".")[2] in pytest_tau.__all__)
    ]
    assert not against, "\n".join(against)


def test_the_layers_have_no_cycle() -> None:
    order: list[str] = []
    waiting = dict(MAY_IMPORT)
    while waiting:
        free = [part for part, below in waiting.items() if below <= set(order)]
        assert free, f"a cycle among {sorted(waiting)}"
        for part in free:
            order.append(part)
            del waiting[part]
    assert set(order[:3]) == {"errors", "text", "files"}
    assert order.index("models") < order.index("environment") < order.index("participants")
    assert order.index("participants") < order.index("orchestrator") < order.index("runner") < order.index("plugin")
    assert order.index("environment") < order.index("evaluation") < order.index("diagnosis") < order.index("runner")


def test_siblings_do_not_know_each_other() -> None:
    """Re-scoring needs no loop, and the loop needs no verdict."""
    assert "evaluation" not in MAY_IMPORT["orchestrator"] | MAY_IMPORT["participants"]
    assert not {"orchestrator", "participants"} & MAY_IMPORT["evaluation"]
    users = {part: MAY_IMPORT[part] for part in PARTS if part not in ("__main__", "capabilities")}
    assert not {"plugin", "cli"} & set.union(*users.values())
    assert {part for part, below in users.items() if "integrations" in below} == {
        "plugin",
        "commands",
        "cli",
        "__init__",
    }


def test_integrations_with_libraries_of_participants_and_models_stay_below_the_participants() -> None:
    allowed = {"pytest_tau", "integrations", *_GROUND, "models", "environment", "chat"}
    against = [
        str(found)
        for found in imports()
        if part_of(found.file) == "integrations"
        and found.file.relative_to(PACKAGE).parts[1] != "gymnasium"
        and found.module.split(".")[0] == "pytest_tau"
        and [*found.module.split("."), "pytest_tau"][1] not in allowed
    ]
    assert not against, "\n".join(against)


def test_no_public_name_is_imported_from_the_package_itself() -> None:
    """A part that imports from pytest_tau's own __init__ would import upwards."""
    upward = [str(found) for found in imports() if found.module == "pytest_tau"]
    assert not upward, "\n".join(upward)


def test_nothing_imports_a_domain() -> None:
    content = [str(found) for found in imports() if found.module.startswith(("pytest_tau_domains", "pytest_tau_tasks"))]
    assert not content, "\n".join(content)


def test_third_parties_stay_where_they_belong() -> None:
    everywhere = {"pytest_tau"} | set(sys.stdlib_module_names)
    against = [
        str(found)
        for found in imports()
        if part_of(found.file) != "integrations"
        and found.module.split(".")[0] not in everywhere | THIRD_PARTIES.get(part_of(found.file), set())
    ]
    assert not against, "\n".join(against)


def test_domains_are_written_against_the_public_packages_only() -> None:
    """As a third party would write them: models, environment, knowledge, policy and errors; a domain may not know another."""
    allowed = {"pytest_tau.models", "pytest_tau.environment", "pytest_tau.errors", "pytest_tau_tasks", "pydantic"}
    allowed |= {"pytest_tau.knowledge", "pytest_tau.policy"}
    # Generators draw names with it. They are no part of a run: tests/architecture/test_public_names.py.
    allowed |= {"faker"}
    against = []
    for found in imports_of_domains():
        top = found.module.split(".")[0]
        own = ["pytest_tau_domains", *found.file.relative_to(DOMAINS).parts[:1]]
        if top == "pytest_tau_domains":
            fits = found.module.split(".")[:2] in (own, ["pytest_tau_domains", "_kit"])
        else:
            fits = top in sys.stdlib_module_names or ".".join(found.module.split(".")[:2]) in allowed
        if not fits:
            against.append(str(found))
    assert not against, "\n".join(against)


def lines_of(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def test_no_module_is_longer_than_six_hundred_lines() -> None:
    long = {str(file.relative_to(ROOT)): lines_of(file) for file in [*SOURCES, *CONTENT] if lines_of(file) > 600}
    assert not long


def test_the_median_module_is_short() -> None:
    lengths = sorted(lines_of(file) for file in [*SOURCES, *CONTENT])
    assert lengths[len(lengths) // 2] < 250


def test_each_domain_declares_itself_in_a_few_lines() -> None:
    for file in DOMAINS.glob("*/__init__.py"):
        assert lines_of(file) <= 60, file


def test_every_module_says_why_it_exists() -> None:
    silent = [str(file.relative_to(ROOT)) for file in [*SOURCES, *CONTENT] if not ast.get_docstring(tree_of(file))]
    assert not silent


def test_there_are_no_evals() -> None:
    """`eval` behind a calculator is one of the reference's traps."""
    against = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in [*SOURCES, *CONTENT]
        for node in nodes_of(file)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec")
    ]
    assert not against


def test_no_part_seeds_the_global_generator() -> None:
    against = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in [*SOURCES, *CONTENT]
        for node in nodes_of(file)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "random"
        and node.attr != "Random"
    ]
    assert not against
