"""Other versions of items: a change before an order is sent, an exchange after."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...._kit.dialog import Declined, Do
from ...._kit.formatting import join_words
from ...formatting import describe_item, describe_method, format_dollars
from ...models import GiftCard
from ...payments import can_cover
from .. import parsing
from ..session import Plan
from .checks import find_method, require_status

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ...models import Order, OrderItem, PaymentMethod, Variant
    from ..session import Session

    Swaps = tuple[tuple[OrderItem, Variant], ...]

_WHICH_ITEM = "Which item do you want to have in another version?"
_WHICH_VERSION = "Which options should it have instead?"
_WHO_PAYS = "Which payment method should pay or receive the price difference?"
_TOO = re.compile(r"\b(?:too|also|as well)\b")


def change_items(session: Session, text: str) -> Talk[list[Plan]]:
    """Change items of a pending order, or exchange those of a delivered one."""
    order = yield from session.find_order(text, "pending", "delivered")
    if order.status != "delivered":
        require_status(order, "pending", "exchanged" if "exchange" in text else "changed")
    yield from _refuse_other_products(session, text, order)
    swaps = _earlier(session, text, order) + (yield from _swaps(session, text, order))
    method = yield from find_method(session, text, order, _WHO_PAYS)
    difference = round(sum(variant.price - item.price for item, variant in swaps), 2)
    if isinstance(method, GiftCard) and not can_cover(method, difference):
        problem = (
            f"your gift card holds {format_dollars(method.balance)}, and the difference is {format_dollars(difference)}"
        )
        raise Declined(f"{problem}: the card does not cover it")
    return [_plan(order, swaps, method, difference)]


def _earlier(session: Session, text: str, order: Order) -> Swaps:
    """Return what was proposed for the same order, where the customer adds to it."""
    plan = session.proposed_for(order)
    return plan.swaps if plan and _TOO.search(text) else ()


def _refuse_other_products(session: Session, text: str, order: Order) -> Talk[None]:
    """Decline to turn an item into one of another product."""
    if not re.search(r"\bfor an? [A-Z]|\bin the place of\b|\binto an? [A-Z]", text):
        return
    ordered = {item.name for item in order.items}
    for name in (yield from session.catalogue()):
        if name not in ordered and parsing.mentions(text, name):
            raise Declined(f"an item can become another version of the same product only, and no {name}")


def _swaps(session: Session, text: str, order: Order) -> Talk[Swaps]:
    """Find the items, each with the version that it should become."""
    goods = parsing.items(text, order)
    if not goods:
        text = f"{text} {(yield from session.ask(_WHICH_ITEM))}"
        goods = parsing.items(text, order)
    if not goods:
        raise Declined(f"I do not find this item in order {order.order_id}")
    for item in goods:
        if not (yield from _names_version(session, text, item, goods)):
            answer = yield from session.ask(_WHICH_VERSION)
            goods = parsing.items(f"{text} {answer}", order) if "both" in answer.lower() else goods
            text = answer
            break
    swaps: list[tuple[OrderItem, Variant]] = []
    for item in goods:
        swaps += [(item, (yield from _version(session, text, item, goods)))]
    return tuple(swaps)


def _names_version(session: Session, text: str, item: OrderItem, goods: list[OrderItem]) -> Talk[bool]:
    if re.search(r"\b(?:cheapest|most expensive|dearest|exactly the same)\b", text.lower()):
        return True
    product = yield from session.product(item.product_id)
    options = parsing.options(_about(text, item, goods), product)
    return any(item.options.get(axis) != value for axis, value in options.items())


def _about(text: str, item: OrderItem, goods: list[OrderItem]) -> str:
    return parsing.part_about(text, item.name, [other.name for other in goods])


def _version(session: Session, text: str, item: OrderItem, goods: list[OrderItem]) -> Talk[Variant]:
    """Find the version that an item should become; it has to differ, and to be in stock."""
    if re.search(r"\bexactly the same\b", text.lower()):
        raise Declined("an item cannot be exchanged for the very same version, only for one that differs in an option")
    product = yield from session.product(item.product_id)
    variant = parsing.wanted_variant(_about(text, item, goods), item, product)
    if variant is None:
        raise Declined(f"this version of the {item.name} is not available at the moment")
    if variant.item_id == item.item_id:
        raise Declined(f"the {item.name} has just these options already")
    return variant


def _plan(order: Order, swaps: Swaps, method: PaymentMethod, difference: float) -> Plan:
    pending = order.status == "pending"
    pairs = join_words(
        f"the {describe_item(item)} for the {describe_item(variant, item.name)} at {format_dollars(variant.price)}"
        for item, variant in swaps
    )
    pays = "pays" if difference > 0 else "gets back"
    money = f"{describe_method(method)} {pays} the difference of {format_dollars(abs(difference))}"
    deed, after = ("exchange", "nothing has to be ordered anew")
    if pending:
        deed, after = ("change", "afterwards the order can be neither changed nor cancelled")
    return Plan(
        summary=f"In order {order.order_id}, I will {deed} {pairs}; {money}. It works only once for an order; {after}.",
        call=Do(
            "modify_pending_order_items" if pending else "exchange_delivered_order_items",
            {
                "order_id": order.order_id,
                "item_ids": [item.item_id for item, _ in swaps],
                "new_item_ids": [variant.item_id for _, variant in swaps],
                "payment_method_id": method.id,
            },
        ),
        done=f"The {deed} in order {order.order_id} has been made: {pairs}; {money}.",
        refund=max(-difference, 0),
        swaps=swaps,
        last=True,
    )
