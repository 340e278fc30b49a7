from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_tau.environment import Table

from .tiny import AGENT_DATA, Item, Seat, TinyDB


def item(item_id: str, name: str | None = None) -> Item:
    return Item(item_id=item_id, name=name or item_id, tags=["new"])


@pytest.fixture
def base() -> dict[str, Item]:
    return {key: item(key) for key in ("a", "b", "c")}


@pytest.fixture
def table(base: dict[str, Item]) -> Table[Item]:
    return Table(base)


def test_peek_and_scan_give_the_shared_records(table: Table[Item], base: dict[str, Item]) -> None:
    assert table.peek("a") is base["a"]
    assert [id(record) for record in table.scan()] == [id(record) for record in base.values()]
    assert not table.touched


def test_getting_copies_deeply_once(table: Table[Item], base: dict[str, Item]) -> None:
    mine = table["a"]
    assert mine is not base["a"]
    assert mine.tags is not base["a"].tags
    assert table["a"] is mine
    assert table.peek("a") is mine
    assert next(table.scan()) is mine
    assert table.touched == {"a"}


def test_a_fork_shares_what_neither_touched(table: Table[Item]) -> None:
    table["a"].name = "changed"
    other = table.fork()
    assert other.peek("b") is table.peek("b")
    assert other.peek("c") is table.peek("c")
    assert table.shares_base_with(other)


def test_deletion(table: Table[Item], base: dict[str, Item]) -> None:
    del table["b"]
    assert "b" not in table
    assert table.peek("b") is None
    assert table.get("b") is None
    assert list(table) == ["a", "c"]
    assert [record.item_id for record in table.scan()] == ["a", "c"]
    assert len(table) == 2
    assert table.touched == {"b"}
    assert "b" in base
    with pytest.raises(KeyError):
        table["b"]
    with pytest.raises(KeyError):
        del table["b"]


def test_unknown_ids_raise(table: Table[Item]) -> None:
    with pytest.raises(KeyError):
        table["z"]
    with pytest.raises(KeyError):
        del table["z"]
    assert not table.touched


def test_deleting_what_was_added_leaves_no_trace(table: Table[Item]) -> None:
    table["d"] = item("d")
    del table["d"]
    assert not table.touched
    assert list(table) == ["a", "b", "c"]


def test_repr_shows_the_size_and_the_touched_records(table: Table[Item]) -> None:
    del table["a"]
    assert repr(table) == "Table(2 records, 1 touched)"


KEYS = st.sampled_from(["a", "b", "c", "d", "e"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["get", "delete", "fork", "pop"]), KEYS, st.just("")),
        st.tuples(st.sampled_from(["set", "rename"]), KEYS, st.sampled_from(["x", "y"])),
    ),
    max_size=25,
)


@settings(deadline=None)
@given(STEPS)
def test_a_table_behaves_like_a_dict_and_never_writes_to_its_base(steps: list[tuple[str, str, str]]) -> None:
    base = {key: item(key) for key in ("a", "b", "c")}
    before = {key: record.model_copy(deep=True) for key, record in base.items()}
    table, model = Table(base), {key: item(key) for key in base}
    left_behind: list[tuple[Table[Item], list[Any]]] = []
    for step, key, name in steps:
        if step == "get":
            assert table.get(key) == model.get(key)
        elif step == "delete" and key in model:
            del table[key], model[key]
        elif step == "pop":
            assert table.pop(key, None) == model.pop(key, None)
        elif step == "set":
            table[key], model[key] = item(key, name), item(key, name)
        elif step == "rename" and key in model:
            table[key].name = model[key].name = name
            table[key].tags.append(name)
            model[key].tags.append(name)
        elif step == "fork":
            left_behind.append((table, [(k, r.model_copy(deep=True)) for k, r in model.items()]))
            table = table.fork()
        assert list(table) == list(model)
        assert len(table) == len(model)
        assert (key in table) is (key in model)
        assert table.peek(key) == model.get(key)
        assert list(table.scan()) == list(model.values())
    assert base == before
    for old, content in left_behind:
        assert list(old.items()) == content


def test_a_table_is_an_object_in_json_and_keyed_by_an_array() -> None:
    db = TinyDB.model_validate(AGENT_DATA)
    assert not db.items.ordered
    assert db.seats.ordered
    assert db.seats["s2"] == Seat(seat_id="s2")
    assert db.dump() == AGENT_DATA
    assert json.loads(db.model_dump_json()) == AGENT_DATA


def test_what_was_touched_is_in_the_json() -> None:
    db = TinyDB.model_validate(AGENT_DATA)
    db.seats["s1"].taken_by = "Ada"
    del db.seats["s2"]
    db.seats["s9"] = Seat(seat_id="s9")
    assert db.dump()["seats"] == [
        {"seat_id": "s1", "taken_by": "Ada"},
        {"seat_id": "s3", "taken_by": None},
        {"seat_id": "s9", "taken_by": None},
    ]
