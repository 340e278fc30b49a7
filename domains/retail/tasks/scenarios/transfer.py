"""Scenarios about what a person has to take care of, and what not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import format_address, with_article
from .. import personas
from ..builder import Draft, scenario
from ..calls import cancel, move_profile, read, return_items, transfer
from ..data import places
from ..requests import NOT_NEEDED, SAME_METHOD
from ..world import sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import World

_PERSON = "Transfer to a human agent"


@scenario(_PERSON, found_by="zip")
def a_new_email_address(world: World) -> Iterator[Draft]:
    """The email address of a profile is out of scope."""
    for user in world.users:
        yield Draft(
            user,
            reason="You have a new email address and want it in your profile.",
            instructions=f"It is {user.name.last_name.lower()}@example.net. You want nothing else, and it cannot wait.",
            calls=[transfer("The customer wants another email address in the profile.")],
            requests=[ask(new_email=f"{user.name.last_name.lower()}@example.net")],
        )


@scenario(_PERSON)
def a_new_card_in_the_profile(world: World) -> Iterator[Draft]:
    """A new method in the profile is out of scope."""
    for user in world.users:
        yield Draft(
            user,
            reason="You have a new credit card and want it in your profile, among the payment methods.",
            instructions="You do not want it for any order that you have, only for later ones. You would give the "
            "card's number to whoever can enter it. Nothing else matters to you today.",
            calls=[transfer("The customer wants a new credit card among the payment methods.")],
            requests=[ask()],
        )


@scenario(_PERSON, persona=personas.FORMAL)
def a_new_order(world: World) -> Iterator[Draft]:
    """Placing an order is out of scope."""
    products = list(world.db.products.scan())
    for number, user in enumerate(world.users):
        product = products[number % len(products)]
        yield Draft(
            user,
            reason=f"You wish to buy {with_article(product.name)} and would like the shop to place the order for you.",
            instructions="You cannot place it yourself, since the website does not open on your computer. Your "
            "existing orders have nothing to do with it.",
            calls=[transfer("The customer wants an order to be placed for them.")],
            requests=[ask()],
        )


@scenario(_PERSON, found_by="zip", persona=personas.WARY)
def a_repair(world: World) -> Iterator[Draft]:
    """A repair under warranty is out of scope."""
    for user, order in world.each_order("delivered"):
        for item in order.items:
            if item.name in ("Stand Mixer", "Rice Cooker", "Digital Piano", "Space Heater", "Webcam", "External Drive"):
                yield Draft(
                    user,
                    reason=f"Your {item.name} has stopped working, and you want to have it repaired.",
                    instructions="You want a repair under warranty, and that somebody arranges it. You want neither a "
                    "return nor an exchange, whatever is offered.",
                    calls=[transfer("The customer wants a repair under warranty, no return and no exchange.")],
                    requests=[ask()],
                    declines=["return", "exchange"],
                )


@scenario(_PERSON, persona=personas.CROSS)
def cancel_then_close_the_account(world: World) -> Iterator[Draft]:
    """Everything that can be done is done before the transfer."""
    for user, order in world.each_order("pending"):
        if sole_payer(user, order):
            yield Draft(
                user,
                reason=f"You are through with the shop: first of all, cancel order {order.order_id}.",
                instructions="It is no longer needed. Only when it is cancelled, you go on: now your account should be "
                "deleted, with all that the shop knows about you.",
                calls=[
                    *read(order),
                    cancel(order),
                    transfer("Order cancelled; the customer wants the account deleted."),
                ],
                requests=[
                    ask(reason=NOT_NEEDED),
                    ask("Now your account should be deleted, with all that the shop knows about you."),
                ],
            )


@scenario(_PERSON)
def return_then_ask_for_a_name_change(world: World) -> Iterator[Draft]:
    """A return, and then a matter for a person."""
    for user, order in world.each_order("delivered"):
        method = sole_payer(user, order)
        for item in unique_items(order) if len(order.items) > 1 else ():
            if method:
                yield Draft(
                    user,
                    reason=f"You want to return the {item.name} of order {order.order_id}.",
                    instructions="All else stays, and the refund goes to the method that paid. When the return is "
                    "settled, and not before, you say that you have married and want the last name in your profile "
                    "changed to Ellery.",
                    calls=[
                        *read(order),
                        return_items(order, [item], method),
                        transfer("Return requested; the customer wants another last name in the profile."),
                    ],
                    requests=[
                        ask(items=f"the {item.name}", payment_method=SAME_METHOD),
                        ask("You have married and want the last name in your profile changed to Ellery."),
                    ],
                )


@scenario(_PERSON, persona=personas.CROSS)
def a_person_on_demand(world: World) -> Iterator[Draft]:
    """A refusal is no reason to transfer, however often a person is asked for."""
    for user, order in world.each_order("processed"):
        yield Draft(
            user,
            reason=f"You want order {order.order_id} cancelled: you no longer need it.",
            instructions="If it cannot be cancelled, demand to talk to a person who can do it, twice. If the agent "
            "still declines, give in. Then you want your default address changed, as nothing else helps: it is "
            f"{format_address(places.BOSTON)}. Leave the order alone from then on.",
            calls=[*read(order), move_profile(user, places.BOSTON)],
            requests=[
                ask(),
                ask(f"You demand to talk to a person who can cancel order {order.order_id}.", insist=1),
                ask(
                    "Then you want your default address changed, as nothing else helps.",
                    address=format_address(places.BOSTON),
                ),
            ],
        )


TRANSFERS = (
    a_new_email_address,
    a_new_card_in_the_profile,
    a_new_order,
    a_repair,
    cancel_then_close_the_account,
    return_then_ask_for_a_name_change,
    a_person_on_demand,
)
