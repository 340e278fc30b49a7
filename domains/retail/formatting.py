"""Items, payment methods, addresses and amounts, as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._kit.formatting import join_words
from .models import CreditCard, GiftCard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .models import Address, OrderItem, PaymentMethod, Variant


def describe_method(method: PaymentMethod) -> str:
    """Return what the customer calls a payment method, such as ``your Visa card ending in 1234``."""
    if isinstance(method, CreditCard):
        brand = {"amex": "American Express"}.get(method.brand, method.brand.capitalize())
        return f"your {brand} card ending in {method.last_four}"
    return "your gift card" if isinstance(method, GiftCard) else "your PayPal account"


def describe_item(item: OrderItem | Variant, name: str = "") -> str:
    """Return an item with its options, such as ``Rain Jacket (color navy, size M)``."""
    options = ", ".join(f"{axis} {value}" for axis, value in item.options.items())
    return f"{name or getattr(item, 'name', '')} ({options})"


def describe_items(items: Iterable[OrderItem]) -> str:
    """Return the items with their options, as an enumeration."""
    return join_words(describe_item(item) for item in items)


def format_address(address: Address) -> str:
    """Return an address on one line; without a flat where there is none."""
    lines = [address.address1, address.address2, address.city, f"{address.state} {address.zip}", address.country]
    return ", ".join(filter(None, lines))


def with_article(name: str) -> str:
    """Return a product's name with its article."""
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


def format_amount(amount: float) -> str:
    """Return an amount with two digits, which a float as such does not have where the last one is 0."""
    return f"{amount:.2f}"


def format_dollars(amount: float) -> str:
    """Return an amount with a dollar sign."""
    return f"${format_amount(amount)}"
