"""Changes of the addresses of orders and profiles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...._kit.dialog import Declined, Do
from ...formatting import format_address
from .. import parsing
from ..session import Plan
from .checks import require_status

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ...models import Address
    from ..session import Session

_WHERE_TO = "What is the new address?"


def change_order_address(session: Session, text: str) -> Talk[list[Plan]]:
    """Send pending orders to another address."""
    orders = yield from session.find_orders(_without_model_order(text), "pending")
    for order in orders:
        require_status(order, "pending", "sent elsewhere")
    now = orders[0].address
    address = yield from _address(session, text, now)
    if address is None:
        answer = yield from session.ask(_WHERE_TO)
        address = yield from _address(session, answer, now)
    if address is None:
        raise Declined("I need the whole address for that")
    if all(order.address == address for order in orders):
        raise Declined("it goes to that address already, so there is nothing to change")
    return [
        Plan(
            summary=f"I will send order {order.order_id} to {format_address(address)}.",
            call=Do("modify_pending_order_address", {"order_id": order.order_id, **address.model_dump()}),
            done=f"The address of order {order.order_id} has been changed to {format_address(address)}.",
        )
        for order in orders
    ]


def change_profile_address(session: Session, text: str) -> Talk[list[Plan]]:
    """Change the default address; orders keep theirs."""
    user = yield from session.user()
    address = parsing.address(text, user.address)
    if address is None:
        address = parsing.address((yield from session.ask(_WHERE_TO)), user.address)
    if address is None:
        raise Declined("I need the whole address for that")
    if address == user.address:
        raise Declined("this is your default address already, so there is nothing to change")
    return [
        Plan(
            summary=f"I will make {format_address(address)} your default address.",
            call=Do("modify_user_address", {"user_id": user.user_id, **address.model_dump()}),
            done=f"Your default address has been changed to {format_address(address)}.",
        )
    ]


def _without_model_order(text: str) -> str:
    """Return the text without the order whose address is to be taken over."""
    return re.sub(r"\b(?:same (?:address|one)|where)\b[^.]*#?W\d{7}", "", text)


def _address(session: Session, text: str, now: Address) -> Talk[Address | None]:
    """Find the address that is written out, or the default one, or that of another order."""
    if written := parsing.address(text, now):
        return written
    if re.search(r"\bdefault address|\baddress in my profile|\bhome address", text):
        return (yield from session.user()).address
    if re.search(r"\bsame\b|\bwent to\b", text):
        for order_id in parsing.order_ids(text):
            mentioned, model = session.order_id, (yield from session.order(order_id))
            session.order_id = mentioned
            return model.address
    return None
