"""The site and its pages: every page is in the navigation, every link leads somewhere, every quoted message exists.

The pages are read in the repository too, so links are followed as plain Markdown. ``mkdocs build --strict`` in
``scripts/check`` follows them on the site.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from for_each import for_each
from pydantic import BaseModel

from pytest_tau.capability import bundled_options
from pytest_tau.errors import install_extra
from pytest_tau.models import (
    Action,
    Description,
    EnvAssertion,
    EvaluationCriteria,
    FunctionCall,
    InitialState,
    Instructions,
    Session,
    Task,
    UserScenario,
    UserScript,
)
from pytest_tau.models.script import Answer, Goal, Request
from pytest_tau.plugin.options_table import OPTIONS

from .sources import nodes_of
from .test_reference import REFERENCE as reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
NAVIGATION = CONFIGURATION.partition("\nnav:\n")[2]
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = [*sorted(ROOT.glob("*.md")), *PAGES, *sorted((ROOT / "changelog").glob("*.md"))]
#: The pages of the reference that are made with the site.
REFERENCE = {f"reference/{name}": text for name, text in reference.pages().items() if name not in reference.WRITTEN}
#: Pages that the site has and docs/ has not: scripts/site_hooks.py makes them.
OF_THE_ROOT = {"changelog.md", "contributing.md", *REFERENCE}
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """A page without its code."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def source_of(path: Path) -> str:
    """The text of a page; empty if there is none."""
    made = REFERENCE.get(path.relative_to(DOCS).as_posix()) if path.is_relative_to(DOCS) else None
    return path.read_text(encoding="utf-8") if made is None else made


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", source_of(path), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        number = next(each for each in range(99) if (f"{name}-{each}" if each else name) not in found)
        found.add(f"{name}-{number}" if number else name)
    return found


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r"([\w./-]+\.md)$", NAVIGATION, re.MULTILINE)
    assert len(listed) == len(set(listed))
    missing = {*(page.relative_to(DOCS).as_posix() for page in PAGES), *REFERENCE} - set(listed)
    assert not missing, f"add to nav in mkdocs.yml: {', '.join(sorted(missing))}"
    assert set(listed) - OF_THE_ROOT == {page.relative_to(DOCS).as_posix() for page in PAGES}


@for_each([*TEXTS, *(DOCS / name for name in REFERENCE)])
def test_every_link_leads_to_a_file_and_a_heading(path: Path) -> None:
    broken = []
    for target in LINK.findall(prose(source_of(path))):
        if re.match(r"https?://|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        made = file.is_relative_to(DOCS) and file.relative_to(DOCS).as_posix() in REFERENCE
        if not (file.exists() or made) or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_a_broken_link_would_be_found() -> None:
    assert LINK.findall("see [a `b`](c.md#d), [e](f), ![g](h.png) and \\[i](j)") == ["c.md#d", "f", "h.png"]
    assert anchors(DOCS / "concepts.md") > {"concepts", "what-is-tested"}
    assert "exit-statuses-of-tau" in anchors(DOCS / "summary.md")


@for_each(PAGES)
def test_a_page_is_plain_markdown(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    noise = re.findall(
        r"^(?:!!! .*|\?\?\?.*|::: .*|=== \".*|---\n\w+:.*|.*\{: .*\}|.*\{\.[\w-]+\}.*)$", text, re.MULTILINE
    )
    assert noise == []
    assert text.startswith("# ")


def without_source(path: Path) -> list[str]:
    """Return the lines that install pytest-tau from an index, and do not say from when on that works."""
    lines = re.findall(r"^(?!From the first release).*\bpip install\b.*$", path.read_text("utf-8"), re.MULTILINE)
    return [line for line in lines if re.search(r"(?<![\w./-])pytest-tau(?![\w/])", line.partition("pip install")[2])]


@for_each(TEXTS)
def test_nothing_is_installed_from_an_index_without_a_release(path: Path) -> None:
    assert without_source(path) == []


@pytest.mark.parametrize("folder", ["pytest_tau", "domains"])
def test_messages_name_an_extra_in_one_way(folder: str) -> None:
    files = (ROOT / folder).rglob("*.py")
    named = [file.name for file in files if "pip install 'pytest-tau" in file.read_text(encoding="utf-8")]
    assert named == []
    assert "pip install './pytest-tau[llm]'" in install_extra("llm")


def test_an_installation_without_a_source_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for line, allowed in (
        ("$ pip install pytest-tau", False),
        ("pip install 'pytest-tau[llm]'", False),
        ("- run: pip install './pytest-tau[llm]'", True),
        ("$ pip install -e '.[dev]'", True),
        ("From the first release, `pip install pytest-tau` does it.", True),
    ):
        page.write_text(line, encoding="utf-8")
        assert (without_source(page) == []) is allowed, line


def test_the_site_takes_nothing_from_other_hosts() -> None:
    assert "\n  font: false" in CONFIGURATION
    assert not re.search(r"https?://", CONFIGURATION)
    assert "extra_javascript" not in CONFIGURATION


def test_the_readme_is_short_and_begins_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    commands = re.findall(r"^\$ (.+)$", text, re.MULTILINE)
    assert commands[0] == (
        "python3 -m venv .venv && . .venv/bin/activate && pip install -e . && pytest --tau-domain telecom"
    )
    assert "pip install -e '.[dev]' && pytest -n 2" in commands
    assert "docs/images/failure.svg" in text


@pytest.mark.parametrize("name", ["failure.svg", "favicon.svg"])
def test_a_drawing_is_well_formed(name: str) -> None:
    assert ET.parse(DOCS / "images" / name).getroot().tag == "{http://www.w3.org/2000/svg}svg"


# What pages say of the code


def texts_of(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The texts of a module; what is formatted into them is ``…``, and an addition of two texts is one."""
    for node in nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and (text := text_of(node)):
            yield text


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp):
        return f"{text_of(node.left) or '…'}{text_of(node.right) or '…'}"
    return ""


@functools.cache
def texts_of_the_package() -> str:
    files = sorted((ROOT / "pytest_tau").rglob("*.py"))
    return "\n".join(text for file in files for text in texts_of(nodes_of(file)))


MESSAGES = re.findall(r"^### `(.+)`$", (DOCS / "troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_quoted_message_exists(message: str) -> None:
    missing = [
        part for part in re.split("…", message) if len(part.strip()) > 3 and part.strip() not in texts_of_the_package()
    ]
    assert missing == [], f"no text of the code has {missing}; correct docs/troubleshooting.md"


def test_the_errors_of_resuming_that_are_shown_exist() -> None:
    """Values and names of runs differ; what the code prints around them is the same."""
    shown = re.findall(r"^ERROR: --tau-resume: \S+ (.+)$", (DOCS / "results.md").read_text("utf-8"), re.MULTILINE)
    assert len(shown) == 2
    for message in shown:
        parts = re.split(r"settings|versions of domains and tasks|--tau-resume|[;,]", message)
        test_a_quoted_message_exists("…".join(parts))
    test_a_quoted_message_exists("… in the earlier run, … now")


def test_there_are_messages_and_another_one_would_be_found() -> None:
    assert len(MESSAGES) >= 10
    with pytest.raises(AssertionError):
        test_a_quoted_message_exists("unknown domain …; perhaps you mean")


def sections(name: str) -> dict[str, str]:
    parts = re.split(r"^##+ (.+)$", (DOCS / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(
    ("title", "model"),
    [
        ("Task", Task),
        ("description", Description),
        ("user_scenario", UserScenario),
        ("instructions", Instructions),
        ("script", UserScript),
        ("requests", Request),
        ("answers", Answer),
        ("goals", Goal),
        ("initial_state", InitialState),
        ("calls", FunctionCall),
        ("sessions", Session),
        ("evaluation_criteria", EvaluationCriteria),
        ("actions", Action),
        ("env_assertions", EnvAssertion),
    ],
)
def test_the_task_format_has_every_field(title: str, model: type[BaseModel]) -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+? \| (yes)? ?\|", sections("tasks.md")[title], re.MULTILINE)
    assert {name: bool(required) for name, required in rows} == {
        name: field.is_required() for name, field in model.model_fields.items()
    }


COMMANDS = set(re.findall(r"^## `tau ([\w-]+)`$", REFERENCE["reference/commands.md"], re.MULTILINE))


@for_each([ROOT / "README.md", *PAGES])
def test_every_option_and_command_that_a_page_names_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--tau-([a-z]+(?:-[a-z]+)*)", text))
    also = {"commands.md": {"data"}, "capabilities.md": {"competitors"}}.get(path.name, set())  # others declare them
    assert named - {option.name for option in (OPTIONS | bundled_options()).values()} - also == set()
    commands = set(re.findall(r"(?:`|^\$ )tau ([a-z]+(?:-[a-z]+)?)\b", text, re.MULTILINE))
    assert commands <= COMMANDS


def test_the_defaults_for_readers_of_tau2_are_those_of_the_options() -> None:
    rows = re.findall(
        r"^\| .+ \| `--tau-([\w-]+)` \| ([\w.]+) \|$", sections("comparability.md")["Options of tau2 run"], re.MULTILINE
    )
    options = {option.name: str(option.default) for option in (OPTIONS | bundled_options()).values()}
    shown = {name: default for name, default in rows if options[name] != "None"}
    assert len(shown) >= 5
    assert {name: options[name].removesuffix(".0") for name in shown} == shown


def test_the_components_of_the_reward_are_those_of_the_models() -> None:
    from pytest_tau.models.tasks import REWARD_TYPES, RewardType

    named = re.findall(r"^\| `([A-Z_]+)` \|", sections("concepts.md")["How it is graded"], re.MULTILINE)
    assert named == list(REWARD_TYPES) == list(get_args(RewardType))


# The site itself


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site from a copy of its sources, as scripts/check does."""
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-P", "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    pytest.importorskip("material", reason="the site needs mkdocs-material (docs and dev extras)")
    for name in ("docs", "changelog", "scripts", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "pytest_tau").symlink_to(ROOT / "pytest_tau")
    return tmp_path


@pytest.mark.exhaustive
def test_the_site_is_built_and_loads_nothing_from_other_hosts(sources: Path) -> None:
    done = build(sources)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = list((sources / "site").rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        html = page.read_text(encoding="utf-8")
        assert re.findall(r"<(?:link|script|img|iframe)\b[^>]*(?:src|href)=\"?https?:[^>]*>", html) == []
    for sheet in (sources / "site").rglob("*.css"):
        assert not re.search(r"url\(\"?https?:|@import \"?https?:", sheet.read_text(encoding="utf-8"))
    changes = (sources / "site" / "changelog.html").read_text(encoding="utf-8")
    assert "Since the last release" in changes


@pytest.mark.exhaustive
def test_the_build_fails_for_forgotten_pages_and_broken_links(sources: Path) -> None:
    # A site of two pages: building all of them again would show no other problem.
    kept = ("concepts.md", "summary.md")
    for path in (sources / "docs").iterdir():
        if path.suffix == ".md" and path.name not in kept:
            path.unlink()
    shutil.rmtree(sources / "docs" / "reference")
    pages = "".join(f"  - {name}\n" for name in (*kept, *sorted(OF_THE_ROOT)))
    (sources / "mkdocs.yml").write_text(CONFIGURATION.replace(NAVIGATION, pages), encoding="utf-8")
    (sources / "docs" / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    links = "[a](no_such_page.md) [b](summary.md#no-such-heading) [c](../no_such_file.py)"
    (sources / "docs" / "concepts.md").write_text(f"# Concepts\n\n{links}\n", encoding="utf-8")
    done = build(sources)
    assert done.returncode == 1
    for problem in ("forgotten.md", "no_such_page.md", "no-such-heading", "no_such_file.py"):
        assert problem in done.stdout + done.stderr
