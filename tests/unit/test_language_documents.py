"""What documents and descriptions say."""

from __future__ import annotations

import pytest

from pytest_tau.language.documents import in_force_since, quoted_choices_in, quoted_in, table_to_read


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


@pytest.mark.parametrize(
    ("sentence", "table"),
    [
        ("Look up the customer in the `bank_accounts` table.", "bank_accounts"),
        ("First check the referral_records database for it.", "referral_records"),
        ("Find it in the old_cards table or the new_cards table.", None),
        ("The bank_accounts table has one row for each.", None),
        ("Check the table.", None),
    ],
)
def test_the_table_that_is_to_be_read(sentence: str, table: str | None) -> None:
    assert table_to_read(sentence) == table


@pytest.mark.parametrize(
    ("description", "quoted", "choices"),
    [
        ("Such as 'no longer needed' or 'ordered by mistake'.", ["no longer needed", "ordered by mistake"], True),
        ('Either "gold", "silver" or "regular"', ["gold", "silver", "regular"], True),
        ("The id, such as '#W0000000'.", ["#W0000000"], False),
        ("The customer's name isn't needed.", [], False),
    ],
)
def test_quotations(description: str, quoted: list[str], *, choices: bool) -> None:
    assert quoted_in(description) == quoted
    assert quoted_choices_in(description) == (quoted if choices else [])
