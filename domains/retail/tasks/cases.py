"""Cases of scenarios: a customer, with the orders and things that were chosen, and the steps that choose them."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

from ..payments import order_total
from .world import bought_twice, only_gift_card, other_methods, sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..models import Order, OrderStatus, User
    from .world import World

    #: Makes further cases of cases.
    Step: TypeAlias = Callable[[World, Iterator["Case"]], Iterator["Case"]]
    Value: TypeAlias = Callable[["Case"], Any]


class Case(SimpleNamespace):
    """What a scenario is about, by the names that its texts use.

    Attributes:
        world: The database.
        user: The customer.
        card: Their gift card, if they have just one.
        orders: All of their orders.
    """

    world: World
    user: User

    def having(self, **things: Any) -> Case:
        """Return the case with further things."""
        return Case(**{**vars(self), **things})

    def paid(self, *statuses: OrderStatus) -> list[Order]:
        """Return the customer's orders with one of these statuses that one method paid for."""
        return [order for order in self.world.orders(self.user, *statuses) if sole_payer(self.user, order)]


def find_cases(world: World, steps: Iterable[Step]) -> Iterator[Case]:
    """Yield the cases to which the steps lead, from each customer in turn."""
    cases: Iterator[Case] = (
        Case(world=world, user=user, card=only_gift_card(user), orders=world.orders(user)) for user in world.users
    )
    for step in steps:
        cases = step(world, cases)
    return cases


def where(holds: Value) -> Step:
    """Return the step that keeps the cases for which something holds."""
    return lambda _world, cases: filter(holds, cases)


def let(**values: Value) -> Step:
    """Return the step that names values."""
    return lambda _world, cases: (
        case.having(**{name: value(case) for name, value in values.items()}) for case in cases
    )


def each(**choices: Value) -> Step:
    """Return the step that makes a case of each of the things that its one value lists."""
    ((name, choice),) = choices.items()
    return lambda _world, cases: (case.having(**{name: thing}) for case in cases for thing in choice(case))


def order(*statuses: OrderStatus) -> Step:
    """Return the step that chooses an order, with the method that paid for it, if only one did, and its total."""

    def step(world: World, cases: Iterator[Case]) -> Iterator[Case]:
        for case in cases:
            for one in world.orders(case.user, *statuses):
                yield case.having(order=one, method=sole_payer(case.user, one), total=order_total(one))

    return step


def paid(*statuses: OrderStatus) -> Step:
    """Return the step that chooses an order that one method paid for."""
    return lambda world, cases: (case for case in order(*statuses)(world, cases) if case.method)


def product(world: World, cases: Iterator[Case]) -> Iterator[Case]:
    """Give each case one of the products, in turn."""
    for case, one in zip(cases, itertools.cycle(world.db.products.scan()), strict=False):
        yield case.having(product=one)


item = each(item=lambda c: unique_items(c.order))
items_bought_twice = each(item=lambda c: bought_twice(c.order))
swap = each(swap=lambda c: c.world.swaps(c.order))
swap_sold_out = each(swap=lambda c: c.world.swaps(c.order, in_stock=False))
#: Another method that could pay for the order.
payer = each(new=lambda c: other_methods(c.user, c.method))
