"""The API reference lists every public name, and none that does not exist.

Its texts come from docstrings: ``python scripts/reference.py`` brings them up to date.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from import_file import import_file

import pytest_tau.plugin
from pytest_tau.capabilities import attacks
from pytest_tau.capability import bundled, bundled_options
from pytest_tau.cli import main
from pytest_tau.plugin import hookspecs
from pytest_tau.plugin.options import COMMON, option_groups
from pytest_tau.plugin.options_table import OPTIONS

from .sources import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


REFERENCE = import_file(ROOT / "scripts" / "reference.py")
PAGES = REFERENCE.pages()
TITLES = {name: text.partition("\n")[0].removeprefix("# ") for name, text in PAGES.items()}
CHAPTERS = {TITLES[name]: text for name, text in PAGES.items()}
MODULES = [title.strip("`") for title in CHAPTERS if title.startswith("`")]


def entries(chapter: str) -> list[str]:
    return re.findall(r"^## `(\w+)`$", CHAPTERS[chapter], re.MULTILINE)


def described(chapter: str) -> dict[str, str]:
    parts = re.split(r"^## `(\w+)`$", CHAPTERS[chapter], flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def private_imports(folder: Path) -> Iterator[str]:
    """Yield what a folder imports from the core that the reference does not list."""
    for file in folder.rglob("*.py"):
        package = file.relative_to(ROOT).parts[:-1]
        for node in nodes_of(file):
            if isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else ()
                module = ".".join([*base, *([node.module] if node.module else [])])
                is_own = module.startswith(f"pytest_tau.capabilities.{folder.name}")
                public = {*REFERENCE.ARGUMENTS.get(module, ())}
                public.update(importlib.import_module(module).__all__ if module in MODULES else ())
                named = [alias.name for alias in node.names if f"{module}.{alias.name}" not in MODULES]
                if module.startswith("pytest_tau") and not is_own:
                    yield from (f"{file.relative_to(ROOT)}: {module}.{name}" for name in named if name not in public)
            elif isinstance(node, ast.Import):
                names = (alias.name for alias in node.names)
                yield from (f"{file.relative_to(ROOT)}: {name}" for name in names if name.startswith("pytest_tau"))


def test_capabilities_import_public_modules_only() -> None:
    homes = [path.parent for path in (ROOT / "pytest_tau" / "capabilities").glob("*/__init__.py")]
    assert len(homes) > 20
    assert [imported for home in homes for imported in private_imports(home)] == []


def test_the_types_that_capabilities_are_given_exist() -> None:
    """Those that only docstrings name, since the module is below theirs."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "pytest_tau" / "capability").glob("*.py")]
    named = {name for text in texts for name in re.findall(r"``(pytest_tau(?:\.\w+)*\.[A-Z]\w+)", text)}
    places = [name.rpartition(".") for name in named]
    assert len(named) > 10
    assert [name for module, _, name in places if not hasattr(importlib.import_module(module), name)] == []


@pytest.mark.parametrize("name", MODULES)
def test_a_module_s_public_names_are_listed_and_described(name: str) -> None:
    texts = described(f"`{name}`")
    assert sorted(texts) == sorted(importlib.import_module(name).__all__)
    assert [entry for entry, text in texts.items() if not text.strip()] == []


def test_the_hooks_are_listed() -> None:
    declared = [*vars(hookspecs), *vars(attacks.HookSpecs)]
    hooks = [name for name in declared if name.startswith("pytest_tau_")]
    assert entries("Hooks") == hooks


def test_the_classes_that_hooks_receive_exist() -> None:
    for module, names in REFERENCE.ARGUMENTS.items():
        assert [name for name in names if not hasattr(importlib.import_module(module), name)] == []
    assert entries("Arguments of hooks") == [name for names in REFERENCE.ARGUMENTS.values() for name in names]


def test_the_fixtures_are_listed() -> None:
    of_core = [name for name in pytest_tau.plugin.__all__ if name.startswith("tau_")]
    of_capabilities = [
        name
        for each in bundled()
        if each.fixtures is not None
        for name in vars(type(each.fixtures()))
        if name.startswith("tau_")
    ]
    assert entries("Fixtures") == sorted([*of_core, *of_capabilities])


def test_the_options_and_ini_keys_are_listed(pytestconfig: pytest.Config) -> None:
    listed = re.findall(r"^- `(--tau-[\w-]+)", CHAPTERS["Options and ini keys"], re.MULTILINE)
    given = {option.dest for option in (*OPTIONS.values(), *bundled_options().values())}
    of_another_page = {option.dest for option in option_groups(bundled())[COMMON]}
    assert {option[2:].replace("-", "_") for option in listed} == given - of_another_page
    keys = re.findall(r"^- `(tau_\w+)`", CHAPTERS["Options and ini keys"], re.MULTILINE)
    assert [pytestconfig.getini(key) is not None for key in keys] == [True] * len(keys)


def test_the_marker_is_listed(pytestconfig: pytest.Config) -> None:
    (call,) = [text.partition(":")[0] for text in pytestconfig.getini("markers") if text.startswith("tau(")]
    assert f"`@pytest.mark.{call}`" in CHAPTERS["Marker"]
    keywords = re.findall(r"^\| `(\w+)` \|", CHAPTERS["Marker"], re.MULTILINE)
    assert keywords == call.removeprefix("tau(").removesuffix(")").split(", ")


def test_the_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    helped = re.findall(r"^  (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert len(helped) >= 7
    assert set(re.findall(r"^## `tau (\w+)`$", CHAPTERS["Commands"], re.MULTILINE)) == set(helped)
    for name in helped:
        with pytest.raises(SystemExit):
            main([name, "--help"])
        given = set(re.findall(r"--[a-z][\w-]+", capsys.readouterr().out)) - {"--help"}
        chapter = CHAPTERS["Commands"].partition(f"## `tau {name}`\n")[2].partition("\n## ")[0]
        assert [option for option in given if option not in chapter] == []


def test_what_the_documentation_imports_is_in_the_reference() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.py")]
    found = {
        (module, name.strip().split(" as ")[0])
        for page in pages
        for module, names in re.findall(r"^from (pytest_tau[\w.]*) import (.+)$", page.read_text("utf-8"), re.MULTILINE)
        if not module.startswith(("pytest_tau_domains", "pytest_tau_tasks", "pytest_tau.capabilities"))
        for name in names.split(",")
    }
    assert len(found) > 5
    missing = [(module, name) for module, name in sorted(found) if name not in described(f"`{module}`")]
    assert missing == []


def test_the_pages_are_those_of_the_script() -> None:
    assert sorted(MODULES) == sorted(REFERENCE.MODULES)
    assert {path.name for path in REFERENCE.FOLDER.glob("*.md")} == set(REFERENCE.WRITTEN)
    linked = {link for link in re.findall(r"\]\(([\w.]+\.md)\)", PAGES["index.md"]) if "/" not in link}
    assert linked == PAGES.keys() - {"index.md"}


@pytest.mark.exhaustive
def test_a_page_that_is_not_up_to_date_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = import_file(ROOT / "scripts" / "reference.py")
    monkeypatch.setattr(module, "FOLDER", tmp_path / "reference")
    monkeypatch.setattr("sys.argv", ["reference.py"])
    assert module.main() == 0
    monkeypatch.setattr("sys.argv", ["reference.py", "--check"])
    assert module.main() == 0
    (tmp_path / "reference" / "hooks.md").write_text("# Hooks\n", encoding="utf-8")
    (tmp_path / "reference" / "old.md").write_text("# Old\n", encoding="utf-8")
    assert module.main() == 1
    assert "docs/reference: hooks.md, old.md;" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["reference.py"])
    assert module.main() == 0
    assert not (tmp_path / "reference" / "old.md").exists()


def test_long_signatures_are_split_at_their_parameters() -> None:
    parameters = ["a: dict[str, int] = ...", "b: str = ', '", "*", "c=()"]
    assert list(REFERENCE.split_parameters(", ".join(parameters))) == parameters
