"""The database as scenarios see it: orders with their customers, and versions that items can be swapped for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..models import GiftCard
from ..payments import gift_cards

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models import Order, OrderItem, OrderStatus, PaymentMethod, Product, RetailDB, User, Variant


class Swap(NamedTuple):
    """An item and another version of it; ``axis`` is what they differ in, empty where they differ in several."""

    item: OrderItem
    variant: Variant
    axis: str = ""

    @property
    def difference(self) -> float:
        """Return what the new version costs more, in USD."""
        return round(self.variant.price - self.item.price, 2)

    @property
    def phrase(self) -> str:
        """Return what to ask for, such as ``color red instead of navy``."""
        return f"{self.axis} {self.variant.options[self.axis]} instead of {self.item.options[self.axis]}"


class World:
    """Lookups in the database, in an order that depends on nothing else."""

    def __init__(self, db: RetailDB) -> None:
        self.db = db
        self.users = list(db.users.scan())
        self.products = list(db.products.scan())

    def paid(self, *statuses: OrderStatus) -> Iterator[tuple[User, Order, PaymentMethod]]:
        """Yield every order with one of these statuses that one method paid for, with customer and method."""
        for user in self.users:
            for order in self.orders(user, *statuses):
                if method := sole_payer(user, order):
                    yield user, order, method

    def orders(self, user: User, *statuses: OrderStatus) -> list[Order]:
        """Return a customer's orders with one of these statuses; without any, all of them."""
        orders = map(self.db.order, user.orders)
        return [order for order in orders if not statuses or order.status in statuses]

    def product(self, item: OrderItem) -> Product:
        """Return the product that an item is a version of."""
        return self.db.product(item.product_id)

    def swaps(self, order: Order, *, in_stock: bool = True) -> list[Swap]:
        """Return the swaps of a single option in an order, for the items that are the only ones of their product."""
        return [swap for item in unique_items(order) for swap in self.swaps_of(item, in_stock=in_stock)]

    def swaps_of(self, item: OrderItem, *, in_stock: bool = True) -> list[Swap]:
        """Return the swaps of a single option of an item."""
        swaps = []
        for variant in self.product(item).variants.values():
            axes = [axis for axis, value in variant.options.items() if item.options[axis] != value]
            if len(axes) == 1 and variant.available is in_stock:
                swaps.append(Swap(item, variant, axes[0]))
        return swaps

    def in_stock(self, product: Product) -> list[Variant]:
        """Return the variants that are in stock, the cheapest first; no two cost the same."""
        return sorted((v for v in product.variants.values() if v.available), key=lambda variant: variant.price)

    def is_only_one(self, user: User, item: OrderItem) -> bool:
        """Return whether the customer has bought a single item of this product."""
        return sum(other.product_id == item.product_id for order in self.orders(user) for other in order.items) == 1


def unique_items(order: Order) -> list[OrderItem]:
    """Return the items that are the only ones of their product in the order."""
    ids = [item.product_id for item in order.items]
    return [item for item in order.items if ids.count(item.product_id) == 1]


def bought_twice(order: Order) -> list[OrderItem]:
    """Return an item that the order has twice, once; empty if there is none."""
    ids = [item.item_id for item in order.items]
    return [item for number, item in enumerate(order.items) if ids.index(item.item_id) < number]


def sole_payer(user: User, order: Order) -> PaymentMethod | None:
    """Return the method that paid, where nothing else has been paid or refunded since."""
    history = order.payment_history
    return user.payment_methods[history[0].payment_method_id] if len(history) == 1 else None


def only_gift_card(user: User) -> GiftCard | None:
    """Return the customer's gift card, if there is just one."""
    cards = gift_cards(user)
    return cards[0] if len(cards) == 1 else None


def other_methods(user: User, method: PaymentMethod | None) -> list[PaymentMethod]:
    """Return the customer's other methods whose limits the shop does not know: cards and PayPal."""
    return [m for m in user.payment_methods.values() if m != method and not isinstance(m, GiftCard)]
