"""Numbers, amounts of money and rates in texts."""

from __future__ import annotations

import pytest

from pytest_tau.language.numbers import (
    digits_in,
    multiples_in,
    numbers_in,
    quantity_of,
    rates_in,
    shortest_form,
    value_of,
)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The total is $2,719.01, and 3 bags are free.", [2719.01, 3]),
        ("Refund: \u20ac20.", [20]),
        ("Between $10-$20", [10, 20]),
        ("It was -$54.04", [54.04]),
        ("A 15% discount on 2 items", [15, 2]),
        ("A (5) or 6.", [5, 6]),
        # No numbers of their own.
        ("Order #12, W1234567, gift_card_9, 16GB, 2nd", []),
        ("Call 480-555-1234 on 2024-05-17", []),
        ("Version 1.2.3", []),
    ],
)
def test_numbers(text: str, values: list[float]) -> None:
    assert [number.value for number in numbers_in(text)] == values


def test_a_number_has_its_place() -> None:
    (number,) = numbers_in("for $1,200 only")
    assert (number.text, "for $1,200 only"[number.start : number.end]) == ("$1,200", "$1,200")


@pytest.mark.parametrize(
    ("text", "value", "unit", "is_amount"),
    [
        ("1390", 1390, "", False),
        ("$12", 12, "", True),
        ("-$12.50", -12.5, "", True),
        ("1,390 points", 1390, "points", True),
        ("4.50", 4.5, "", True),
    ],
)
def test_a_quantity(text: str, value: float, unit: str, *, is_amount: bool) -> None:
    assert quantity_of(text) == (value, unit, is_amount)


@pytest.mark.parametrize("text", ["", "12 of 20", "#12", "May 5", "2024-05-17", "W12", "12 gift cards"])
def test_other_texts_are_no_quantity(text: str) -> None:
    assert quantity_of(text) is None


@pytest.mark.parametrize(
    ("number", "short"),
    [("84.50", "84.5"), ("$1,240.00", "1240"), ("100", "100"), ("0.05", "0.05"), ("\u20ac7", "7")],
)
def test_the_shortest_form(number: str, short: str) -> None:
    assert shortest_form(number) == short
    assert value_of(number) == value_of(short)


def test_rates_multiples_and_digits() -> None:
    assert rates_in("2.5% back, 4 % on travel, 3 cards") == {2.5, 4}
    assert multiples_in("3x points on travel, 2x else") == {3, 2}
    assert digits_in("W12, 2024-05-17, $1,200.5") == {12, 2024, 5, 17, 1200.5}
