"""Ids, codes, e-mail addresses and phone numbers in texts."""

from __future__ import annotations

import pytest

from pytest_tau.language.ids import (
    PHONE,
    addresses_in,
    codes_in,
    form_of,
    ids_in,
    is_key,
    is_plain_id,
    keys_in,
    kind_in,
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("order #W2378156, or W2378156.", ["#W2378156", "W2378156"]),
        ("I am yusuf_rossi_9620 (gift_card_1)", ["yusuf_rossi_9620", "gift_card_1"]),
        ("reservations 2FBBAH and 4WQ150", ["2FBBAH", "4WQ150"]),
        ("flight HAT136 on 2024-05-17, zip 19122", ["HAT136", "2024-05-17", "19122"]),
        # Measures, counts and names of products.
        ("a 24-hour window, 500ml, 128GB, 1000-piece, the 15th, 10am, IPX7, seat 12A, 20 bags", []),
        ("no id at all", []),
    ],
)
def test_ids(text: str, ids: list[str]) -> None:
    assert ids_in(text) == ids
    assert [ids_in(name) for name in ids] == [[name] for name in ids]


def test_shorter_ids_are_a_matter_of_the_reader() -> None:
    assert ids_in("C1 and B22") == []
    assert ids_in("C21 and B223", shortest=2) == ["B223"]


def test_keys_are_all_that_can_be_looked_up() -> None:
    text = "Ann (ann@example.com) flies with HATHAT from JFK: C1, gift_card, 3.5."
    assert [*keys_in(text)] == ["ann@example.com", "HATHAT", "C1", "gift_card", "3.5"]


def test_codes_addresses_and_phone_numbers() -> None:
    assert codes_in("from JFK to SFO, not to USAX") == ["JFK", "SFO"]
    assert addresses_in("mail a.b+c@mail.example.com, not @home") == ["a.b+c@mail.example.com"]
    phones = PHONE.finditer("(480) 555-1234 or 480-555-9876; not 2024-555-98765")
    assert [phone[0] for phone in phones] == ["(480) 555-1234", "480-555-9876"]


def test_what_one_id_is_like() -> None:
    assert form_of("#W12") == form_of("#A99") != form_of("A99")
    assert (kind_in("credit_card_7"), kind_in("W12")) == ("credit card", "")
    assert [name for name in ("W12345", "94110", "2024-05-17", "2024", "16GB") if is_plain_id(name)] == [
        "W12345",
        "94110",
    ]
    assert [name for name in ("a_b", "W1", "a@b.c", "a word 1", "word") if is_key(name)] == ["a_b", "W1", "a@b.c"]
