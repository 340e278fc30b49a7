"""The facts for which a text asks, by phrases."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pytest_tau.language import facts_in, words

_KNOWN = ("name", "zip")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Your first name, last name, and the zip code on your order?", ["name", "zip"]),
        ("I will try to find your user ID and order details.", ["user_id"]),
        ("I need the order ID and your user identification (email or user ID).", ["order_id", "email", "user_id"]),
        ("Please give me your user ID and the reservation IDs.", ["user_id", "reservation_id"]),
        ("Which items? The product ID from your order will do.", ["items", "item_ids"]),
        ("What is the id of the order?", ["order_id"]),
    ],
)
def test_facts_by_their_phrases(text: str, facts: list[str]) -> None:
    assert facts_in(words(text), _KNOWN) == facts


def test_the_order_of_phrases_is_the_same_in_every_process() -> None:
    program = "from pytest_tau.language.vocabulary import _phrases; print(_phrases(('name', 'zip'), ()))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
