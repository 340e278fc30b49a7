"""Addresses of orders and profiles, as the rules agent changes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...formatting import said_address
from .. import parsing as reading
from ..session import Declined, Do, Plan
from .checks import require_status

if TYPE_CHECKING:
    from ...models import Address
    from ..session import Desk, Talk

_WHERE_TO = "What is the new address?"


def move_order(desk: Desk, text: str) -> Talk[list[Plan]]:
    """Send pending orders to another address."""
    orders = yield from desk.which_orders(_without_model(text), "pending")
    for order in orders:
        require_status(order, "pending", "sent elsewhere")
    now = orders[0].address
    address = yield from _address(desk, text, now)
    if address is None:
        answer = yield from desk.ask(_WHERE_TO)
        address = yield from _address(desk, answer, now)
    if address is None:
        raise Declined("I need the whole address for that")
    if all(order.address == address for order in orders):
        raise Declined("it goes to that address already, so there is nothing to change")
    return [
        Plan(
            summary=f"I will send order {order.order_id} to {said_address(address)}.",
            call=Do("modify_pending_order_address", {"order_id": order.order_id, **address.model_dump()}),
            done=f"The address of order {order.order_id} has been changed to {said_address(address)}.",
        )
        for order in orders
    ]


def move_profile(desk: Desk, text: str) -> Talk[list[Plan]]:
    """Change the default address; orders keep theirs."""
    user = yield from desk.user()
    address = reading.address(text, user.address)
    if address is None:
        address = reading.address((yield from desk.ask(_WHERE_TO)), user.address)
    if address is None:
        raise Declined("I need the whole address for that")
    if address == user.address:
        raise Declined("this is your default address already, so there is nothing to change")
    return [
        Plan(
            summary=f"I will make {said_address(address)} your default address.",
            call=Do("modify_user_address", {"user_id": user.user_id, **address.model_dump()}),
            done=f"Your default address has been changed to {said_address(address)}.",
        )
    ]


def _without_model(text: str) -> str:
    """The text without the order whose address is to be taken over."""
    return re.sub(r"\b(?:same (?:address|one)|where)\b[^.]*#?W\d{7}", "", text)


def _address(desk: Desk, text: str, now: Address) -> Talk[Address | None]:
    """The address that is written out, or the default one, or that of another order."""
    if written := reading.address(text, now):
        return written
    if re.search(r"\bdefault address|\baddress in my profile|\bhome address", text):
        return (yield from desk.user()).address
    if re.search(r"\bsame\b|\bwent to\b", text):
        for order_id in reading.order_ids(text):
            spoken_of, model = desk.order_id, (yield from desk.order(order_id))
            desk.order_id = spoken_of
            return model.address
    return None
