"""Answers to questions, for which nothing is to be changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...._kit.formatting import join_words
from ...wallet import Wallet
from .reservations import find_reservations

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ...models import Reservation
    from ..session import Session


def balances(session: Session, text: str) -> Talk[str]:
    """Answer what gift cards and certificates are worth."""
    del text
    wallet = Wallet((yield from session.user()))
    sentences = []
    for name, cards in (("gift cards", wallet.gift_cards), ("certificates", wallet.certificates)):
        balances_text = ", ".join(f"{card.id} over ${card.amount:.0f}" for card in cards) or "none"
        sentences.append(
            f"Your {name}: {balances_text}. Together they are worth ${sum(card.amount for card in cards):.0f}."
        )
    return " ".join(sentences)


def amounts_paid(session: Session, text: str) -> Talk[str]:
    """Answer what was paid for one reservation or for all."""
    reservations = yield from find_reservations(session, text)
    statements = [
        f"for reservation {reservation.reservation_id} you paid ${_paid(reservation)}" for reservation in reservations
    ]
    total = f" In total that is ${sum(map(_paid, reservations))}." if len(statements) > 1 else ""
    return f"Altogether, {join_words(statements)}.{total}"


def _paid(reservation: Reservation) -> int:
    return sum(payment.amount for payment in reservation.payment_history)


def refunds(session: Session, text: str) -> Talk[str]:
    """Answer what comes back by the changes of this conversation."""
    del text
    refunds_text = [f"${plan.refund} for reservation {plan.reservation_id}" for plan in session.done if plan.refund]
    if not refunds_text:
        return "Nothing has been refunded in this conversation."
    return f"You get back {join_words(refunds_text)}. In total that is ${sum(plan.refund for plan in session.done)}."
    yield


def flight_status(session: Session, text: str) -> Talk[str]:
    """Answer the status of the flights of a reservation."""
    sentences = []
    for reservation in (yield from find_reservations(session, text)):
        statuses = yield from session.statuses(reservation)
        pairs = zip(reservation.flights, statuses, strict=True)
        sentences += [f"Flight {leg.flight_number} on {leg.date}: {_describe_status(status)}." for leg, status in pairs]
    return " ".join(sentences)


def _describe_status(status: str) -> str:
    return re.sub("^available$", "it will leave as planned", status)
