"""Sorting of names by the numbers in them."""

from __future__ import annotations

import itertools

import pytest

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
