"""Changing flights and cabins: what has to stay, what it costs, who pays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...._kit.dialog import Declined, Do
from ...._kit.formatting import join_words
from ...dates import add_days
from ...formatting import spoken
from .. import parsing
from ..session import Plan
from .cancel import FLOWN
from .flights import Journey, SearchCriteria, find_preferred, parse_preference, search_journeys
from .payment import ask_for_card
from .reservations import find_reservation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...._kit.dialog import Talk
    from ...models import Cabin, Leg, Reservation
    from ..session import Session

_WHICH_FLIGHT = "Which flight would you like: the cheapest, or the one that departs first?"
_WHICH_WAY = "Do you mean the flight of the way out, or of the way back?"
_WHICH_DAY = "To which day should the flight be moved?"
_BACK = r"\bway back\b|\bback home\b|\bfly home\b|\bcome home\b|\breturn flight\b|\bflight back\b"
_OUT = r"\bway out\b|\bflight there\b|\boutbound\b"
_SINGLE_PERSON = re.compile(r"\bI myself stay\b|\bonly (?:me|one|[A-Z])\w*|\bfor one (?:person|of us)\b")
_SINGLE_WAY = re.compile(rf"(?:{_BACK}|{_OUT})")


def change_flights(session: Session, text: str) -> Talk[list[Plan]]:
    """Move one or all flights of a reservation to other days."""
    reservation = yield from find_reservation(session, text)
    if reservation.cabin == session.values["cabin_without_changes"]:
        raise Declined(f"the flights of a reservation in {spoken(reservation.cabin)} cannot be changed")
    places = {reservation.origin, reservation.destination, *(leg.origin for leg in reservation.flights)}
    if parsing.airports(text) - places:
        raise Declined("origin and destination of a reservation have to stay as they are")
    statuses = yield from session.statuses(reservation)
    moves = yield from _find_moves(session, text, reservation, statuses)
    if any(statuses[position] in FLOWN for position in moves):
        raise Declined("a flight that has been flown cannot be changed")
    new = yield from _new_flights(session, text, reservation, moves)
    return [(yield from _plan(session, reservation, new, reservation.cabin))]


def _find_moves(session: Session, text: str, reservation: Reservation, statuses: list[str]) -> Talk[dict[int, str]]:
    """Find the new day of each flight that moves, by its position."""
    legs = reservation.flights
    last = len(legs) - 1
    both = re.search(rf"(?:{_OUT})(.*)(?:{_BACK})(.*)", text, re.DOTALL)
    if both and parsing.dates(both[1]) and parsing.dates(both[2]):
        return {0: parsing.dates(both[1])[-1], last: parsing.dates(both[2])[0]}
    booked = [leg.date for leg in legs]
    dates = parsing.dates(text)
    new = [date for date in dates if date not in booked] or (dates if len(dates) > 1 else [])
    positions = list(range(len(legs))) if _is_connection(reservation) else _positions_in(text, legs, statuses)
    days = parsing.days_later(text)
    if not new and days:
        return {position: add_days(booked[position], days) for position in positions or range(len(legs))}
    if not positions:
        positions = yield from session.find(_WHICH_WAY, lambda answer: _positions_in(answer, legs, []) or None)
    new = new or (yield from session.find(_WHICH_DAY, lambda answer: parsing.dates(answer) or None))
    return dict.fromkeys(positions, new[-1])


def _is_connection(reservation: Reservation) -> bool:
    return reservation.flight_type == "one_way" and len(reservation.flights) > 1


def _positions_in(text: str, legs: Sequence[Leg], statuses: Sequence[str]) -> list[int]:
    """Return the positions of the flights that a text is about; none where it does not say."""
    if len(legs) == 1:
        return [0]
    if re.search(_BACK, text):
        return [len(legs) - 1]
    if re.search(_OUT, text):
        return [0]
    by_day = [position for position, leg in enumerate(legs) if leg.date in parsing.dates(text)]
    by_place = [position for position, leg in enumerate(legs) if leg.origin == parsing.origin(text)]
    # Somebody who mentions a flight that does not fly, or not in time, means that one.
    by_trouble = [position for position, status in enumerate(statuses) if status not in {*FLOWN, "available"}]
    left = [position for position, status in enumerate(statuses) if status not in FLOWN]
    return next((positions for positions in (by_day, by_place, by_trouble, left) if len(positions) == 1), [])


def _new_flights(session: Session, text: str, reservation: Reservation, moves: dict[int, str]) -> Talk[list[Any]]:
    """Find all flights of the reservation from now on: legs that stay, journeys that are new."""
    legs, cabin = reservation.flights, reservation.cabin
    if _is_connection(reservation):
        return [(yield from _same_connection(session, reservation, moves[0]))]
    prefers = yield from session.find(_WHICH_FLIGHT, lambda answer: parse_preference(answer, cabin), text)
    criteria = SearchCriteria(cabin, len(reservation.passengers), prefers)
    new: list[Any] = []
    for position, leg in enumerate(legs):
        if position in moves:
            new.append((yield from find_preferred(session, (leg.origin, leg.destination), [moves[position]], criteria)))
        else:
            new.append(leg)
    return new


def _same_connection(session: Session, reservation: Reservation, date: str) -> Talk[Journey]:
    """Find the flights of a journey with a stop on another day."""
    numbers = [leg.flight_number for leg in reservation.flights]
    journeys = yield from search_journeys(session, (reservation.origin, reservation.destination), date, one_stop=True)
    seats, cabin = len(reservation.passengers), reservation.cabin
    for journey in journeys:
        if journey.numbers == numbers and all(flight.available_seats[cabin] >= seats for flight in journey.flights):
            return journey
    raise Declined(f"flights {join_words(numbers)} cannot be booked together on {date}")


def change_cabin(session: Session, text: str) -> Talk[list[Plan]]:
    """Move a whole reservation to another cabin."""
    reservation = yield from find_reservation(session, text)
    statuses = yield from session.statuses(reservation)
    if FLOWN & set(statuses):
        raise Declined("the cabin cannot be changed once a flight of the reservation has been flown")
    if _SINGLE_PERSON.search(text):
        raise Declined("the cabin can be changed for all passengers together only")
    if _SINGLE_WAY.search(text) and "both ways" not in text:
        raise Declined("the cabin can be changed for all flights together only")
    (cabin,) = yield from session.find("Which cabin would you like?", _other_cabin(reservation), text)
    new: list[Any] = []
    for leg in reservation.flights:
        same = parse_preference(leg.flight_number, cabin)
        assert same
        criteria = SearchCriteria(cabin, len(reservation.passengers), same)
        new.append((yield from find_preferred(session, (leg.origin, leg.destination), [leg.date], criteria)))
    return [(yield from _plan(session, reservation, new, cabin))]


def _other_cabin(reservation: Reservation) -> Callable[[str], list[Cabin] | None]:
    return lambda text: [cabin for cabin in parsing.cabins(text) if cabin != reservation.cabin][:1] or None


def _plan(session: Session, reservation: Reservation, new: Sequence[Leg | Journey], cabin: Cabin) -> Talk[Plan]:
    """Propose the change with its price, once it is known who pays."""
    prices = [part.price(cabin) if isinstance(part, Journey) else part.price for part in new]
    people = len(reservation.passengers)
    price = people * (sum(prices) - sum(leg.price for leg in reservation.flights))
    class_ = cabin.replace("_", " ")
    money = f"costs ${price}" if price >= 0 else f"gives you back ${-price}"
    statement = f"The change of reservation {reservation.reservation_id} in {class_} {money} in total."
    method = yield from ask_for_card(session, price, statement)
    flights = [flight for part in new for flight in _flight_records(part)]
    flights_text = join_words([f"{flight['flight_number']} on {flight['date']}" for flight in flights])
    return Plan(
        f"I will change reservation {reservation.reservation_id} to {flights_text} in {class_} for all {people}. That "
        f"{money} in total, by {method.id}.",
        Do(
            "update_reservation_flights",
            {
                "reservation_id": reservation.reservation_id,
                "cabin": cabin,
                "flights": flights,
                "payment_id": method.id,
            },
        ),
        f"Reservation {reservation.reservation_id} has been changed. That {money} in total, by {method.id}.",
        max(0, -price),
        reservation.reservation_id,
    )


def _flight_records(part: Leg | Journey) -> list[dict[str, str]]:
    if isinstance(part, Journey):
        return part.flight_list
    return [{"flight_number": part.flight_number, "date": part.date}]
