"""Which reservations a user means: by id, by what was spoken of, by the way and the day, or on request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .. import parsing as reading
from ..session import Declined

if TYPE_CHECKING:
    from ...models import Reservation
    from ..session import Desk, Talk

_ALL = re.compile(
    r"\b(?:all|each)(?: of)? my (?:\w+ )?(?:reservations|bookings|trips|flights)\b|\bevery (?:trip|reservation)\b",
    re.IGNORECASE,
)
_ASK = "What is the reservation id?"


def which(desk: Desk, text: str) -> Talk[Reservation]:
    """The one reservation that is meant.

    Raises:
        Declined: It is not found, or it has been cancelled.
    """
    found = yield from which_ones(desk, text)
    if len(found) > 1:
        raise Declined("I can do that for one reservation at a time only")
    (one,) = found
    if one.status == "cancelled":
        raise Declined(f"reservation {one.reservation_id} has been cancelled before")
    desk.reservation_id = one.reservation_id
    return one


def which_ones(desk: Desk, text: str) -> Talk[list[Reservation]]:
    """The reservations that are meant.

    Raises:
        Declined: None is found.
    """
    found = yield from _named(desk, text)
    if not found and _ALL.search(text):
        return (yield from desk.reservations())
    if not found and reading.way(text):
        found = yield from _described(desk, text)
    if not found and desk.reservation_id:
        found = [(yield from desk.reservation(desk.reservation_id))]
    if not found:
        answer = yield from desk.ask(_ASK)
        found = yield from _named(desk, answer)
        found = found or (yield from _described(desk, f"{text} {answer}"))
    if not found:
        raise Declined("I do not find the reservation that you mean")
    return found


def _named(desk: Desk, text: str) -> Talk[list[Reservation]]:
    found: list[Reservation] = []
    for reservation_id in reading.reservation_ids(text):
        found += [(yield from desk.reservation(reservation_id))]
    return found


def _described(desk: Desk, text: str) -> Talk[list[Reservation]]:
    """The one reservation that the places and the days in a text are those of."""
    reservations = [each for each in (yield from desk.reservations()) if each.status is None]
    way, days, places = reading.way(text), set(reading.dates(text)), reading.destinations(text)
    same_way = [each for each in reservations if (each.origin, each.destination) == way]
    same_day = [each for each in same_way or reservations if days & {leg.date for leg in each.flights}]
    same_place = [each for each in reservations if each.destination in places]
    return next((group for group in (same_way, same_day, same_place) if len(group) == 1), [])
