"""What sentences of agents do: refusals, what is not to be had, requests for an identity, for a yes."""

from __future__ import annotations

import pytest

from pytest_tau.language.parser import parse
from pytest_tau.language.turns import closes, hands_over, speaks_as_agent, waits_for_yes, wants_answer

LACKING = [
    "I am sorry, there is no e-bike available.",
    "The e-bikes are out of stock.",
    "All of them are sold out. Sorry about that.",
    "We don't have any city bikes.",
    "None are left for Saturday.",
    "Saturday is fully booked.",
    "There are no direct flights on that day. Is there anything else I can help you with?",
]
NOT_LACKING = [
    "There is no fee for that.",
    "There are no further steps.",
    "I don't have your order number yet.",
    "If there is no bike left, I will call you.",
    "There is no e-bike available. Would you like a city bike instead?",
    "There are no direct flights. The one with a stop leaves at nine and costs 80 dollars.",
    "Is it out of stock?",
]


@pytest.mark.parametrize("text", LACKING)
def test_what_is_not_to_be_had_is_refused(text: str) -> None:
    assert parse(text).refuses


@pytest.mark.parametrize("text", NOT_LACKING)
def test_what_refuses_nothing(text: str) -> None:
    assert not parse(text).refuses


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("May I verify your identity?", True),
        ("Before that, I need to confirm who you are.", True),
        ("Please identify yourself.", True),
        ("I have verified your identity.", False),
        ("Thank you for confirming that.", False),
    ],
)
def test_a_request_for_an_identity(text: str, asks: bool) -> None:
    assert any({"identifies", "asks"} <= each.kinds for each in parse(text).sentences) is asks


@pytest.mark.parametrize(
    "text",
    ["Please reply with: yes", "Reply: 'yes' to go on.", "Answer with yes, please.", "Type YES to book.", "Say yes."],
)
def test_a_request_for_the_word_yes(text: str) -> None:
    assert parse(text).any("confirms")


def test_an_envelope_is_taken_off_before_it_is_parsed() -> None:
    assert parse('{"message": "May I have your name?"}').text == "May I have your name?"
    assert parse("<think>Ask for it. Shall I?</think>Your name, please.").sentences[0].text == "Your name, please."


def test_what_a_turn_does() -> None:
    assert closes("Is there anything else?")
    assert not closes("Which one?")
    assert wants_answer("Please tell me the city.")
    assert not wants_answer("It is done.")
    assert waits_for_yes("Shall I proceed?")
    assert not waits_for_yes("Shall we dance?")
    assert hands_over("I will transfer you.")
    assert speaks_as_agent("How can I help you?")
    assert not speaks_as_agent("Can you help me?")
