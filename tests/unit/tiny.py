"""A domain of two items, three seats and a phone, and short ways of writing tasks and conversations about it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field

from pytest_tau.environment import (
    Database,
    DomainSpec,
    KeyedBy,
    PolicyFiles,
    Record,
    Table,
    ToolError,
    Toolkit,
    tool,
)
from pytest_tau.evaluation import evaluate
from pytest_tau.models import AssistantMessage, Task, ToolCall, UserMessage, parse_task

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Requestor, RewardInfo

T = TypeVar("T")


class Item(Record):
    item_id: str
    name: str
    price: float = 1.0
    tags: list[str] = Field(default_factory=list)
    meta: Any = None


class Seat(Record):
    seat_id: str
    taken_by: str | None = None


class Phone(Record):
    on: bool = False
    shown: int = 0


class Note(Record):
    text: str


class TinyDB(Database):
    items: Table[Item]
    seats: Annotated[Table[Seat], KeyedBy("seat_id")]
    counter: int = 0
    settings: dict[str, Any] = Field(default_factory=dict)


class TinyUserDB(Database):
    phone: Phone = Field(default_factory=Phone)
    notes: Table[Note] = Field(default_factory=Table)


class TinyTools(Toolkit[TinyDB]):
    """The agent's side."""

    @tool("read")
    def look(self, item_id: str) -> Item:
        """Show an item."""
        return self._item(item_id)

    @tool("write")
    def rename(self, item_id: str, name: str) -> Item:
        """Give an item a name."""
        item = self._item(item_id)
        item.name = name
        return item

    @tool("write")
    def price(self, item_id: str, price: Any) -> str:
        """Set a price, as it comes."""
        self._item(item_id).price = price
        return "priced"

    @tool("write")
    def add(self, item_id: str, tags: list[str]) -> str:
        """Add an item; the list of tags is stored as it is."""
        self.db.items[item_id] = Item.model_construct(item_id=item_id, name=item_id, price=1.0, tags=tags, meta=None)
        return "added"

    @tool("write")
    def tag(self, item_id: str, tag: str) -> str:
        """Add a tag in place."""
        self._item(item_id).tags.append(tag)
        return "tagged"

    @tool("write")
    def remove(self, item_id: str) -> str:
        """Remove an item."""
        if item_id not in self.db.items:
            raise ToolError(f"no item {item_id}")
        del self.db.items[item_id]
        return "removed"

    @tool("write")
    def sit(self, seat_id: str, who: str) -> Seat:
        """Take a seat."""
        seat = self.db.seats[seat_id]
        seat.taken_by = who
        return seat

    @tool("write")
    def count(self, by: int = 1) -> int:
        """Count up; the phone shows the counter after the next sync."""
        self.db.counter += by
        return self.db.counter

    @tool("write")
    def half_done(self, item_id: str) -> str:
        """Change something, then fail."""
        self._item(item_id).name = "half done"
        raise RuntimeError("only half done")

    @tool("read", mutates=True)
    def peek_and_count(self) -> int:
        """A reading tool that says that it mutates."""
        self.db.counter += 1
        return self.db.counter

    @tool("write", mutates=False)
    def count_unseen(self) -> int:
        """A writing tool that says that it does not mutate."""
        self.db.counter += 1
        return self.db.counter

    @tool("generic")
    def transfer(self, summary: str) -> str:
        """Hand over."""
        return "transferred"

    def put_counter(self, value: int) -> None:
        """For initial states."""
        self.db.counter = value

    def named(self, item_id: str, name: str) -> bool:
        """For assertions."""
        return self._item(item_id).name == name

    def counted(self) -> int:
        """For assertions that do not give a bool."""
        return self.db.counter

    def _item(self, item_id: str) -> Item:
        if item_id not in self.db.items:
            raise ToolError(f"no item {item_id}")
        return self.db.items[item_id]


class TinyUserTools(Toolkit[TinyUserDB]):
    """The user's side."""

    @tool("write")
    def switch(self) -> str:
        """Switch the phone on or off."""
        self.db.phone.on = not self.db.phone.on
        return "on" if self.db.phone.on else "off"

    @tool("read")
    def read_phone(self) -> Phone:
        """Read the phone."""
        return self.db.phone

    @tool("write")
    def write_note(self, note_id: str, text: str) -> str:
        """Write a note."""
        self.db.notes[note_id] = Note(text=text)
        return "written"

    def phone_on(self) -> bool:
        """For assertions."""
        return self.db.phone.on

    def shows(self, number: int) -> bool:
        """For assertions."""
        return self.db.phone.shown == number


def sync(agent_db: TinyDB, user_db: TinyUserDB) -> None:
    """The phone shows the counter; thirteen breaks it."""
    if agent_db.counter == 13:
        raise ToolError("thirteen")
    user_db.phone.shown = agent_db.counter


AGENT_DATA: dict[str, Any] = {
    "items": {
        "lamp": {"item_id": "lamp", "name": "Lamp", "price": 10.0, "tags": ["red"], "meta": {"sizes": [1, 2]}},
        "desk": {"item_id": "desk", "name": "Desk", "price": 200.0, "tags": [], "meta": None},
    },
    "seats": [{"seat_id": f"s{n}", "taken_by": None} for n in (1, 2, 3)],
    "counter": 0,
    "settings": {"theme": "dark", "levels": [1, 2]},
}
USER_DATA: dict[str, Any] = {"phone": {"on": False, "shown": 0}, "notes": {}}


def spec(folder: Path, **changes: Any) -> DomainSpec:
    """The domain's declaration over a folder."""
    fields: dict[str, Any] = {
        "name": "tiny",
        "folder": folder,
        "tasks": folder / "tasks",
        "agent_db": TinyDB,
        "agent_tools": TinyTools,
        "user_db": TinyUserDB,
        "user_tools": TinyUserTools,
        "sync": sync,
        "policies": {
            "default": PolicyFiles(normal=("policy.md",), solo=("solo.md",)),
            "short": PolicyFiles(normal=("short.md", "policy.md")),
        },
    }
    return DomainSpec(**fields | changes)


def write(folder: Path) -> None:
    """The domain's files."""
    tasks = folder / "tasks"
    tasks.mkdir(parents=True)
    (folder / "db.json").write_text(json.dumps(AGENT_DATA), encoding="utf-8")
    (folder / "user_db.json").write_text(json.dumps(USER_DATA), encoding="utf-8")
    (folder / "policy.md").write_text("The policy.", encoding="utf-8")
    (folder / "solo.md").write_text("The policy of one who is alone.", encoding="utf-8")
    (folder / "short.md").write_text("Be brief.", encoding="utf-8")
    (tasks / "a.json").write_text(json.dumps([raw_task("one"), raw_task("two")]), encoding="utf-8")
    (tasks / "b.json").write_text(json.dumps({"domain": "tiny", "tasks": [raw_task("three")]}), encoding="utf-8")
    splits = {"base": ["one", "three"], "rest": ["two"]}
    (tasks / "split_tasks.json").write_text(json.dumps(splits), encoding="utf-8")


def make(folder: Path, **changes: Any) -> Domain:
    """The domain, its files written into an empty folder."""
    write(folder)
    return spec(folder, **changes).load()


# Tasks


def raw_task(
    task_id: str = "t", criteria: dict[str, Any] | None = None, state: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """A task in JSON."""
    task: dict[str, Any] = {"id": task_id, "user_scenario": {"instructions": "You want something."}}
    if criteria is not None:
        task["evaluation_criteria"] = criteria
    if state is not None:
        task["initial_state"] = state
    return task | fields


def task(criteria: dict[str, Any] | None = None, **fields: Any) -> Task:
    """A task: evaluation criteria, ``state`` and other fields in JSON."""
    return parse_task(raw_task(fields.pop("task_id", "t"), criteria, **fields))


def action(name: str, requestor: Requestor = "assistant", /, compare: list[str] | None = None, **arguments: Any) -> Any:
    """A reference action in JSON."""
    return {"action_id": name, "requestor": requestor, "name": name, "arguments": arguments, "compare_args": compare}


def check(name: str, env_type: Requestor = "assistant", /, value: bool = True, **arguments: Any) -> Any:
    """An assertion in JSON."""
    return {"env_type": env_type, "func_name": name, "arguments": arguments, "assert_value": value}


# Conversations


def call(name: str, requestor: Requestor = "assistant", /, **arguments: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(name=name, arguments=arguments, requestor=requestor)


def agent(content: str | ToolCall | None, *calls: ToolCall) -> AssistantMessage:
    """What the agent says or calls."""
    if isinstance(content, ToolCall):
        content, calls = None, (content, *calls)
    return AssistantMessage(content=content, tool_calls=list(calls) or None)


def user(content: str | ToolCall | None, *calls: ToolCall) -> UserMessage:
    """What the user says or calls; calls are the user's."""
    if isinstance(content, ToolCall):
        content, calls = None, (content, *calls)
    return UserMessage(content=content, tool_calls=[c.model_copy(update={"requestor": "user"}) for c in calls] or None)


STOP = user("###STOP###")


def graded(domain: Domain, wanted: Task, *messages: Any, **options: Any) -> RewardInfo:
    """The verdict on a conversation that a stop of the user's ends."""
    return evaluate(wanted, [*messages, STOP], domain=domain, **options)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns."""
    return asyncio.run(coroutine)
