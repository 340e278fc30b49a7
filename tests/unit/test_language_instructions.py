"""What scenarios tell the users who play them: facts, offers, secrets, requests, and replies under conditions."""

from __future__ import annotations

import pytest

from pytest_tau.language.instructions import (
    WHEN_CONFIRMING,
    accepted_offers,
    declined_offers,
    facts_of,
    first_person,
    read_instructions,
    says_all_at_first,
    tells_when_content,
    withheld_facts,
)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("You are Yusuf Rossi in 19122.", {"name": "Yusuf Rossi", "zip": "19122"}),
        ("Your user id is mia_li_3668.", {"user_id": "mia_li_3668", "name": "Mia Li"}),
        ("Your reservation ID is EHGLP3, and you were born on 1990-04-05.", None),
        ("You live at 9 Heron Way, Tampa.", {"address": "9 Heron Way, Tampa"}),
        ("You will consider refueling: refuel up to 2.0 GB.", {"refuel_amount": "2.0 GB"}),
    ],
)
def test_facts(text: str, facts: dict[str, str] | None) -> None:
    expected = facts or {"reservation_id": "EHGLP3", "date_of_birth": "1990-04-05"}
    assert facts_of(text) == expected


def test_offers() -> None:
    rules = "You are willing to pay a fee for it. You do not want to buy insurance. It is fine to downgrade."
    assert accepted_offers(rules) == ["pay fee", "downgrade"]
    assert declined_offers(rules) == ["buy insurance"]


@pytest.mark.parametrize(
    ("scenario", "withheld"),
    [
        ("You do not want to reveal much about yourself.", {"name", "zip", "order_id"}),
        ("You are reluctant to share your zip code.", {"zip"}),
        ("Only mention the order number if the agent asks. Your name is Ada.", {"order_id"}),
        ("Do not tell the agent a joke.", set()),
        ("Give your name at once.", set()),
    ],
)
def test_what_is_kept_back(scenario: str, withheld: set[str]) -> None:
    assert withheld_facts(scenario, ("name", "zip", "order_id")) == withheld


def test_what_is_said_at_once() -> None:
    assert says_all_at_first("Provide all details in your first message.")
    assert says_all_at_first("You give every detail up front.")
    assert not says_all_at_first("Answer all questions.")


@pytest.mark.parametrize(
    ("told", "turned"),
    [
        ("You're sure that your dog barks at you.", "I am sure that my dog barks at me."),
        ("Leave. Your order has gone. You'd thank them. ###STOP###", "Leave. My order has gone. I would thank them."),
        ("It was sent to you by yourself", "It was sent to me by myself"),
        ("###STOP###", "I need help."),
    ],
)
def test_the_first_person(told: str, turned: str) -> None:
    assert first_person(told) == turned


@pytest.mark.parametrize(
    ("rules", "replies"),
    [
        ("If the agent asks you to confirm, mention that you paid twice.", [([WHEN_CONFIRMING], "I paid twice.")]),
        ("If the agent wants you to pay a fee, say that you have a voucher.", [(["fee"], "I have a voucher.")]),
        ("The box has no lid; say so if asked.", [(["box lid"], "The box has no lid.")]),
        ("If asked to pay, you accept.", []),
    ],
)
def test_replies_under_a_condition(rules: str, replies: list[tuple[list[str], str]]) -> None:
    read = read_instructions("You want to cancel order #W1.", rules)
    assert [tuple(reply) for reply in read.replies] == replies
    assert read.unread == []


def test_requests_and_a_fallback() -> None:
    read = read_instructions(
        "You want to exchange the helmet. (You paid 30, do not mention it.)",
        "If that is not possible, you want a refund. Once it is done, ask the agent for a receipt. Be persistent.",
    )
    assert [text for text in read.says if text] == ["You want to exchange the helmet."]
    assert (read.fallback, read.insist, read.requests) == ("I want a refund.", 2, ["I would like a receipt."])


@pytest.mark.parametrize(
    "clause", ["If the fare is above $70, leave out the dog.", "You keep the lamp if there is no money back."]
)
def test_a_decision_is_not_read(clause: str) -> None:
    assert read_instructions("You want to fly.", clause).unread == [clause]


def test_when_the_user_is_content() -> None:
    assert tells_when_content("You want the speed test to be excellent.")
    assert not tells_when_content("Your phone shows no service.")
