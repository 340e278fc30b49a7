from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_tau.environment import Record, canonical
from pytest_tau.environment.records import plain
from pytest_tau.environment.results import result_text
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


def test_equal_sets_and_decimals_have_equal_canonical_texts() -> None:
    assert canonical({"c", "a", "b"}) == canonical(frozenset("bca")) == '["a", "b", "c"]'
    assert canonical([{3, 1}, {(2, "x")}]) == '[[1, 3], [[2, "x"]]]'
    equal = [Decimal("10.50"), Decimal("10.5"), Decimal("1.05E+1")]
    assert {canonical(each) for each in equal} == {'"10.5"'}
    assert canonical(Decimal("-0.00")) == canonical(Decimal(0))
    different = ["10.51", "1E+400", "NaN", "-Infinity", "0.1000000000000000000000000000000000000001", "0.1"]
    assert len({canonical(Decimal(each)) for each in different}) == len(different)


def test_keys_of_all_types_have_canonical_texts() -> None:
    class Size(Enum):
        SMALL = "s"

    assert canonical({Size.SMALL: {date(2026, 1, 5): 1}}) == '{"s": {"2026-01-05": 1}}'
    assert canonical({(1, "a"): Decimal("1.0"), 2: None}) == '{"2": null, "[1, \\"a\\"]": "1"}'
    assert canonical({Decimal("1.0"): 1}) == canonical({Decimal(1): 1})
    texts = [canonical(each) for each in ({1: "a", "1": "b"}, {1: "b", "1": "a"}, {1: "a"}, {"1": "b", 2: "a"})]
    assert len(set(texts)) == 4
    assert canonical({1: "a", "b": 1}) == canonical({"1": "a", "b": 1})


def test_equal_times_of_zones_have_equal_canonical_texts() -> None:
    there = datetime(2026, 1, 5, 10, tzinfo=timezone(timedelta(hours=1)))
    assert canonical(there) == canonical(there.astimezone(UTC)) == '"2026-01-05 09:00:00+00:00"'
    assert canonical(there) != canonical(there.replace(tzinfo=None))
    assert canonical(there) != canonical(there.replace(tzinfo=UTC))


def test_decimals_of_tools_and_files_keep_their_digits() -> None:
    assert result_text([Decimal("10.50")]) == '["10.50"]'
    assert result_text({"c", "a", "b"}) == '["a", "b", "c"]'


def test_dates_are_written_by_str() -> None:
    moment = datetime(2025, 1, 20, 14, 30)  # noqa: DTZ001 - as in the databases
    assert canonical(moment) == '"2025-01-20 14:30:00"'
    assert '"when": "2025-01-02"' in canonical(outer())
