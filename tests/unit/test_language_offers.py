"""Offers that nobody has asked for, choices between things, and what is too dear."""

from __future__ import annotations

import pytest

from pytest_tau.language.mentions import mentions, short_names
from pytest_tau.language.offers import (
    alternatives_in,
    introduces_unrequested,
    is_one_of_two,
    is_too_dear,
    is_unrequested,
    points_at_offer,
)
from pytest_tau.language.vocabulary import words

WANTED = words("I would like to rent an e-bike for Saturday. credit card")


@pytest.mark.parametrize(
    "text",
    [
        "Would you like to subscribe to our newsletter?",
        "Would you also like travel insurance for $30?",
        "Do you want a helmet with that?",
        "Can I interest you in our gold membership?",
        "Shall I add a water bottle?",
        "Would you like me to add a child seat?",
        "Are you interested in a warranty?",
        "Would you like to add the extended warranty?",
        "Want a helmet?",
        "Need a child seat?",
        "And fancy a water bottle?",
        "Add a warranty?",
    ],
)
def test_an_offer_that_is_not_wanted(text: str) -> None:
    assert is_unrequested(text, WANTED)


@pytest.mark.parametrize(
    "text",
    [
        "Would you like to rent the e-bike now?",
        "Would you like an e-bike rental?",
        "Would you like me to look it up?",
        "Would you like to see more options?",
        "Would you like a summary of the details?",
        "Shall I book the e-bike?",
        "Do you want to proceed with the insurance?",
        "Would you like the refund to go to your card?",
        "Want a receipt?",
        "Need the e-bike on Saturday?",
        "Want me to add it?",
    ],
)
def test_an_offer_that_may_be_wanted(text: str) -> None:
    assert not is_unrequested(text, WANTED)


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("Would you like a city bike or an e-bike?", ["a city bike", "an e-bike"]),
        ("Is that for Saturday or Sunday?", ["Saturday", "Sunday"]),
        ("Do you prefer the morning, the afternoon, or the evening?", ["the morning", "the afternoon", "the evening"]),
        ("Would you like to proceed or not?", []),
        ("Would you like that, or would you rather wait?", []),
        ("Do you want to cancel or return it?", []),
        ("Would you like me to look by date or by name?", []),
        ("Could you give me your email or your name?", []),
        ("Yes or no?", []),
        ("Would you like it?", []),
    ],
)
def test_the_choices_of_a_question(text: str, choices: list[str]) -> None:
    assert alternatives_in(text) == choices


@pytest.mark.parametrize(
    ("text", "dear"),
    [
        ("The upgrade costs $396, which exceeds your $100 budget. Would you still like to proceed?", True),
        ("That is $20 over your budget.", True),
        ("It is above the limit of 50 dollars.", True),
        ("That is more than what you wanted to spend.", True),
        ("It does not exceed your budget.", False),
        ("It is well below your budget.", False),
        ("More than your bags are included.", False),
    ],
)
def test_what_is_too_dear(text: str, dear: bool) -> None:
    assert is_too_dear(text) is dear


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Wristwatch", "the watch"),
        ("Smart Watch", "your smartwatch"),
        ("Smart Watch", "two watches"),
        ("E-Reader", "the reader"),
        ("Garden Hose", "both hoses"),
        ("Sneakers", "a sneaker"),
        ("Skateboard", "this board"),
    ],
)
def test_a_thing_is_named_by_a_short_name(name: str, said: str) -> None:
    assert any(mentions(said, short) for short in short_names(name))


def test_a_short_name_is_not_every_word() -> None:
    assert not any(mentions("the lamp", short) for short in short_names("Office Chair"))


@pytest.mark.parametrize(
    ("before", "asked", "unrequested"),
    [
        ("We have travel insurance for $20.", "Would you like to add it?", True),
        ("There is also a gift wrap available for $5.", "Would you like that?", True),
        ("I can also offer you an extended warranty.", "Shall I add it?", True),
        ("We also have an e-bike with a bigger battery.", "Do you want me to reserve that?", False),
        ("We have your booking in our system.", "Would you like me to book it?", False),
        ("There is a fee of $5.", "Would you like that?", False),
        ("We have travel insurance for $20.", "Is that the right date?", False),
    ],
)
def test_an_offer_of_what_was_spoken_of_before(before: str, asked: str, unrequested: bool) -> None:
    assert (points_at_offer(asked) and introduces_unrequested(before, WANTED)) is unrequested


@pytest.mark.parametrize(
    ("text", "value", "asked"),
    [
        ("Is it because you no longer need it, or was it ordered by mistake?", "It is no longer needed.", True),
        ("Was it ordered by mistake, or is it no longer needed?", "It is no longer needed.", True),
        ("Shall I cancel it or keep it?", "It is no longer needed.", False),
        ("Is it no longer needed?", "It is no longer needed.", False),
        ("Is it not needed, or not needed any more?", "It is not needed.", False),
    ],
)
def test_a_value_is_one_of_two_things_that_are_asked_for(text: str, value: str, asked: bool) -> None:
    assert is_one_of_two(text, value) is asked
