"""The page on domains: every block is run."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

import pytest_tau

pytestmark = [pytest.mark.exhaustive, pytest.mark.usefixtures("light_processes", "mcp_at_hand")]

ROOT = Path(__file__).parents[2]

#: The page by the title of its sections.
DOMAINS_PAGE = (ROOT / "docs/domains.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return re.split(r"^## ", DOMAINS_PAGE.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]


def write_files(pytester: pytest.Pytester, text: str) -> list[str]:
    """Write the files of a section: each block stands after the last name of a file in the text before it."""
    written = []
    for before, language, content in re.findall(r"(.*?)^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        named = re.findall(r"`([\w./]+\.(?:py|json|md))`", before.rstrip().rpartition("\n\n")[2])
        if named and language != "console" and before.rstrip().endswith(":"):
            path = pytester.path / named[-1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            written.append(named[-1])
    return written


def shown_output(text: str) -> list[str]:
    """The lines of output in the console blocks of a section."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if not line.startswith("$")]


def run_domain(pytester: pytest.Pytester, name: str, agent: str) -> pytest.RunResult:
    pytester.syspathinsert()  # as for ``python -m pytest``
    return pytester.runpytest_inprocess("-pno:asyncio", "--tau-domain", name, "--tau-agent", agent)


def lint(pytester: pytest.Pytester) -> list[str]:
    main = "import sys; from pytest_tau.cli import main; sys.exit(main())"
    return pytester.run(sys.executable, "-c", main, "lint").stdout.lines


def test_the_domain_of_the_docs_runs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    text = section("A domain in ten minutes")
    files = ["library_domain.py", "library/db.json", "library/user_db.json", "library/policy.md"]
    assert write_files(pytester, text) == [*files, "library/tasks/lending.json", "conftest.py"]
    run_domain(pytester, "library", "gold").assert_outcomes(passed=3)
    result = run_domain(pytester, "library", "noop")
    result.assert_outcomes(failed=3)
    shown, linted = shown_output(text)[:2], shown_output(text)[2:]
    for line in shown:
        assert line in result.stdout.str()
    assert lint(pytester)[: len(linted)] == linted


def test_each_way_to_change_a_database_works(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(pytester, section("A domain in ten minutes"))
    monkeypatch.syspath_prepend(str(pytester.path))
    module = importlib.import_module("library_domain")
    environment = module.domain.load().environment()
    tools = {tool.name: tool for tool in environment.tools()}
    assert tools["find_books"].parameters["properties"]["shelf"]["enum"] == ["novels", "science", "children"]
    found = environment.call("find_books", {"shelf": "science"})
    assert json.loads(found.content) == [{"book_id": "b2", "title": "Silent Spring", "shelf": "science"}]
    assert environment.call("lend", {"book_id": "b9", "reader": "Ines"}).content == "Error: Book b9 not found"
    assert not environment.call("lend", {"book_id": "b1", "reader": "Ines"}).error
    assert not environment.call("extend", {"loan_id": "loan-b1"}).error
    assert environment.call("look_at_card", {}, "user").content == "valid"
    assert environment.dump()["agent"]["loans"]["loan-b1"]["extensions"] == 1
    assert environment.call("take_back", {"loan_id": "loan-b2"}).content == "Thank you"
    assert environment.dump()["user"] == {"card": "valid"}
    assert set(environment.dump()["agent"]["loans"]) == {"loan-b1"}


@pytest.mark.parametrize(
    ("title", "name", "files"),
    [
        ("Functions and objects that exist already", "shop", ["shop.py", "conftest.py", "tasks.json", "stock.py"]),
        ("A tool server", "notes", ["server.py", "conftest.py", "tasks.json"]),
    ],
)
def test_the_domains_over_tools_that_exist_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, quick_server, title: str, name: str, files: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    if name == "notes":
        pytest.importorskip("mcp")
    text = section(title)
    assert write_files(pytester, text) == files
    quick_server(pytester.path / "server.py")
    run_domain(pytester, name, "gold").assert_outcomes(passed=1)
    assert lint(pytester)[:1] == [
        f"{name}: 1 task; 0 errors, 0 warnings, 0 notes; an agent that only greets passes 0 of 1"
    ]
    result = run_domain(pytester, name, "noop")
    result.assert_outcomes(failed=1)
    assert len(shown_output(text)) == 2
    for line in shown_output(text):
        assert line in result.stdout.str()


def test_functions_with_one_state_are_isolated_as_shown(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = section("Functions and objects that exist already")
    write_files(pytester, text)
    monkeypatch.syspath_prepend(str(pytester.path))
    code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if 'domain_of("stock"' in block)
    names = {"__name__": "test_stock", "pytest_tau": pytest_tau, "stock": importlib.import_module("stock")}
    exec(compile(code, str(pytester.path / "test_stock.py"), "exec"), names)
    domain = names["domain"].load()
    first, second = domain.environment(), domain.environment()
    assert first.call("take", {"item": "lamp"}).content == "2"
    assert second.call("take", {"item": "lamp"}).content == "2"
