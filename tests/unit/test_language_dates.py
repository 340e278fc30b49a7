"""Dates in texts."""

from __future__ import annotations

from datetime import date

import pytest

from pytest_tau.language.dates import dates_in, iso_date


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("from 2024-05-17 to 2024-05-20", [(5, 17), (5, 20)]),
        ("on May 24th, 2024, or Sept. 3", [(5, 24), (9, 3)]),
        ("flights for May 24:\n1. HAT100", [(5, 24)]),
        ("the 17th of may and 3 June", [(5, 17), (6, 3)]),
        ("born 05/17/1990, or 6/3/91", [(5, 17), (6, 3)]),
        ("2024-05-17T10:00:00", [(5, 17)]),
        # No dates.
        ("in May 2024, you may", []),
        ("at 10:30, 24/7, 13/13/2024, 2024-13-01", []),
        ("the mayor 12, decided 5", []),
        ("half of it, 1/2", []),
    ],
)
def test_dates(text: str, days: list[tuple[int, int]]) -> None:
    assert [(day.month, day.day) for day in dates_in(text)] == days


def test_a_short_date_may_be_a_fraction() -> None:
    assert [(day.month, day.day) for day in dates_in("leave on 5/17, with 1/2 of it", short=True)] == [(5, 17), (1, 2)]  # fmt: skip


def test_a_date_has_its_place_and_its_year() -> None:
    text = "on May 24th, 2024 then"
    (day,) = dates_in(text)
    assert (day.text, text[day.start : day.end]) == ("May 24th, 2024", "May 24th, 2024")


@pytest.mark.parametrize(
    ("text", "day"), [("2024-05-17", date(2024, 5, 17)), ("2024-02-30", None), ("20240517", None), ("May 17", None)]
)
def test_an_iso_date(text: str, day: date | None) -> None:
    assert iso_date(text) == day
