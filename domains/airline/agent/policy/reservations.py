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
    found = yield from find_reservations(session, text)
    if len(found) > 1:
        raise Declined("I can do that for one reservation at a time only")
    (one,) = found
    if one.status == "cancelled":
        raise Declined(f"reservation {one.reservation_id} has been cancelled before")
    session.reservation_id = one.reservation_id
    return one


def find_reservations(session: Session, text: str) -> Talk[list[Reservation]]:
    """Find the reservations that are meant.

    Raises:
        Declined: None is found.
    """
    found = yield from _named(session, text)
    if not found and _ALL.search(text):
        return (yield from session.reservations())
    if not found and parsing.route(text):
        found = yield from _described(session, text)
    if not found and session.reservation_id:
        found = [(yield from session.reservation(session.reservation_id))]
    if not found:
        answer = yield from session.ask(_ASK)
        found = yield from _named(session, answer)
        found = found or (yield from _described(session, f"{text} {answer}"))
    if not found:
        raise Declined("I do not find the reservation that you mean")
    return found


def _named(session: Session, text: str) -> Talk[list[Reservation]]:
    found: list[Reservation] = []
    for reservation_id in parsing.reservation_ids(text):
        found += [(yield from session.reservation(reservation_id))]
    return found


def _described(session: Session, text: str) -> Talk[list[Reservation]]:
    """Return the one reservation that fits the places and the days in a text, if there is just one."""
    reservations = [each for each in (yield from session.reservations()) if each.status is None]
    route, days, places = parsing.route(text), set(parsing.dates(text)), parsing.airports(text)
    same_route = [each for each in reservations if (each.origin, each.destination) == route]
    same_day = [each for each in same_route or reservations if days & {leg.date for leg in each.flights}]
    same_place = [each for each in reservations if each.destination in places]
    return next((group for group in (same_route, same_day, same_place) if len(group) == 1), [])
