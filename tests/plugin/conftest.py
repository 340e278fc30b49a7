"""A scratch project for the plugin's tests, and what a run in it said.

Runs are in-process, so everything that one imports is imported here first: pytester takes modules away again that
a run brought in, and building pydantic models afresh for each run would be slow.
"""

from __future__ import annotations

import importlib
import json
import textwrap
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

for _name in ("plugin.active", "plugin.failure", "plugin.trials", "testing"):
    importlib.import_module(f"pytest_tau.{_name}")
importlib.import_module("pytest_tau_domains.mock")

#: Without other people's plugins, which have no part in what is tested here, and without rewriting assertions, which
#: takes a third of a run's time.
_OTHERS = {entry.name for entry in entry_points(group="pytest11")} - {"tau", "xdist"}
_QUICK = ["--assert=plain", *(f"-pno:{name}" for name in sorted(_OTHERS))]


class Run:
    """A finished run.

    Attributes:
        ret: Its exit status.
        text: Everything it wrote, to both streams.
    """

    def __init__(self, result: pytest.RunResult) -> None:
        self._result = result
        self.ret = result.ret
        self.text = "\n".join([*result.outlines, *result.errlines])

    def outcomes(self, **expected: int) -> None:
        """Exactly these outcomes are in the closing line: ``passed=1``, ``errors=2``, ``deselected=3`` …"""
        assert self.ret not in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR), self.text
        assert self._result.parseoutcomes() == expected, self.text

    def line(self, *parts: str) -> str:
        """The first line that has all these parts in it."""
        for line in self.text.splitlines():
            if all(part in line for part in parts):
                return line
        raise AssertionError(f"no line has {parts} in:\n{self.text}")

    def lacks(self, *parts: str) -> None:
        """No line has all these parts in it."""
        found = [line for line in self.text.splitlines() if all(part in line for part in parts)]
        assert not found, f"{found} in:\n{self.text}"

    def usage_error(self, *parts: str) -> None:
        """It ended with exit status 4, ran nothing, and said why in a line that has all these parts in it."""
        assert self.ret == pytest.ExitCode.USAGE_ERROR, self.text
        self.line(*parts)
        for word in (" passed", " failed", "Traceback", "INTERNALERROR"):
            self.lacks(word)

    @property
    def ids(self) -> list[str]:
        """The node ids that ``--collect-only -q`` listed."""
        return [line for line in self._result.outlines if "::" in line and not line.startswith(("ERROR", "FAILED"))]


class Project:
    """A folder with files in it, in which pytest is run."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester, self.path = pytester, pytester.path

    def write(self, name: str, text: str) -> Path:
        """Write a file, with the folders above it."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def tasks(self, name: str, content: Any) -> Path:
        """Write a task file."""
        return self.write(name, json.dumps(content))

    def ini(self, *lines: str) -> None:
        """Write a pytest.ini."""
        self.write("pytest.ini", "\n".join(["[pytest]", *lines]))

    def run(self, *args: str | Path) -> Run:
        """Run pytest here, in this process."""
        return Run(self._pytester.runpytest_inprocess(*_QUICK, *args))

    def collected(self, *args: str | Path) -> list[str]:
        """Ids of what a run with these arguments would run."""
        run = self.run("--collect-only", "-q", *args)
        assert run.ret == pytest.ExitCode.OK, run.text
        return run.ids


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project, at a terminal wide enough that no line is broken."""
    monkeypatch.setenv("COLUMNS", "220")
    return Project(pytester)


@pytest.fixture
def a_task() -> Callable[..., dict[str, Any]]:
    """Makes a task of the mock domain: put "Buy milk" on Ada's list."""

    def make(task_id: str = "buy-milk", **changes: Any) -> dict[str, Any]:
        arguments = {"user_id": "user_1", "title": "Buy milk"}
        criteria = {"actions": [{"action_id": "create", "name": "create_task", "arguments": arguments}]}
        return {
            "id": task_id,
            "user_scenario": {"instructions": "Have 'Buy milk' put on your list."},
            "evaluation_criteria": criteria | changes.pop("criteria", {}),
            **changes,
        }

    return make


@pytest.fixture
def scripted(project: Project) -> Callable[..., str]:
    """Writes an agent that replies by a script; returns what to give to ``--tau-agent``."""

    def write(*replies: str, base: str = "ScriptedParticipant", file: str = "scripted.py") -> str:
        project.write(
            file,
            f"""
            from pytest_tau.testing import ScriptedParticipant, call

            class Scripted({base}):
                def __init__(self):
                    super().__init__([{", ".join(replies)}])
            """,
        )
        return f"{file}:Scripted"

    return write


@pytest.fixture
def play(project, a_task):
    """Runs a task with ``parts.py:it`` of the given source as agent, or as user."""

    def run(source, side="agent", *args, task=None):
        project.tasks("mock/t.tau.json", [task or a_task()])
        project.write("parts.py", source)
        return project.run(f"--tau-{side}", "parts.py:it", "-s", *args)

    return run


#: A conftest.py with a domain of its own: one shelf of books, two flavours of the policy.
_SHELF = '''
from pathlib import Path

from pytest_tau.environment import Database, DomainSpec, PolicyFiles, Record, Table, Toolkit, ToolError, tool


class Book(Record):
    title: str
    lent: bool = False


class Shelf(Database):
    books: Table[Book]


class ShelfTools(Toolkit[Shelf]):
    @tool("write")
    def lend(self, title: str) -> str:
        """Lend a book.

        Args:
            title: Which one.
        """
        if title not in self.db.books:
            raise ToolError(f"no book {title}")
        self.db.books[title].lent = True
        return "lent"


HERE = Path(__file__).parent / "shelf"
POLICIES = {"short": PolicyFiles(("short.md",)), "long": PolicyFiles(("short.md", "long.md"))}
SHELF = DomainSpec("shelf", HERE, HERE / "tasks", Shelf, ShelfTools, policies=POLICIES)


def pytest_tau_domains(config):
    return [SHELF]
'''


@pytest.fixture
def shelf(project: Project) -> Project:
    """A project with a domain of its own, ``shelf``, in its conftest.py."""
    project.write("conftest.py", _SHELF)
    project.write("shelf/db.json", json.dumps({"books": {"Emma": {"title": "Emma"}, "Ulysses": {"title": "Ulysses"}}}))
    project.write("shelf/short.md", "Lend books.")
    project.write("shelf/long.md", "Lend them kindly.")
    project.tasks("shelf/tasks/tasks.json", [_lend("Emma"), _lend("Ulysses")])
    return project


def _lend(title: str) -> dict[str, Any]:
    action = {"action_id": "lend", "name": "lend", "arguments": {"title": title}}
    return {
        "id": f"lend-{title.lower()}",
        "user_scenario": {"instructions": f"Borrow {title}."},
        "evaluation_criteria": {"actions": [action]},
    }
