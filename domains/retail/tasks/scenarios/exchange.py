"""Exchanges of what was delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import describe_item, describe_method, format_amount
from .. import personas
from ..builder import Draft, scenario
from ..calls import exchange, read, return_items
from ..requests import SAME_METHOD, say_before, swap_phrase
from ..world import Swap, only_gift_card, other_methods, sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Order, PaymentMethod, User
    from ..world import World

_RULE = "Exchange items of a delivered order"
_ONCE = "Items can be changed once, and exchanged once"


def delivered(world: World) -> Iterator[tuple[User, Order, PaymentMethod]]:
    """Orders that were paid by a method whose limits the shop does not know."""
    for user, order in world.each_order("delivered"):
        method = sole_payer(user, order)
        if method and method in other_methods(user, None):
            yield user, order, method


def _pairs(world: World, order: Order) -> Iterator[tuple[Swap, Swap]]:
    """Two swaps of different products."""
    swaps = world.swaps(order)
    for first in swaps:
        for second in swaps:
            if second.item.product_id > first.item.product_id:
                yield first, second


@scenario(_RULE)
def exchange_an_option(world: World) -> Iterator[Draft]:
    """One option of one item; the difference is to be stated."""
    for user, order, method in delivered(world):
        for swap in world.swaps(order):
            yield Draft(
                user,
                reason=f"You want to exchange something from order {order.order_id}.",
                instructions=f"It is the {swap.item.name}: you want it with {swap.phrase}, otherwise the same. "
                f"{owed(method)} Ask how much the difference is before you agree.",
                calls=[*read(user, order, swap.item), exchange(order, [swap], method)],
                communicate=[format_amount(abs(swap.difference))],
                requests=[
                    ask(
                        f"You want to exchange something from order {order.order_id}. How much is the difference?",
                        items=f"the {swap.item.name}",
                        new_items=swap_phrase(swap),
                        payment_method=describe_method(method),
                    )
                ],
            )


@scenario(_ONCE, found_by="zip")
def exchange_two_items(world: World) -> Iterator[Draft]:
    """Two items in a single call, and what they come to together."""
    for user, order, method in delivered(world):
        for first, second in _pairs(world, order):
            difference = first.difference + second.difference
            if min(first.difference, second.difference) > 0:
                yield Draft(
                    user,
                    reason=f"Two things of order {order.order_id} came in a version that you do not like.",
                    instructions=f"You want the {first.item.name} with {first.phrase}, and the {second.item.name} with "
                    f"{second.phrase}; all else about them stays. The method that paid for the order pays the "
                    "difference. Ask what you have to pay for both exchanges together.",
                    calls=[*read(order, first.item, second.item), exchange(order, [first, second], method)],
                    communicate=[format_amount(difference)],
                    requests=[
                        ask(
                            f"Two things of order {order.order_id} came in a version that you do not like, and you "
                            "want to exchange them. What do you have to pay for both together?",
                            items=f"the {first.item.name} and the {second.item.name}",
                            new_items=f"The {first.item.name} with {first.phrase}, and the {second.item.name} with "
                            f"{second.phrase}, otherwise the same.",
                            payment_method=SAME_METHOD,
                        )
                    ],
                )


@scenario(_ONCE, persona=personas.CHATTY)
def exchange_and_one_more_thing(world: World) -> Iterator[Draft]:
    """The second item comes up only when the agent asks for agreement or for more."""
    for user, order, method in delivered(world):
        for first, second in _pairs(world, order):
            yield Draft(
                user,
                reason=f"You want to exchange the {first.item.name} of order {order.order_id}.",
                instructions=f"You want it with {first.phrase}, otherwise the same. You tell nothing else at first. "
                "When the agent asks whether that is all, says that it works only once, or sums the exchange up for "
                f"your agreement, you remember before you agree: the {second.item.name} should have {second.phrase}, "
                f"otherwise the same. Both have to be exchanged, with {describe_method(method)} for the difference.",
                calls=[*read(user, order, first.item, second.item), exchange(order, [first, second], method)],
                requests=[
                    ask(
                        items=f"the {first.item.name}",
                        new_items=swap_phrase(first),
                        payment_method=describe_method(method),
                        answers=[
                            say_before(
                                "exchange",
                                f"No, wait: the {second.item.name} of order {order.order_id} should be exchanged, "
                                f"too, for one with {second.phrase}, otherwise the same.",
                            )
                        ],
                    )
                ],
            )


@scenario(_RULE, persona=personas.CROSS)
def exchange_for_the_same(world: World) -> Iterator[Draft]:
    """The very same item again is no exchange, though the tool would take it."""
    for user, order, method in delivered(world):
        for item in unique_items(order) if len(order.items) > 1 else ():
            if any(v.item_id == item.item_id for v in world.in_stock(world.product(item))):
                yield Draft(
                    user,
                    reason=f"The {item.name} of order {order.order_id} has a scratch, and you want another one.",
                    instructions=f"You want it exchanged for exactly the same version, {describe_item(item)}, only "
                    "without a scratch; no other version will do. If that is refused, ask once more, and then return "
                    "that item and keep the others. The money should go to the method that paid.",
                    calls=[*read(order), return_items(order, [item], method)],
                    requests=[
                        ask(
                            f"The {item.name} of order {order.order_id} has a scratch, and you want it exchanged for "
                            "another one, exactly the same.",
                            items=f"the {item.name}",
                            new_items=f"Exactly the same version, {describe_item(item)}, only without a scratch.",
                            payment_method=SAME_METHOD,
                            insist=1,
                            fallback=f"Then return the {item.name} of order {order.order_id}, and only that, with "
                            "the refund to the method that paid for the order.",
                        )
                    ],
                    declines=["other version", "another version"],
                )


@scenario("Money")
def exchange_beyond_the_gift_card(world: World) -> Iterator[Draft]:
    """A gift card that does not cover the difference."""
    for user, order, _method in delivered(world):
        card = only_gift_card(user)
        for swap in world.swaps(order) if card else ():
            for other in other_methods(user, None):
                if card and card.balance < swap.difference:
                    yield Draft(
                        user,
                        reason=f"You want a better {swap.item.name} than the one that came with order "
                        f"{order.order_id}.",
                        instructions=f"You want it with {swap.phrase}, otherwise the same, and want to pay the "
                        "difference by gift card. If the card does not cover it, ask what is on it, and pay the "
                        f"difference by {describe_method(other)}.",
                        calls=[*read(user, order, swap.item), exchange(order, [swap], other)],
                        communicate=[format_amount(card.balance)],
                        requests=[
                            ask(
                                f"You want to exchange the {swap.item.name} that came with order {order.order_id} "
                                "for a better one.",
                                items=f"the {swap.item.name}",
                                new_items=swap_phrase(swap),
                                payment_method="your gift card",
                                fallback="What is the balance of your gift card, then? You want to exchange the "
                                f"{swap.item.name} of order {order.order_id} for one with {swap.phrase}, otherwise "
                                f"the same, and {describe_method(other)} should pay.",
                            )
                        ],
                    )


@scenario("Money", found_by="zip", persona=personas.NOVICE)
def exchange_saves_to_gift_card(world: World) -> Iterator[Draft]:
    """The difference to a cheaper version goes to a gift card."""
    for user, order, _method in delivered(world):
        card = only_gift_card(user)
        for swap in world.swaps(order):
            if card and swap.difference < 0:
                yield Draft(
                    user,
                    reason=f"The {swap.item.name} of order {order.order_id} is more than you need.",
                    instructions=f"You want to exchange it for one with {swap.phrase}, otherwise the same. What you "
                    "save should be put on your gift card. Ask how much that is.",
                    calls=[*read(user, order, swap.item), exchange(order, [swap], card)],
                    communicate=[format_amount(-swap.difference)],
                    requests=[
                        ask(
                            f"The {swap.item.name} of order {order.order_id} is more than you need, and you want "
                            "to exchange it.",
                            items=f"the {swap.item.name}",
                            new_items=swap_phrase(swap),
                            payment_method="your gift card",
                        ),
                        ask("How much is it that you save?"),
                    ],
                )


@scenario(_RULE)
def exchange_for_the_dearest(world: World) -> Iterator[Draft]:
    """The dearest version in stock."""
    for user, order, method in delivered(world):
        for item in unique_items(order):
            stock = world.in_stock(world.product(item))
            if len(stock) > 2 and stock[-1].price > item.price:
                yield Draft(
                    user,
                    reason=f"You want to treat yourself: a better {item.name} than the one of order {order.order_id}.",
                    instructions=f"You want the most expensive {item.name} that is in stock, whatever its options. "
                    f"{owed(method)} Ask what the new one costs.",
                    calls=[*read(user, order, item), exchange(order, [Swap(item, stock[-1])], method)],
                    communicate=[format_amount(stock[-1].price)],
                    requests=[
                        ask(
                            f"You want to treat yourself: exchange the {item.name} of order {order.order_id} for a "
                            "better one.",
                            items=f"the {item.name}",
                            new_items=f"The most expensive {item.name} that is in stock, whatever its options.",
                            payment_method=describe_method(method),
                        ),
                        ask("What does the new one cost?"),
                    ],
                )


def owed(method: PaymentMethod) -> str:
    """Return the sentence that says how the difference is paid or received."""
    return f"The difference goes by {describe_method(method)}."


@scenario(_RULE, persona=personas.TERSE)
def exchange_sold_out_then_return(world: World) -> Iterator[Draft]:
    """The version wanted is sold out, so the item is returned."""
    for user, order, method in delivered(world):
        for swap in world.swaps(order, in_stock=False) if len(order.items) > 1 else ():
            yield Draft(
                user,
                reason=f"You want to exchange the {swap.item.name} of order {order.order_id}.",
                instructions=f"You want {swap.phrase}, otherwise the same, and nothing else. If that cannot be had, "
                f"return the {swap.item.name} and only that, with the refund to the method that paid, and ask how "
                "much it is.",
                calls=[*read(order, swap.item), return_items(order, [swap.item], method)],
                communicate=[format_amount(swap.item.price)],
                requests=[
                    ask(
                        items=f"the {swap.item.name}",
                        new_items=swap_phrase(swap),
                        payment_method=SAME_METHOD,
                        fallback=f"Then return the {swap.item.name} of order {order.order_id}, and only that, with "
                        "the refund to the method that paid for the order. How much is it?",
                    )
                ],
            )


EXCHANGES = (
    exchange_an_option,
    exchange_two_items,
    exchange_and_one_more_thing,
    exchange_for_the_same,
    exchange_beyond_the_gift_card,
    exchange_saves_to_gift_card,
    exchange_for_the_dearest,
    exchange_sold_out_then_return,
)
