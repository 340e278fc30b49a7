"""Yes and no in the words of users, and the questions of agents for it."""

from __future__ import annotations

import pytest

from pytest_tau.language.agreement import (
    asks_for_objection,
    asks_for_yes,
    asks_to_proceed,
    has_limit,
    hesitates,
    is_no,
    is_order,
    is_yes,
    wishes,
)

YES = [
    "y",
    "Yes, please.",
    "Sure, do that.",
    "Sounds good, thanks!",
    "I’d like to go with the second one.",
    "Please refuel the full 2.0 GB ($4.00 total).",
    "Please continue with it.",
    "No problem, go ahead.",
    "Fine, just do the return with the original payment method then.",
    "Don't worry about the fee. Yes, book it.",
    "No changes needed, please book it.",
    "Yes, no problem.",
    "Affirmative.",
    "By all means.",
    "I have no objections.",
    "I'm fine with that.",
    "Return items 12 and 13 to the original card, please. Cancel both orders.",
]
NO = [
    "Absolutely not.",
    "Of course not!",
    "I'd rather not.",
    "Let's not do that.",
    "Please don\u2019t.",
    "No, thank you.",
    "I can’t confirm, please cancel the entire change request.",
    "I do not want to proceed with this.",
    "Please don't make any changes.",
    "Never mind.",
    "Yeah, no, leave it.",
    "Yes, cancel that. Actually, no, keep it.",
    "I'd rather you didn't.",
    "I'm not fine with that.",
    "That won't work for me.",
    "I disagree.",
    "Please stop.",
    "Wait, which card is that?",
    "Then I won't go ahead.",
    "Please drop the whole thing, I withdraw my request.",
]
NEITHER = [
    "My zip code is 10115.",
    "I'm not sure which one it was.",
    "I want to make sure that it arrives in time.",
    "Could you look it up for me?",
    "That is not correct.",
    "I don't think that's right.",
]


LIMITED = [
    "Yes, but not the second one.",
    "yes, except the lamp",
    "sure, just not today",
    "Go ahead. Just not on my card.",
    "Yes to everything but the bags.",
    "Sounds good, apart from the price.",
    "Yes, please start the return for the kettle, but I want to keep the pet bed.",
    "Yes, please go ahead, but don\u2019t return the Pet Bed.",
    "Please go ahead and retry the return with these items, excluding the Pet Bed.",
    "And yes, I want the refund to my credit card, not that gift card.",
    "Yes, as long as I\u2019m getting the full refund, please go ahead.",
    "Yes, if it is free.",
    "Yes, but I need to know the cost of upgrading first.",
    "Yes, only the first one.",
    "Sure, without insurance.",
]
UNLIMITED = [
    "Yes, please.",
    "Yes, please, but I don't have the reservation id.",
    "Sure, not sure which one it was, but go ahead.",
    "Other than that, yes.",
    "Yes, other than that it is right.",
    "Yes, if you would.",
    "Yes, do that without delay.",
    "Yes, I am not only sure but happy.",
    "Wi-Fi is off and not connected. Okay, what is next?",
]


@pytest.mark.parametrize("text", LIMITED)
def test_a_yes_with_a_limit(text: str) -> None:
    assert is_yes(text)
    assert has_limit(text)
    assert hesitates(text)


@pytest.mark.parametrize("text", UNLIMITED)
def test_a_yes_without_a_limit(text: str) -> None:
    assert not has_limit(text)


def test_a_no_has_no_limit() -> None:
    assert not has_limit("No, not the lamp.")
    assert not has_limit("My order has all but the lamp.")


@pytest.mark.parametrize("text", ["Any objections?", "Do you have an objection to that?", "Would you mind if I did?"])
def test_a_question_that_a_no_agrees_to(text: str) -> None:
    assert asks_for_objection(text)
    assert not asks_for_objection("Shall I go ahead?")


@pytest.mark.parametrize("text", YES)
def test_a_yes(text: str) -> None:
    assert is_yes(text)
    assert not is_no(text)


@pytest.mark.parametrize("text", NO)
def test_a_no(text: str) -> None:
    assert is_no(text)
    assert not is_yes(text)


@pytest.mark.parametrize("text", NEITHER)
def test_neither(text: str) -> None:
    assert not is_yes(text)
    assert not is_no(text)


def test_an_order_and_a_wish() -> None:
    assert is_order("Please go ahead with the grey one.")
    assert not is_order("I cannot go ahead.")
    assert wishes("I would like to refuel 2 GB, please.")
    assert wishes("Let's cancel it.")
    assert not wishes("I don't want to buy more data.")
    assert not wishes("It is slow.")


@pytest.mark.parametrize(
    ("text", "asks", "proceeds"),
    [
        ("Do you confirm these changes (yes/no)?", True, True),
        ("Shall I cancel it?", True, False),
        ("Is there anything else I can do?", False, False),
        ("It has been cancelled.", False, False),
    ],
)
def test_what_asks_for_a_yes(text: str, asks: bool, proceeds: bool) -> None:
    assert (asks_for_yes(text), asks_to_proceed(text)) == (asks, proceeds)
