"""Differences of two JSON values."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_tau.environment import Change, canonical
from pytest_tau.environment.changes import value_changes

#: Values, deep enough for lists of objects, with few leaves so that many parts of two values are equal.
VALUES = st.recursive(
    st.sampled_from([None, True, 1, 1.0, "a", "b"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=12,
)


def test_one_field_of_an_element_of_a_list_of_objects_is_named() -> None:
    paid = [{"amount": 267.79, "method": "card"}, {"amount": 5, "method": "card"}]
    found = [*value_changes("orders/#W1/payment_history", paid, [paid[0], {**paid[1], "amount": 6}])]
    assert found == [Change("orders/#W1/payment_history/1/amount", 5, 6)]


@pytest.mark.parametrize(
    ("expected", "got", "changes"),
    [
        pytest.param("abc", "ab", [("2", "c", None, "got")], id="missing at the end"),
        pytest.param("abc", "bc", [("0", "a", None, "got")], id="missing at the beginning"),
        pytest.param("abc", "ac", [("1", "b", None, "got")], id="missing in between"),
        pytest.param("ab", "axyb", [("1", None, "x", "expected"), ("2", None, "y", "expected")], id="additional"),
        pytest.param("abc", "axyc", [("1", "b", "x", None), ("2", None, "y", "expected")], id="other and additional"),
        pytest.param("aa", "aaa", [("2", None, "a", "expected")], id="repeated"),
        pytest.param("abc", "bcd", [("0", "a", "b", None), ("1", "b", "c", None), ("2", "c", "d", None)], id="moved"),
    ],
)
def test_elements_of_lists_are_missing_or_additional(expected: str, got: str, changes: list[Any]) -> None:
    found = [*value_changes("tags", [*expected], [*got])]
    assert found == [Change(f"tags/{place}", *rest) for place, *rest in changes]


def test_an_empty_list_differs_as_a_whole() -> None:
    assert [*value_changes("tags", ["a", "b"], [])] == [Change("tags", ["a", "b"], [])]


def at(value: Any, path: str) -> Any:
    """Return the value at a path; ``...`` if there is none."""
    try:
        return functools.reduce(
            lambda inner, key: inner[int(key) if isinstance(inner, list) else key], _keys(path), value
        )
    except (KeyError, IndexError):
        return ...


def _keys(path: str) -> list[str]:
    return path.split("/")[1:]


@pytest.mark.exhaustive
@settings(deadline=None)
@given(VALUES, VALUES)
def test_there_are_changes_if_and_only_if_values_differ_and_each_is_at_its_path(one: Any, other: Any) -> None:
    found = [*value_changes("root", one, other)]
    assert (not found) is (canonical(one) == canonical(other))
    assert len({change.path for change in found}) == len(found)
    for change in found:
        # A list that lacks an element may have one that is equal to the other list's end at that position.
        assert change.missing == "expected" or repr(at(one, change.path)) == repr(change.expected)
        assert change.missing == "got" or repr(at(other, change.path)) == repr(change.got)
