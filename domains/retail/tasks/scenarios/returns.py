"""Returns: what goes back, and where its money goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import describe_item, describe_items, describe_method, format_amount
from ...models import CreditCard
from ...payments import order_total
from .. import personas
from ..builder import Draft, scenario
from ..calls import cancel, read, return_items
from ..requests import NOT_NEEDED, SAME_METHOD, say_before
from ..world import bought_twice, only_gift_card, other_methods, sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Order, OrderItem, PaymentMethod, User
    from ..world import World

_RULE = "Return a delivered order"


def _delivered(world: World) -> Iterator[tuple[User, Order, PaymentMethod]]:
    for user, order in world.each_order("delivered"):
        method = sole_payer(user, order)
        if method:
            yield user, order, method


def _plain(order: Order, count: int) -> bool:
    """Return whether the order has so many items, each of another product."""
    return len(order.items) == count == len(unique_items(order))


def _sum(items: list[OrderItem]) -> str:
    return format_amount(sum(item.price for item in items))


@scenario(_RULE)
def return_everything(world: World) -> Iterator[Draft]:
    """Everything goes back, and the sum is stated."""
    for user, order, method in _delivered(world):
        if len(order.items) > 1 and isinstance(method, CreditCard):
            yield Draft(
                user,
                reason=f"You want to return all that came with order {order.order_id}.",
                instructions=f"All items go back, the money should go to {describe_method(method)}. Ask how much it "
                "will be.",
                calls=[*read(user, order), return_items(order, order.items, method)],
                communicate=[_sum(order.items)],
                requests=[
                    ask(items="all of them", payment_method=describe_method(method)),
                    ask("How much will the refund be?"),
                ],
            )


@scenario(_RULE, found_by="zip")
def return_two_of_three(world: World) -> Iterator[Draft]:
    """Two of three items."""
    for user, order, method in _delivered(world):
        if _plain(order, 3):
            kept, *gone = order.items
            yield Draft(
                user,
                reason=f"Two things from order {order.order_id} do not please you.",
                instructions=f"You want to send back the {describe_items(gone)}, and keep the {kept.name}. The money "
                "should go where it came from. Ask how much you get back for the two together.",
                calls=[*read(order), return_items(order, gone, method)],
                communicate=[_sum(gone)],
                requests=[
                    ask(
                        f"Two things from order {order.order_id} do not please you, and you want to return them.",
                        items=f"the {describe_items(gone)}",
                        payment_method="The money should go where it came from.",
                    ),
                    ask("How much do you get back for the two together?"),
                ],
            )


@scenario(_RULE)
def return_one_of_two(world: World) -> Iterator[Draft]:
    """One of two equal items."""
    for user, order, method in _delivered(world):
        for item in bought_twice(order):
            yield Draft(
                user,
                reason=f"You got two {item.name}s with order {order.order_id}, and one is enough.",
                instructions="You keep one of the two and all else, and return the other. The refund should go to "
                "the method that paid for the order.",
                calls=[*read(order), return_items(order, [item], method)],
                requests=[
                    ask(
                        f"You got two {item.name}s with order {order.order_id}, and one is enough: you want to return "
                        "the other.",
                        items=f"One of the two {item.name}s. You keep the other, and all else.",
                        payment_method=SAME_METHOD,
                    )
                ],
            )


@scenario(_RULE, persona=personas.FORMAL)
def return_to_a_gift_card(world: World) -> Iterator[Draft]:
    """The refund goes to a gift card that did not pay."""
    for user, order, method in _delivered(world):
        card = only_gift_card(user)
        for item in unique_items(order) if card and method != card and len(order.items) > 1 else ():
            yield Draft(
                user,
                reason=f"You wish to return the {item.name} from order {order.order_id}.",
                instructions="You wish to have the refund on your gift card, not on anything else. Ask how much the "
                "refund is.",
                calls=[*read(user, order), return_items(order, [item], card or method)],
                communicate=[_sum([item])],
                requests=[
                    ask(items=f"the {item.name}", payment_method="your gift card"),
                    ask("How much is the refund?"),
                ],
            )


@scenario(_RULE, persona=personas.CROSS)
def return_to_the_wrong_method(world: World) -> Iterator[Draft]:
    """A method that did not pay cannot take the refund, unless it is a gift card."""
    for user, order, method in _delivered(world):
        for wrong in other_methods(user, method) if method in other_methods(user, None) else ():
            for item in unique_items(order) if len(order.items) > 1 else ():
                yield Draft(
                    user,
                    reason=f"You want to give back the {item.name} of order {order.order_id}.",
                    instructions=f"You want the money on {describe_method(wrong)}. If that is not possible, "
                    "complain, and then agree to have it on the method that paid for the order; on no gift card, "
                    "though.",
                    calls=[*read(user, order), return_items(order, [item], method)],
                    requests=[
                        ask(
                            items=f"the {item.name}",
                            payment_method=describe_method(wrong),
                            fallback=f"That is annoying. Then return the {item.name} of order {order.order_id} "
                            "with the refund to the method that paid for the order.",
                        )
                    ],
                    declines=["gift card"],
                )


@scenario("Records", found_by="zip")
def return_before_it_arrives(world: World) -> Iterator[Draft]:
    """Items that are still on their way cannot be returned."""
    for user, order in world.each_order("processed"):
        if len(order.fulfillments) == 1:
            item = order.items[0]
            yield Draft(
                user,
                reason=f"You want to return the {item.name} of order {order.order_id}, as you bought one elsewhere.",
                instructions="If it cannot be returned yet, you do not want anything else done with the order. Ask "
                "for the parcel's tracking id, and for the price of that item.",
                calls=read(order),
                communicate=[*order.fulfillments[0].tracking_id, format_amount(item.price)],
                requests=[
                    ask(items=f"the {item.name}", payment_method=SAME_METHOD),
                    ask(f"Then what is the tracking id of the parcel of order {order.order_id}?"),
                    ask(f"What is the price of the {describe_item(item)} in order {order.order_id}?"),
                ],
            )


@scenario(_RULE)
def return_from_two_orders(world: World) -> Iterator[Draft]:
    """An item from each of two orders."""
    for user in world.users:
        orders = [order for order in world.orders(user, "delivered") if sole_payer(user, order) and unique_items(order)]
        if len(orders) == 2:
            items = [unique_items(order)[0] for order in orders]
            (one, two), (first, second) = items, orders
            method, other = sole_payer(user, first), sole_payer(user, second)
            if one.product_id != two.product_id and method and other:
                yield Draft(
                    user,
                    reason="You have things to return from two orders.",
                    instructions=f"It is the {describe_item(one)} from {first.order_id} and the {describe_item(two)} "
                    f"from {second.order_id}, nothing else. Each refund should go to the method that paid for that "
                    "order. In the end, ask what both refunds come to in total.",
                    calls=[
                        *read(first),
                        return_items(first, [one], method),
                        *read(second),
                        return_items(second, [two], other),
                    ],
                    communicate=[_sum(items)],
                    requests=[
                        ask(
                            f"You have things to return from two orders. From order {first.order_id}, it is the "
                            f"{describe_item(one)}.",
                            items=f"the {describe_item(one)}",
                            payment_method=SAME_METHOD,
                        ),
                        ask(
                            f"From order {second.order_id}, you want to return the {describe_item(two)}.",
                            items=f"the {describe_item(two)}",
                            payment_method=SAME_METHOD,
                        ),
                        ask("What do both refunds come to in total?"),
                    ],
                )


@scenario("Records", persona=personas.CHATTY)
def return_more_afterwards(world: World) -> Iterator[Draft]:
    """After a return, nothing more can be returned from an order."""
    for user, order in world.each_order("return requested"):
        ids = order.return_items or []
        gone = [item for item in order.items if item.item_id in ids]
        left = [item for item in unique_items(order) if item.item_id not in ids]
        if left and len(gone) == len(ids):
            yield Draft(
                user,
                reason=f"You forgot something when you asked to return a part of order {order.order_id}.",
                instructions=f"The {left[0].name} should go back as well. If that is not possible any more, accept "
                "it, and ask how much you will get back in total for what you have announced before.",
                calls=read(order),
                communicate=[_sum(gone)],
                requests=[
                    ask(
                        f"You forgot something when you asked to return a part of order {order.order_id}. The "
                        f"{left[0].name} should go back as well.",
                        items=f"the {left[0].name}",
                        payment_method=SAME_METHOD,
                    ),
                    ask(
                        "How much will you get back in total for what you have announced before from order "
                        f"{order.order_id}?"
                    ),
                ],
            )


@scenario(_RULE, persona=personas.TERSE)
def return_the_dearest(world: World) -> Iterator[Draft]:
    """The dearest item has to be found."""
    for user, order, method in _delivered(world):
        if len(order.items) > 2 and _plain(order, len(order.items)):
            item = max(order.items, key=lambda item: item.price)
            yield Draft(
                user,
                reason=f"You want to return a part of order {order.order_id}.",
                instructions="Only the most expensive item of the order goes back, you keep the rest. You do not say "
                "which one it is. Ask for its price. The refund goes to the method that paid.",
                calls=[*read(order), return_items(order, [item], method)],
                communicate=[_sum([item])],
                requests=[
                    ask(
                        items="Only the most expensive item of the order. Please look it up.",
                        payment_method=SAME_METHOD,
                    ),
                    ask("What is the price of that item?"),
                ],
            )


@scenario(_RULE, found_by="zip", persona=personas.NOVICE)
def return_by_product(world: World) -> Iterator[Draft]:
    """The order has to be found by the item."""
    for user, order, method in _delivered(world):
        for item in order.items if len(user.orders) > 2 and len(order.items) > 1 else ():
            if world.is_only_one(user, item):
                yield Draft(
                    user,
                    reason=f"The {item.name} that you bought is not what you had hoped for, and you want to return it.",
                    instructions="You keep everything else. The money should come back to where it was paid from.",
                    calls=[*read(user, *world.orders(user)), return_items(order, [item], method)],
                    unknown="You do not know which order it was, nor the order's id.",
                    requests=[
                        ask(
                            items=f"the {item.name}",
                            payment_method=SAME_METHOD,
                            order_id=f"You do not know which order it was. It is the one with the {item.name}.",
                        )
                    ],
                )


@scenario("Conduct: ask before you write")
def return_less_than_planned(world: World) -> Iterator[Draft]:
    """The customer thinks better of it before the agreement."""
    for user, order, method in _delivered(world):
        if _plain(order, 3) or _plain(order, 4):
            *gone, kept = order.items
            yield Draft(
                user,
                reason=f"You want to return the whole of order {order.order_id}.",
                instructions="When the agent sums up what goes back and asks for your agreement, you say no: you have "
                f"tried the {kept.name} again, and keep it. All the other items do go back. The refund goes to the "
                "method that paid. Ask how much it is now.",
                calls=[*read(order), return_items(order, gone, method)],
                communicate=[_sum(gone)],
                requests=[
                    ask(
                        items="all of them",
                        payment_method=SAME_METHOD,
                        answers=[
                            say_before(
                                "return",
                                f"No, wait: you have tried the {kept.name} again, and keep it. All the other items "
                                "do go back.",
                            )
                        ],
                    ),
                    ask("How much is the refund now?"),
                ],
            )


@scenario("Records")
def return_what_can_be_cancelled(world: World) -> Iterator[Draft]:
    """The order turns out pending, and can be cancelled."""
    for user, order in world.each_order("pending"):
        if sole_payer(user, order):
            yield Draft(
                user,
                reason=f"You want to return order {order.order_id}, all of it.",
                instructions="You do not know that it has not even been sent. If it cannot be returned but can be "
                "cancelled, have it cancelled: all of it is no longer needed. Ask how much money that is.",
                calls=[*read(order), cancel(order)],
                communicate=[format_amount(order_total(order))],
                requests=[
                    ask(
                        items="all of them",
                        payment_method=SAME_METHOD,
                        reason=NOT_NEEDED,
                        fallback=f"If it can be cancelled, cancel order {order.order_id}: all of it is no longer "
                        "needed. How much money is that?",
                    )
                ],
            )


@scenario(_RULE, persona=personas.WARY)
def return_to_a_new_gift_card(world: World) -> Iterator[Draft]:
    """A gift card that does not exist yet cannot take a refund."""
    for user, order, method in _delivered(world):
        for item in unique_items(order) if len(other_methods(user, None)) == len(user.payment_methods) else ():
            if len(order.items) > 1:
                yield Draft(
                    user,
                    reason=f"You want to return the {item.name} of order {order.order_id} and get a gift card for it.",
                    instructions="You have no gift card so far and want a new one with the refund on it. If there is "
                    "no such thing, you take the refund on the method that paid for the order.",
                    calls=[*read(user, order), return_items(order, [item], method)],
                    requests=[
                        ask(
                            items=f"the {item.name}",
                            payment_method="A new gift card. You have none so far.",
                            fallback=f"Then return the {item.name} of order {order.order_id} with the refund to "
                            "the method that paid for the order.",
                        )
                    ],
                )


RETURNS = (
    return_everything,
    return_two_of_three,
    return_one_of_two,
    return_to_a_gift_card,
    return_to_the_wrong_method,
    return_before_it_arrives,
    return_from_two_orders,
    return_more_afterwards,
    return_the_dearest,
    return_by_product,
    return_less_than_planned,
    return_what_can_be_cancelled,
    return_to_a_new_gift_card,
)
