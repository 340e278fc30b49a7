"""Other versions of what is in a pending order.

Where two items change, both become the same variant: the tool gives all of them price and options of the last one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import describe_item, describe_items, describe_method, format_address, format_amount, with_article
from ...models import CreditCard
from ...payments import can_cover, order_total
from .. import personas
from ..builder import Draft, scenario
from ..calls import cancel, change, read, send_to
from ..data import places
from ..requests import NOT_NEEDED, PROFILE_STAYS, SAME_METHOD, swap_phrase
from ..world import Swap, bought_twice, only_gift_card, other_methods, sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Order, PaymentMethod, User
    from ..world import World

_RULE = "Change a pending order: items"
_ONCE = "Items can be changed once, and exchanged once"


def _paid(world: World) -> Iterator[tuple[User, Order, PaymentMethod]]:
    for user, order in world.each_order("pending"):
        method = sole_payer(user, order)
        if method:
            yield user, order, method


@scenario(_RULE)
def change_an_option(world: World) -> Iterator[Draft]:
    """One option of one item, with the price difference to tell."""
    for user, order, method in _paid(world):
        for swap in world.swaps(order) if method in other_methods(user, None) else ():
            if swap.difference > 0:
                yield Draft(
                    user,
                    reason=f"You chose the wrong {swap.item.name} in order {order.order_id}.",
                    instructions=f"You want it with {swap.phrase}, otherwise the same. The method that paid for the "
                    "order should pay the difference, too. Ask how much that is before you agree.",
                    calls=[*read(order, swap.item), change(order, [swap], method)],
                    communicate=[format_amount(swap.difference)],
                    requests=[
                        ask(
                            f"You chose the wrong {swap.item.name} in order {order.order_id}. How much is the "
                            "difference if it is changed?",
                            items=f"the {swap.item.name}",
                            new_items=swap_phrase(swap),
                            payment_method=SAME_METHOD,
                        )
                    ],
                )


@scenario(_RULE, found_by="zip")
def change_to_the_cheapest(world: World) -> Iterator[Draft]:
    """The cheapest version in stock."""
    for user, order, method in _paid(world):
        for item in unique_items(order) if method in other_methods(user, None) else ():
            stock = world.in_stock(world.product(item))
            if len(stock) > 2 and stock[0].price < item.price:
                yield Draft(
                    user,
                    reason=f"The {item.name} in order {order.order_id} turned out too expensive for you.",
                    instructions=f"You want the cheapest {item.name} that is in stock instead, whatever its options. "
                    "The difference should go back to the method that paid for the order. Ask for the price of the new "
                    "one.",
                    calls=[*read(order, item), change(order, [Swap(item, stock[0])], method)],
                    communicate=[format_amount(stock[0].price)],
                    requests=[
                        ask(
                            f"The {item.name} in order {order.order_id} turned out too expensive for you, and you want "
                            "a cheaper one.",
                            items=f"the {item.name}",
                            new_items=f"The cheapest {item.name} that is in stock, whatever its options.",
                            payment_method=SAME_METHOD,
                        ),
                        ask("What is the price of the new one?"),
                    ],
                )


@scenario(_RULE, persona=personas.TERSE)
def change_to_the_second_choice(world: World) -> Iterator[Draft]:
    """The first choice is sold out, the second is not."""
    for user, order, method in _paid(world):
        for gone in world.swaps(order, in_stock=False):
            for swap in world.swaps_of(gone.item):
                if method in other_methods(user, None):
                    yield Draft(
                        user,
                        reason=f"You want to change the {gone.item.name} in order {order.order_id}.",
                        instructions=f"You want {gone.phrase}, otherwise the same. If that cannot be had, and only "
                        f"then, you want {swap.phrase} and all else as in the order. Price differences go by "
                        f"{describe_method(method)}.",
                        calls=[*read(user, order, gone.item), change(order, [swap], method)],
                        requests=[
                            ask(
                                items=f"the {gone.item.name}",
                                new_items=swap_phrase(gone),
                                payment_method=describe_method(method),
                                fallback=f"Then you want the {gone.item.name} of order {order.order_id} with "
                                f"{swap.phrase}, and all else as in the order.",
                            )
                        ],
                    )


@scenario(_RULE, persona=personas.CROSS)
def change_to_another_product(world: World) -> Iterator[Draft]:
    """Another product is no version of the same; another option is."""
    products = list(world.db.products.scan())
    for number, (user, order, method) in enumerate(_paid(world)):
        other = products[number % len(products)]
        for swap in world.swaps(order) if other.product_id not in {i.product_id for i in order.items} else ():
            if method in other_methods(user, None):
                yield Draft(
                    user,
                    reason=f"In order {order.order_id}, you want {with_article(other.name)} in the place of the "
                    f"{swap.item.name}.",
                    instructions=f"Any {other.name} for about the same money will do. If that cannot be done, you "
                    f"keep the {swap.item.name}, but with {swap.phrase} and otherwise unchanged, with "
                    f"{describe_method(method)} for the difference. You neither cancel nor order anything.",
                    calls=[*read(user, order, swap.item), change(order, [swap], method)],
                    requests=[
                        ask(
                            items=f"the {swap.item.name}",
                            payment_method=describe_method(method),
                            fallback=f"Then you keep the {swap.item.name} of order {order.order_id}, but want it "
                            f"changed to one with {swap.phrase}, otherwise the same.",
                        )
                    ],
                    declines=["cancel instead", "transfer", "human agent"],
                )


@scenario("Money")
def gift_card_does_not_cover_the_difference(world: World) -> Iterator[Draft]:
    """A gift card that does not cover the difference."""
    for user, order, _method in _paid(world):
        card = only_gift_card(user)
        for swap in world.swaps(order) if card else ():
            for other in other_methods(user, None):
                if card and 0 < card.balance < swap.difference:
                    yield Draft(
                        user,
                        reason=f"You want a better version of the {swap.item.name} in order {order.order_id}.",
                        instructions=f"It should be {swap.phrase}, with nothing else changed. Your gift card should "
                        "pay the difference. If it does not cover that, ask how much the difference is, and use "
                        f"{describe_method(other)} instead.",
                        calls=[*read(user, order, swap.item), change(order, [swap], other)],
                        communicate=[format_amount(swap.difference)],
                        requests=[
                            ask(
                                items=f"the {swap.item.name}",
                                new_items=swap_phrase(swap),
                                payment_method="your gift card",
                                fallback=f"How much is the difference, then? You want the {swap.item.name} of "
                                f"order {order.order_id} changed to one with {swap.phrase}, otherwise the same, and "
                                f"{describe_method(other)} should pay.",
                            )
                        ],
                    )


@scenario("Money", persona=personas.WARY)
def change_saves_to_gift_card(world: World) -> Iterator[Draft]:
    """The difference to a cheaper version goes to a gift card, whose balance is to be stated."""
    for user, order, _method in _paid(world):
        card = only_gift_card(user)
        for swap in world.swaps(order):
            if card and swap.difference < 0:
                yield Draft(
                    user,
                    reason=f"A plainer {swap.item.name} than the one in order {order.order_id} would do for you.",
                    instructions=f"You want {swap.phrase} and otherwise the same. What you save should go to your "
                    "gift card. When it is done, ask for the balance of the card.",
                    calls=[*read(user, order, swap.item), change(order, [swap], card)],
                    communicate=[format_amount(card.balance - swap.difference)],
                    requests=[
                        ask(
                            items=f"the {swap.item.name}", new_items=swap_phrase(swap), payment_method="your gift card"
                        ),
                        ask("What is the balance of your gift card now?"),
                    ],
                )


@scenario(_ONCE)
def change_both_of_two(world: World) -> Iterator[Draft]:
    """Two items of a kind, in a single call."""
    for user, order, method in _paid(world):
        for item in bought_twice(order):
            for swap in (swap for swap in world.swaps_of(item) if can_cover(method, 2 * swap.difference)):
                both = [swap, swap]
                yield Draft(
                    user,
                    reason=f"In order {order.order_id} there are two of the same {item.name}, in the wrong version.",
                    instructions=f"Both should come with {swap.phrase}, otherwise the same; the difference goes by the "
                    "method that paid for the order. Ask what the difference for both together is.",
                    calls=[*read(order, item), change(order, both, method)],
                    communicate=[format_amount(abs(2 * swap.difference))],
                    requests=[
                        ask(
                            items=f"both of the {item.name}s",
                            new_items=f"Both should come with {swap.phrase}, otherwise the same.",
                            payment_method=SAME_METHOD,
                        ),
                        ask("What is the difference for both together?"),
                    ],
                )


@scenario(_RULE)
def change_one_of_two(world: World) -> Iterator[Draft]:
    """One of two equal items, and not the other."""
    for user, order, method in _paid(world):
        for item in bought_twice(order):
            for swap in (swap for swap in world.swaps_of(item) if can_cover(method, swap.difference)):
                yield Draft(
                    user,
                    reason=f"You ordered two equal {item.name}s with order {order.order_id}, and one should be "
                    "different.",
                    instructions=f"One of the two stays as it is. The other should have {swap.phrase}, with all else "
                    "the same. The method that paid for the order also takes or receives the difference.",
                    calls=[*read(user, order, item), change(order, [swap], method)],
                    requests=[
                        ask(
                            items=f"One of the two {item.name}s. The other stays as it is.",
                            new_items=swap_phrase(swap),
                            payment_method=SAME_METHOD,
                        )
                    ],
                )


@scenario(_RULE, found_by="zip")
def change_sold_out_then_cancel(world: World) -> Iterator[Draft]:
    """The only version wanted is sold out, so the order is cancelled."""
    for user, order, _method in _paid(world):
        for swap in world.swaps(order, in_stock=False):
            yield Draft(
                user,
                reason=f"You need the {swap.item.name} in order {order.order_id} in another version.",
                instructions=f"You need {swap.phrase}, everything else the same; nothing else is of use. If it "
                "cannot be had now, you do not want to wait: the whole order is then no longer needed and should be "
                "cancelled. Ask how much you get back.",
                calls=[*read(order, swap.item), cancel(order)],
                communicate=[format_amount(order_total(order))],
                requests=[
                    ask(
                        items=f"the {swap.item.name}",
                        new_items=swap_phrase(swap),
                        payment_method=SAME_METHOD,
                        reason=NOT_NEEDED,
                        fallback=f"Then cancel the whole order {order.order_id}: it is no longer needed. How much "
                        "do you get back?",
                    )
                ],
            )


@scenario(_RULE, persona=personas.FORMAL)
def change_within_a_limit(world: World) -> Iterator[Draft]:
    """A limit on the price difference rules out the first choice."""
    for user, order, method in _paid(world):
        swaps = world.swaps(order) if isinstance(method, CreditCard) else []
        for dear in swaps:
            for cheap in swaps:
                limit = math.ceil(max(cheap.difference, 0)) + 2
                if dear.item == cheap.item and dear.difference > limit + 1:
                    yield Draft(
                        user,
                        reason=f"You would like to change the {dear.item.name} in order {order.order_id}.",
                        instructions=f"You are willing to pay at most {limit} dollars more than now. You first wish "
                        f"for {dear.phrase}, otherwise the same, and ask what that costs more. Since that is above "
                        f"your limit, you decide on {cheap.phrase}, otherwise the same. The difference goes by "
                        f"{describe_method(method)}.",
                        calls=[*read(user, order, dear.item), change(order, [cheap], method)],
                        communicate=[format_amount(dear.difference)],
                        requests=[
                            ask(
                                f"What would the {dear.item.name} in order {order.order_id} cost more with "
                                f"{dear.phrase}, otherwise the same?"
                            ),
                            ask(
                                f"You want to change the {cheap.item.name} in order {order.order_id}.",
                                items=f"the {cheap.item.name}",
                                new_items=swap_phrase(cheap),
                                payment_method=describe_method(method),
                            ),
                        ],
                    )


@scenario(_ONCE)
def change_again(world: World) -> Iterator[Draft]:
    """An order's items cannot be changed again."""
    for user, order in world.each_order("pending (item modified)"):
        for swap in world.swaps(order):
            if swap.difference:
                yield Draft(
                    user,
                    reason=f"You want to change the {describe_item(swap.item)} in order {order.order_id}.",
                    instructions=f"You want it with {swap.phrase}. If that is refused, do not ask for any other "
                    "change or for a person; ask what you have paid for that item, and what the wanted one would have "
                    "cost.",
                    calls=read(order, swap.item),
                    communicate=[format_amount(swap.item.price), format_amount(swap.variant.price)],
                    requests=[
                        ask(
                            items=f"the {describe_item(swap.item)}",
                            new_items=swap_phrase(swap),
                            payment_method=SAME_METHOD,
                        ),
                        ask(f"What have you paid for the {describe_item(swap.item)} in order {order.order_id}?"),
                        ask(f"What would that {swap.item.name} have cost with {swap.phrase}?"),
                    ],
                    declines=["transfer", "human agent", "other change"],
                )


@scenario(_RULE, persona=personas.CHATTY)
def one_more_of_it(world: World) -> Iterator[Draft]:
    """Nothing can be added to an order; its address can be changed."""
    for user, order, _method in _paid(world):
        for item in unique_items(order) if len(order.items) > 1 else ():
            yield Draft(
                user,
                reason=f"You want two of the {item.name} in order {order.order_id} instead of one.",
                instructions="You want the second one in that very order; you do not want to place an order of your "
                "own, and you do not ask for that. If nothing can be added, leave the items alone, and have the order "
                f"sent to {format_address(places.DENVER)}, where you will be on holiday.",
                calls=[*read(order), send_to(order, places.DENVER)],
                requests=[
                    ask(
                        items=f"the {item.name}",
                        fallback=f"Then leave the items alone, and have order {order.order_id} sent to "
                        f"{format_address(places.DENVER)}, instead.",
                    )
                ],
                declines=["transfer", "human agent", *PROFILE_STAYS],
            )


@scenario(_RULE, found_by="zip", persona=personas.NOVICE)
def change_the_right_one(world: World) -> Iterator[Draft]:
    """The name of an item decides between two of a product."""
    for user, order, method in _paid(world):
        for item in order.items:
            twin = [other for other in order.items if other.product_id == item.product_id and other != item]
            for swap in world.swaps_of(item) if len(twin) == 1 else ():
                if swap.variant.item_id != twin[0].item_id and can_cover(method, swap.difference):
                    yield Draft(
                        user,
                        reason=f"Order {order.order_id} holds two versions of the {item.name}, and one of them is "
                        "wrong.",
                        instructions=f"The order has {describe_items([item, *twin])}. The first of these should come "
                        f"with {swap.phrase}, otherwise the same; the other one stays. The difference goes by the "
                        "method that paid.",
                        calls=[*read(order, item), change(order, [swap], method)],
                        requests=[
                            ask(
                                items=f"the {describe_item(item)}",
                                new_items=swap_phrase(swap),
                                payment_method=SAME_METHOD,
                            )
                        ],
                    )


ITEMS = (
    change_an_option,
    change_to_the_cheapest,
    change_to_the_second_choice,
    change_to_another_product,
    gift_card_does_not_cover_the_difference,
    change_saves_to_gift_card,
    change_both_of_two,
    change_one_of_two,
    change_sold_out_then_cancel,
    change_within_a_limit,
    change_again,
    one_more_of_it,
    change_the_right_one,
)
