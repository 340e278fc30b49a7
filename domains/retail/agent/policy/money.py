"""Cancellations, returns and changes of payment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.dialog import Declined, Do
from ...formatting import describe_items, describe_method, format_dollars
from ...models import GiftCard
from ...payments import can_cover, net_paid, order_total
from ...values import cancel_reasons
from .. import parsing
from ..session import Plan, refund_time
from .checks import find_method, require_status

if TYPE_CHECKING:
    from pytest_tau.environment import Values

    from ...._kit.dialog import Talk
    from ...models import CancelReason, Order, OrderItem, PaymentMethod
    from ..session import Session


#: How the agent asks for the reasons that may count, and how it states them.
_ASKED = {"no longer needed": "is the order no longer needed", "ordered by mistake": "was it ordered by mistake"}
_STATED = {"no longer needed": "is no longer needed", "ordered by mistake": "was ordered by mistake"}


def cancel(session: Session, text: str) -> Talk[list[Plan]]:
    """Cancel pending orders, for a reason that counts."""
    counting = [reason for reason in cancel_reasons(session.values) if reason in _ASKED]
    orders = yield from session.find_orders(text, "pending")
    for order in orders:
        require_status(order, "pending", "cancelled")
    why = parsing.cancel_reason(text)
    if why is None:
        question = f"What is the reason: {', or '.join(_ASKED[reason] for reason in counting)}?"
        why = parsing.cancel_reason((yield from session.ask(question)))
    if why is None or why not in counting:
        raise Declined(f"an order can be cancelled only if it {' or '.join(_STATED[reason] for reason in counting)}")
    plans: list[Plan] = []
    for order in orders:
        method = yield from session.paid_by(order)
        plans.append(_cancellation(order, why, method, session.values))
    return plans


def _cancellation(order: Order, why: CancelReason, method: PaymentMethod, values: Values) -> Plan:
    amount = net_paid(order)
    back = f"you get back {_refund(amount, method, values)}"
    return Plan(
        summary=f'I will cancel the whole order {order.order_id} as "{why}"; {back}.',
        call=Do("cancel_pending_order", {"order_id": order.order_id, "reason": why}),
        done=f"Order {order.order_id} has been cancelled; {back}.",
        refund=amount,
    )


def return_items(session: Session, text: str) -> Talk[list[Plan]]:
    """Return delivered items, with the refund to the method that paid or to a gift card."""
    order = yield from session.find_order(text, "delivered")
    require_status(order, "delivered", "returned")
    goods = parsing.items(text, order) or parsing.items(
        (yield from session.ask("Which items do you want to return?")), order
    )
    if not goods:
        raise Declined(f"I do not find these items in order {order.order_id}")
    method = yield from find_method(session, text, order, "Which payment method should the refund go to?")
    if method != (yield from session.paid_by(order)) and not isinstance(method, GiftCard):
        raise Declined("a refund can go only to the method that paid for the order, or to a gift card of yours")
    return [_return(order, goods, method, session.values)]


def _return(order: Order, goods: list[OrderItem], method: PaymentMethod, values: Values) -> Plan:
    amount = sum(item.price for item in goods)
    goods_text = f"{describe_items(goods)} from order {order.order_id}"
    back = f"you get back {_refund(amount, method, values)}"
    ids = [item.item_id for item in goods]
    return Plan(
        summary=f"I will request the return of the {goods_text}, which works only once for an order; {back}.",
        call=Do(
            "return_delivered_order_items",
            {"order_id": order.order_id, "item_ids": ids, "payment_method_id": method.id},
        ),
        done=f"The return of the {goods_text} has been requested; {back}. An email tells you how to send it.",
        refund=amount,
    )


def change_payment(session: Session, text: str) -> Talk[list[Plan]]:
    """Let one other method pay for a pending order."""
    order = yield from session.find_order(text, "pending")
    require_status(order, "pending", "changed")
    before, amount = (yield from session.paid_by(order)), order_total(order)
    if len(order.payment_history) > 1:
        raise Declined("the payment of this order has been changed before")
    method = yield from find_method(session, text, order, "Which payment method should pay for the order?")
    if method == before:
        raise Declined("that method pays for the order already")
    if isinstance(method, GiftCard) and not can_cover(method, amount):
        raise Declined(
            f"your gift card holds {format_dollars(method.balance)}, and the order costs {format_dollars(amount)}"
        )
    back = _refund(amount, before, session.values)
    change = f"{describe_method(method)}, {format_dollars(amount)}; you get back {back}"
    return [
        Plan(
            summary=f"I will change the payment of order {order.order_id} to {change}.",
            call=Do("modify_pending_order_payment", {"order_id": order.order_id, "payment_method_id": method.id}),
            done=f"The payment of order {order.order_id} has been changed to {change}.",
        )
    ]


def _refund(amount: float, method: PaymentMethod, values: Values) -> str:
    return f"{format_dollars(amount)} to {describe_method(method)} {refund_time(method, values)}"
