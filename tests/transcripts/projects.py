"""Files of the scratch projects: tasks, participants that follow a script, and models."""

from __future__ import annotations

import json
from typing import Any

#: Plays each task by the beginning of its id. If the environment says so, ``lucky-`` fails.
PARTS = """
import os
from pytest_tau.testing import ScriptedParticipant, call

MADE = call("create_task", user_id="user_1", title="Buy milk")
OTHER = call("create_task", user_id="user_1", title="Buy eggs")
REPLIES = {"bad": ["Sorry."], "wrong": [OTHER, "Done."], "lucky": [OTHER, "Done."] if "UNLUCKY" in os.environ else []}

# The place of an error is shown, cut to a width; with the project's path it would be cut elsewhere on each machine.
exec(compile("def broken(error):\\n    raise error\\n", "provider.py", "exec"))


class Agent(ScriptedParticipant):
    def __init__(self, task, seed):
        self.kind = task.id.partition("-")[0]
        if self.kind == "flaky" and seed % 2:
            self.kind = "bad"
        super().__init__(REPLIES.get(self.kind) or [MADE, "Done."])

    def respond(self, message):
        if self.kind == "raises":
            broken(ValueError("out of ideas"))
        if self.kind == "empty":
            return ""
        if self.kind == "crash":
            os._exit(3)
        return super().respond(message)


class User:
    def __init__(self, task):
        self.lost, self.said = task.id.startswith("lost"), False

    def respond(self, message):
        if self.lost and "FOUND" not in os.environ:
            broken(ConnectionError("provider down"))
        self.said, before = True, self.said
        return "###STOP###" if before else "Milk!"
"""
#: A conftest.py that interrupts the run in the conversation of ``stop-``, if the environment says so.
STOP = """
import asyncio
import os

import parts


class Agent(parts.Agent):
    async def respond(self, message):
        if self.kind == "stop" and os.environ.get("STOP") == "early":
            await asyncio.sleep(60)  # until it is cancelled
        return super().respond(message)


def pytest_tau_make_agent():
    return Agent


def pytest_tau_message(item, message):
    if item.task.id.startswith("stop-") and "STOP" in os.environ and message.role == "user":
        raise KeyboardInterrupt
"""
#: What names them in the ini.
PARTS_INI = "[pytest]\ntau_agent = parts.py:Agent\ntau_user = parts.py:User\n"

#: A conftest.py with models of its own.
MODELS = """
import json
import os

from pytest_tau.chat import ChatReply, Usage
from pytest_tau.errors import ModelError


def called(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


def answer(role, request):
    last = request.messages[-1]
    if role == "judge":
        return json.dumps({"verdicts": [{"statement": 1, "reason": "It is.", "met": "UNMET" not in os.environ}]})
    if role == "user":
        return "###STOP###" if "Done" in last["content"] else "Buy milk, please."
    if "DOWN" in os.environ:
        raise ModelError("the provider is down")
    if last["role"] == "tool":
        return "Done."
    return called("create_task", user_id="user_1", title=os.environ.get("TITLE", "Buy milk"))


class Model:
    def __init__(self, role):
        self.role = role

    async def complete(self, request):
        given = answer(self.role, request)
        message = {"content": given} if isinstance(given, str) else given
        usage = Usage(prompt_tokens=1000, completion_tokens=20)
        return ChatReply(message={"role": "assistant", **message}, usage=usage, cost=0.25, seconds=0.5)


def pytest_tau_make_model(role):
    return Model(role)
"""
MODELS_INI = """
[pytest]
tau_agent_llm = fake/agent
tau_user_llm = fake/user
tau_concurrency = 1
"""

#: A conftest.py with a domain of its own: one shelf of books.
SHELF = '''
from pathlib import Path

from pytest_tau.environment import Database, DomainSpec, PolicyFiles, Record, Table, Toolkit, ToolError, tool
from pytest_tau.models import AssistantMessage, CustomCheck


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


class Polite:
    name = "POLITE"

    def evaluate(self, task, messages, environment):
        said = [m.content for m in messages if isinstance(m, AssistantMessage) and m.content]
        polite = any("please" in text.lower() for text in said)
        return CustomCheck(name=self.name, reward=float(polite), justification="said please" if polite else "no please")


HERE = Path(__file__).parent / "shelf"
POLICIES = {"short": PolicyFiles(("short.md",)), "long": PolicyFiles(("short.md", "long.md"))}


def pytest_tau_domains(config):
    return [DomainSpec("shelf", HERE, HERE / "tasks", Shelf, ShelfTools, policies=POLICIES)]


def pytest_tau_evaluators(config):
    return [Polite()]


def pytest_tau_modify_tasks(domain, tasks):
    tasks.reverse()
'''


def task(task_id: str = "buy-milk", *, criteria: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return a task of the mock domain: put "Buy milk" on Ada's list."""
    arguments = {"user_id": "user_1", "title": "Buy milk"}
    action = {"action_id": "create", "name": "create_task", "arguments": arguments}
    return {
        "id": task_id,
        "user_scenario": {"instructions": "Have 'Buy milk' put on your list."},
        "evaluation_criteria": {"actions": [action], **(criteria or {})},
        **changes,
    }


def tasks(*ids: str) -> str:
    """Return a task file with tasks that differ in their ids."""
    return json.dumps([task(each) for each in ids])


def scripted(*ids: str, ini: str = "", **files: str) -> dict[str, str]:
    """Return a project with these tasks and with participants that play each by its id."""
    return {"pytest.ini": PARTS_INI + ini, "parts.py": PARTS, "mock/t.tau.json": tasks(*ids), **files}


def stopped(*ids: str) -> dict[str, str]:
    """Return a project of the same kind, whose runs can be interrupted."""
    return {**scripted(*ids), "conftest.py": STOP}


def modelled(*ids: str, ini: str = "") -> dict[str, str]:
    """Return a project with these tasks and with models that pass them."""
    return {"pytest.ini": MODELS_INI + ini, "conftest.py": MODELS, "mock/t.tau.json": tasks(*ids)}


def shelf() -> dict[str, str]:
    """Return a project with a domain and a reward component of its own."""

    def lend(title: str, basis: list[str]) -> dict[str, Any]:
        action = {"action_id": "lend", "name": "lend", "arguments": {"title": title}}
        criteria = {"actions": [action], "reward_basis": basis}
        instructions = {"instructions": f"Borrow {title}."}
        return {"id": f"lend-{title.lower()}", "user_scenario": instructions, "evaluation_criteria": criteria}

    books = {name: {"title": name} for name in ("Emma", "Ulysses")}
    return {
        "conftest.py": SHELF,
        "shelf/db.json": json.dumps({"books": books}),
        "shelf/short.md": "Lend books.",
        "shelf/long.md": "Lend them kindly.",
        "shelf/tasks/tasks.json": json.dumps([lend("Emma", ["DB"]), lend("Ulysses", ["DB", "POLITE"])]),
    }
