"""Texts of scenarios: what a customer calls orders, items, methods and the rest, where a placeholder names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..formatting import describe_item, describe_items, describe_method, format_address, format_amount, with_article
from ..models import Address, CreditCard, GiftCard, Order, OrderItem, PayPal, Product
from ..payments import order_total
from .world import Swap

if TYPE_CHECKING:
    from collections.abc import Callable

#: By type, and by what follows the colon in a placeholder such as ``{order:total}``.
FORMS: dict[tuple[type, str], Callable[[Any], str]] = {
    (Order, ""): lambda order: order.order_id,
    (Order, "total"): lambda order: format_amount(order_total(order)),
    (Order, "parcel"): lambda order: order.fulfillments[0].tracking_id[0],
    (OrderItem, ""): lambda item: item.name,
    (OrderItem, "full"): describe_item,
    (OrderItem, "a"): lambda item: with_article(item.name),
    (Product, ""): lambda product: product.name,
    (Product, "a"): lambda product: with_article(product.name),
    (Swap, ""): lambda swap: swap.phrase,
    (Swap, "difference"): lambda swap: format_amount(abs(swap.difference)),
    (list, ""): describe_items,
    (list, "sum"): lambda items: format_amount(sum(item.price for item in items)),
    (CreditCard, ""): describe_method,
    (GiftCard, ""): describe_method,
    (PayPal, ""): describe_method,
    (Address, ""): format_address,
    (float, ""): format_amount,
    (str, "lower"): str.lower,
    (str, ""): str,
    (int, ""): str,
}


def write(thing: object, form: str) -> str:
    """Return how a thing is written."""
    return FORMS[type(thing), form](thing)
