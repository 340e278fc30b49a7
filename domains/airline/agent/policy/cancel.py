"""Cancellation and compensation: the checks of the policy, in its order."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final

from ...._kit.dialog import Declined, Do, HandOver
from ...._kit.formatting import join_words
from ...formatting import spoken
from ...values import may_be_compensated
from .. import parsing
from ..session import Plan
from .reservations import find_reservation, find_reservations

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ...models import Reservation
    from ..session import Session

FLOWN: Final = {"flying", "landed"}
_ONE_TICKET = re.compile(r"\bone (?:ticket|seat|person|passenger)\b|\b(?:his|her|their) ticket\b")
_ONE_WAY = re.compile(r"\bonly (?:the|my) (?:flight|way)\b|\bonly (?:flight )?HAT\d+")


def cancel(session: Session, text: str) -> Talk[list[Plan]]:
    """Cancel one reservation or several, as far as each of them may be."""
    reservations = yield from find_reservations(session, text)
    if not parsing.reservation_ids(text) and len(reservations) > 1:
        reservations = [reservation for reservation in reservations if reservation.status is None]
    yield from _hand_over_flown(session, reservations)
    if _ONE_TICKET.search(text):
        raise Declined("a single passenger cannot be taken out of a reservation, and their number has to stay")
    if _ONE_WAY.search(text):
        raise Declined("a single flight cannot be cancelled, only a reservation as a whole")
    reason = yield from session.find("What is the reason for the cancellation?", _any_text)
    plans: list[Plan] = []
    problems: list[str] = []
    for reservation in reservations:
        problem = yield from _objection(session, reservation, reason)
        if problem:
            problems.append(f"reservation {reservation.reservation_id} cannot be cancelled: {problem}")
        else:
            plans.append(_cancellation(reservation, session.values["refund_days"]))
        session.reservation_id = reservation.reservation_id
    if not plans:
        raise Declined("; ".join(problems))
    session.pending += [f"Unfortunately {problem}." for problem in problems]
    return plans


def _any_text(text: str) -> str | None:
    return text or None


def _hand_over_flown(session: Session, reservations: list[Reservation]) -> Talk[None]:
    for reservation in reservations:
        statuses = yield from session.statuses(reservation)
        if reservation.status is None and FLOWN & set(statuses) and len(reservations) == 1:
            raise HandOver(f"wants to cancel {reservation.reservation_id}, of which a flight has been flown")


def _objection(session: Session, reservation: Reservation, reason: str) -> Talk[str]:
    """Return why a reservation may not be cancelled; empty where it may."""
    statuses = yield from session.statuses(reservation)
    if reservation.status == "cancelled":
        return "that has been done before"
    if FLOWN & set(statuses):
        return "a flight of it has been flown"
    hours = (session.moment - dt.datetime.fromisoformat(reservation.created_at)).total_seconds() / 3600
    covered = reservation.insurance == "yes" and parsing.is_covered(reason, session.values["insured_reasons"])
    most, cabin = session.values["hours_to_cancel"], session.values["cabin_to_cancel"]
    if hours <= most or "cancelled" in statuses or reservation.cabin == cabin or covered:
        return ""
    return (
        f"it was booked more than {most} hours ago, the airline has cancelled no flight of it, it is not in "
        f"{spoken(cabin)}, and there is no insurance that covers the reason"
    )


def _cancellation(reservation: Reservation, days: str) -> Plan:
    refund = sum(payment.amount for payment in reservation.payment_history)
    name = reservation.reservation_id
    return Plan(
        f"I will cancel the whole reservation {name}, with a refund of ${refund} to the original payment methods.",
        Do("cancel_reservation", {"reservation_id": name}),
        f"Reservation {name} has been cancelled. ${refund} will be refunded to the original payment methods within "
        f"{days} business days.",
        refund,
        name,
    )


def compensate(session: Session, text: str) -> Talk[list[Plan]]:
    """Propose a certificate, where the records show the trouble and the policy has one for it."""
    reservation = yield from _reservation_concerned(session, text)
    user = yield from session.user()
    statuses = yield from session.statuses(reservation)
    if not may_be_compensated(session.values, user, reservation):
        memberships = join_words(session.values["compensated_memberships"].split(" or "))
        cabin = session.values["compensated_cabin"]
        classes = f"{spoken(cabin)}{' class' * (cabin == 'business')}"
        raise Declined(
            f"compensation is for {memberships} members, for reservations with insurance and for {classes} only"
        )
    changed = any(plan.reservation_id == reservation.reservation_id for plan in session.done)
    if "cancelled" in statuses:
        per_passenger, why = session.values["certificate_for_cancelled"], "the cancelled flight"
    elif "delayed" not in statuses:
        raise Declined(f"no flight of reservation {reservation.reservation_id} is cancelled or delayed")
    elif not changed:
        raise Declined("for a delay there is compensation only once the reservation has been changed or cancelled")
    else:
        per_passenger, why = session.values["certificate_for_delayed"], "the delayed flight"
    amount, count = per_passenger * len(reservation.passengers), len(reservation.passengers)
    certificate = f"a certificate of ${amount} for {why}: ${per_passenger} for each of the {count} in reservation"
    return [
        Plan(
            f"I will send {certificate} {reservation.reservation_id}.",
            Do("send_certificate", {"user_id": session.user_id, "amount": amount}),
            f"A certificate of ${amount} has been sent to you.",
        )
    ]


def _reservation_concerned(session: Session, text: str) -> Talk[Reservation]:
    """Return the reservation as it was when it was first read, since a change may have replaced the flight."""
    if not parsing.reservation_ids(text) and session.reservation_id:
        return session.before[session.reservation_id]
    reservation = yield from find_reservation(session, text)
    return session.before[reservation.reservation_id]
