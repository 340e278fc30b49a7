"""Scenarios about who is asking, what they may know, and several matters at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import describe_item, describe_method, format_address, format_amount, with_article
from ...models import CreditCard, GiftCard
from ...payments import order_total
from .. import personas
from ..builder import Call, Draft, scenario
from ..calls import cancel, exchange, move_profile, pay_by, read, return_items, send_to
from ..data import places
from ..requests import MISTAKE, NOT_NEEDED, PROFILE_STAYS, SAME_METHOD, swap_phrase
from ..world import other_methods, sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import World

_WHO = "Identify the customer"
_FACTS = "Scope: tell customers what is in their own profile and orders, and about products"


@scenario(_FACTS)
def where_is_my_parcel(world: World) -> Iterator[Draft]:
    """A parcel's number and an order's total."""
    for user, order in world.each_order("processed"):
        if len(order.fulfillments) == 1:
            yield Draft(
                user,
                reason=f"You are waiting for order {order.order_id}.",
                instructions="You want the tracking id of the parcel, and how much you paid for the order in total.",
                calls=read(order),
                communicate=[*order.fulfillments[0].tracking_id, format_amount(order_total(order))],
                requests=[
                    ask(f"You are waiting for order {order.order_id}. What is the tracking id of the parcel?"),
                    ask(f"How much did you pay for order {order.order_id} in total?"),
                ],
            )


@scenario(_FACTS, found_by="zip", persona=personas.NOVICE)
def what_is_on_my_gift_cards(world: World) -> Iterator[Draft]:
    """The balances of two gift cards, added up."""
    for user in world.users:
        cards = [method for method in user.payment_methods.values() if isinstance(method, GiftCard)]
        if len(cards) == 2:
            yield Draft(
                user,
                reason="You have two gift cards in the shop and have lost track of them.",
                instructions="You want to know how much there is on the two cards together. Do not accept two "
                "figures: ask for the sum.",
                calls=read(user),
                communicate=[format_amount(sum(card.balance for card in cards))],
                requests=[
                    ask(
                        "You have two gift cards in the shop and have lost track of them. How much is there on the "
                        "two cards together, as a sum?"
                    )
                ],
            )


@scenario(_FACTS, persona=personas.FORMAL)
def what_have_i_spent(world: World) -> Iterator[Draft]:
    """The total of three orders."""
    for user in world.users:
        orders = world.orders(user, "pending", "processed", "delivered")
        if len(orders) == len(user.orders) == 3 and all(sole_payer(user, order) for order in orders):
            yield Draft(
                user,
                reason="You keep accounts of what you spend, and the shop is missing in them.",
                instructions="You want to know what all of your orders have cost in total, and what the most "
                "expensive of them cost by itself.",
                calls=read(user, *orders),
                communicate=[
                    format_amount(sum(map(order_total, orders))),
                    format_amount(max(map(order_total, orders))),
                ],
                unknown="You do not know the orders' ids.",
                requests=[
                    ask(
                        "You keep accounts of what you spend, and the shop is missing in them. What have all of "
                        "your orders cost in total?",
                        order_id="You do not know the ids. All of your orders.",
                    ),
                    ask("What did the most expensive of your orders cost by itself?"),
                ],
            )


@scenario(_FACTS)
def what_does_it_cost(world: World) -> Iterator[Draft]:
    """Prices of a product in stock."""
    products = list(world.db.products.scan())
    for number, user in enumerate(world.users):
        product = products[number % len(products)]
        stock, everything = world.in_stock(product), product.variants.values()
        if len(stock) > 2 and min(v.price for v in everything) < stock[0].price:
            yield Draft(
                user,
                reason=f"You think about buying {with_article(product.name)}, but not today.",
                instructions=f"You want to know what the cheapest {product.name} costs, and what the most expensive "
                "one costs, among those that are in stock now. You do not want to order anything.",
                calls=[
                    Call("list_all_product_types", {}),
                    Call("get_product_details", {"product_id": product.product_id}),
                ],
                communicate=[format_amount(stock[0].price), format_amount(stock[-1].price)],
                requests=[
                    ask(
                        f"You think about buying {with_article(product.name)}, but not today. What does the cheapest "
                        f"{product.name} cost that is in stock?"
                    ),
                    ask(f"What does the most expensive {product.name} cost that is in stock?"),
                ],
                declines=["place order for"],
            )


@scenario(_FACTS, persona=personas.TERSE)
def where_is_my_refund(world: World) -> Iterator[Draft]:
    """The refund of a cancelled order, and the card that received it."""
    for user, order in world.each_order("cancelled"):
        method = user.payment_methods[order.payment_history[-1].payment_method_id]
        if isinstance(method, CreditCard) and len(world.orders(user, "cancelled")) == 1:
            yield Draft(
                user,
                reason="You cancelled an order and want to know where your money went.",
                instructions=f"It was the one with the {describe_item(order.items[0])}. You want to know the amount "
                "of the refund, and the last four digits of the card that it went to.",
                calls=read(user, *world.orders(user)),
                communicate=[format_amount(order_total(order)), method.last_four],
                unknown="You do not know the order's id.",
                requests=[
                    ask(
                        "You cancelled an order and want to know where your money went. It was the one with the "
                        f"{describe_item(order.items[0])}. How much was refunded?",
                        order_id="You do not know the id. It is the one that you cancelled.",
                    ),
                    ask("What are the last four digits of the card that the refund went to?"),
                ],
            )


@scenario(_WHO, persona=personas.CROSS)
def what_did_my_neighbor_order(world: World) -> Iterator[Draft]:
    """Another customer's order is not to be talked about."""
    for user, order in world.each_order("processed"):
        for other, foreign in world.each_order("delivered"):
            if other != user and len(order.fulfillments) == 1:
                yield Draft(
                    user,
                    reason=f"You want to know what is in order {foreign.order_id}.",
                    instructions=f"It is your neighbor's, {other.name.first_name} {other.name.last_name}: the parcel "
                    "was left with you, and you are curious. Ask twice. Then ask for the tracking id of your own order "
                    f"{order.order_id}.",
                    calls=read(order),
                    communicate=order.fulfillments[0].tracking_id,
                    requests=[
                        ask(
                            f"You want to know what is in order {foreign.order_id}. It is your neighbor's, "
                            f"{other.name.first_name} {other.name.last_name}.",
                            insist=1,
                        ),
                        ask(f"Then what is the tracking id of your own order {order.order_id}?"),
                    ],
                )


@scenario(_WHO, found_by="zip")
def one_of_two_namesakes(world: World) -> Iterator[Draft]:
    """Two customers have the same name; the zip code decides."""
    for user, order in world.each_order("pending"):
        alike = [other for other in world.users if other.name == user.name]
        if len(alike) == 2 and sole_payer(user, order) and len(world.orders(user, "pending")) == 1:
            yield Draft(
                user,
                reason="You want to cancel an order that you placed by mistake.",
                instructions="It was ordered by mistake. It is the only one of your orders that is still pending. "
                "Ask how much you get back.",
                calls=[*read(user, *world.orders(user)), cancel(order, "ordered by mistake")],
                communicate=[format_amount(order_total(order))],
                unknown="You do not know the order's id.",
                requests=[
                    ask(
                        reason=MISTAKE,
                        order_id="You do not know the id. It is the only one of your orders that is still pending.",
                    ),
                    ask("How much do you get back?"),
                ],
            )


@scenario(_WHO, found_by="outdated email")
def an_outdated_email_address(world: World) -> Iterator[Draft]:
    """An email address that nobody has any more; then name and zip code."""
    for user, order in world.each_order("delivered"):
        method = sole_payer(user, order)
        for item in unique_items(order) if method and len(order.items) > 1 else ():
            if method:
                yield Draft(
                    user,
                    reason=f"You want to return the {item.name} of order {order.order_id}.",
                    instructions="Everything else stays with you. The money should go to the method that paid for "
                    "the order.",
                    calls=[*read(order), return_items(order, [item], method)],
                    requests=[ask(items=f"the {item.name}", payment_method=SAME_METHOD)],
                )


@scenario(_WHO, found_by="offered", every_call=True)
def an_id_is_not_enough(world: World) -> Iterator[Draft]:
    """A user id does not identify anybody: email or name and zip code do."""
    for user, order in world.each_order("pending"):
        if sole_payer(user, order):
            yield Draft(
                user,
                reason=f"You are {user.user_id} and want to cancel order {order.order_id}, which is no longer needed.",
                instructions="You begin with your user id and give your email address as soon as you are asked for it. "
                "Your zip code you never tell; say that the email address has to do. Your reason is that you no "
                "longer need the things.",
                calls=[*read(order), cancel(order)],
                requests=[ask(reason=NOT_NEEDED)],
            )


@scenario("Scope", persona=personas.CHATTY)
def three_matters(world: World) -> Iterator[Draft]:
    """Three matters in one conversation."""
    for user in world.users:
        delivered = [order for order in world.orders(user, "delivered") if sole_payer(user, order)]
        pending = [order for order in world.orders(user, "pending") if sole_payer(user, order)]
        for one in delivered[:1] if len(pending) >= 1 and len(user.orders) >= 2 else ():
            method = sole_payer(user, one)
            for new in other_methods(user, sole_payer(user, pending[0])):
                if method and len(unique_items(one)) > 1:
                    item = unique_items(one)[0]
                    yield Draft(
                        user,
                        reason=f"You have several matters, the first of them is order {one.order_id}.",
                        instructions=f"First, you return the {item.name} of {one.order_id} and only that, with the "
                        f"refund to the method that paid, and you ask how much it is. Second, {pending[0].order_id} "
                        f"should be paid by {describe_method(new)}. Third, your default address is now "
                        f"{format_address(places.MEMPHIS)}, while your orders keep theirs.",
                        calls=[
                            *read(user, one),
                            return_items(one, [item], method),
                            *read(pending[0]),
                            pay_by(pending[0], new),
                            move_profile(user, places.MEMPHIS),
                        ],
                        communicate=[format_amount(item.price)],
                        requests=[
                            ask(
                                f"You have several matters. First, you want to return the {item.name} of order "
                                f"{one.order_id}, and only that. How much is the refund?",
                                items=f"the {item.name}",
                                payment_method=SAME_METHOD,
                            ),
                            ask(
                                f"Second, order {pending[0].order_id} should be paid by another method.",
                                payment_method=describe_method(new),
                            ),
                            ask(
                                "Third, you have a new default address, while your orders keep theirs.",
                                address=format_address(places.MEMPHIS),
                            ),
                        ],
                    )


@scenario("Scope", found_by="zip")
def exchange_and_redirect(world: World) -> Iterator[Draft]:
    """An exchange here, another address there."""
    for user in world.users:
        methods = other_methods(user, None)
        for one in world.orders(user, "delivered") if methods else ():
            for two in world.orders(user, "pending"):
                for swap in world.swaps(one):
                    yield Draft(
                        user,
                        reason=f"You have a request for order {one.order_id}, and one for {two.order_id}.",
                        instructions=f"The {swap.item.name} of {one.order_id} should be exchanged for one with "
                        f"{swap.phrase}, otherwise the same; {describe_method(methods[0])} is good for the "
                        f"difference, and you ask how much that is. Then {two.order_id} should go to "
                        f"{format_address(places.CHICAGO)}, though you do not live there.",
                        calls=[
                            *read(user, one, swap.item),
                            exchange(one, [swap], methods[0]),
                            *read(two),
                            send_to(two, places.CHICAGO),
                        ],
                        communicate=[format_amount(abs(swap.difference))],
                        requests=[
                            ask(
                                f"You want to exchange the {swap.item.name} of order {one.order_id}. How much is "
                                "the difference?",
                                items=f"the {swap.item.name}",
                                new_items=swap_phrase(swap),
                                payment_method=describe_method(methods[0]),
                            ),
                            ask(
                                f"Order {two.order_id} should go to another address, though you do not live there.",
                                address=format_address(places.CHICAGO),
                            ),
                        ],
                        declines=PROFILE_STAYS,
                    )


QUESTIONS = (
    where_is_my_parcel,
    what_is_on_my_gift_cards,
    what_have_i_spent,
    what_does_it_cost,
    where_is_my_refund,
    what_did_my_neighbor_order,
)
IDENTITIES = (one_of_two_namesakes, an_outdated_email_address, an_id_is_not_enough)
SEVERAL = (three_matters, exchange_and_redirect)
