"""Single rules of attribution, each with a conversation that it names, and one near it that it must not name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.diagnosis import agent_rules, user_evidence
from pytest_tau.diagnosis.deviations import Deviation
from pytest_tau.language.mentions import user_ids_in
from pytest_tau.language.turns import asks_for_user_id

from .blames import HELLO, PRICE, STOP, answered, facts_of, named, scenario
from .tiny import action, agent, call, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

#: What tools show of two items with parts, and of a product.
ORDER = '{"order_id": "o-77", "items": [{"item_id": "i-1", "name": "Desk Lamp"}, {"item_id": "i-2", "name": "Mug"}]}'
LOOK = answered(call("look", item_id="o-77"), ORDER)


ADDRESS = "You are ada@example.org. Set the price of the lamp to 150."
NOT_FOUND = answered(call("look", item_id="ada"), "Error: not found", error=True)


@pytest.mark.parametrize(
    ("talk", "expected"),
    [
        ([user("I am Ada."), *NOT_FOUND, agent("I cannot find you."), user("Bye. ###STOP###")], ("user", 5)),
        # It has said the address.
        ([user("I am ada@example.org."), *NOT_FOUND, agent("I cannot find you."), user("Bye. ###STOP###")], None),
        # The agent has found something.
        ([user("I am Ada."), *NOT_FOUND, *answered(call("look", item_id="lamp")), user("Bye. ###STOP###")], None),
        # The agent has not looked.
        ([user("I am Ada."), agent("I cannot find you."), user("Bye. ###STOP###")], None),
    ],
)
def test_withheld(domain: Domain, talk: list[Any], expected: Any) -> None:
    facts = facts_of(domain, scenario(ADDRESS, PRICE), HELLO, *talk)
    assert named(user_evidence.withheld(facts)) == expected


ASKS = "Could you give me your user ID?"


@pytest.mark.parametrize(
    ("text", "talk", "expected"),
    [
        ("Your user id is ada_byron_12.", [user("Price it."), agent(ASKS), user("No, I have none.")], ("user", 3)),
        # It has said it, its scenario has none, nobody asked, or the agent has found it otherwise.
        ("Your user id is ada_byron_12.", [user("Price it."), agent(ASKS), user("It is ada_byron_12.")], None),
        ("You are Ada Byron.", [user("Price it."), agent(ASKS), user("No, I have none.")], None),
        ("Your user id is ada_byron_12.", [user("Price it."), agent("For whom?"), user("For me.")], None),
        ("Your user id is ada_byron_12.", [user("Price it."), agent(ASKS), user("I have lost it."), *LOOK], None),
    ],
)
def test_an_id_that_the_user_keeps_to_itself(domain: Domain, text: str, talk: list[Any], expected: Any) -> None:
    facts = facts_of(domain, scenario(text, PRICE), HELLO, *talk, agent("Bye."))
    assert named(user_evidence.withheld(facts)) == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Your user id is ada_byron_12 and you want a refund.", ["ada_byron_12"]),
        ("You are ada_byron_12, in a hurry.", ["ada_byron_12"]),
        ("You are Ada, and your order is o_12.", []),
    ],
)
def test_the_id_by_which_a_user_is_known(text: str, found: list[str]) -> None:
    assert user_ids_in(text) == found


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        (ASKS, True),
        ("Please share your account number with me.", True),
        ("I see your user ID, thank you.", False),
        ("Could you give me your order number?", False),
    ],
)
def test_an_agent_that_asks_for_the_id_of_the_user(text: str, is_asked: bool) -> None:
    assert asks_for_user_id(text) is is_asked


REMOVED = answered(call("remove", item_id="o-77"))


@pytest.mark.parametrize(
    ("wish", "asked", "expected"),
    [
        ("Remove the lamp.", "I remove the desk lamp. Is that right?", ("agent", 5)),
        # The agent has named every part, or none of them.
        ("Remove the lamp.", "I remove the desk lamp and the mug. Is that right?", None),
        ("Remove the lamp.", "I remove it. Is that right?", None),
        # The user wants all of it.
        ("Remove all of the order.", "I remove the desk lamp. Is that right?", None),
    ],
)
def test_did_more(domain: Domain, wish: str, asked: str, expected: Any) -> None:
    facts = facts_of(
        domain, scenario("Remove the lamp.", PRICE), HELLO, user(wish), *LOOK, agent(asked), *REMOVED, STOP
    )
    call_made = facts.calls[-1]
    deviation = Deviation(call_made, None, ())
    assert named(agent_rules.did_more(facts, deviation, call_made)) == expected


SEATS = [action("sit", seat_id=seat, who="Ada") for seat in ("s1", "s2")]
ONE_SEAT = answered(call("sit", seat_id="s1", who="Ada"))


@pytest.mark.parametrize(
    ("talk", "expected"),
    [
        ([*ONE_SEAT, agent("Done.")], ("agent", 4)),
        # The agent has spoken of the other one since.
        ([*ONE_SEAT, agent("Done. I cannot take s2.")], None),
        # No change was made, so none was forgotten.
        ([agent("Done.")], None),
        ([*answered(call("sit", seat_id="s1", who="Bob")), agent("Done.")], None),
    ],
)
def test_forgot_sibling(domain: Domain, talk: list[Any], expected: Any) -> None:
    facts = facts_of(domain, scenario("Take s1 and s2 for Ada.", *SEATS), HELLO, user("I want seats."), *talk, STOP)
    missing = [each for each in facts.deviations if each.made is None]
    assert [named(agent_rules.forgot_sibling(facts, deviation)) for deviation in missing][-1] == expected


LAMP_SHOWN = answered(
    call("look", item_id="lamp-1"), '[{"item_id": "lamp-1", "name": "Lamp"}, {"item_id": "desk-2", "name": "Desk"}]'
)
SIT = action("sit", seat_id="s1", who="desk-2")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Take the lamp.", "I meant the desk.", ("user", 3)),
        # It has said so before.
        ("Take the lamp or the desk.", "I meant the desk.", None),
        # It has never said so.
        ("Take the lamp.", "Thanks.", None),
        # Neither side has spoken of what the agent took.
        ("Take it.", "I meant the desk.", None),
    ],
)
def test_asked_too_late(domain: Domain, before: str, after: str, expected: Any) -> None:
    talk = [*LAMP_SHOWN, user(before), *answered(call("sit", seat_id="s1", who="lamp-1")), agent("Done."), user(after)]
    facts = facts_of(domain, scenario("Put the desk onto s1.", SIT), HELLO, *talk, STOP)
    assert named(user_evidence.asked_too_late(facts, facts.deviations[0])) == expected


TAGS = action("add", item_id="new", tags=["i-1", "i-2"])


@pytest.mark.parametrize(
    ("text", "wish", "expected"),
    [
        ("Add everything of the order.", "Add the lamp.", ("user", 3)),
        # It asks for everything, or names the other part as well.
        ("Add everything of the order.", "Add everything.", None),
        ("Add everything of the order.", "Add the lamp and the mug.", None),
        # Its scenario does not want everything.
        ("Add the lamp.", "Add the lamp.", None),
    ],
)
def test_asked_for_less(domain: Domain, text: str, wish: str, expected: Any) -> None:
    talk = [HELLO, *LOOK, user(wish), *answered(call("add", item_id="new", tags=["i-1"])), STOP]
    facts = facts_of(domain, scenario(text, TAGS), *talk)
    assert named(user_evidence.asked_for_less(facts, facts.deviations[0])) == expected


HANDED = answered(call("transfer", summary="A price."))


@pytest.mark.parametrize(
    ("talk", "expected"),
    [
        ([user("Make the lamp 150."), *HANDED], ("agent", 2)),
        # The user has asked for a person, or has agreed to one.
        ([user("Make the lamp 150."), agent("Why?"), user("I want to speak to a human agent."), *HANDED], None),
        ([user("Make it 150."), agent("Shall I transfer you to a human agent?"), user("Yes, please."), *HANDED], None),
        # It was not handed over.
        ([user("Make the lamp 150."), agent("No.")], None),
    ],
)
def test_transferred(domain: Domain, talk: list[Any], expected: Any) -> None:
    facts = facts_of(domain, scenario("Set the price of the lamp to 150.", PRICE), HELLO, *talk, STOP)
    (deviation,) = facts.deviations
    assert named(agent_rules.transferred(facts, deviation)) == expected
