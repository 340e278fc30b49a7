"""Exchanges of what was delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import texts
from .calls import change, exchange, give_back, read
from .drafts import Draft, scenario
from .world import Swap, article, gift_card, named_once, others, payer, said_item, said_method, usd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .models import Order, PaymentMethod, User
    from .world import World

_RULE = "Exchange items of a delivered order"
_ONCE = "Items can be changed once, and exchanged once"


def _delivered(world: World) -> Iterator[tuple[User, Order, PaymentMethod]]:
    """Orders that were paid by a method whose limits the shop does not know."""
    for user, order in world.each("delivered"):
        method = payer(user, order)
        if method and method in others(user, None):
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
    """One option of one item; the difference is to be told."""
    for user, order, method in _delivered(world):
        for swap in world.swaps(order):
            yield Draft(
                user,
                reason=f"You want to exchange something from order {order.order_id}.",
                wishes=f"It is the {swap.item.name}: you want it with {swap.wish}, otherwise the same. "
                f"{_owed(method)} Ask how much the difference is before you agree.",
                calls=[*read(user, order, swap.item), exchange(order, [swap], method)],
                tell=[usd(abs(swap.difference))],
            )


@scenario(_ONCE, found_by="zip")
def exchange_two_items(world: World) -> Iterator[Draft]:
    """Two items in a single call, and what they come to together."""
    for user, order, method in _delivered(world):
        for first, second in _pairs(world, order):
            difference = first.difference + second.difference
            if min(first.difference, second.difference) > 0:
                yield Draft(
                    user,
                    reason=f"Two things of order {order.order_id} came in a version that you do not like.",
                    wishes=f"You want the {first.item.name} with {first.wish}, and the {second.item.name} with "
                    f"{second.wish}; all else about them stays. The method that paid for the order pays the "
                    "difference. Ask what you have to pay for both exchanges together.",
                    calls=[*read(order, first.item, second.item), exchange(order, [first, second], method)],
                    tell=[usd(difference)],
                )


@scenario(_ONCE, persona=texts.CHATTY)
def exchange_and_one_more_thing(world: World) -> Iterator[Draft]:
    """The second item comes up only when the agent asks for agreement or for more."""
    for user, order, method in _delivered(world):
        for first, second in _pairs(world, order):
            yield Draft(
                user,
                reason=f"You want to exchange the {first.item.name} of order {order.order_id}.",
                wishes=f"You want it with {first.wish}, otherwise the same. You tell nothing else at first. When the "
                "agent asks whether that is all, says that it works only once, or sums the exchange up for your "
                f"agreement, you remember before you agree: the {second.item.name} should have {second.wish}, "
                f"otherwise the same. Both have to be exchanged, with {said_method(method)} for the difference.",
                calls=[*read(user, order, first.item, second.item), exchange(order, [first, second], method)],
            )


@scenario(_RULE, persona=texts.CROSS)
def exchange_for_the_same(world: World) -> Iterator[Draft]:
    """The very same item again is no exchange, though the tool would take it."""
    for user, order, method in _delivered(world):
        for item in named_once(order) if len(order.items) > 1 else ():
            if any(v.item_id == item.item_id for v in world.in_stock(world.product(item))):
                yield Draft(
                    user,
                    reason=f"The {item.name} of order {order.order_id} has a scratch, and you want another one.",
                    wishes=f"You want it exchanged for exactly the same version, {said_item(item)}, only without a "
                    "scratch; no other version will do. If that is refused, ask once more, and then return that item "
                    "and keep the others. The money should go to the method that paid.",
                    calls=[*read(order), give_back(order, [item], method)],
                )


@scenario("Money")
def exchange_beyond_the_gift_card(world: World) -> Iterator[Draft]:
    """A gift card that does not cover the difference."""
    for user, order, _method in _delivered(world):
        card = gift_card(user)
        for swap in world.swaps(order) if card else ():
            for other in others(user, None):
                if card and card.balance < swap.difference:
                    yield Draft(
                        user,
                        reason=f"You want a better {swap.item.name} than the one that came with order "
                        f"{order.order_id}.",
                        wishes=f"You want it with {swap.wish}, otherwise the same, and want to pay the difference by "
                        "gift card. If the card does not cover it, ask what is on it, and pay the difference by "
                        f"{said_method(other)}.",
                        calls=[*read(user, order, swap.item), exchange(order, [swap], other)],
                        tell=[usd(card.balance)],
                    )


@scenario("Money", found_by="zip", persona=texts.NOVICE)
def exchange_saves_to_gift_card(world: World) -> Iterator[Draft]:
    """What a cheaper version saves goes to a gift card."""
    for user, order, _method in _delivered(world):
        card = gift_card(user)
        for swap in world.swaps(order):
            if card and swap.difference < 0:
                yield Draft(
                    user,
                    reason=f"The {swap.item.name} of order {order.order_id} is more than you need.",
                    wishes=f"You want to exchange it for one with {swap.wish}, otherwise the same. What you save "
                    "should be put on your gift card. Ask how much that is.",
                    calls=[*read(user, order, swap.item), exchange(order, [swap], card)],
                    tell=[usd(-swap.difference)],
                )


@scenario(_RULE)
def exchange_for_the_dearest(world: World) -> Iterator[Draft]:
    """The dearest version in stock."""
    for user, order, method in _delivered(world):
        for item in named_once(order):
            stock = world.in_stock(world.product(item))
            if len(stock) > 2 and stock[-1].price > item.price:
                yield Draft(
                    user,
                    reason=f"You want to treat yourself: a better {item.name} than the one of order {order.order_id}.",
                    wishes=f"You want the most expensive {item.name} that is in stock, whatever its options. "
                    f"{_owed(method)} Ask what the new one costs.",
                    calls=[*read(user, order, item), exchange(order, [Swap(item, stock[-1])], method)],
                    tell=[usd(stock[-1].price)],
                )


def _owed(method: PaymentMethod) -> str:
    return f"The difference goes by {said_method(method)}."


@scenario(_RULE, persona=texts.TERSE)
def exchange_sold_out_then_return(world: World) -> Iterator[Draft]:
    """The version wanted is sold out, so the item is returned."""
    for user, order, method in _delivered(world):
        for swap in world.swaps(order, in_stock=False) if len(order.items) > 1 else ():
            yield Draft(
                user,
                reason=f"You want to exchange the {swap.item.name} of order {order.order_id}.",
                wishes=f"You want {swap.wish}, otherwise the same, and nothing else. If that cannot be had, return the "
                f"{swap.item.name} and only that, with the refund to the method that paid, and ask how much it is.",
                calls=[*read(order, swap.item), give_back(order, [swap.item], method)],
                tell=[usd(swap.item.price)],
            )


@scenario("Records")
def exchange_what_can_be_changed(world: World) -> Iterator[Draft]:
    """The order turns out pending: the items are changed instead."""
    for user, order in world.each("pending"):
        method = payer(user, order)
        for swap in world.swaps(order):
            if method and method in others(user, None):
                yield Draft(
                    user,
                    reason=f"You want to exchange the {swap.item.name} of order {order.order_id}.",
                    wishes=f"You want it with {swap.wish}, otherwise the same. You thought that it had been left with "
                    "a neighbor; if it has not been sent, you want it changed right away. You accept that the order "
                    f"is final then. {_owed(method)}",
                    calls=[*read(user, order, swap.item), change(order, [swap], method)],
                )


@scenario("Records", found_by="zip")
def exchange_again(world: World) -> Iterator[Draft]:
    """An exchange has been requested already: nothing more."""
    for user, order in world.each("exchange requested"):
        left = [item for item in named_once(order) if item.item_id not in (order.exchange_items or [])]
        if left and order.exchange_price_difference:
            yield Draft(
                user,
                reason=f"You want to exchange the {left[0].name} of order {order.order_id}, too.",
                wishes="You would take any other version. If it is too late for that, you want neither a return nor "
                "a person on the line; ask what the price difference of the exchange is that you requested before.",
                calls=read(order),
                tell=[usd(abs(order.exchange_price_difference))],
            )


@scenario(_ONCE, persona=texts.FORMAL)
def exchange_in_two_orders(world: World) -> Iterator[Draft]:
    """An exchange in each of two orders."""
    for user in world.users:
        orders = world.orders(user, "delivered")
        methods = others(user, None)
        if len(orders) == 2 and methods:
            one, two = orders
            for first in world.swaps(one):
                for second in world.swaps(two):
                    yield Draft(
                        user,
                        reason=f"You wish to exchange the {first.item.name} of order {one.order_id}.",
                        wishes=f"You wish for {first.wish}, otherwise the same. When that is done, you bring up order "
                        f"{two.order_id}: its {second.item.name} should have {second.wish}, otherwise the same. Both "
                        f"times, the difference goes by {said_method(methods[0])}.",
                        calls=[
                            *read(user, one, first.item),
                            exchange(one, [first], methods[0]),
                            *read(two, second.item),
                            exchange(two, [second], methods[0]),
                        ],
                    )


@scenario("Records", persona=texts.WARY)
def exchange_and_return(world: World) -> Iterator[Draft]:
    """A return and an exchange of the same order exclude each other."""
    for user, order, method in _delivered(world):
        for swap in world.swaps(order):
            for item in named_once(order):
                if item.product_id != swap.item.product_id:
                    yield Draft(
                        user,
                        reason=f"From order {order.order_id}, you want to return one thing and exchange another.",
                        wishes=f"The {item.name} should go back, and the {swap.item.name} should be exchanged for one "
                        f"with {swap.wish}, otherwise the same. If only one of the two is possible for an order, you "
                        f"want the exchange, and keep the {item.name}. {_owed(method)} Do not agree to anything "
                        "before it is clear whether both are possible; ask for it.",
                        calls=[*read(user, order, swap.item), exchange(order, [swap], method)],
                    )


@scenario(_RULE, found_by="zip")
def exchange_for_another_product(world: World) -> Iterator[Draft]:
    """Another product is no exchange; a return is possible."""
    products = list(world.db.products.scan())
    for number, (user, order, method) in enumerate(_delivered(world)):
        other = products[number % len(products)]
        for item in named_once(order) if len(order.items) > 1 else ():
            if other.product_id not in {item.product_id for item in order.items}:
                yield Draft(
                    user,
                    reason=f"You want to exchange the {item.name} of order {order.order_id} for {article(other.name)}.",
                    wishes=f"You have no use for any {item.name}. If it cannot become {article(other.name)}, return "
                    "it, with the refund to the method that paid for the order. The rest of the order stays with "
                    "you, and you order nothing.",
                    calls=[*read(order), give_back(order, [item], method)],
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
    exchange_what_can_be_changed,
    exchange_again,
    exchange_in_two_orders,
    exchange_and_return,
    exchange_for_another_product,
)
