"""A change in a field of any type that pydantic offers stays in its environment, and is a difference."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, Field

import pytest_tau
from pytest_tau.environment import Database, DomainSpec, Record, Table, Toolkit, tool
from pytest_tau.evaluation.components.db import same_state
from pytest_tau.models import Task


@dataclass
class Box:
    names: list[str] = field(default_factory=list)
    letters: set[str] = field(default_factory=set)


class Plain(BaseModel):
    names: list[str] = []
    letters: set[str] = set()


class Size(Enum):
    SMALL = "s"


class Values(Record):
    id: str
    by_enum: dict[Size, int] = {Size.SMALL: 1}
    by_date: dict[date, list[str]] = {date(2026, 1, 5): []}
    by_tuple: dict[tuple[int, str], int] = {(1, "a"): 1}
    by_number: dict[int, int] = {1: 1}
    a_list: list[str] = []
    a_dict: dict[str, int] = {}
    a_set: set[str] = set()
    a_bytearray: Any = bytearray(b"a")
    a_deque: deque[str] = Field(default_factory=deque)
    a_defaultdict: defaultdict[str, list[str]] = Field(default_factory=lambda: defaultdict(list))
    an_ordered_dict: OrderedDict[str, int] = Field(default_factory=OrderedDict)
    a_counter: Counter[str] = Field(default_factory=Counter)
    a_tuple: tuple[set[str], list[str]] = (set(), [])
    sets: list[dict[str, set[str]]] = [{"x": set()}]
    a_box: Box = Field(default_factory=Box)
    boxes: dict[str, Box] = {"x": Box()}
    a_model: Plain = Plain()
    models: list[Plain] = [Plain()]
    anything: Any = None


class ValuesDB(Database):
    records: Table[Values]
    letters: set[str] = set()
    box: Box = Field(default_factory=Box)


CHANGES = {
    "by_enum": lambda one: one.by_enum.update({Size.SMALL: 2}),
    "by_date": lambda one: one.by_date[date(2026, 1, 5)].append("a"),
    "by_tuple": lambda one: one.by_tuple.update({(1, "a"): 2}),
    "by_number": lambda one: one.by_number.update({2: 2}),
    "a_list": lambda one: one.a_list.append("a"),
    "a_dict": lambda one: one.a_dict.update(a=1),
    "a_set": lambda one: one.a_set.add("a"),
    "a_bytearray": lambda one: one.a_bytearray.append(98),
    "a_deque": lambda one: one.a_deque.append("a"),
    "a_defaultdict": lambda one: one.a_defaultdict["x"].append("a"),
    "an_ordered_dict": lambda one: one.an_ordered_dict.update(a=1),
    "a_counter": lambda one: one.a_counter.update("a"),
    "a_tuple": lambda one: one.a_tuple[0].add("a"),
    "a_list_in_a_tuple": lambda one: one.a_tuple[1].append("a"),
    "sets": lambda one: one.sets[0]["x"].add("a"),
    "a_box": lambda one: one.a_box.names.append("a"),
    "a_set_in_a_box": lambda one: one.a_box.letters.add("a"),
    "boxes": lambda one: one.boxes["x"].letters.add("a"),
    "a_model": lambda one: one.a_model.letters.add("a"),
    "models": lambda one: one.models[0].names.append("a"),
    "anything": lambda one: setattr(one, "anything", {"a": {"b"}}),
}
OF_DATABASE = {
    "letters": lambda db: db.letters.add("a"),
    "box": lambda db: db.box.letters.add("a"),
}


class ValuesTools(Toolkit[ValuesDB]):
    @tool("write")
    def change(self, name: str) -> str:
        """Change a value.

        Args:
            name: Its name.
        """
        if name in OF_DATABASE:
            OF_DATABASE[name](self.db)
        else:
            CHANGES[name](self.db.records["r1"])
        return "Done."


@pytest.fixture
def domain(tmp_path):
    (tmp_path / "db.json").write_text('{"records": {"r1": {"id": "r1"}}}')
    (tmp_path / "policy.md").write_text("Change what is asked for.")
    return DomainSpec("values", tmp_path, tmp_path, ValuesDB, ValuesTools).load()


def task(*changes: str) -> Task:
    actions = [{"action_id": name, "name": "change", "arguments": {"name": name}} for name in changes]
    criteria = {"actions": actions, "reward_basis": ["DB"]}
    return Task.model_validate(
        {"id": "t", "user_scenario": {"instructions": "Change it."}, "evaluation_criteria": criteria}
    )


@pytest.mark.parametrize("name", [*CHANGES, *OF_DATABASE])
def test_a_change_stays_in_its_environment(domain, name: str) -> None:
    before, changed = domain.environment(), domain.environment()
    assert changed.call("change", {"name": name}).content == "Done."
    assert not same_state(changed, before)
    assert same_state(domain.environment(), before)
    again = domain.environment()
    again.call("change", {"name": name})
    assert same_state(again, changed)
    forked = changed.fork()
    forked.call("change", {"name": "a_list" if name != "a_list" else "a_set"})
    assert same_state(again, changed)
    assert not same_state(forked, changed)


@pytest.mark.parametrize("name", [*CHANGES, *OF_DATABASE])
def test_only_the_agent_that_makes_the_change_passes(domain, name: str) -> None:
    def changing(messages: list[dict[str, Any]], tools: Any) -> Any:
        if messages[-1]["role"] == "tool":
            return "It has been done."
        function = {"name": "change", "arguments": json.dumps({"name": name})}
        return {"tool_calls": [{"id": "1", "type": "function", "function": function}]}

    def idle(messages: Any, tools: Any) -> str:
        return "It has been done."

    cases = [(task(name), idle, 0), (task(name), changing, 1), (task(), changing, 0), (task(), idle, 1)]
    for case, agent, expected in [*cases, *cases]:
        assert pytest_tau.simulate(case, domain=domain, agent=agent, user="scripted").reward == expected


def test_a_record_under_a_number_is_another_one_than_under_a_text(domain) -> None:
    one, other, same = (domain.environment() for _ in range(3))
    for environment, key in ((one, 7), (other, "7"), (same, 7)):
        environment.agent_db.records[key] = Values(id="7")
        environment.agent_db.records["r1"].a_list.append("a")
    assert not same_state(one, other)
    assert same_state(one, same)
    assert {change.path for change in one.agent_db.changes(other.agent_db)} == {"records/7"}


class Note(Record):
    id: str
    text: str = ""
    reads: int = Field(default=0, exclude=True)


class Shelf(Record):
    notes: list[Note] = [Note(id="s1")]
    opened: int = Field(default=0, exclude=True)


class NotesDB(Database):
    notes: Table[Note]
    shelf: Shelf = Shelf()
    opened: int = Field(default=0, exclude=True)
    drafts: Table[Note] = Field(default_factory=Table, exclude=True)


EXCLUDED = {
    "of a record": lambda db: setattr(db.notes["n1"], "reads", 1),
    "of a record in a record": lambda db: setattr(db.shelf.notes[0], "reads", 1),
    "of a record of a database": lambda db: setattr(db.shelf, "opened", 1),
    "of a database": lambda db: setattr(db, "opened", 1),
    "a table of a database": lambda db: db.drafts.update({"d1": Note(id="d1")}),
}


@pytest.mark.parametrize("where", EXCLUDED)
def test_an_excluded_field_does_not_belong_to_the_state(where: str) -> None:
    before = NotesDB.model_validate({"notes": {"n1": {"id": "n1"}}})
    after = before.fork()
    EXCLUDED[where](after)
    assert after.equals(before)
    assert after.changes(before) == []
    for change in (lambda db: setattr(db.notes["n1"], "text", "a"), lambda db: db.shelf.notes.append(Note(id="s2"))):
        changed = after.fork()
        change(changed)
        assert not changed.equals(before)
        assert changed.changes(before)
