"""Calls of reference solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._kit.transfer import TRANSFER
from ..models import Order, User
from .builder import Call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models import Address, CancelReason, OrderItem, PaymentMethod
    from .world import Swap


def read(*things: User | Order | OrderItem) -> list[Call]:
    """Look at a profile, an order, or all variants of an item's product."""
    return [_read(thing) for thing in things]


def _read(thing: User | Order | OrderItem) -> Call:
    if isinstance(thing, User):
        return Call("get_user_details", {"user_id": thing.user_id})
    if isinstance(thing, Order):
        return Call("get_order_details", {"order_id": thing.order_id})
    return Call("get_product_details", {"product_id": thing.product_id})


def cancel(order: Order, reason: CancelReason = "no longer needed") -> Call:
    """Cancel a pending order."""
    return Call("cancel_pending_order", {"order_id": order.order_id, "reason": reason})


def send_to(order: Order, address: Address) -> Call:
    """Send a pending order elsewhere."""
    return Call("modify_pending_order_address", {"order_id": order.order_id, **address.model_dump()})


def move_profile(user: User, address: Address) -> Call:
    """Change the default address."""
    return Call("modify_user_address", {"user_id": user.user_id, **address.model_dump()})


def pay_by(order: Order, method: PaymentMethod) -> Call:
    """Let another method pay for a pending order."""
    return Call("modify_pending_order_payment", {"order_id": order.order_id, "payment_method_id": method.id})


def change(order: Order, swaps: Iterable[Swap], method: PaymentMethod) -> Call:
    """Change items of a pending order."""
    return _swapped("modify_pending_order_items", order, swaps, method)


def exchange(order: Order, swaps: Iterable[Swap], method: PaymentMethod) -> Call:
    """Exchange items of a delivered order."""
    return _swapped("exchange_delivered_order_items", order, swaps, method)


def _swapped(name: str, order: Order, swaps: Iterable[Swap], method: PaymentMethod) -> Call:
    pairs = list(swaps)
    return Call(
        name,
        {
            "order_id": order.order_id,
            "item_ids": [swap.item.item_id for swap in pairs],
            "new_item_ids": [swap.variant.item_id for swap in pairs],
            "payment_method_id": method.id,
        },
    )


def return_items(order: Order, items: Iterable[OrderItem], method: PaymentMethod) -> Call:
    """Return items of a delivered order."""
    ids = [item.item_id for item in items]
    return Call(
        "return_delivered_order_items",
        {"order_id": order.order_id, "item_ids": ids, "payment_method_id": method.id},
    )


def transfer(summary: str) -> Call:
    """Hand over to a person."""
    return Call(TRANSFER, {"summary": summary})
