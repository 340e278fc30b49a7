"""Answers to questions: each kind with what it is recognised by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...._kit.dialog import Declined
from ...._kit.formatting import join_sentences
from ...._kit.parsing import sentences
from ...formatting import describe_item, describe_method, format_dollars
from ...models import CreditCard
from ...payments import gift_cards, net_paid, order_total
from .. import parsing
from ..requests import is_question

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...._kit.dialog import Talk
    from ...models import Order, User
    from ..session import Session


class Topic(NamedTuple):
    """A kind of question.

    Attributes:
        pattern: What it is recognised by, over a question in lower case; the first row that fits counts.
        answer: Answers it.
        always: Whether it is answered even where a summary of changes follows.
    """

    pattern: str
    answer: Callable[[Session, str, str], Talk[str]]
    always: bool = True


def answers(session: Session, text: str, *, planned: bool) -> Talk[list[str]]:
    """Answer the questions in a text.

    Args:
        session: The conversation so far.
        text: What the customer says.
        planned: Whether a summary of changes follows, which has their amounts itself.
    """
    parts = []
    for question in filter(is_question, sentences(text)):
        topic = next((topic for topic in TOPICS if re.search(topic.pattern, question.lower())), None)
        if topic and (topic.always or not planned):
            parts.append((yield from topic.answer(session, question, text)))
    return parts


def _tracking(session: Session, question: str, text: str) -> Talk[str]:
    order = yield from session.find_order(text if parsing.order_ids(text) else question, "processed", "delivered")
    numbers = [number for parcel in order.fulfillments for number in parcel.tracking_id]
    if not numbers:
        return f"Order {order.order_id} is {order.status}, so it has no tracking id yet."
    return f"The tracking id of order {order.order_id} is {' and '.join(numbers)}."


def _balance(session: Session, question: str, text: str) -> Talk[str]:
    del question, text
    cards = gift_cards((yield from session.user()))
    if not cards:
        return "There is no gift card in your profile."
    parts = [f"Gift card {card.id} holds {format_dollars(card.balance)}." for card in cards]
    if len(cards) > 1:
        parts.append(f"Together they hold {format_dollars(sum(card.balance for card in cards))}.")
    return join_sentences(parts)


def _when(session: Session, question: str, text: str) -> Talk[str]:
    del question, text
    days = session.values["refund_days"]
    return f"A refund to a gift card arrives at once, to any other method within {days} business days."
    yield


def _opinion(session: Session, question: str, text: str) -> Talk[str]:
    del session, question, text
    raise Declined("I have no opinion on what to choose, that is for you to say")
    yield


def _stock(session: Session, question: str, text: str) -> Talk[str]:
    del text
    for name, product_id in (yield from session.catalogue()).items():
        if parsing.mentions(question, name):
            stock = parsing.in_stock((yield from session.product(product_id)))
            cheap, dear = stock[0], stock[-1]
            return (
                f"In stock, the cheapest {describe_item(cheap, name)} costs {format_dollars(cheap.price)}, and the "
                f"most expensive {describe_item(dear, name)} costs {format_dollars(dear.price)}."
            )
    raise Declined("I find no such product in the shop")


def _all_orders(session: Session, question: str, text: str) -> Talk[str]:
    del question, text
    orders = yield from session.orders()
    costs = [f"order {order.order_id} cost {format_dollars(order_total(order))}" for order in orders]
    dearest = max(orders, key=order_total)
    return (
        f"All of your orders: {', '.join(costs)}. In total that is {format_dollars(sum(map(order_total, orders)))}, "
        f"and the most expensive one, {dearest.order_id}, cost {format_dollars(order_total(dearest))}."
    )


def _contents(session: Session, question: str, text: str) -> Talk[str]:
    del question
    return _statement((yield from session.find_order(text)), (yield from session.user()))


def _what_if(session: Session, question: str, text: str) -> Talk[str]:
    """Answer what another version costs, and what it costs more than the one in an order."""
    order = yield from session.find_order(question if parsing.order_ids(question) or session.order_id else text)
    for item in parsing.items(question, order):
        variant = parsing.wanted_variant(question, item, (yield from session.product(item.product_id)))
        if variant is None:
            raise Declined(f"this version of the {item.name} is not available at the moment")
        more = variant.price - item.price
        return (
            f"The {describe_item(variant, item.name)} costs {format_dollars(variant.price)}, which is "
            f"{format_dollars(abs(more))} {'more' if more > 0 else 'less'} than yours at {format_dollars(item.price)}."
        )
    return _statement(order, (yield from session.user()))


def _money(session: Session, question: str, text: str) -> Talk[str]:
    """Answer what was done in this conversation, or else all about an order that has to do with money."""
    if session.done and not parsing.order_ids(question):
        parts = [plan.done for plan in session.done if plan.refund or plan.swaps]
        if len(parts) > 1:
            parts.append(f"In total you get back {format_dollars(sum(plan.refund for plan in session.done))}.")
        return join_sentences(parts or [session.done[-1].done])
    statuses = ("cancelled",) if "cancelled" in text else ()
    about = question if parsing.order_ids(question) or session.order_id else text
    return _statement((yield from session.find_order(about, *statuses)), (yield from session.user()))


def _statement(order: Order, user: User) -> str:
    items = ", ".join(f"{describe_item(item)} at {format_dollars(item.price)}" for item in order.items)
    parts = [f"Order {order.order_id} is {order.status} and holds: {items}."]
    for entry in order.payment_history:
        method = user.payment_methods[entry.payment_method_id]
        digits = f" (last four digits {method.last_four})" if isinstance(method, CreditCard) else ""
        verb = "Paid with" if entry.transaction_type == "payment" else "Refunded to"
        parts.append(f"{verb} {describe_method(method)}{digits}: {format_dollars(entry.amount)}.")
    if len(order.payment_history) > 1:
        parts.append(f"All in all you paid {format_dollars(net_paid(order))}.")
    if order.return_items:
        parts.append(f"For the return you get back {format_dollars(_price_of(order, order.return_items))}.")
    if order.exchange_price_difference is not None:
        parts.append(f"The price difference of the exchange is {format_dollars(abs(order.exchange_price_difference))}.")
    return join_sentences(parts)


def _price_of(order: Order, item_ids: list[str]) -> float:
    prices = {item.item_id: item.price for item in order.items}
    return sum(prices[item_id] for item_id in item_ids)


TOPICS = (
    Topic(r"\bshould i choose\b|\bwould you (?:choose|take)\b|\brecommend\b", _opinion),
    Topic(r"\btracking\b|\bwhere is my (?:parcel|order)\b", _tracking),
    Topic(r"\bbalance\b|\bon (?:my|the) (?:\w+ )?(?:gift )?cards?\b", _balance),
    Topic(r"^when\b|\bhow long\b", _when),
    Topic(r"\bin stock\b", _stock),
    Topic(r"\bmy orders\b", _all_orders),
    Topic(r"\bwhat is in (?:the |my )?order\b", _contents),
    Topic(r"\bwould\b.*\bcost\b", _what_if),
    Topic(
        r"\bhow much\b|\bprice\b|\bcost\b|\bdifference\b|\bdigits\b|\bpaid?\b|\brefunds?\b|\bget back\b|\btotal\b",
        _money,
        always=False,
    ),
)
