"""Whether a text has a value, and whether it has nothing else."""

from __future__ import annotations

import pytest

from pytest_tau.language.forms import stated_like
from pytest_tau.language.mentions import has_letters_of, has_word, mentions_other, only_gives, stated_as_own


@pytest.mark.parametrize(
    ("text", "value", "as_word", "as_letters"),
    [
        ("a basic economy seat", "economy", True, True),
        ("Order #W12.", "#W12", True, True),
        ("two economies", "economy", False, False),
        ("call 480 555-1234 now", "(480) 555-1234", False, True),
        ("ANN@Example.com", "ann@example.com", False, True),
        ("in 2012", "12", False, False),
        ("nothing", "", False, False),
    ],
)
def test_a_value_in_a_text(text: str, value: str, *, as_word: bool, as_letters: bool) -> None:
    assert (bool(value) and has_word(text, value)) == as_word
    assert has_letters_of(text, value) == as_letters


@pytest.mark.parametrize(
    ("text", "gives"),
    [
        ("It's 19122.", True),
        ("Sure, it\u2019s 19122", True),
        ("My zip code is 19122!", True),
        ("19122", True),
        ("19122, and hurry", False),
        ("Change it to 19122", False),
    ],
)
def test_a_text_that_only_gives_a_value(text: str, *, gives: bool) -> None:
    assert only_gives(text, "19122") == gives


@pytest.mark.parametrize(
    ("sentence", "value"),
    [("My zip code is 19122.", "19122"), ("My zip code is what?", "what?"), ("My name is Ann.", ""), ("19122", "")],
)
def test_what_a_sentence_says_of_a_fact(sentence: str, value: str) -> None:
    assert stated_as_own(sentence, "zip_code") == value


@pytest.mark.parametrize(
    ("text", "mentioned"), [("the other credit card", True), ("Another card", True), ("my card", False)]
)
def test_the_other_one(text: str, *, mentioned: bool) -> None:
    assert mentions_other(text, "card") == mentioned


@pytest.mark.parametrize(
    ("value", "labels", "stated"),
    [
        ("01/15/1990", ("date of birth", "dob"), "02/03/1991"),
        ("480-555-1234", ("phone",), "480-555-9876"),
        ("ann@example.com", ("email",), "ann.b@example.com"),
        ("ann@example.com", ("phone",), None),
        ("Ann", ("name",), None),
    ],
)
def test_what_is_stated_in_the_same_form(value: str, labels: tuple[str, ...], stated: str | None) -> None:
    text = "Name: Ben. Your DOB is 02/03/1991, **phone**: 480-555-9876, your email is ann.b@example.com."
    assert stated_like(value, labels, text) == stated
