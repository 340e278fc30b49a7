"""A scratch project for the plugin's tests, and what a run in it said."""

from __future__ import annotations

import contextlib
import json
import math
import os
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from inner_runs import quick_options
from warm_tool_servers import warm_tool_servers

from pytest_tau.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Other people's plugins have no part in what is tested here.
_QUICK = quick_options()


@pytest.fixture(autouse=True)
def _no_durations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep summaries from showing durations, as they do if the machine is slow."""
    monkeypatch.setattr("pytest_tau.reports.text._NO_TIME", math.inf)


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
    monkeypatch.setenv("COLUMNS", "400")
    return Project(pytester)


@pytest.fixture
def light_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of pytest in processes of their own load no other plugins either, and do not rewrite assertions."""
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(_QUICK))


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
    """Runs a task with ``parts.py:it`` of the given source as agent, to the user gold; or as user."""

    def run(source, side="agent", *args, task=None):
        project.tasks("mock/t.tau.json", [task or a_task()])
        project.write("parts.py", source)
        user = ["--tau-user", "gold"] if side == "agent" else []
        return project.run(f"--tau-{side}", "parts.py:it", "-s", *user, *args)

    return run


#: Tasks whose id begins with ``good`` pass, those with ``bad`` fail; with ``lost`` their user breaks.
_PARTS = """
from pytest_tau.testing import ScriptedParticipant, call

class Agent(ScriptedParticipant):
    def __init__(self, task):
        made = call("create_task", user_id="user_1", title="Buy milk")
        super().__init__(["No."] if task.id.startswith("bad") else [made, "Done."])

class User:
    def __init__(self, task):
        self.lost, self.said = task.id.startswith("lost"), False

    def respond(self, message):
        if self.lost:
            raise ConnectionError("provider down")
        self.said, before = True, self.said
        return "###STOP###" if before else "Milk!"
"""


@pytest.fixture
def parts_by_id(project: Project) -> list[str]:
    """Writes participants whose trials end as the ids of the tasks begin; returns the options that name them."""
    project.write("parts.py", _PARTS)
    return ["--tau-agent", "parts.py:Agent", "--tau-user", "parts.py:User"]


@pytest.fixture
def agents(project: Project, a_task: Callable[..., dict[str, Any]], parts_by_id: list[str]) -> Callable[..., Run]:
    """Runs so many tasks of each kind: those that pass, that fail, and that end in an error."""

    def run(*args: str, good: int = 0, bad: int = 0, lost: int = 0) -> Run:
        names = {"good": good, "bad": bad, "lost": lost}
        ids = [f"{name}-{number}" for name, many in names.items() for number in range(many)]
        project.tasks("mock/t.tau.json", [a_task(one) for one in ids])
        return project.run(*parts_by_id, *args)

    return run


#: A conftest.py with a domain of its own: one shelf of books, two variants of the policy.
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


HERE = Path(__file__).parent / "FOLDER"
POLICIES = {"short": PolicyFiles(("short.md",)), "long": PolicyFiles(("short.md", "long.md"))}
SHELF = DomainSpec("shelf", HERE, HERE / "tasks", Shelf, ShelfTools, policies=POLICIES)


def pytest_tau_domains(config):
    return [SHELF]
'''


@pytest.fixture
def shelf_source() -> Callable[[str], str]:
    """Returns the text of a conftest.py with the domain ``shelf``, whose data is in a folder of this name."""
    return lambda folder: _SHELF.replace("FOLDER", folder)


@pytest.fixture
def shelf(project: Project, shelf_source: Callable[[str], str]) -> Project:
    """A project with a domain of its own, ``shelf``, in its conftest.py."""
    project.write("conftest.py", shelf_source("shelf"))
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


#: A conftest.py with a model of its own instead of litellm. Unless the test's script redefines ``answer``, it
#: plays the task that ``a_task`` makes.
_MODEL = """
import asyncio
import inspect
import json
import sys
import time
from pathlib import Path

from pytest_tau.chat import LLM, ChatReply, Usage
from pytest_tau.errors import ContextWindowError, ModelError

LOG = Path(__file__).with_name("calls.jsonl")
sys.modules.setdefault("litellm", None)  # a run that asks for it has missed the hook


def called(name, /, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


def reference(role, request):
    last = request.messages[-1]
    if role == "judge":
        statements = last["content"].partition("<statements>")[2].partition("</statements>")[0].split()
        numbers = [int(word[:-1]) for word in statements if word[:-1].isdecimal() and word.endswith(":")]
        return json.dumps({"verdicts": [{"statement": n, "reason": "It is.", "met": True} for n in numbers]})
    if role == "user":
        return "###STOP###" if "Done" in last["content"] else "Buy milk, please."
    return "Done." if last["role"] == "tool" else called("create_task", user_id="user_1", title="Buy milk")


def make(role, llm, llm_args):
    return Fake(role)


answer, cost, tokens = reference, 0.25, Usage(prompt_tokens=1000, completion_tokens=20)

SCRIPT


class Fake:
    def __init__(self, role):
        self.role = role

    async def complete(self, request):
        call = {"role": self.role, "model": request.model, "args": request.args, "said": request.messages}
        with LOG.open("a") as log:
            log.write(json.dumps(call) + "\\n")
        given = answer(self.role, request)
        given = await given if inspect.isawaitable(given) else given
        message = {"content": given} if isinstance(given, str) else given
        return ChatReply(message={"role": "assistant", **message}, usage=tokens, cost=cost, seconds=0.5)


def pytest_tau_make_model(item, role, llm, llm_args, config):
    return make(role, llm, llm_args)
"""


class FakeModels:
    """Models instead of litellm, in a project whose agent and user are these models.

    Attributes:
        options: What names them on the command line.
    """

    options = ("--tau-agent-llm", "fake/agent", "--tau-user-llm", "fake/user")

    def __init__(self, project: Project) -> None:
        self._project = project
        self.script()

    def script(self, code: str = "") -> None:
        """Set the models' answers: code that redefines ``answer(role, request)``, ``make`` or ``cost``."""
        self._project.write("conftest.py", _MODEL.replace("SCRIPT", textwrap.dedent(code)))

    def run(self, *args: str | Path) -> Run:
        """Run pytest with both models."""
        return self._project.run(*self.options, *args)

    def interrupted(self, *args: str | Path) -> Run:
        """Run pytest with both models; a Ctrl-C ends that run and not this one."""
        pytester = self._project._pytester
        return Run(pytester.runpytest_inprocess(*_QUICK, *self.options, *args, no_reraise_ctrlc=True))

    @property
    def asked(self) -> list[dict[str, Any]]:
        """Every call so far: role, model, args, and what was said before."""
        log = self._project.path / "calls.jsonl"
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []

    def calls(self) -> list[str]:
        """The roles of the calls since the last call of this method, sorted."""
        found = [call["role"] for call in self.asked]
        (self._project.path / "calls.jsonl").unlink(missing_ok=True)
        return sorted(found)

    def kept(self) -> list[Path]:
        """The files of simulations under ``.tau/runs``, oldest run first."""
        return sorted(self._project.path.glob(".tau/runs/*/*.jsonl"), key=lambda file: file.stat().st_mtime_ns)

    def cassettes(self) -> list[str]:
        """Every cassette, finished or not, relative to the project."""
        found = [path for path in self._project.path.rglob("*.cassette*") if path.is_file()]
        return sorted(path.relative_to(self._project.path).as_posix() for path in found)


@pytest.fixture
def models(project: Project, a_task: Callable[..., dict[str, Any]]) -> FakeModels:
    """A project with one task file, ``mock/t.tau.json``, and models of its own that pass it."""
    project.tasks("mock/t.tau.json", [a_task()])
    return FakeModels(project)


@pytest.fixture(scope="session")
def mcp_at_hand() -> None:
    """The client of tool servers, if it is installed, which each run would otherwise import again."""
    with contextlib.suppress(ImportError):
        import mcp.client.stdio  # noqa: F401


@pytest.fixture(scope="session")
def _warm_tool_servers() -> Iterator[Callable[[Path], None]]:
    if not hasattr(os, "fork"):
        yield lambda _file: None
        return
    with warm_tool_servers() as warm:
        yield warm


@pytest.fixture
def quick_server(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Lets the tool server of a file start at once; does nothing for an example that has none."""
    return lambda file: request.getfixturevalue("_warm_tool_servers")(file) if file.exists() else None


@pytest.fixture(scope="session")
def litellm_at_hand() -> None:
    """litellm with all that it imports at its first calls, which each run would otherwise import again; that takes seconds."""
    from pytest_tau.chat import TrialModels
    from pytest_tau.integrations.litellm import completion, litellm_model
    from pytest_tau.testing import ModelServer, Unauthorized

    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    with ModelServer(lambda _request: "Yes.", faults={2: Unauthorized()}) as server:
        llm = litellm_model("openai/any", api_base=server.base_url, api_key="any")
        model = TrialModels({"agent": llm}).get("agent")
        assert model is not None
        model.complete_sync([{"role": "user", "content": "Hello"}], [tool])
        with pytest.raises(ModelError):
            model.complete_sync([{"role": "user", "content": "Hello"}])
        completion("openai/any", [{"role": "user", "content": "Hello"}], api_base=server.base_url, api_key="any")
