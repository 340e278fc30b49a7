"""Items of an order: checks that it has those that a request names, prices of others, the swap itself."""

from typing import NamedTuple

from pytest_tau.environment import ToolError

from .models import Order, RetailDB, Variant


class Offer(NamedTuple):
    """The result of pricing a swap.

    Attributes:
        variants: The new ones, in the order of the request.
        difference: What they cost more than the old items, in USD, not rounded; the integer 0 for no items at all.
    """

    variants: list[Variant]
    difference: float


def require_items(order: Order, item_ids: list[str], refusal: str) -> None:
    """Refuse ids that the request names more often than the order does; ``{}`` in the text is for the id."""
    ordered = [item.item_id for item in order.items]
    for item_id in item_ids:
        # A model may send a text for the list: its characters are then ids that are in no order.
        if item_ids.count(item_id) > ordered.count(item_id):
            raise ToolError(refusal.format(item_id))


def offer(db: RetailDB, order: Order, item_ids: list[str], new_item_ids: list[str], *, new_ones: bool) -> Offer:
    """Price the swap of items for available variants of the same products, pair by pair.

    Args:
        db: Where products are looked up.
        order: Must have the items.
        item_ids: The items to give up.
        new_item_ids: The variants to get for them, as many and in the same order.
        new_ones: Whether each new id must differ from the old one.

    Raises:
        ToolError: A pair is impossible.
    """
    variants: list[Variant] = []
    difference: float = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        if new_ones and item_id == new_item_id:
            raise ToolError("The new item id should be different from the old item id")
        item = next(item for item in order.items if item.item_id == item_id)
        variant = db.variant(item.product_id, new_item_id)
        if not variant.available:
            raise ToolError(f"New item {new_item_id} not found or available")
        variants.append(variant)
        # From left to right: sum() compensates rounding errors from Python 3.12 on, and the noise is recorded.
        difference += variant.price - item.price
    return Offer(variants, difference)


def swap(order: Order, item_ids: list[str], variants: list[Variant]) -> None:
    """Put the variants in the place of the items.

    Source: the reference, where every pair takes price and options of the last pair's variant, and a pair may hit an
    item that an earlier one has just put there.
    """
    for item_id, variant in zip(item_ids, variants, strict=True):
        item = next(item for item in order.items if item.item_id == item_id)
        item.item_id = variant.item_id
        item.price, item.options = variants[-1].price, dict(variants[-1].options)
