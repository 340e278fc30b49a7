"""Exchanges that meet a bound: of an order's status, of what goes together, of the same product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import describe_method, format_amount, with_article
from .. import personas
from ..builder import Draft, scenario
from ..calls import change, exchange, read, return_items
from ..requests import SAME_METHOD, swap_phrase
from ..world import other_methods, sole_payer, unique_items
from .exchange import delivered, owed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import World

_RULE = "Exchange items of a delivered order"
_ONCE = "Items can be changed once, and exchanged once"


@scenario("Records")
def exchange_what_can_be_changed(world: World) -> Iterator[Draft]:
    """The order turns out pending: the items are changed instead."""
    for user, order in world.each_order("pending"):
        method = sole_payer(user, order)
        for swap in world.swaps(order):
            if method and method in other_methods(user, None):
                yield Draft(
                    user,
                    reason=f"You want to exchange the {swap.item.name} of order {order.order_id}.",
                    instructions=f"You want it with {swap.phrase}, otherwise the same. You thought that it had been "
                    "left with a neighbor; if it has not been sent, you want it changed right away. You accept that "
                    f"the order is final then. {owed(method)}",
                    calls=[*read(user, order, swap.item), change(order, [swap], method)],
                    requests=[
                        ask(
                            items=f"the {swap.item.name}",
                            new_items=swap_phrase(swap),
                            payment_method=describe_method(method),
                            fallback=f"Then change the {swap.item.name} in order {order.order_id} right away, "
                            "please. You accept that the order is final then.",
                        )
                    ],
                )


@scenario("Records", found_by="zip")
def exchange_again(world: World) -> Iterator[Draft]:
    """An exchange has been requested already: nothing more."""
    for user, order in world.each_order("exchange requested"):
        left = [item for item in unique_items(order) if item.item_id not in (order.exchange_items or [])]
        if left and order.exchange_price_difference:
            yield Draft(
                user,
                reason=f"You want to exchange the {left[0].name} of order {order.order_id}, too.",
                instructions="You would take any other version. If it is too late for that, you want neither a "
                "return nor a person on the line; ask what the price difference of the exchange is that you requested "
                "before.",
                calls=read(order),
                communicate=[format_amount(abs(order.exchange_price_difference))],
                requests=[
                    ask(items=f"the {left[0].name}", new_items="Any other version.", payment_method=SAME_METHOD),
                    ask(
                        "What is the price difference of the exchange that you requested before for order "
                        f"{order.order_id}?"
                    ),
                ],
                declines=["return", "transfer", "human agent"],
            )


@scenario(_ONCE, persona=personas.FORMAL)
def exchange_in_two_orders(world: World) -> Iterator[Draft]:
    """An exchange in each of two orders."""
    for user in world.users:
        orders = world.orders(user, "delivered")
        methods = other_methods(user, None)
        if len(orders) == 2 and methods:
            one, two = orders
            for first in world.swaps(one):
                for second in world.swaps(two):
                    yield Draft(
                        user,
                        reason=f"You wish to exchange the {first.item.name} of order {one.order_id}.",
                        instructions=f"You wish for {first.phrase}, otherwise the same. When that is done, you bring "
                        f"up order {two.order_id}: its {second.item.name} should have {second.phrase}, otherwise the "
                        f"same. Both times, the difference goes by {describe_method(methods[0])}.",
                        calls=[
                            *read(user, one, first.item),
                            exchange(one, [first], methods[0]),
                            *read(two, second.item),
                            exchange(two, [second], methods[0]),
                        ],
                        requests=[
                            ask(
                                items=f"the {first.item.name}",
                                new_items=swap_phrase(first),
                                payment_method=describe_method(methods[0]),
                            ),
                            ask(
                                f"You also wish to exchange the {second.item.name} of order {two.order_id}.",
                                items=f"the {second.item.name}",
                                new_items=swap_phrase(second),
                                payment_method=describe_method(methods[0]),
                            ),
                        ],
                    )


@scenario("Records", persona=personas.WARY)
def exchange_and_return(world: World) -> Iterator[Draft]:
    """A return and an exchange of the same order exclude each other."""
    for user, order, method in delivered(world):
        for swap in world.swaps(order):
            for item in unique_items(order):
                if item.product_id != swap.item.product_id:
                    yield Draft(
                        user,
                        reason=f"From order {order.order_id}, you want to return one thing and exchange another.",
                        instructions=f"The {item.name} should go back, and the {swap.item.name} should be exchanged "
                        f"for one with {swap.phrase}, otherwise the same. If only one of the two is possible for an "
                        f"order, you want the exchange, and keep the {item.name}. {owed(method)} Do not agree to "
                        "anything before it is clear whether both are possible; ask for it.",
                        calls=[*read(user, order, swap.item), exchange(order, [swap], method)],
                        requests=[
                            ask(
                                f"From order {order.order_id}, you want to return the {item.name} and exchange the "
                                f"{swap.item.name}. Are both possible?",
                                items=f"The {item.name} goes back, the {swap.item.name} is exchanged.",
                                new_items=swap_phrase(swap),
                                payment_method=describe_method(method),
                                fallback=f"Then you want to exchange the {swap.item.name} of order "
                                f"{order.order_id} for one with {swap.phrase}, otherwise the same, and keep all else.",
                            )
                        ],
                    )


@scenario(_RULE, found_by="zip")
def exchange_for_another_product(world: World) -> Iterator[Draft]:
    """Another product is no exchange; a return is possible."""
    products = list(world.db.products.scan())
    for number, (user, order, method) in enumerate(delivered(world)):
        other = products[number % len(products)]
        for item in unique_items(order) if len(order.items) > 1 else ():
            if other.product_id not in {item.product_id for item in order.items}:
                yield Draft(
                    user,
                    reason=f"You want to exchange the {item.name} of order {order.order_id} for "
                    f"{with_article(other.name)}.",
                    instructions=f"You have no use for any {item.name}. If it cannot become "
                    f"{with_article(other.name)}, return it, with the refund to the method that paid for the order. "
                    "The rest of the order stays with you, and you order nothing.",
                    calls=[*read(order), return_items(order, [item], method)],
                    requests=[
                        ask(
                            items=f"the {item.name}",
                            payment_method=SAME_METHOD,
                            fallback=f"Then return the {item.name} of order {order.order_id}, and only that, with "
                            "the refund to the method that paid for the order.",
                        )
                    ],
                    declines=["transfer", "human agent", "another version"],
                )


EXCHANGE_BOUNDS = (
    exchange_what_can_be_changed,
    exchange_again,
    exchange_in_two_orders,
    exchange_and_return,
    exchange_for_another_product,
)
