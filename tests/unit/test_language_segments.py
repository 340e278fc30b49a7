"""Sentences and clauses."""

from __future__ import annotations

import pytest

from pytest_tau.language import sentences
from pytest_tau.language.segments import clauses


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Your order is on its way. Anything else?", ["Your order is on its way.", "Anything else?"]),
        ("It costs $12.50, and 1.5 hours! OK", ["It costs $12.50, and 1.5 hours!", "OK"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("Send 'HOLD ON.' to a user (in the U.S.) only.", ["Send 'HOLD ON.' to a user (in the U.S.) only."]),
        ("(It is not refundable.) Shall I?", ["(It is not refundable.)", "Shall I?"]),
        ("Two items:\n- a lamp\n\n- a desk", ["Two items:", "- a lamp", "- a desk"]),
        ("Return the lamp; keep the desk.", ["Return the lamp; keep the desk."]),
        (" \n ", []),
    ],
)
def test_sentences_end_with_a_stop_or_a_line(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@pytest.mark.parametrize(
    ("stops", "parts"),
    [
        (".!?", ["Return the lamp; keep the desk: it is new."]),
        (".!?;", ["Return the lamp;", "keep the desk: it is new."]),
        (".!?:", ["Return the lamp; keep the desk:", "it is new."]),
    ],
)
def test_a_reader_may_have_more_stops(stops: str, parts: list[str]) -> None:
    assert sentences("Return the lamp; keep the desk: it is new.", stops) == parts


def test_clauses_are_between_commas_and_stops() -> None:
    assert clauses("If it costs over $1,200, cancel it; else\nkeep it.") == ["If it costs over $1,200", "cancel it", "else", "keep it."]  # fmt: skip
