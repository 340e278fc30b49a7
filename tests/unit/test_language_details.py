"""Details of texts that are not said by chance."""

from __future__ import annotations

import pytest

from pytest_tau.language.details import details_in, values_in


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("I am Ann, ann@example.com.", [("e-mail address", "ann@example.com")]),
        ("born on May 17th, 1990; again: 1990-05-17", [("date", "05-17")]),
        ("call (480) 555-1234", [("number", "4805551234")]),
        ("order #W123 and user ann_smith_12", [("id", "w123"), ("id", "ann_smith_12")]),
        ("reservation 2FBBAH", [("id", "2fbbah")]),
        ("it costs $1,200.50, zip 01912", [("number", "1200.50"), ("number", "01912")]),
        ("2 bags, 16GB, a 24-hour window, 10am, the 2nd one, 50 dollars", []),
        ("nothing at all", []),
    ],
)
def test_details(text: str, details: list[tuple[str, str]]) -> None:
    assert [(detail.kind, detail.value) for detail in details_in(text)] == details


def test_values_are_as_written() -> None:
    assert values_in("$1,200.50 on 2024-05-17 for #W12345, 3 bags") == ["$1,200.50", "2024-05-17", "#W12345", "3"]
