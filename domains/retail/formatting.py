"""How items, payment methods, addresses and amounts are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .models import CreditCard, GiftCard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .models import Address, OrderItem, PaymentMethod, Variant


def describe_method(method: PaymentMethod) -> str:
    """How the customer calls it, such as ``your Visa card ending in 1234``."""
    if isinstance(method, CreditCard):
        brand = {"amex": "American Express"}.get(method.brand, method.brand.capitalize())
        return f"your {brand} card ending in {method.last_four}"
    return "your gift card" if isinstance(method, GiftCard) else "your PayPal account"


def describe_item(item: OrderItem | Variant, name: str = "") -> str:
    """Such as ``Rain Jacket (color navy, size M)``."""
    options = ", ".join(f"{axis} {value}" for axis, value in item.options.items())
    return f"{name or getattr(item, 'name', '')} ({options})"


def describe_items(items: Iterable[OrderItem]) -> str:
    """The items, the last two joined by ``and``."""
    return listed(describe_item(item) for item in items)


def listed(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def format_address(address: Address) -> str:
    """On one line; without a flat where there is none."""
    lines = [address.address1, address.address2, address.city, f"{address.state} {address.zip}", address.country]
    return ", ".join(filter(None, lines))


def with_article(name: str) -> str:
    """A product's name with its article."""
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


def format_amount(amount: float) -> str:
    """As the agent may tell it; a float as such has no second digit where that is 0."""
    return f"{amount:.2f}"


def format_dollars(amount: float) -> str:
    """An amount as it is told."""
    return f"${amount:.2f}"
