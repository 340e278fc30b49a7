"""Checks and questions that several procedures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.dialog import Declined
from .. import parsing

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ...models import Order, OrderStatus, PaymentMethod
    from ..session import Session

#: The meaning of an order's status, for a customer whose request it does not allow.
_MEANING: dict[OrderStatus, str] = {
    "pending": "it has not been sent yet, so it can be cancelled or changed",
    "pending (item modified)": "its items have been changed, and after that nothing else can be changed or cancelled",
    "processed": "it is on its way",
    "delivered": "it has arrived, so items of it can be returned or exchanged",
    "cancelled": "it has been cancelled already",
    "return requested": "a return has been requested for it already",
    "exchange requested": "an exchange has been requested for it already",
}


def require_status(order: Order, status: OrderStatus, deed: str) -> None:
    """Decline what an order's status does not allow.

    Args:
        order: The order.
        status: The status that it must have, with nothing added.
        deed: The requested change, such as ``cancelled``.
    """
    if order.status != status:
        problem = f"order {order.order_id} is {order.status}: {_MEANING[order.status]}"
        raise Declined(f"{problem}. It cannot be {deed}")


def find_method(session: Session, text: str, order: Order, question: str) -> Talk[PaymentMethod]:
    """Find the payment method that the customer names, here or when asked; it has to be in the profile."""
    user, before = (yield from session.user()), (yield from session.paid_by(order))
    mentioned = parsing.payment_method(text, user, before)
    if mentioned is None and (earlier := session.proposed_for(order)) and "payment_method_id" in earlier.call.arguments:
        return user.payment_methods[earlier.call.arguments["payment_method_id"]]
    if mentioned is None:
        mentioned = parsing.payment_method((yield from session.ask(question)), user, before)
    if mentioned is None:
        raise Declined("I need the name of a payment method in your profile for that")
    if mentioned.method is None:
        raise Declined(mentioned.problem)
    return mentioned.method
