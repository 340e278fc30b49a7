from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_tau.environment import Record, canonical
from pytest_tau.environment.records import plain
from pytest_tau.models import clone


class Inner(Record):
    values: list[int]


class Outer(Record):
    inner: Inner
    many: list[Inner]
    by_name: dict[str, Inner]
    when: date | None = None


def outer() -> Outer:
    return Outer(
        inner=Inner(values=[1]), many=[Inner(values=[2])], by_name={"x": Inner(values=[3])}, when=date(2025, 1, 2)
    )


def test_a_clone_shares_nothing_that_can_change() -> None:
    original = outer()
    copy = clone(original)
    assert copy == original
    copy.inner.values.append(0)
    copy.many[0].values.append(0)
    copy.many.append(Inner(values=[]))
    copy.by_name["x"].values.append(0)
    copy.by_name["y"] = Inner(values=[])
    assert original == outer()
    assert copy.when is original.when


def test_records_refuse_unknown_fields_but_store_what_tools_assign() -> None:
    with pytest.raises(ValidationError, match="extra"):
        Inner.model_validate({"values": [], "more": 1})
    record = Inner(values=[1])
    record.values = "anything"  # type: ignore[assignment]
    assert plain(record) == {"values": "anything"}


def test_plain_keeps_dates() -> None:
    assert plain([outer()])[0]["when"] == date(2025, 1, 2)


@pytest.mark.parametrize(
    ("one", "two"),
    [(1, 1.0), (1, True), (0, False), (1.0, True), ("1", 1), (None, "null"), ([1, 2], [2, 1]), ({"a": None}, {})],
)
def test_canonical_texts_of_different_json_values_differ(one: Any, two: Any) -> None:
    assert canonical(one) != canonical(two)
    assert canonical({"x": [one]}) != canonical({"x": [two]})


def test_canonical_texts_ignore_the_order_of_keys() -> None:
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1}) == '{"a": 1, "b": 2}'


def test_dates_are_written_by_str() -> None:
    moment = datetime(2025, 1, 20, 14, 30)  # noqa: DTZ001 - as in the databases
    assert canonical(moment) == '"2025-01-20 14:30:00"'
    assert '"when": "2025-01-02"' in canonical(outer())
