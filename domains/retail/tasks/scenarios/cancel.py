"""Cancelling: what can be cancelled, for which reasons, and where the money goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import describe_item, format_address, format_amount, with_article
from ...models import CreditCard, GiftCard
from ...payments import order_total
from .. import personas
from ..builder import Draft, scenario
from ..calls import cancel, read, send_to
from ..data import places
from ..requests import MISTAKE, NOT_NEEDED, PROFILE_STAYS
from ..world import sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import World

_RULE = "Cancel a pending order"


@scenario(_RULE)
def cancel_unneeded(world: World) -> Iterator[Draft]:
    """A plain cancellation, with the amount to tell."""
    for user, order in world.each_order("pending"):
        if isinstance(sole_payer(user, order), CreditCard):
            yield Draft(
                user,
                reason=f"You want to cancel order {order.order_id}.",
                instructions="The things in it are no longer needed, that is your reason. Before you agree, ask how "
                "much money you will get back, and do not go on until you have the amount.",
                calls=[*read(order), cancel(order)],
                communicate=[format_amount(order_total(order))],
                requests=[
                    ask(
                        f"You want to cancel order {order.order_id}. How much money will you get back?",
                        reason=NOT_NEEDED,
                    )
                ],
            )


@scenario(
    "Money",
    found_by="zip",
    persona=personas.WARY,
)
def cancel_back_to_gift_card(world: World) -> Iterator[Draft]:
    """A gift card gets its money back at once: its new balance is to be stated."""
    for user, order in world.each_order("pending"):
        card = sole_payer(user, order)
        if isinstance(card, GiftCard):
            yield Draft(
                user,
                reason=f"Order {order.order_id} was ordered by mistake and has to be cancelled.",
                instructions="You ordered by mistake, you have no other reason. When the order is cancelled, ask "
                "what the balance of the gift card that paid for it is now, as a sum and not as two parts.",
                calls=[*read(user, order), cancel(order, "ordered by mistake")],
                communicate=[format_amount(card.balance + order_total(order))],
                requests=[
                    ask(reason=MISTAKE),
                    ask("What is the balance of the gift card that paid for it now, as a sum?"),
                ],
            )


@scenario(_RULE, found_by="zip", persona=personas.CHATTY)
def cancel_by_product(world: World) -> Iterator[Draft]:
    """The order has to be found by what is in it."""
    for user, order in world.each_order("pending"):
        for item in order.items if len(user.orders) > 2 and sole_payer(user, order) else ():
            if world.is_only_one(user, item):
                yield Draft(
                    user,
                    reason=f"You ordered {with_article(item.name)} and want to cancel the whole order that it is in.",
                    instructions="Nothing in that order is needed any more: your reason is 'no longer needed'. Other "
                    "things that happen to be in the order may go, too.",
                    calls=[*read(user, *world.orders(user)), cancel(order)],
                    unknown="You do not have the order's id at hand. It was some weeks ago.",
                    requests=[
                        ask(
                            reason=NOT_NEEDED,
                            order_id=f"You do not have the id at hand. It is the order with the {item.name}.",
                        )
                    ],
                )


@scenario(_RULE)
def cancel_every_pending(world: World) -> Iterator[Draft]:
    """All of the pending orders, and no other."""
    for user in world.users:
        pending = [order for order in world.orders(user, "pending") if sole_payer(user, order)]
        others = [order for order in world.orders(user) if order not in pending]
        if len(pending) >= 2 and others and not any("pending" in order.status for order in others):
            yield Draft(
                user,
                reason="You are short of money and want to cancel everything that has not been sent yet.",
                instructions="All pending orders are to be cancelled, because their content is no longer needed. In "
                "the end, ask what you get back in total, over all of those orders.",
                calls=[*read(user, *world.orders(user)), *(cancel(order) for order in pending)],
                communicate=[format_amount(sum(map(order_total, pending)))],
                unknown="You do not know the ids of your orders, nor which of them have been sent.",
                requests=[
                    ask(
                        reason=NOT_NEEDED,
                        order_id="You do not know the ids, nor which orders have been sent: all that are pending.",
                    ),
                    ask("What do you get back in total, over all of those orders?"),
                ],
            )


@scenario(_RULE, persona=personas.TERSE)
def cancel_dearer_of_two(world: World) -> Iterator[Draft]:
    """Of two orders, the dearer one."""
    for user in world.users:
        pending = world.orders(user, "pending")
        if len(pending) == 2 and all(sole_payer(user, order) for order in pending):
            dearer = max(pending, key=order_total)
            yield Draft(
                user,
                reason=f"Of your orders {pending[0].order_id} and {pending[1].order_id}, you want to cancel one.",
                instructions="The one that cost more in total is to go, as no longer needed; the other one "
                "stays. You do not say which one that is: the agent has to look it up. Ask how much it was.",
                calls=[*read(*pending), cancel(dearer)],
                communicate=[format_amount(order_total(dearer))],
                unknown="You do not know what each of the orders cost.",
                requests=[
                    ask(
                        f"Of your orders {pending[0].order_id} and {pending[1].order_id}, you want to cancel the "
                        "one that cost more in total.",
                        reason=NOT_NEEDED,
                        order_id="The one that cost more in total; please look it up.",
                    ),
                    ask("How much was the order that you cancelled?"),
                ],
            )


@scenario(_RULE, persona=personas.CROSS)
def cancel_for_a_better_price(world: World) -> Iterator[Draft]:
    """A reason that does not count is declined; another request is met."""
    for user, order in world.each_order("pending"):
        if sole_payer(user, order):
            yield Draft(
                user,
                reason=f"You saw the contents of order {order.order_id} elsewhere for less money and want to cancel "
                "it.",
                instructions="Your only reason is the better price elsewhere: you do need the things, and you did not "
                "order them by mistake. You say so if you are offered such reasons, and never take them up. If your "
                f"reason does not count, keep the order and have it sent to {format_address(places.BOSTON)}, instead, "
                "where you stay for now.",
                calls=[*read(order), send_to(order, places.BOSTON)],
                requests=[
                    ask(
                        reason="It costs less elsewhere. You do need the things, and you did not order them by "
                        "mistake.",
                        fallback=f"Then keep order {order.order_id}, and have it sent to "
                        f"{format_address(places.BOSTON)} instead.",
                    )
                ],
            )


@scenario("Records")
def cancel_processed(world: World) -> Iterator[Draft]:
    """A processed order cannot be cancelled; its parcel's number is stated."""
    for user, order in world.each_order("processed"):
        if len(order.fulfillments) == 1:
            yield Draft(
                user,
                reason=f"You want to cancel order {order.order_id}, which is no longer needed.",
                instructions="If it cannot be cancelled any more, accept that and ask for the tracking id of the "
                "parcel.",
                calls=read(order),
                communicate=order.fulfillments[0].tracking_id,
                requests=[ask(), ask(f"Then what is the tracking id of the parcel of order {order.order_id}?")],
            )


@scenario("Change a pending order")
def cancel_part_of_an_order(world: World) -> Iterator[Draft]:
    """A single item cannot be cancelled; the whole order can."""
    for user, order in world.each_order("pending"):
        method = sole_payer(user, order)
        for item in unique_items(order) if len(order.items) > 2 and method else ():
            yield Draft(
                user,
                reason=f"You want to take one thing out of order {order.order_id}: the {describe_item(item)}.",
                instructions="You want the other things, but only without that one. If a single thing cannot be "
                "taken out or cancelled, cancel the whole order: like that, it is no longer needed. You do not want "
                "it changed to anything else.",
                calls=[*read(order), cancel(order)],
                requests=[
                    ask(
                        reason=NOT_NEEDED,
                        fallback=f"Then cancel the whole order {order.order_id}: like that, it is no longer needed.",
                    )
                ],
                declines=["another version"],
            )


@scenario("Records", found_by="zip")
def cancel_after_a_change(world: World) -> Iterator[Draft]:
    """After a change of items an order cannot be cancelled."""
    for user, order in world.each_order("pending (item modified)"):
        if len(order.payment_history) == 2 and order.payment_history[1].amount:
            yield Draft(
                user,
                reason=f"You want to cancel order {order.order_id}, since you no longer need it.",
                instructions="If that is refused, ask once more, then give in. Finally ask how much was paid or "
                "refunded when an item of that order was changed.",
                calls=read(order),
                communicate=[format_amount(order.payment_history[1].amount)],
                requests=[
                    ask(insist=1),
                    ask(f"How much was paid or refunded when an item of order {order.order_id} was changed?"),
                ],
            )


@scenario("Identify the customer")
def cancel_for_a_flatmate(world: World) -> Iterator[Draft]:
    """Somebody else's order is out of bounds, the customer's own is not."""
    theirs = [(user, order) for user, order in world.each_order("pending") if sole_payer(user, order)]
    for user, order in theirs:
        for other, foreign in theirs:
            if other != user:
                yield Draft(
                    user,
                    reason=f"You want two orders cancelled: {foreign.order_id} and {order.order_id}.",
                    instructions=f"{foreign.order_id} belongs to your flatmate {other.name.first_name}, who is away "
                    "and has asked you for this favour; begin with it. You cannot put them on. Whatever happens to "
                    f"it, you want your own order {order.order_id} cancelled, as it is no longer needed. Ask how much "
                    "you get back for yours.",
                    calls=[*read(order), cancel(order)],
                    communicate=[format_amount(order_total(order))],
                    requests=[
                        ask(
                            f"You want order {foreign.order_id} cancelled. It belongs to your flatmate "
                            f"{other.name.first_name}, who is away and has asked for this favour.",
                            reason=NOT_NEEDED,
                        ),
                        ask(
                            f"You want your own order {order.order_id} cancelled, as it is no longer needed. How "
                            "much do you get back for it?"
                        ),
                    ],
                )


@scenario("Records", persona=personas.CROSS)
def cancelled_already(world: World) -> Iterator[Draft]:
    """An order that is cancelled already: where the money went."""
    for user, order in world.each_order("cancelled"):
        card = user.payment_methods[order.payment_history[0].payment_method_id]
        if isinstance(card, CreditCard):
            yield Draft(
                user,
                reason=f"You want to cancel order {order.order_id}: it was ordered by mistake.",
                instructions="You do not remember that it is cancelled already. When you hear it, ask how much was "
                "refunded, and for the last four digits of the card that it was refunded to.",
                calls=read(user, order),
                communicate=[format_amount(order_total(order)), card.last_four],
                requests=[
                    ask(reason=MISTAKE),
                    ask(
                        f"How much was refunded for order {order.order_id}, and what are the last four digits of "
                        "the card that it was refunded to?"
                    ),
                ],
            )


@scenario(_RULE, persona=personas.FORMAL)
def cancel_one_and_redirect_one(world: World) -> Iterator[Draft]:
    """Two requests on two orders."""
    for user in world.users:
        pending = [order for order in world.orders(user, "pending") if sole_payer(user, order)]
        if len(pending) == 2:
            gone, kept = pending
            yield Draft(
                user,
                reason=f"You have a request about order {gone.order_id}.",
                instructions=f"First, you want {gone.order_id} cancelled: you ordered by mistake. When that is done, "
                f"you want {kept.order_id} sent to {format_address(places.TAMPA)}, where your parents live; your "
                "profile stays as it is.",
                calls=[*read(gone), cancel(gone, "ordered by mistake"), *read(kept), send_to(kept, places.TAMPA)],
                requests=[
                    ask(f"You want order {gone.order_id} cancelled: you ordered it by mistake.", reason=MISTAKE),
                    ask(
                        f"You want order {kept.order_id} sent to another address, where your parents live. Your "
                        "profile stays as it is.",
                        address=format_address(places.TAMPA),
                    ),
                ],
                declines=PROFILE_STAYS,
            )


CANCELLATIONS = (
    cancel_unneeded,
    cancel_back_to_gift_card,
    cancel_by_product,
    cancel_every_pending,
    cancel_dearer_of_two,
    cancel_for_a_better_price,
    cancel_processed,
    cancel_part_of_an_order,
    cancel_after_a_change,
    cancel_for_a_flatmate,
    cancelled_already,
    cancel_one_and_redirect_one,
)
