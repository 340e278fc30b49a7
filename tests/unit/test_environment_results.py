from __future__ import annotations

from datetime import date, datetime
from enum import Enum
from typing import Any

import pytest

from pytest_tau.environment import Record
from pytest_tau.environment.results import result_text

MOMENT = datetime(2025, 1, 20, 14, 30)  # noqa: DTZ001 - as in the databases


class Colour(str, Enum):  # noqa: UP042 - as users write it
    RED = "red"


class Thing(Record):
    number: int = 5
    price: float = 2.0
    on: bool = True
    nothing: str | None = None
    colour: Colour = Colour.RED
    day: date = date(2025, 1, 2)
    moment: datetime = MOMENT
    inner: dict[str, int] = {"n": 1}


THING = (
    '{"number": 5, "price": 2.0, "on": true, "nothing": null, "colour": "red", "day": "2025-01-02", '
    '"moment": "2025-01-20 14:30:00", "inner": {"n": 1}}'
)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("as it is", "as it is"),
        ('"quoted"', '"quoted"'),
        ("", ""),
        (5, '"5"'),
        (2.0, '"2.0"'),
        (True, '"True"'),
        (None, "null"),
        ([1, 2.5, False, None, "x"], '["1", "2.5", "False", null, "x"]'),
        ((1, "x"), '["1", "x"]'),
        ([], "[]"),
        ({}, "{}"),
        ({"n": 8.7, "s": "x", "none": None}, '{"n": "8.7", "s": "x", "none": null}'),
        ({"deep": {"n": [1]}}, '{"deep": {"n": ["1"]}}'),
        (Thing(), THING),
        ([Thing()], f"[{THING}]"),
        ({"message": "done", "thing": Thing()}, f'{{"message": "done", "thing": {THING}}}'),
        (date(2025, 1, 2), '"2025-01-02"'),
        (MOMENT, '"2025-01-20T14:30:00"'),
        ({"at": MOMENT}, '{"at": "2025-01-20T14:30:00"}'),
        (Colour.RED, "red"),
        ({"name": "Zoë"}, '{"name": "Zo\\u00eb"}'),
        ("Zoë", "Zoë"),
    ],
)
def test_results_are_written_as_the_reference_does(result: Any, text: str) -> None:
    assert result_text(result) == text


def test_a_field_order_is_kept_and_a_stored_value_of_another_type_is_data() -> None:
    thing = Thing()
    thing.number = "many"  # type: ignore[assignment]
    assert result_text(thing).startswith('{"number": "many", "price": 2.0')
