"""Scenarios about who pays for a pending order, and what else changes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import describe_item, describe_method, format_address, format_amount
from ...models import CreditCard, GiftCard
from ...payments import order_total
from .. import personas
from ..builder import Draft, scenario
from ..calls import cancel, change, pay_by, read, send_to
from ..data import places
from ..requests import NOT_NEEDED, PROFILE_STAYS, swap_phrase
from ..world import only_gift_card, other_methods, sole_payer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Order, PaymentMethod, User
    from ..world import World

_RULE = "Change a pending order"
_PAYMENT = "Change a pending order: payment method"


def _unmodified(world: World, paid_by: type[CreditCard | GiftCard]) -> Iterator[tuple[User, Order, PaymentMethod]]:
    for user, order in world.each_order("pending"):
        method = sole_payer(user, order)
        if method is not None and isinstance(method, paid_by):
            yield user, order, method


@scenario(_PAYMENT)
def pay_by_gift_card(world: World) -> Iterator[Draft]:
    """A gift card that covers the order pays; its new balance is to be stated."""
    for user, order in world.each_order("pending"):
        card, method = only_gift_card(user), sole_payer(user, order)
        if card and method and method != card and card.balance > order_total(order):
            yield Draft(
                user,
                reason=f"You want your gift card to pay for order {order.order_id}.",
                instructions="The whole order is to be paid by your gift card. When that is done, ask what is left "
                "on the card.",
                calls=[*read(user, order), pay_by(order, card)],
                communicate=[format_amount(card.balance - order_total(order))],
                requests=[ask(payment_method="your gift card"), ask("How much is left on your gift card now?")],
            )


@scenario(_PAYMENT, found_by="zip", persona=personas.FORMAL)
def pay_by_other_method(world: World) -> Iterator[Draft]:
    """From a card to another method, by its description."""
    for user, order, method in _unmodified(world, CreditCard):
        for new in other_methods(user, method):
            yield Draft(
                user,
                reason=f"You wish to pay for order {order.order_id} by another method.",
                instructions=f"It is to be {describe_method(new)}. Ask when the money comes back to "
                f"{describe_method(method)}.",
                calls=[*read(user, order), pay_by(order, new)],
                requests=[
                    ask(payment_method=describe_method(new)),
                    ask(f"When does the money come back to {describe_method(method)}?"),
                ],
            )


@scenario(_PAYMENT)
def gift_card_does_not_cover_the_order(world: World) -> Iterator[Draft]:
    """A gift card that does not cover the order; then another method."""
    for user, order in world.each_order("pending"):
        card, method = only_gift_card(user), sole_payer(user, order)
        for new in other_methods(user, method) if card and method and method != card else ():
            if card and card.balance < order_total(order):
                yield Draft(
                    user,
                    reason=f"You want order {order.order_id} to be paid with your gift card.",
                    instructions="You believe that there is enough on it. If there is not, ask for its exact "
                    f"balance, and then let {describe_method(new)} pay for the whole order.",
                    calls=[*read(user, order), pay_by(order, new)],
                    communicate=[format_amount(card.balance)],
                    requests=[
                        ask(payment_method="your gift card"),
                        ask("What is the exact balance of your gift card?"),
                        ask(
                            f"Let {describe_method(new)} pay for the whole order {order.order_id}.",
                            payment_method=describe_method(new),
                        ),
                    ],
                )


@scenario(_PAYMENT, persona=personas.CROSS)
def pay_in_two_parts(world: World) -> Iterator[Draft]:
    """A payment cannot be split."""
    for user, order in world.each_order("pending"):
        card, method = only_gift_card(user), sole_payer(user, order)
        for new in other_methods(user, method) if card and method and method != card else ():
            if card and card.balance < order_total(order):
                yield Draft(
                    user,
                    reason=f"You want to change how order {order.order_id} is paid.",
                    instructions="Your gift card should pay as much as it can, and the rest should come from "
                    f"{describe_method(new)}. If it has to be a single method, argue once, then take "
                    f"{describe_method(new)} alone.",
                    calls=[*read(user, order), pay_by(order, new)],
                    requests=[
                        ask(
                            payment_method="Your gift card should pay as much as it can, and the rest should come "
                            f"from {describe_method(new)}.",
                            insist=1,
                            fallback=f"Then {describe_method(new)} alone should pay for order {order.order_id}.",
                        )
                    ],
                )


@scenario(_PAYMENT)
def pay_by_somebody_elses_card(world: World) -> Iterator[Draft]:
    """A method that is not in the profile cannot pay."""
    for user, order in world.each_order("pending"):
        for new in other_methods(user, sole_payer(user, order)) if sole_payer(user, order) else ():
            if not isinstance(new, CreditCard):
                yield Draft(
                    user,
                    reason=f"Your sister wants to pay for order {order.order_id}, which is a present from her.",
                    instructions="You have her Visa card in your hand, it ends in 0907, and want the order to be "
                    "paid by it. The card is not in your profile and is not going to be: you do not ask for that and "
                    "decline it when it is offered. If her card cannot be used, the order is to be paid by "
                    f"{describe_method(new)}.",
                    calls=[*read(user, order), pay_by(order, new)],
                    requests=[
                        ask(
                            payment_method="Her Visa card ending in 0907. It is not in your profile and is not "
                            "going to be.",
                            fallback=f"Then order {order.order_id} should be paid by {describe_method(new)}.",
                        )
                    ],
                    declines=["add profile", "add card"],
                )


@scenario("Money", persona=personas.WARY)
def spare_the_gift_card(world: World) -> Iterator[Draft]:
    """From a gift card to another method: the card has its money back at once."""
    for user, order, card in _unmodified(world, GiftCard):
        for new in other_methods(user, card):
            if isinstance(card, GiftCard) and card == only_gift_card(user):
                yield Draft(
                    user,
                    reason=f"You would rather keep your gift card for later: order {order.order_id} should not be "
                    "paid by it.",
                    instructions=f"The order is to be paid by {describe_method(new)}. When that is done, ask for the "
                    "gift card's new balance.",
                    calls=[*read(user, order), pay_by(order, new)],
                    communicate=[format_amount(card.balance + order_total(order))],
                    requests=[
                        ask(payment_method=describe_method(new)),
                        ask("What is the new balance of your gift card?"),
                    ],
                )


@scenario(_RULE)
def address_and_payment(world: World) -> Iterator[Draft]:
    """Address and payment of the same order."""
    for user, order in world.each_order("pending"):
        for new in other_methods(user, sole_payer(user, order)) if sole_payer(user, order) else ():
            yield Draft(
                user,
                reason=f"Two things about order {order.order_id} have to change.",
                instructions=f"It should go to {format_address(places.PROVIDENCE)}, for this time only, and it "
                f"should be paid by {describe_method(new)}. You mention the payment when the address is settled.",
                calls=[*read(user, order), send_to(order, places.PROVIDENCE), pay_by(order, new)],
                requests=[
                    ask(
                        f"Order {order.order_id} should go to another address, for this time only.",
                        address=format_address(places.PROVIDENCE),
                    ),
                    ask(
                        f"Order {order.order_id} should also be paid by another method.",
                        payment_method=describe_method(new),
                    ),
                ],
                declines=PROFILE_STAYS,
            )


@scenario(_RULE)
def everything_about_an_order(world: World) -> Iterator[Draft]:
    """Address, payment and items: the items have to come last, whatever is asked first."""
    for user, order in world.each_order("pending"):
        for new in other_methods(user, sole_payer(user, order)) if sole_payer(user, order) else ():
            for swap in world.swaps(order):
                yield Draft(
                    user,
                    reason=f"You have three changes for order {order.order_id}, and you name them all in your first "
                    "message: another version of an item, another payment method, another address.",
                    instructions=f"One after the other: the {describe_item(swap.item)} should come with "
                    f"{swap.phrase}, the rest as it is; the order should be paid by {describe_method(new)}, which "
                    "also takes or receives the price difference; and it should go to "
                    f"{format_address(places.TAMPA)}, while your profile stays as it is. You leave it to the agent "
                    "what is done first, so long as all three are done.",
                    calls=[
                        *read(user, order, swap.item),
                        send_to(order, places.TAMPA),
                        pay_by(order, new),
                        change(order, [swap], new),
                    ],
                    requests=[
                        ask(
                            f"You have three changes for order {order.order_id}: another version of an item, "
                            "another payment method, another address.",
                            items=f"the {describe_item(swap.item)}",
                            new_items=swap_phrase(swap),
                            payment_method=describe_method(new),
                            address=format_address(places.TAMPA),
                        )
                    ],
                    declines=PROFILE_STAYS,
                )


@scenario(_PAYMENT, found_by="zip", persona=personas.NOVICE)
def cancel_one_and_pay_one(world: World) -> Iterator[Draft]:
    """Of two pending orders one is cancelled and one is paid anew."""
    for user in world.users:
        pending = [order for order in world.orders(user, "pending") if sole_payer(user, order)]
        if len(pending) == 2 and len(user.orders) > 2:
            gone, kept = pending
            for new in other_methods(user, sole_payer(user, kept)):
                yield Draft(
                    user,
                    reason=f"You need help with two orders, {gone.order_id} and {kept.order_id}.",
                    instructions=f"{gone.order_id} should be cancelled, because it is no longer needed. "
                    f"{kept.order_id} should be paid by {describe_method(new)}. Ask how much it is that is charged "
                    "there.",
                    calls=[*read(user, gone, kept), cancel(gone), pay_by(kept, new)],
                    communicate=[format_amount(order_total(kept))],
                    requests=[
                        ask(
                            f"You need help with two orders. First, cancel order {gone.order_id}, please.",
                            reason=NOT_NEEDED,
                        ),
                        ask(
                            f"Order {kept.order_id} should be paid by another method. How much is it that is "
                            "charged there?",
                            payment_method=describe_method(new),
                        ),
                    ],
                )


PAYMENTS = (
    pay_by_gift_card,
    pay_by_other_method,
    gift_card_does_not_cover_the_order,
    pay_in_two_parts,
    pay_by_somebody_elses_card,
    spare_the_gift_card,
    address_and_payment,
    everything_about_an_order,
    cancel_one_and_pay_one,
)
