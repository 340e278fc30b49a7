"""Calls of reference solutions, each by a word and what it is about: ``exchange order method swap``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._kit.combine import Call
from ..models import Order, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SWAPPED = {"item_ids": lambda swap: swap.item.item_id, "new_item_ids": lambda swap: swap.variant.item_id}
#: Tools that take parts of an order, and their arguments about each part.
_PARTS: dict[str, tuple[str, dict[str, Callable[[Any], str]]]] = {
    "change": ("modify_pending_order_items", _SWAPPED),
    "exchange": ("exchange_delivered_order_items", _SWAPPED),
    "return": ("return_delivered_order_items", {"item_ids": lambda item: item.item_id}),
}
_REASONS = {"cancel": "no longer needed", "cancel_mistaken": "ordered by mistake"}


def calls_of(word: str, *things: Any) -> Iterator[Call]:
    """Yield the calls that a word stands for.

    Raises:
        ValueError: There is no such word, or it is not about such things.
    """
    match word, things:
        case "list_products", ():
            yield Call("list_all_product_types", {})
        case "read", _:
            yield from map(_read, things)
        case "cancel" | "cancel_mistaken", _:
            for order in things:
                yield Call("cancel_pending_order", {"order_id": order.order_id, "reason": _REASONS[word]})
        case "send", (address, *orders):
            for order in orders:
                yield Call("modify_pending_order_address", {"order_id": order.order_id, **address.model_dump()})
        case "move", (user, address):
            yield Call("modify_user_address", {"user_id": user.user_id, **address.model_dump()})
        case "pay", (order, method):
            yield Call("modify_pending_order_payment", {"order_id": order.order_id, "payment_method_id": method.id})
        case "change" | "exchange" | "return", (order, method, *parts):
            tool, ids = _PARTS[word]
            item_ids = {name: [find(part) for part in parts] for name, find in ids.items()}
            yield Call(tool, {"order_id": order.order_id, **item_ids, "payment_method_id": method.id})
        case _:
            raise ValueError(f"no call {word!r} about {len(things)} things")


def _read(thing: Any) -> Call:
    if isinstance(thing, User):
        return Call("get_user_details", {"user_id": thing.user_id})
    if isinstance(thing, Order):
        return Call("get_order_details", {"order_id": thing.order_id})
    return Call("get_product_details", {"product_id": thing.product_id})
