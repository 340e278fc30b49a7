"""Cases of scenarios: a customer, with the orders and things that were chosen, and the steps that choose them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._kit import cases as kit
from ..._kit.cases import each
from ..payments import order_total
from .world import bought_twice, only_gift_card, other_methods, sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..._kit.cases import Step
    from ..models import Order, OrderStatus, User
    from .world import World


class Case(kit.Case):
    """What a scenario is about, by the names that its texts use.

    Attributes:
        world: The database.
        user: The customer.
        card: Their gift card, if they have just one.
        orders: All of their orders.
    """

    world: World
    user: User

    def paid(self, *statuses: OrderStatus) -> list[Order]:
        """Return the customer's orders with one of these statuses that one method paid for."""
        return [order for order in self.world.orders(self.user, *statuses) if sole_payer(self.user, order)]


def find_cases(world: World, steps: Iterable[Step]) -> Iterator[Case]:
    """Yield the cases to which the steps lead, from each customer in turn."""
    customers = (
        Case(world=world, user=user, card=only_gift_card(user), orders=world.orders(user)) for user in world.users
    )
    return kit.find_cases(customers, steps)


def order(*statuses: OrderStatus) -> Step:
    """Return the step that chooses an order, with the method that paid for it, if only one did, and its total."""

    def step(cases: Iterator[Case]) -> Iterator[Case]:
        for case in cases:
            for customer_order in case.world.orders(case.user, *statuses):
                yield case.having(
                    order=customer_order,
                    method=sole_payer(case.user, customer_order),
                    total=order_total(customer_order),
                )

    return step


def paid(*statuses: OrderStatus) -> Step:
    """Return the step that chooses an order that one method paid for."""
    return lambda cases: (case for case in order(*statuses)(cases) if case.method)


def product(cases: Iterator[Case]) -> Iterator[Case]:
    """Give each case one of the products, in turn."""
    for number, case in enumerate(cases):
        products = case.world.products
        yield case.having(product=products[number % len(products)])


item = each(item=lambda c: unique_items(c.order))
items_bought_twice = each(item=lambda c: bought_twice(c.order))
swap = each(swap=lambda c: c.world.swaps(c.order))
swap_sold_out = each(swap=lambda c: c.world.swaps(c.order, in_stock=False))
#: Another method that could pay for the order.
payer = each(new=lambda c: other_methods(c.user, c.method))
