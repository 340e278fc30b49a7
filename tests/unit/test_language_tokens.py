"""Words of texts by their letters, stems and phrases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_tau.language.tokens import (
    alphanumeric_words,
    name_tokens,
    phrases_in,
    plain_words,
    squeezed,
    stem,
    stems_in,
    words_and_numbers,
    written_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("words_in", "text", "words"),
    [
        (plain_words, "My Credit_card_1: it's 12% off", ["my", "credit", "card", "it", "s", "off"]),
        (plain_words, "Ma\u00f1ana, Zo\u00eb", ["ma\u00f1ana", "zo\u00eb"]),
        (words_and_numbers, "128GB for $1.50, new_item_ids", ["128", "gb", "for", "1.50", "new", "item", "ids"]),
        (written_words, "The user's e-bike is ON (a_b)", ["The", "user's", "e-bike", "is", "ON", "a", "b"]),
        (name_tokens, "call get_user_1 with `user_id`, not _x", ["get_user_1", "user_id"]),
        (alphanumeric_words, "#W12, 128GB, ann_smith", ["w12", "128gb", "ann", "smith"]),
    ],
)
def test_words(words_in: Callable[[str], list[str]], text: str, words: list[str]) -> None:
    assert words_in(text) == words


@pytest.mark.parametrize(
    ("word", "without_ending"),
    [("exchanges", "exchang"), ("exchange", "exchang"), ("cancelled", "cancell"), ("bags", "bag"), ("is", "is")],
)
def test_stems_of_one_word_are_alike(word: str, without_ending: str) -> None:
    assert stem(word) == without_ending


def test_stems_in_a_text_and_in_a_name_are_the_same() -> None:
    assert stems_in("Payment methods") == stems_in("payment_method")


def test_phrases_are_as_written_and_within_a_clause() -> None:
    assert [*phrases_in("Gold Card, no fee")] == ["Gold", "Card", "Gold Card", "fee", "no fee"]
    assert [*phrases_in("the user's e-bike")] == ["the", "user's", "e-bike", "the user's", "user's e-bike", "the user's e-bike"]  # fmt: skip


def test_squeezed_texts_are_the_same_however_they_are_written() -> None:
    assert squeezed("(480) 555-1234") == squeezed("480.555 1234") == "4805551234"
