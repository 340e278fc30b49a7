"""Rules about what a scenario says and the user did not, and about calls that are not what was agreed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.diagnosis import agreed_rules, script_rules, user_rules
from pytest_tau.diagnosis.evidence import Evidence
from pytest_tau.language.wishes import reconsidered

from .blames import HELLO, PRICE, STOP, answered, facts_of, named_for_call, scenario
from .test_blame_rules import LOOK
from .tiny import action, agent, call, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

#: The second message of these talks proposes both parts of an order, the third one agrees.
BOTH = agent("I will add the Desk Lamp (i-1) and the Mug (i-2). Do you confirm?")
ADD_BOTH = action("add", item_id="o-77", tags=["i-1", "i-2"])
ADD_LAMP = action("add", item_id="o-77", tags=["i-1"])
ADDED_BOTH = answered(call("add", item_id="o-77", tags=["i-1", "i-2"]))


@pytest.mark.parametrize(
    ("proposal", "answer", "expected"),
    [
        ("I will add the Desk Lamp (i-1) and the Mug (i-2). Do you confirm?", "Yes, please.", ("agent", 5)),
        # The user or the agent has taken it out again.
        ("I will add the Desk Lamp (i-1) and the Mug (i-2). Do you confirm?", "Yes, but not the mug.", None),
        ("I will add the Desk Lamp (i-1).\nThe Mug (i-2) is not added. Do you confirm?", "Yes, please.", None),
        # It was not named by its id: the agent may have meant another one.
        ("I will add the Desk Lamp (i-1) and more. Do you confirm?", "Yes, please.", None),
        # Nothing was agreed.
        ("I will add the Desk Lamp (i-1) and the Mug (i-2). Do you confirm?", "Which mug?", None),
    ],
)
def test_a_part_that_was_agreed_and_is_not_in_the_call(
    domain: Domain, proposal: str, answer: str, expected: Any
) -> None:
    talk = [*LOOK, agent(proposal), user(answer), *answered(call("add", item_id="o-77", tags=["i-1"])), STOP]
    facts = facts_of(domain, scenario("Add both.", ADD_BOTH), HELLO, *talk)
    assert named_for_call(agreed_rules.dropped_part, facts) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Yes for the lamp. I don't want the mug.", ("agent", 5)),
        # It declines something else, or names the part as wanted, too.
        ("Yes, the mug. I don't want the desk.", None),
        ("Not the mug? Yes, the mug.", None),
        ("Yes.", None),
    ],
)
def test_what_the_user_had_just_declined(domain: Domain, answer: str, expected: Any) -> None:
    talk = [*LOOK, BOTH, user(answer), *ADDED_BOTH, STOP]
    facts = facts_of(domain, scenario("Add the lamp.", ADD_LAMP), HELLO, *talk)
    assert named_for_call(agreed_rules.did_declined, facts) == expected


@pytest.mark.parametrize(
    ("text", "wish", "expected"),
    [
        ("Add the lamp and the mug. If asked to confirm, only add the lamp.", "Add both.", ("user", 5)),
        ("Add both. If there is no blue mug, you'd rather only have the lamp.", "Add both.", ("user", 5)),
        # The scenario does not take it back, or is content with the other one.
        ("Add the lamp and the mug.", "Add both.", None),
        ("Add the lamp and the mug. If asked to confirm, only add the mug.", "Add both.", None),
        # The user has taken it back, and the agent did it.
        ("Add the lamp and the mug. If asked to confirm, only add the lamp.", "Rather only the lamp.", None),
    ],
)
def test_the_user_agrees_to_a_part_that_its_scenario_takes_back(
    domain: Domain, text: str, wish: str, expected: Any
) -> None:
    talk = [user(wish), *LOOK, BOTH, user("Yes."), *ADDED_BOTH, STOP]
    facts = facts_of(domain, scenario(text, ADD_LAMP), HELLO, *talk)
    assert named_for_call(script_rules.kept_wish, facts) == expected


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("Remove the mug, but if asked to confirm, you regret it.", "Yes.", ("user", 5)),
        # Nothing was impossible.
        ("Remove the mug. If that is impossible, do nothing else.", "Yes.", None),
        # It takes another thing back, or nothing.
        ("Remove the mug. You want a lamp. Price it. You regret the desk.", "Yes.", None),
        ("Remove the mug.", "Yes.", None),
        ("Remove the mug, but if asked to confirm, you regret it.", "How long does it take?", None),
    ],
)
def test_the_user_agrees_to_a_call_that_its_scenario_takes_back(
    domain: Domain, text: str, answer: str, expected: Any
) -> None:
    talk = [user("The mug."), *LOOK, agent("Remove the Mug (i-2)? Do you confirm?"), user(answer)]
    facts = facts_of(domain, scenario(text), HELLO, *talk, *answered(call("tag", item_id="lamp", tag="i-2")), STOP)
    assert named_for_call(script_rules.kept_wish, facts, wanted=None) == expected


def shoe(record: str, size: str, price: float) -> dict[str, Any]:
    return {"item_id": record, "options": {"size": size, "colour": "red"}, "price": price}


SHOES = answered(
    call("look", item_id="o-1"),
    json.dumps([{**shoe("s-1", "9", 11.5), "name": "Running Shoes"}, shoe("s-2", "9", 12.5), shoe("s-3", "8", 13.5)]),
)


@pytest.mark.parametrize(
    ("text", "wish", "expected"),
    [
        ("Change the shoes, of the same size.", "Change the shoes.", ("user", 5)),
        # It has spoken of the size, or the scenario speaks of that of something else.
        ("Change the shoes, of the same size.", "Change the shoes, in my size.", None),
        ("Change the shoes. You know the size of the desk.", "Change the shoes.", None),
        ("Change the shoes to the cheapest ones.", "Change the shoes.", ("user", 5)),
        ("Change the shoes to the cheapest ones.", "Change the shoes to cheaper ones.", None),
        ("Change the shoes to the most expensive ones.", "Change the shoes.", None),
    ],
)
def test_a_condition_that_the_user_never_said(domain: Domain, text: str, wish: str, expected: Any) -> None:
    wanted = scenario(text, action("add", item_id="s-1", tags=["s-2"]))
    talk = [user(wish), *SHOES, agent("The red ones, s-3? Do you confirm?"), user("Yes.")]
    facts = facts_of(domain, wanted, HELLO, *talk, *answered(call("add", item_id="s-1", tags=["s-3"])), STOP)
    assert named_for_call(script_rules.kept_silent, facts) == expected


@pytest.mark.parametrize(
    ("text", "wish", "expected"),
    [
        ("One seat. No bags.", "One seat.", ("user", 3)),
        ("One seat. No bags.", "One seat. What do bags cost?", None),
        ("One seat.", "One seat.", None),
    ],
)
def test_a_number_that_the_user_never_said(domain: Domain, text: str, wish: str, expected: Any) -> None:
    talk = [user(wish), agent("One seat and 2 bags. Do you confirm?"), user("Yes.")]
    facts = facts_of(
        domain, scenario(text, PRICE), HELLO, *talk, *answered(call("price", item_id="lamp", price=2)), STOP
    )
    bags = facts.deviations[0].slots[0]._replace(name="total_bags", got=(2,), wanted=(0,))
    assert named_for_call(script_rules.kept_silent, facts, slots=(bags,)) == expected


LISTED = answered(call("look", item_id="ann"), '{"user_id": "ann", "orders": ["lamp", "desk"]}')


@pytest.mark.parametrize(
    ("offer", "choice", "expected"),
    [
        ("You have lamp and desk. Which one?", "It is desk.", ("user", 5)),
        # The agent has named it alone, or the user has named the right one as well.
        ("Is it desk?", "It is desk.", None),
        ("You have lamp and desk. Which one?", "It is desk, or lamp.", None),
        ("You have lamp and desk. Which one?", "The second one.", None),
    ],
)
def test_the_user_chooses_another_record(domain: Domain, offer: str, choice: str, expected: Any) -> None:
    talk = [user("My order."), *LISTED, agent(offer), user(choice), *answered(call("price", item_id="desk", price=150))]
    facts = facts_of(domain, scenario("Price it.", PRICE), HELLO, *talk, STOP)
    assert named_for_call(script_rules.chose_record, facts) == expected


@pytest.mark.parametrize(
    ("announcement", "is_fault"),
    [
        ("Please hold while I check the stock.", True),
        # The state is right already: what it announces changes nothing.
        ("One moment, I will now proceed with notifications.", False),
    ],
)
def test_who_leaves_when_nothing_is_left_to_change(domain: Domain, announcement: str, is_fault: bool) -> None:
    wanted = scenario("How many?", communicate_info=["7"], reward_basis=["DB", "COMMUNICATE"])
    facts = facts_of(domain, wanted, HELLO, user("How many?"), agent(announcement), user("Bye. ###STOP###"))
    assert facts.divergence is None
    assert (user_rules.left_while_working(facts) is not None) is is_fault


def test_a_payment_does_not_describe_the_card() -> None:
    card = {"card_11": {"id": "card_11", "brand": "Visa", "last_four": "1234"}}
    payment = [{"card_id": "card_11", "amount": 1194}]
    messages = [
        *answered(call("look", item_id="u"), json.dumps(card)),
        *answered(call("look", item_id="o"), json.dumps(payment)),
    ]
    assert "1,194" not in Evidence(None, messages, []).forms("card_11")
    # What nothing else describes is described by it.
    assert "1,194" in Evidence(None, messages[2:], []).forms("card_11")


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("Asked for a yes, you regret it and leave all as it was.", "regret"),
        ("If you cannot refund to the card, no cancelation at all.", "no cancelation"),
        ("When asked, change your mind and ask for the lamp.", "change your mind"),
        ("Otherwise only return the lamp.", "only return"),
        ("If they say they can only do one, you prefer the exchange.", ""),
        ("You just placed an order, and want to cancel it.", ""),
        ("You only have one card.", ""),
    ],
)
def test_sentences_that_take_a_wish_back(sentence: str, part: str) -> None:
    assert reconsidered(sentence).startswith(part)
    assert bool(reconsidered(sentence)) is bool(part)
