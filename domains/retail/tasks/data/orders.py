"""The shop's orders: what was bought, paid and sent, and what its customers have asked for since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_tau.environment import Environment

from ...models import Address, Fulfillment, Order, OrderItem, OrderStatus, Payment, Product, RetailDB, User, Variant
from ...tools import RetailTools

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Request: TypeAlias = tuple[str, dict[str, Any]] | None

#: How many customers have so many orders.
_ORDERS = {1: 10, 2: 20, 3: 20, 4: 10}
#: The share of orders with each status before any request of a customer.
_SHARES: dict[OrderStatus, int] = {"pending": 69, "delivered": 63, "processed": 18}
#: How many are changed afterwards.
_CANCELLED, _MODIFIED, _PAID_ANEW, _RETURNED, _EXCHANGED = 11, 7, 3, 7, 7
#: One parcel in so many goes somewhere else than home; as often something is bought twice, or in two versions.
_SELDOM = 7


def make_orders(rng: random.Random, people: list[User], products: list[Product], elsewhere: list[Address]) -> RetailDB:
    """Make a database with orders for the people, whose profiles get the ids."""
    counts = [count for count, times in _ORDERS.items() for _ in range(times)]
    statuses = [status for status, share in _SHARES.items() for _ in range(share)]
    rng.shuffle(counts)
    rng.shuffle(statuses)
    ids = iter(rng.sample(range(1_000_000, 10_000_000), len(statuses)))
    tracking = map(str, rng.sample(range(100_000_000_000, 1_000_000_000_000), 2 * len(statuses)))
    deck = iter(statuses)
    orders: list[Order] = []
    for person, count in zip(people, counts, strict=True):
        for _ in range(count):
            items = _items(rng, products)
            address = rng.choice(elsewhere) if not rng.randrange(_SELDOM) else person.address
            status = next(deck)
            order = Order(
                order_id=f"#W{next(ids)}",
                user_id=person.user_id,
                address=address.model_copy(),
                items=items,
                status=status,
                fulfillments=[] if status == "pending" else _fulfillments(rng, items, tracking),
                payment_history=[_payment(rng, person, items)],
            )
            person.orders.append(order.order_id)
            orders.append(order)
    rng.shuffle(orders)
    db = RetailDB.model_validate(
        {
            "products": {product.product_id: product.model_dump() for product in products},
            "users": {person.user_id: person.model_dump() for person in people},
            "orders": {order.order_id: order.model_dump() for order in orders},
        }
    )
    _ask(rng, db)
    return db


def _items(rng: random.Random, products: list[Product]) -> list[OrderItem]:
    chosen = rng.sample(products, rng.choice((1, 2, 2, 3, 3, 4)))
    items = [_item(product, rng.choice(list(product.variants.values()))) for product in chosen]
    match rng.randrange(_SELDOM):
        case 0:
            items.append(items[0].model_copy(deep=True))
        case 1:
            others = [v for v in chosen[0].variants.values() if v.item_id != items[0].item_id]
            items.append(_item(chosen[0], rng.choice(others)))
    return items


def _item(product: Product, variant: Variant) -> OrderItem:
    return OrderItem(
        name=product.name,
        product_id=product.product_id,
        item_id=variant.item_id,
        price=variant.price,
        options=dict(variant.options),
    )


def _fulfillments(rng: random.Random, items: list[OrderItem], tracking: Iterator[str]) -> list[Fulfillment]:
    """Make one parcel, now and then two."""
    ids = [item.item_id for item in items]
    parts = [ids[:1], ids[1:]] if len(ids) > 2 and not rng.randrange(_SELDOM) else [ids]
    return [Fulfillment(tracking_id=[next(tracking)], item_ids=part) for part in parts]


def _payment(rng: random.Random, person: User, items: list[OrderItem]) -> Payment:
    return Payment(
        transaction_type="payment",
        amount=round(sum(item.price for item in items), 2),
        payment_method_id=rng.choice(list(person.payment_methods)),
    )


def _ask(rng: random.Random, db: RetailDB) -> None:
    """Let customers ask for changes, which the agent's own tools carry out, so that records agree as they would."""
    environment = Environment(domain_name="retail", policy="", agent=RetailTools(db))
    requests: tuple[tuple[int, OrderStatus, Callable[[random.Random, RetailDB, Order], Request]], ...] = (
        (_CANCELLED, "pending", _cancellation),
        (_MODIFIED, "pending", _modification),
        (_PAID_ANEW, "pending", _other_payment),
        (_RETURNED, "delivered", _return),
        (_EXCHANGED, "delivered", _exchange),
    )
    for count, status, request in requests:
        waiting = [order for order in db.orders.scan() if order.status == status]
        rng.shuffle(waiting)
        request_count = 0
        for order in waiting:
            tool_call = request(rng, db, order) if request_count < count else None
            if tool_call and not environment.call(*tool_call, "assistant").error:
                request_count += 1
    for order_id in [order.order_id for order in db.orders.scan()]:
        # The tool records differences with their floating-point noise; a shop's books would not have it.
        for entry in db.orders[order_id].payment_history:
            entry.amount = round(entry.amount, 2)


def _cancellation(rng: random.Random, db: RetailDB, order: Order) -> Request:
    del db
    reason = rng.choice(("no longer needed", "ordered by mistake"))
    return "cancel_pending_order", {"order_id": order.order_id, "reason": reason}


def _modification(rng: random.Random, db: RetailDB, order: Order) -> Request:
    return _swap(rng, db, order, "modify_pending_order_items")


def _exchange(rng: random.Random, db: RetailDB, order: Order) -> Request:
    return _swap(rng, db, order, "exchange_delivered_order_items")


def _swap(rng: random.Random, db: RetailDB, order: Order, tool: str) -> Request:
    item = rng.choice(order.items)
    variants = db.product(item.product_id).variants.values()
    others = [v.item_id for v in variants if v.available and v.item_id != item.item_id]
    if not others or len(order.payment_history) != 1:
        return None
    return tool, {
        "order_id": order.order_id,
        "item_ids": [item.item_id],
        "new_item_ids": [rng.choice(others)],
        "payment_method_id": order.payment_history[0].payment_method_id,
    }


def _other_payment(rng: random.Random, db: RetailDB, order: Order) -> Request:
    method_id = rng.choice(list(db.user(order.user_id).payment_methods))
    return "modify_pending_order_payment", {"order_id": order.order_id, "payment_method_id": method_id}


def _return(rng: random.Random, db: RetailDB, order: Order) -> Request:
    """Return something, but not everything."""
    del db
    if len(order.items) < 2:
        return None
    ids = [item.item_id for item in rng.sample(order.items, rng.randrange(1, len(order.items)))]
    method_id = order.payment_history[0].payment_method_id
    return "return_delivered_order_items", {
        "order_id": order.order_id,
        "item_ids": ids,
        "payment_method_id": method_id,
    }
