"""Reservations that a user means: by id, by what was mentioned last, by route and day, or on request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...._kit.dialog import Declined
from .. import parsing

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ...models import Reservation
    from ..session import Session

_ALL = re.compile(
    r"\b(?:all|each)(?: of)? my (?:\w+ )?(?:reservations|bookings|trips|flights)\b|\bevery (?:trip|reservation)\b",
    re.IGNORECASE,
)
_ASK = "What is the reservation id?"


def find_reservation(session: Session, text: str) -> Talk[Reservation]:
    """Find the one reservation that is meant.

    Raises:
        Declined: It is not found, or it has been cancelled.
    """
    reservations = yield from find_reservations(session, text)
    if len(reservations) > 1:
        raise Declined("I can do that for one reservation at a time only")
    (reservation,) = reservations
    if reservation.status == "cancelled":
        raise Declined(f"reservation {reservation.reservation_id} has been cancelled before")
    session.reservation_id = reservation.reservation_id
    return reservation


def find_reservations(session: Session, text: str) -> Talk[list[Reservation]]:
    """Find the reservations that are meant.

    Raises:
        Declined: None is found.
    """
    reservations = yield from _named(session, text)
    if not reservations and _ALL.search(text):
        return (yield from session.reservations())
    if not reservations and parsing.route(text):
        reservations = yield from _described(session, text)
    if not reservations and session.reservation_id:
        reservations = [(yield from session.reservation(session.reservation_id))]
    if not reservations:
        answer = yield from session.ask(_ASK)
        reservations = yield from _named(session, answer)
        reservations = reservations or (yield from _described(session, f"{text} {answer}"))
    if not reservations:
        raise Declined("I do not find the reservation that you mean")
    return reservations


def _named(session: Session, text: str) -> Talk[list[Reservation]]:
    reservations: list[Reservation] = []
    for reservation_id in parsing.reservation_ids(text):
        reservations += [(yield from session.reservation(reservation_id))]
    return reservations


def _described(session: Session, text: str) -> Talk[list[Reservation]]:
    """Return the one reservation that fits the places and the days in a text, if there is just one."""
    reservations = [reservation for reservation in (yield from session.reservations()) if reservation.status is None]
    route, days, places = parsing.route(text), set(parsing.dates(text)), parsing.airports(text)
    same_route = [reservation for reservation in reservations if (reservation.origin, reservation.destination) == route]
    same_day = [
        reservation for reservation in same_route or reservations if days & {leg.date for leg in reservation.flights}
    ]
    same_place = [reservation for reservation in reservations if reservation.destination in places]
    return next((group for group in (same_route, same_day, same_place) if len(group) == 1), [])
