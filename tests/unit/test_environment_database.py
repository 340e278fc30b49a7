from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_tau.environment import Change, KeyedBy, Table, canonical
from pytest_tau.environment.database import _record
from pytest_tau.errors import TaskFormatError, ToolError

from .tiny import AGENT_DATA, Item, Seat, TinyDB


def fresh() -> TinyDB:
    return TinyDB.model_validate(copy.deepcopy(AGENT_DATA))


@pytest.fixture
def db() -> TinyDB:
    return fresh()


def test_a_fork_is_independent_in_every_field(db: TinyDB) -> None:
    fork = db.fork()
    fork.items["lamp"].tags.append("blue")
    fork.items["lamp"].meta["sizes"].append(3)
    del fork.seats["s1"]
    fork.counter = 5
    fork.settings["levels"].append(3)
    assert db.dump() == AGENT_DATA
    db.items["desk"].name = "Table"
    db.settings["theme"] = "light"
    assert fork.items["desk"].name == "Desk"
    assert fork.settings["theme"] == "dark"


def test_a_fork_shares_untouched_records(db: TinyDB) -> None:
    fork = db.fork()
    assert fork.items.peek("lamp") is db.items.peek("lamp")
    assert fork.seats.peek("s1") is db.seats.peek("s1")


def test_digest_is_the_sha256_of_sorted_json(db: TinyDB) -> None:
    text = json.dumps(AGENT_DATA, sort_keys=True)
    assert db.digest() == hashlib.sha256(text.encode()).hexdigest()


def test_touching_without_changing_changes_nothing(db: TinyDB) -> None:
    fork = db.fork()
    assert fork.items["lamp"].name == "Lamp"
    fork.seats["s3"].taken_by = None
    assert fork.digest() == db.digest()
    assert db.equals(fork)
    assert db.changes(fork) == []


def lamp(**changes: Any) -> Callable[[TinyDB], None]:
    def change(db: TinyDB) -> None:
        for name, value in changes.items():
            setattr(db.items["lamp"], name, value)

    return change


def reverse_seats(db: TinyDB) -> None:
    for key in ("s2", "s1"):
        seat = db.seats[key]
        del db.seats[key]
        db.seats[key] = seat


def swap_levels(db: TinyDB) -> None:
    db.settings["levels"].reverse()


def drop(table: str, key: str) -> Callable[[TinyDB], None]:
    return lambda db: getattr(db, table).__delitem__(key)


def add(table: str, key: str, record: Any) -> Callable[[TinyDB], None]:
    return lambda db: getattr(db, table).__setitem__(key, record)


CHAIR = Item(item_id="chair", name="Chair")

CHANGES: list[tuple[str, Callable[[TinyDB], None], list[Change]]] = [
    ("value", lamp(name="Light"), [Change("items/lamp/name", "Lamp", "Light")]),
    ("float-for-int", lamp(price=10), [Change("items/lamp/price", 10.0, 10)]),
    ("true-for-one", lambda db: setattr(db, "counter", False), [Change("counter", 0, False)]),
    ("float-for-counter", lambda db: setattr(db, "counter", 0.0), [Change("counter", 0, 0.0)]),
    ("text-for-number", lamp(price="10.0"), [Change("items/lamp/price", 10.0, "10.0")]),
    ("null", lamp(name=None), [Change("items/lamp/name", "Lamp", None)]),
    ("list-item", lamp(tags=["blue"]), [Change("items/lamp/tags/0", "red", "blue")]),
    ("list-longer", lamp(tags=["red", "blue"]), [Change("items/lamp/tags/1", None, "blue", "expected")]),
    ("list-begins-earlier", lamp(tags=["blue", "red"]), [Change("items/lamp/tags/0", None, "blue", "expected")]),
    ("list-emptied", lamp(tags=[]), [Change("items/lamp/tags", ["red"], [])]),
    ("nested", lamp(meta={"sizes": [1, 3]}), [Change("items/lamp/meta/sizes/1", 2, 3)]),
    (
        "list-order",
        swap_levels,
        [Change("settings/levels/0", 1, 2), Change("settings/levels/1", 2, 1)],
    ),
    (
        "key-missing",
        lambda db: db.settings.pop("theme"),
        [Change("settings/theme", "dark", None, "got")],
    ),
    (
        "key-added",
        lambda db: db.settings.update(font="big"),
        [Change("settings/font", None, "big", "expected")],
    ),
    ("row-missing", drop("seats", "s2"), [Change("seats/s2", {"seat_id": "s2", "taken_by": None}, None, "got")]),
    ("record-missing", drop("items", "desk"), [Change("items/desk", AGENT_DATA["items"]["desk"], None, "got")]),
    ("record-added", add("items", "chair", CHAIR), [Change("items/chair", None, CHAIR.model_dump(), "expected")]),
    (
        "row-added",
        add("seats", "s4", Seat(seat_id="s4")),
        [Change("seats/s4", None, {"seat_id": "s4", "taken_by": None}, "expected")],
    ),
    ("row-order", reverse_seats, [Change("seats (order)", ["s1", "s2", "s3"], ["s3", "s2", "s1"])]),
]
each_change = pytest.mark.parametrize(("change", "expected"), [pytest.param(*row[1:], id=row[0]) for row in CHANGES])


@each_change
@pytest.mark.parametrize("shared", [True, False], ids=["fork", "loaded-apart"])
def test_every_kind_of_difference_is_seen(
    db: TinyDB, change: Callable[[TinyDB], None], expected: list[Change], shared: bool
) -> None:
    other = db.fork() if shared else fresh()
    change(other)
    assert not db.equals(other)
    assert not other.equals(db)
    assert db.digest() != other.digest()
    found = db.changes(other)
    assert found == expected
    # 10 == 10.0 and 0 == False: the types are the point.
    assert [canonical([c.expected, c.got]) for c in found] == [canonical([c.expected, c.got]) for c in expected]


@each_change
def test_a_difference_seen_from_the_other_side_is_turned_round(
    db: TinyDB, change: Callable[[TinyDB], None], expected: list[Change]
) -> None:
    other = db.fork()
    change(other)
    turn = {"expected": "got", "got": "expected", None: None}
    assert sorted(other.changes(db), key=lambda c: c.path) == sorted(
        (Change(c.path, c.got, c.expected, turn[c.missing]) for c in expected), key=lambda c: c.path
    )


def test_the_order_of_an_object_is_no_difference(db: TinyDB) -> None:
    other = db.fork()
    record = other.items["lamp"]
    del other.items["lamp"]
    other.items["lamp"] = record
    other.settings = {key: other.settings[key] for key in reversed(other.settings)}
    assert list(other.items) == ["desk", "lamp"]
    assert db.equals(other)
    assert db.changes(other) == []
    assert db.digest() == other.digest()


def test_states_that_took_different_ways_to_the_same_place_are_equal(db: TinyDB) -> None:
    one, two = db.fork(), db.fork()
    one.seats["s2"].taken_by = "Ada"
    two.seats["s2"].taken_by = "Ben"
    two.seats["s2"].taken_by = "Ada"
    two.items["lamp"].name = "Light"
    two.items["lamp"].name = "Lamp"
    assert one.equals(two)
    assert one.digest() == two.digest()


KEYS = st.sampled_from(["lamp", "desk", "chair"])
SEATS = st.sampled_from(["s1", "s2", "s3", "s4"])
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("price"), KEYS, st.sampled_from([1, 1.0, True, 10.0, "1"])),
        st.tuples(st.just("remove"), KEYS, st.none()),
        st.tuples(st.just("add"), KEYS, st.none()),
        st.tuples(st.just("sit"), SEATS, st.sampled_from(["Ada", None])),
        st.tuples(st.just("leave"), SEATS, st.none()),
        st.tuples(st.just("counter"), KEYS, st.sampled_from([0, 0.0, False, 1])),
    ),
    max_size=8,
)


def carry_out(db: TinyDB, operations: list[tuple[str, str, Any]]) -> TinyDB:
    for name, key, value in operations:
        if name == "counter":
            db.counter = value
        elif name == "price" and key in db.items:
            db.items[key].price = value
        elif name == "remove":
            db.items.pop(key, None)
        elif name == "add":
            db.items[key] = Item(item_id=key, name=key)
        elif name == "sit":
            if key not in db.seats:
                db.seats[key] = Seat(seat_id=key)
            db.seats[key].taken_by = value
        elif name == "leave":
            db.seats.pop(key, None)
    return db


@settings(deadline=None)
@given(OPERATIONS, OPERATIONS)
def test_equality_digest_and_differences_agree(one: list[Any], two: list[Any]) -> None:
    base = fresh()
    a, b = carry_out(base.fork(), one), carry_out(base.fork(), two)
    same = a.digest() == b.digest()
    assert a.equals(b) is same
    assert (a.changes(b) == []) is same
    assert a.equals(carry_out(fresh(), two)) is same  # also where no base is shared
    assert a.equals(a.fork())
    assert base.dump() == AGENT_DATA


# What it costs


def test_making_dumping_and_comparing_states_copies_no_record(db: TinyDB, monkeypatch: pytest.MonkeyPatch) -> None:
    def copying(value: Any) -> Any:
        raise AssertionError(f"copied {value!r}")

    monkeypatch.setattr("pytest_tau.environment.tables.clone", copying)
    one, two = db.fork(), db.fork().fork()
    assert one.equals(two)
    assert one.changes(two) == []
    assert one.digest() == two.digest()
    assert one.dump() == two.dump()
    with pytest.raises(AssertionError, match="copied"):
        one.items["lamp"]


def test_comparing_states_looks_only_at_what_either_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"i{n}" for n in range(500)]
    db = TinyDB(items={name: Item(item_id=name, name=name) for name in names}, seats=[])
    one, two = db.fork(), db.fork()
    one.items["i7"].name = "changed"
    del two.items["i8"]
    looked: list[Any] = []

    def counted(value: Any) -> str:
        looked.append(value)
        return canonical(value)

    monkeypatch.setattr("pytest_tau.environment.database.canonical", counted)
    assert not one.equals(two)
    assert [change.path for change in one.changes(two)] == ["items/i7/name", "items/i8"]
    assert len(looked) < 50


# Initialization data


def test_merging_lays_objects_over_objects_and_replaces_the_rest(db: TinyDB) -> None:
    merged = db.merged(
        {
            "items": {
                "lamp": {"name": "Light", "tags": ["blue"], "meta": {"colour": "red"}},
                "chair": {"item_id": "chair", "name": "Chair"},
            },
            "counter": 3,
            "settings": {"theme": "light"},
        }
    )
    dump = merged.dump()
    assert dump["items"]["lamp"] == {
        "item_id": "lamp",
        "name": "Light",
        "price": 10.0,
        "tags": ["blue"],
        "meta": {"sizes": [1, 2], "colour": "red"},
    }
    assert dump["items"]["desk"] == AGENT_DATA["items"]["desk"]
    assert dump["items"]["chair"]["name"] == "Chair"
    assert dump["counter"] == 3
    assert dump["settings"] == {"theme": "light", "levels": [1, 2]}
    assert dump["seats"] == AGENT_DATA["seats"]


def test_merging_leaves_the_original_alone(db: TinyDB) -> None:
    merged = db.merged({"items": {"lamp": {"name": "Light"}}, "settings": {"theme": "light"}})
    merged.items["desk"].name = "Table"
    merged.settings["levels"].append(3)
    assert db.dump() == AGENT_DATA


@pytest.mark.parametrize("update", [{}, {"items": {}}, {"settings": {}}, {"items": {"lamp": {}}}])
def test_merging_nothing_changes_nothing(db: TinyDB, update: dict[str, Any]) -> None:
    assert db.merged(update).digest() == db.digest()


def test_merging_replaces_an_array_of_records(db: TinyDB) -> None:
    merged = db.merged({"seats": [{"seat_id": "s7", "taken_by": "Ada"}]})
    assert merged.dump()["seats"] == [{"seat_id": "s7", "taken_by": "Ada"}]
    assert merged.seats.ordered
    assert [change.path for change in db.changes(merged)] == ["seats/s1", "seats/s2", "seats/s3", "seats/s7"]


def test_merging_converts_as_loading_does(db: TinyDB) -> None:
    merged = db.merged({"items": {"lamp": {"price": 7}}})
    assert canonical(merged.items["lamp"].price) == "7.0"


@pytest.mark.parametrize(
    ("update", "field", "problem"),
    [
        ({"chairs": {}}, "chairs", "unknown field 'chairs' (known: "),
        ({"items": {"lamp": {"colour": "red"}}}, "items.lamp.colour", "unknown field 'colour' (known: "),
        (
            {"items": {"chair": {"name": "no id"}}},
            "items.chair.item_id",
            "; items has no record 'chair', so it is a new",
        ),
        (
            {"items": {"lamp": {"item_id": "sofa"}}},
            "items.lamp",
            "the key differs from item_id 'sofa': make them equal",
        ),
        ({"items": {"lamp": None}}, "items.lamp", "expected an object, got null"),
        ({"items": []}, "items", "expected an object, got []"),
        ({"items": None}, "items", "expected an object, got null"),
        ({"seats": {"s1": {"taken_by": "Ada"}}}, "seats", "expected an array, got {"),
        ({"seats": [{"seat_id": "s1"}, {"seat_id": "s1"}]}, "seats", "two records have the same seat_id, got ["),
        ({"counter": "many"}, "counter", 'got "many"'),
    ],
)
def test_merging_what_does_not_fit_is_refused(db: TinyDB, update: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(TaskFormatError) as caught:
        db.merged(update)
    assert caught.value.field == field
    assert problem in caught.value.problem
    assert db.dump() == AGENT_DATA


def test_merged_data_stay_the_task_s_own(db: TinyDB) -> None:
    """The data of a task are laid over many databases: none may write to them."""
    data = {"items": {"lamp": {"tags": ["blue"], "meta": {"sizes": [5]}}}, "settings": {"levels": [9]}}
    untouched = copy.deepcopy(data)
    merged = db.merged(data)
    merged.items["lamp"].tags.append("x")
    merged.items["lamp"].meta["sizes"].append("x")
    merged.settings["levels"].append("x")
    assert data == untouched


def test_a_table_made_by_hand_is_accepted() -> None:
    db = TinyDB(items=Table({"a": Item(item_id="a", name="A")}), seats=Table(ordered=True))
    assert db.dump()["items"]["a"]["name"] == "A"
    assert KeyedBy("seat_id").field == "seat_id"


def test_a_free_record_must_be_an_object() -> None:
    assert _record(dict[str, int], {"a": 1}) == {"a": 1}
    with pytest.raises(ToolError, match='a record must be an object, got "x"'):
        _record(dict[str, int], "x")
