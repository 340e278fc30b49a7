"""Dates in texts."""

from __future__ import annotations

import pytest

from pytest_tau.language.dates import dates_in, in_force_since


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
    assert [(date.month, date.day) for date in dates_in(text)] == days


def test_a_short_date_may_be_a_fraction() -> None:
    assert [(date.month, date.day) for date in dates_in("leave on 5/17, with 1/2 of it", short=True)] == [(5, 17), (1, 2)]  # fmt: skip


def test_a_date_has_its_place_and_its_year() -> None:
    text = "on May 24th, 2024 then"
    (date,) = dates_in(text)
    assert (date.text, text[date.start : date.end]) == ("May 24th, 2024", "May 24th, 2024")


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("In force since: 01/15/2025", "01/15/2025"),
        ("Effective January 15, 2025", "January 15, 2025"),
        ("(updated 2025-01-15)", "2025-01-15"),
        ("Born on 2025-01-15", None),
    ],
)
def test_from_when_a_document_counts(text: str, date: str | None) -> None:
    assert in_force_since(text) == date
