"""Sorting of names by the numbers in them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings, strategies as st

from pytest_tau.text import by_numbers


@pytest.mark.parametrize(
    "names",
    [
        ["2", "10", "a"],
        ["task_2", "task_10", "task_a"],
        ["", "0", "00", "a", "a0", "a00", "a01", "a1", "a02b", "a2c", "b"],
        ["9" * 5000, "1" + "0" * 5000],
        ["[mms]x|1", "[mms]x|2[PERSONA:Easy]", "[mms]x|10"],
        ["a", "a²", "a²1"],  # a digit, but no number
    ],
)
def test_names_are_in_this_order(names: list[str]) -> None:
    assert all(sorted(given, key=by_numbers) == names for given in itertools.islice(itertools.permutations(names), 500))


@settings(max_examples=60)
@given(st.lists(st.text(alphabet="a0b19-² ", max_size=6), max_size=6, unique=True))
def test_the_order_does_not_depend_on_where_a_name_was(names: list[str]) -> None:
    turned = names[::-1]
    assert sorted(names, key=by_numbers) == sorted(turned, key=by_numbers)
