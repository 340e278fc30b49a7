"""Files that have been changed, and how the commands that read them end."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest_tau_domains.mock
from pytest_tau import load_domain

from .kills import milk
from .mutations import mutate
from .processes import pytest_run, tau_run
from .tally import Tally

if TYPE_CHECKING:
    from random import Random

    from .processes import Ended
    from .tally import Limits

_USAGE, _NAMED = "usage errors", "counted and named in the output, or the error of a trial"
_SAME, _OTHER = "accepted: same output as for the file as it was", "accepted: other output"
_TRACEBACK, _HUNG = "tracebacks and internal errors", "hung or ended by a signal"
_UNNAMED = "of them without the name of the file"
_RUN = ".tau/runs/the-run"

_CONFTEST = """
import json

from pytest_tau.chat import ChatReply


class Model:
    def __init__(self, role):
        self.role = role

    async def complete(self, request):
        last = request.messages[-1]
        if self.role == "user":
            content = "###STOP###" if "Done" in last["content"] else "Buy milk, please."
            return ChatReply(message={"role": "assistant", "content": content})
        if last["role"] == "tool":
            return ChatReply(message={"role": "assistant", "content": "Done."})
        made = {"name": "create_task", "arguments": json.dumps({"user_id": "user_1", "title": "Buy milk"})}
        call = {"id": "call_1", "type": "function", "function": made}
        return ChatReply(message={"role": "assistant", "content": None, "tool_calls": [call]})


def pytest_tau_make_model(item, role, llm, llm_args, config):
    return Model(role)
"""
_QUARANTINE = """
[[quarantine]]
task = "one"
reason = "the policy is wrong"
domain = "mock"
link = "https://example.com/issues/7"
until = 2099-12-31

[[quarantine]]
task = "two-*"
reason = "no such task"
"""
_OWN_DOMAIN = '''
from pathlib import Path

from pytest_tau.environment import Database, DomainSpec, Record, Table, Toolkit, tool


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
        self.db.books[title].lent = True
        return "lent"


HERE = Path(__file__).parent / "shelf"


def pytest_tau_domains(config):
    return [DomainSpec("shelf", HERE, HERE / "tasks", Shelf, ShelfTools)]
'''
_MODELS = ("--tau-agent-llm", "fake/agent", "--tau-user-llm", "fake/user")
_TASKS = ("pytest", "mock/t.tau.json", "--tau-agent", "gold")
_DATA = ("pytest", "--tau-domain", "mock", "--tau-data", "data", "--tau-agent", "gold", "--tau-num-tasks", "2")
_READERS = (
    ("pytest", "mock/t.tau.json", "--tau-agent", "gold", "--tau-resume"),
    ("pytest", "mock/t.tau.json", "--tau-agent", "gold", "--tau-baseline", _RUN),
    ("tau", "view", _RUN, "-o", "report.html"),
    ("tau", "export", "--format", "csv", _RUN),
    ("tau", "export", "--format", "tau2", _RUN),
    ("tau", "regrade", _RUN),
    ("tau", "compare", _RUN, "whole"),
    ("tau", "merge", _RUN, "whole", "-o", "merged"),
)


class _Kind(NamedTuple):
    """A kind of file: its name, where it is, and the commands that read it."""

    name: str
    path: str
    commands: tuple[tuple[str, ...], ...]


_KINDS = (
    _Kind("task file", "mock/t.tau.json", (_TASKS, ("tau", "lint", "mock/t.tau.json"))),
    _Kind("simulations.jsonl", f"{_RUN}/simulations.jsonl", _READERS),
    _Kind("data: tasks", "data/domains/mock/tasks.json", (_DATA,)),
    _Kind("run.json", f"{_RUN}/run.json", _READERS),
    _Kind("data: split", "data/domains/mock/split_tasks.json", (_DATA,)),
    _Kind("cassette", "", (("pytest", "mock/t.tau.json", *_MODELS, "--tau-replay"),)),
    _Kind("result file", "results.json",
          (("tau", "regrade", "results.json"), ("tau", "export", "--format", "csv", "results.json"),
           ("tau", "view", "results.json", "-o", "report.html"),
           ("pytest", "mock/t.tau.json", "--tau-agent", "replay:results.json"))),
    _Kind("data: database", "data/domains/mock/db.json", (_DATA,)),
    _Kind("TOML: quarantine", "quarantine.toml", ((*_TASKS, "--tau-quarantine", "quarantine.toml"),)),
    _Kind("TOML: database", "shelf/db.toml", (("pytest", "--tau-domain", "shelf", "--tau-agent", "gold"),)),
)  # fmt: skip


def files(limits: Limits) -> Tally:
    """Change a file at random, let a command read it, and count how it ended.

    A case is one file with one change: a flipped byte, a truncation, a deleted or doubled part, other content, a value
    of another type, nested 100,000 deep, a number of 5,000 digits, a removed, renamed or doubled entry. The kinds of
    files and the commands that read them take turns. ``accepted`` includes changes that are no mistakes, such as of a
    word in an instruction.
    """
    names = ("mutated files", *(f"of them {kind.name}" for kind in _KINDS), _USAGE, _UNNAMED, _NAMED, _SAME, _OTHER)
    tally = Tally(names, (_TRACEBACK, _HUNG))
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder, "clean")
        clean.mkdir()
        kinds = _write(clean)
        undisturbed: dict[tuple[str, ...], Ended] = {}
        for number, random in enumerate(limits.cases("files")):
            kind = kinds[number % len(kinds)]
            command = kind.commands[number // len(kinds) % len(kind.commands)]
            if command not in undisturbed:
                undisturbed[command] = _in_copy(clean, command, "", b"")
                _check_clean(command, undisturbed[command])
            _one_case(clean, kind, command, undisturbed[command], random, tally)
    return tally


def _check_clean(command: tuple[str, ...], ended: Ended) -> None:
    if ended.crashed or ended.status not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} on clean files has ended with {ended.status}:\n{ended.text}")


def _write(project: Path) -> list[_Kind]:
    """Make the project with all files; return the kinds with the cassette's path."""
    (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (project / "conftest.py").write_text(_CONFTEST + _OWN_DOMAIN, encoding="utf-8")
    (project / "quarantine.toml").write_text(_QUARANTINE, encoding="utf-8")
    (project / "mock").mkdir()
    (project / "mock/t.tau.json").write_text(json.dumps([milk("one"), milk("other")], indent=1), encoding="utf-8")
    data = project / "data/domains/mock"
    shutil.copytree(Path(pytest_tau_domains.mock.__file__).parent, data, ignore=shutil.ignore_patterns("*.py", "__*"))
    for file in load_domain("mock").tasks_folder.glob("*.json"):
        shutil.copy(file, data)
    (project / "shelf/tasks").mkdir(parents=True)
    books = ["[books.Emma]", 'title = "Emma"', "", "[books.Ulysses]", 'title = "Ulysses"', "lent = true", ""]
    (project / "shelf/db.toml").write_text("\n".join(books), encoding="utf-8")
    (project / "shelf/policy.md").write_text("Lend books.", encoding="utf-8")
    lend = milk("lend")
    lend["evaluation_criteria"]["actions"] = [{"action_id": "a", "name": "lend", "arguments": {"title": "Emma"}}]
    (project / "shelf/tasks/tasks.json").write_text(json.dumps([lend]), encoding="utf-8")
    for ended in (
        pytest_run(project, "mock/t.tau.json", *_MODELS, "--tau-record", "--tau-results", "recorded"),
        pytest_run(project, *_TASKS[1:], "--tau-trials", "2", "--tau-results", "made"),
    ):
        if ended.status != 0:
            raise RuntimeError(f"a run of the clean project has ended with {ended.status}:\n{ended.text}")
    (run,) = (project / "made").iterdir()
    shutil.copytree(run, project / "whole")
    (project / ".tau/runs").mkdir(parents=True)
    run.rename(project / _RUN)
    tau_run(project, "export", "--format", "tau2", "-o", "results.json", "whole")
    cassette = min(project.rglob("*.cassette")).relative_to(project)
    return [kind if kind.path else kind._replace(path=cassette.as_posix()) for kind in _KINDS]


def _in_copy(clean: Path, command: tuple[str, ...], path: str, content: bytes) -> Ended:
    """Run a command in a copy of the project in which one file has other content."""
    project = clean.with_name("project")
    shutil.copytree(clean, project)
    try:
        if path:
            (project / path).write_bytes(content)
        program, *arguments = command
        return pytest_run(project, *arguments) if program == "pytest" else tau_run(project, *arguments)
    finally:
        shutil.rmtree(project)


def _one_case(clean: Path, kind: _Kind, command: tuple[str, ...], before: Ended, random: Random, tally: Tally) -> None:
    change, content = mutate((clean / kind.path).read_bytes(), Path(kind.path).suffix, random)
    ended = _in_copy(clean, command, kind.path, content)
    tally.add("mutated files")
    tally.add(f"of them {kind.name}")
    example = f"{kind.name}, {change}: {' '.join(command)}: status {ended.status}: {ended.text.strip()[-300:]}"
    name = Path(kind.path).name
    if ended.status is None or ended.status < 0:
        tally.find(_HUNG, example)
    elif ended.crashed:
        tally.find(_TRACEBACK, example)
    elif ended.status == (4 if command[0] == "pytest" else 2):
        tally.add(_USAGE)
        if name not in ended.text and name.partition(".")[0] not in ended.text and Path(_RUN).name not in ended.text:
            tally.add(_UNNAMED)
    elif _lines(ended) == _lines(before):
        tally.add(_SAME)
    elif any(
        name in line or re.search(r"\bERROR\b|^error|not read|skipped|cannot", line)
        for line in _lines(ended) - _lines(before)
    ):
        tally.add(_NAMED)
    else:
        tally.add(_OTHER)


def _lines(ended: Ended) -> set[str]:
    """Return the lines of the output without times and names of runs."""
    text = re.sub(r"\d{8}-\d{6}-[\w-]+|\d+\.\d\ds|\d\d:\d\d:\d\d|\d+(\.\d+)? (ms|s|min)\b", "X", ended.text)
    return set(text.splitlines())
