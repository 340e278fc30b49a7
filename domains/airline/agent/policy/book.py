"""Booking: what has to be found out, in the order in which it is asked, and the price that it comes to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...._kit.dialog import Declined, Do
from ...._kit.formatting import join_words
from ...._kit.parsing import is_yes
from ...formatting import full_name
from ...pricing import BAG_PRICE, INSURANCE_PRICE, free_bags
from .. import parsing
from ..session import Plan
from .flights import Journey, SearchCriteria, accepts_stop, find_preferred, parse_preference
from .payment import ask_for_payments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...._kit.dialog import Talk
    from ...models import Cabin, Passenger
    from ..session import Session

MOST_PASSENGERS = 5
_CABIN = "Which cabin would you like: basic economy, economy or business?"
_FLIGHT = "Which flight would you like: the cheapest, or the one that departs first?"
_BAGS = "How many checked bags will there be?"
_INSURANCE = f"Insurance costs ${INSURANCE_PRICE} for each of you. Do you want travel insurance?"
_LIMIT = re.compile(r"\b(?:spend|pay|limit is|budget (?:is|of)) \$?(\d+)(?: dollars)?\b")
_BACK = re.compile(r"\bback on\b|\band back\b|\bround trip\b|\breturning\b")


class TripRequest(NamedTuple):
    """Where to and when: the days that will do for the way out, and the day of the way back, if there is one."""

    origin: str
    destination: str
    out: list[str]
    back: str = ""

    @property
    def ways(self) -> list[tuple[tuple[str, str], list[str]]]:
        """Each way with its days."""
        there = ((self.origin, self.destination), self.out)
        return [there, ((self.destination, self.origin), [self.back])] if self.back else [there]


class Itinerary(NamedTuple):
    """What is booked on the flights: who flies in which cabin, for how much each."""

    cabin: Cabin
    people: Sequence[Passenger]
    journeys: Sequence[Journey]

    @property
    def fares(self) -> int:
        """For all."""
        return len(self.people) * sum(journey.price(self.cabin) for journey in self.journeys)


def book(session: Session, text: str) -> Talk[list[Plan]]:
    """Find out all that a booking needs, and sum it up."""
    user = yield from session.user()
    trip = yield from _ask_for_trip(session, text)
    (cabin,) = yield from session.find(_CABIN, _parse_cabin, _if_names_cabin(text))
    people = yield from session.find(
        "Who are the passengers?", lambda told: _check_party(parsing.passengers(told, user), told)
    )
    seats = yield from _find_itinerary(session, text, trip, Itinerary(cabin, people, ()))
    bags = yield from session.find(_BAGS, parsing.bag_count)
    insured = yield from session.find(_INSURANCE, _parse_insurance)
    free = free_bags(user.membership, seats.cabin) * len(people)
    nonfree = max(0, bags - free)
    total = seats.fares + BAG_PRICE * nonfree + INSURANCE_PRICE * len(people) * insured
    listed = join_words([journey.said(seats.cabin) for journey in seats.journeys])
    payments = yield from ask_for_payments(session, total, f"I have found {listed} each; the total price is ${total}.")
    paid = join_words([f"${payment['amount']} by {payment['payment_id']}" for payment in payments])
    return [
        Plan(
            f"I will book {listed} each, in {seats.cabin.replace('_', ' ')}, for "
            f"{join_words([full_name(one) for one in people])}, with {bags} checked bags, of which {nonfree} "
            f"are paid, and {'with' if insured else 'without'} insurance. The total price is ${total}, paid with "
            f"{paid}.",
            Do(
                "book_reservation",
                {
                    "user_id": session.user_id,
                    "origin": trip.origin,
                    "destination": trip.destination,
                    "flight_type": "round_trip" if trip.back else "one_way",
                    "cabin": seats.cabin,
                    "flights": [flight for journey in seats.journeys for flight in journey.wanted],
                    "passengers": [one.model_dump() for one in people],
                    "payment_methods": payments,
                    "total_baggages": bags,
                    "nonfree_baggages": nonfree,
                    "insurance": "yes" if insured else "no",
                },
            ),
            f"The flights have been booked. The total price is ${total}.",
        )
    ]


def price(session: Session, text: str) -> Talk[str]:
    """What a journey would cost; nothing is booked."""
    user = yield from session.user()
    trip = yield from _ask_for_trip(session, text)
    (cabin,) = yield from session.find(_CABIN, _parse_cabin, _if_names_cabin(text))
    own = parsing.passengers("me", user)
    count = yield from session.find("How many passengers will there be?", parsing.people_count, text)
    seats = yield from _find_itinerary(session, text, trip, Itinerary(cabin, own * count, ()))
    listed = join_words([journey.said(cabin) for journey in seats.journeys])
    return f"That would be {listed} each: ${seats.fares} in total for {count}, without bags and insurance."


def _ask_for_trip(session: Session, text: str) -> Talk[TripRequest]:
    question = "Where do you want to fly from, and where to?"
    origin, destination = yield from session.find(question, parsing.route, text)
    days = yield from session.find("On which date do you want to fly?", lambda told: parsing.dates(told) or None, text)
    if _BACK.search(text) and len(days) > 1:
        return TripRequest(origin, destination, [days[0]], days[-1])
    return TripRequest(origin, destination, days)


def _if_names_cabin(text: str) -> str:
    """The text as far as it can name the cabin that is wanted."""
    return text if parsing.cabins(text) else ""


def _parse_cabin(text: str) -> list[Cabin] | None:
    found = parsing.cabins(text)
    if len(found) > 1 and not re.search(r"\bwhichever\b|\binstead of\b", text):
        raise Declined("one reservation has one cabin, for all flights and all passengers")
    return found[:1] or None


def _check_party(people: list[Passenger], text: str) -> list[Passenger] | None:
    if len(people) > MOST_PASSENGERS or (parsing.people_count(text) or 0) > MOST_PASSENGERS:
        raise Declined(f"a reservation has {MOST_PASSENGERS} passengers at most")
    return people or None


def _parse_insurance(text: str) -> bool | None:
    if re.search(r"\bno insurance\b|\bwithout\b|\bnot?\b", text.lower()):
        return False
    return True if is_yes(text) or re.search(r"\binsurance\b", text.lower()) else None


def _find_itinerary(session: Session, text: str, trip: TripRequest, seats: Itinerary) -> Talk[Itinerary]:
    """The journeys of both ways; the user may take another day or cabin where there is nothing."""
    said = text if parse_preference(text, seats.cabin) else (yield from session.find(_FLIGHT, _preferring(seats.cabin)))
    limit = _LIMIT.search(text)
    problem = ""
    for _ in range(MOST_PASSENGERS):
        try:
            return (yield from _search(session, said, trip, seats, int(limit[1]) if limit else None))
        except Declined as declined:
            problem = str(declined)
        question = "Which other day or which other cabin would suit you?"
        answer = yield from session.find(f"Unfortunately {problem}. {question}", _day_or_cabin)
        days, cabins = parsing.dates(answer), parsing.cabins(answer)
        trip = trip._replace(out=days or trip.out)
        seats = seats._replace(cabin=cabins[0] if cabins else seats.cabin)
        said = answer if parse_preference(answer, seats.cabin) else said
    raise Declined(problem)


def _preferring(cabin: Cabin) -> Callable[[str], str | None]:
    return lambda text: text if parse_preference(text, cabin) else None


def _day_or_cabin(text: str) -> str | None:
    return text if parsing.dates(text) or parsing.cabins(text) else None


def _search(session: Session, said: str, trip: TripRequest, seats: Itinerary, limit: int | None) -> Talk[Itinerary]:
    prefers = parse_preference(said, seats.cabin)
    assert prefers
    wanted = SearchCriteria(seats.cabin, len(seats.people), prefers, one_stop=accepts_stop(said))
    found: list[Journey] = []
    for way, days in trip.ways:
        found.append((yield from find_preferred(session, way, days, wanted)))
    complete = seats._replace(journeys=tuple(found))
    if limit is not None and complete.fares > limit:
        raise Declined(f"in {seats.cabin.replace('_', ' ')} it would cost ${complete.fares}, above your limit")
    return complete
