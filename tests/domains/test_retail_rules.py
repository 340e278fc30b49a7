"""The shop's rules agent: what it solves, what it does before anything else, what it refuses, what it understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from talks import Conversation, base_talks, calls_with_answers

from pytest_tau_domains._kit.dialog import NOTICE
from pytest_tau_domains.retail import domain as spec
from pytest_tau_domains.retail.agent import parsing as reading
from pytest_tau_domains.retail.agent.requests import recognise
from pytest_tau_domains.retail.agent.rules_agent import RulesAgent

if TYPE_CHECKING:
    from pytest_tau.models import Simulation
    from pytest_tau_domains.retail.models import RetailDB

DOMAIN = spec.load()
DB = cast("RetailDB", DOMAIN.environment().agent_db)
WRITING = {name for name, info in DOMAIN.environment().tool_infos.items() if info.kind == "write"}
FINDING = {"find_user_id_by_email", "find_user_id_by_name_zip"}


def conversation() -> Conversation:
    return Conversation(RulesAgent(), DOMAIN.environment())


@pytest.fixture(scope="module")
def simulations() -> dict[str, Simulation]:
    return base_talks("retail", "rules")


def customer_with(*statuses: str) -> tuple[Any, list[Any]]:
    """A customer who has an order of each status that nothing was refunded for, and those orders."""
    for user in DB.users.scan():
        orders = [DB.order(order_id) for order_id in user.orders]
        found = [
            next((o for o in orders if o.status == status and len(o.payment_history) == 1), None) for status in statuses
        ]
        if all(found):
            return user, found
    raise AssertionError(f"nobody has orders that are {statuses}")


# The bundled tasks


def test_it_looks_at_nothing_before_the_customer_is_found(simulations: dict[str, Simulation]) -> None:
    for task_id, simulation in simulations.items():
        identified = False
        for call, answer in calls_with_answers(simulation):
            assert identified or call.name in FINDING, task_id
            identified = identified or not answer.error


# Identification


def test_a_user_id_and_an_order_id_do_not_identify_anybody() -> None:
    user, (order,) = customer_with("pending")
    talk = conversation()
    assert "email" in talk.say(f"I am {user.user_id}, cancel order {order.order_id}, it is no longer needed.")
    assert not talk.calls
    assert "email" in talk.say("But that is my user id.")
    assert not talk.calls
    assert "Do you confirm?" in talk.say(f"It is {user.email}.")
    assert talk.calls[0] == ("find_user_id_by_email", {"email": user.email})


def test_name_and_zip_may_come_one_by_one_and_after_a_wrong_email() -> None:
    user, _ = customer_with("delivered")
    talk = conversation()
    talk.say("What is the balance of my gift card? My email is nobody@example.com.")
    assert [name for name, _ in talk.calls] == ["find_user_id_by_email"]
    assert "zip" in talk.say(f"My name is {user.name.first_name} {user.name.last_name}.")
    talk.say(f"My zip code is {user.address.zip}.")
    assert talk.calls[1][0] == "find_user_id_by_name_zip"
    assert talk.calls[2] == ("get_user_details", {"user_id": user.user_id})


def test_somebody_elses_order_is_not_even_looked_at() -> None:
    user, _ = customer_with("pending")
    foreign = next(order for order in DB.orders.scan() if order.user_id != user.user_id)
    talk = conversation()
    answer = talk.say(f"My email is {user.email}. What is in order {foreign.order_id}?")
    assert "not among your orders" in answer
    assert foreign.items[0].name not in answer
    assert {name for name, _ in talk.calls} == {"find_user_id_by_email", "get_user_details"}


# Confirmation


def test_a_no_changes_nothing_and_a_yes_with_a_but_is_asked_again() -> None:
    user, (order,) = customer_with("pending")
    talk = conversation()
    request = f"My email is {user.email}. Cancel order {order.order_id}, I ordered it by mistake."
    assert f"${order.payment_history[0].amount:.2f}" in talk.say(request)
    assert "Do you confirm?" in talk.say("Yes, but I have to think about it.")
    assert not talk.writes
    assert "as it is" in talk.say("No, leave it.")
    assert not talk.writes
    assert "Do you confirm?" in talk.say(f"After all, cancel order {order.order_id}, I ordered it by mistake.")
    assert "has been cancelled" in talk.say("Yes.")
    assert talk.writes == ["cancel_pending_order"]


def test_question_before_the_yes_is_answered_and_confirmation_requested_again() -> None:
    user, (order,) = customer_with("pending")
    talk = conversation()
    talk.say(f"My email is {user.email}. Cancel order {order.order_id}, it is no longer needed.")
    answer = talk.say("How long does the refund take?")
    assert "5 to 7 business days" in answer
    assert "Do you confirm?" in answer


# Refusals


@pytest.mark.parametrize(
    ("task_id", "forbidden"),
    [
        ("address-after-a-change", "modify_pending_order_address"),
        ("cancel-for-a-better-price", "cancel_pending_order"),
        ("exchange-for-the-same", "exchange_delivered_order_items"),
        ("new-home-but-not-for-parcels", "modify_pending_order_address"),
        ("a-person-on-demand", "transfer_to_human_agents"),
        ("return-before-it-arrives", "return_delivered_order_items"),
        ("exchange-for-another-product", "exchange_delivered_order_items"),
    ],
)
def test_what_the_policy_forbids_is_not_even_tried(
    simulations: dict[str, Simulation], task_id: str, forbidden: str
) -> None:
    called = [call.name for call, _ in calls_with_answers(simulations[task_id])]
    assert forbidden not in called


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("Cancel order {0}, I found it cheaper.", "What is the reason"),
        ("Please return everything of order {0}.", "is pending"),
        ("Add one more item to order {0}.", "nothing can be added"),
        ("I want to speak to a manager about order {0}.", "cannot"),
        ("Take the first item out of order {0}.", "single item"),
        ("Order {0} should be paid by my new Visa card ending in 0000.", "not in your profile"),
    ],
)
def test_requests_that_are_declined(request_: str, said: str) -> None:
    user, (order,) = customer_with("pending")
    talk = conversation()
    talk.say(f"My email is {user.email}.")
    assert said in talk.say(request_.format(order.order_id))
    assert not talk.writes


def test_what_is_out_of_scope_goes_to_a_person_with_the_notice_alone() -> None:
    user, _ = customer_with("pending")
    talk = conversation()
    talk.say(f"My email is {user.email}.")
    assert talk.say("Please delete my account.") == NOTICE
    assert talk.calls[-1][0] == "transfer_to_human_agents"


def test_a_version_that_is_sold_out_is_declined() -> None:
    user, order, item, variant = next(
        (DB.user(order.user_id), order, item, variant)
        for order in DB.orders.scan()
        for item in order.items
        for variant in DB.product(item.product_id).variants.values()
        if order.status == "delivered"
        and not variant.available
        and sum(other.product_id == item.product_id for other in order.items) == 1
    )
    wanted = ", ".join(f"{axis} {value}" for axis, value in variant.options.items())
    talk = conversation()
    answer = talk.say(f"My email is {user.email}. Exchange the {item.name} of order {order.order_id} for {wanted}.")
    assert "not available" in answer
    assert not talk.writes


# Understanding


def test_ambiguous_order_leads_to_a_question() -> None:
    user, orders = next(
        (user, pending)
        for user in DB.users.scan()
        if len(pending := [o for i in user.orders if (o := DB.order(i)).status == "pending"]) > 1
    )
    talk = conversation()
    answer = talk.say(f"My email is {user.email}. I want to cancel an order, it is no longer needed.")
    assert "order id" in answer
    assert orders[1].order_id in talk.say(f"It is {orders[1].order_id}.")


def test_two_orders_in_one_message_are_not_mixed_up() -> None:
    user, orders = next(
        (user, pending)
        for user in DB.users.scan()
        if len(pending := [o for i in user.orders if (o := DB.order(i)).status == "pending"]) > 1
    )
    gone, kept = orders[:2]
    talk = conversation()
    summary = talk.say(
        f"My email is {user.email}. Cancel order {gone.order_id}, it is no longer needed, and send order "
        f"{kept.order_id} to 1 Elm Street, Reno, NV 89501, USA."
    )
    assert f"cancel the whole order {gone.order_id}" in summary
    assert f"send order {kept.order_id} to 1 Elm Street" in summary
    talk.say("Yes")
    assert talk.writes == ["cancel_pending_order", "modify_pending_order_address"]
    assert [arguments["order_id"] for name, arguments in talk.calls if name in WRITING] == [
        gone.order_id,
        kept.order_id,
    ]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Please cancel my order #W1234567.", ["cancel"]),
        ("I would like to send back the lamp.", ["return"]),
        ("Could you please cancel my order #W1234567?", ["cancel"]),
        ("Could you tell me what it costs to exchange it?", []),
        ("I want to swap the shirt for a larger one.", ["version"]),
        ("Please ship order #W1234567 to my office.", ["address"]),
        ("I moved. Please update the default address.", ["profile"]),
        ("Use another payment method for order #W1234567.", ["payment"]),
        ("I want the last name in my profile changed.", ["out of scope"]),
        ("Return the lamp and exchange the tent, please.", ["both"]),
        ("Cancel order #W1234567, and send order #W7654321 to 1 A Street.", ["cancel", "address"]),
        ("What is the tracking id of order #W1234567?", []),
    ],
)
def test_requests_are_recognised_by_their_words(text: str, kinds: list[str]) -> None:
    assert [kind.name for kind in recognise(text)] == kinds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It is no longer needed.", "no longer needed"),
        ("I don't need it any more", "no longer needed"),
        ("ordered by mistake", "ordered by mistake"),
        ("I did not order it by mistake, it is cheaper elsewhere.", None),
        ("Because I say so.", None),
    ],
)
def test_reasons(text: str, reason: str | None) -> None:
    assert reading.cancel_reason(text) == reason


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Send it to 27 Larch Street, Apt 6, Boston, MA 02118, USA.", ("27 Larch Street", "Apt 6", "Boston", "02118")),
        ("My address is 9 Heron Way, Tampa, FL 33606", ("9 Heron Way", "", "Tampa", "33606")),
    ],
)
def test_addresses(text: str, line: tuple[str, ...]) -> None:
    now = next(DB.users.scan()).address
    found = reading.address(text, now)
    assert found
    assert (found.address1, found.address2, found.city, found.zip) == line
    assert found.country == "USA"
    assert reading.address("somewhere else", now) is None


def test_options_of_the_old_version_are_not_those_of_the_new_one() -> None:
    bag = next(product for product in DB.products.scan() if product.name == "Sleeping Bag")
    assert reading.options("With comfort -10 C instead of 10 C, otherwise the same.", bag) == {"comfort": "-10 C"}
    assert reading.options("a long one, instead of regular", bag) == {"length": "long"}


def test_payment_methods_are_known_by_what_people_call_them() -> None:
    user = next(u for u in DB.users.scan() if {m.source for m in u.payment_methods.values()} >= {"paypal", "gift_card"})
    methods = {method.source: method for method in user.payment_methods.values()}
    before = methods["paypal"]
    for text, method in {
        "my gift card": methods["gift_card"],
        "My PayPal account instead of the gift card.": before,
        "the method that paid for the order": before,
        "I would rather keep my gift card, so by PayPal": before,
    }.items():
        found = reading.payment_method(text, user, before)
        assert found, text
        assert found.method == method, text
    assert reading.payment_method("whatever is usual", user, before) is None
    for text in ("half by PayPal and the rest from my gift card", "a Visa card ending in 9999", "a new gift card"):
        found = reading.payment_method(text, user, before)
        assert found, text
        assert found.method is None, text
        assert found.problem
