"""Booking: questions in the order in which they are asked, and the price."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...._kit.dialog import Declined, Do
from ...._kit.formatting import join_words
from ...._kit.parsing import is_yes
from ...formatting import full_name
from ...values import free_bags
from .. import parsing
from ..session import Plan
from .flights import Journey, SearchCriteria, accepts_stop, find_preferred, parse_preference
from .payment import ask_for_payments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...._kit.dialog import Talk
    from ...models import Cabin, Passenger
    from ..session import Session

#: How often another day or cabin is asked for.
_SEARCHES = 5
_CABIN = "Which cabin would you like: basic economy, economy or business?"
_FLIGHT = "Which flight would you like: the cheapest, or the one that departs first?"
_BAGS = "How many checked bags will there be?"
_INSURANCE = "Insurance costs ${} for each of you. Do you want travel insurance?"
_LIMIT = re.compile(r"\b(?:spend|pay|limit is|budget (?:is|of)) \$?(\d+)(?: dollars)?\b")
_BACK = re.compile(r"\bback on\b|\band back\b|\bround trip\b|\breturning\b")


class TripRequest(NamedTuple):
    """A route with the days that will do for the way out, and the day of the way back, if there is one."""

    origin: str
    destination: str
    out: list[str]
    back: str = ""

    @property
    def ways(self) -> list[tuple[tuple[str, str], list[str]]]:
        """Return each way with its days."""
        there = ((self.origin, self.destination), self.out)
        return [there, ((self.destination, self.origin), [self.back])] if self.back else [there]


class Itinerary(NamedTuple):
    """The journeys of a booking, with the people who fly and their cabin."""

    cabin: Cabin
    people: Sequence[Passenger]
    journeys: Sequence[Journey]

    @property
    def fares(self) -> int:
        """Return the fares of all passengers, in USD."""
        return len(self.people) * sum(journey.price(self.cabin) for journey in self.journeys)


def book(session: Session, text: str) -> Talk[list[Plan]]:
    """Find out all that a booking needs, and sum it up."""
    user = yield from session.user()
    values = session.values
    trip = yield from _ask_for_trip(session, text)
    (cabin,) = yield from session.find(_CABIN, _parse_cabin, _if_names_cabin(text))
    most = values["max_passengers"]
    people = yield from session.find(
        "Who are the passengers?", lambda answer: _check_party(parsing.passengers(answer, user), answer, most)
    )
    itinerary = yield from _find_itinerary(session, text, trip, Itinerary(cabin, people, ()))
    bags = yield from session.find(_BAGS, parsing.bag_count)
    insured = yield from session.find(_INSURANCE.format(values["insurance_fee"]), _parse_insurance)
    free = free_bags(values, user.membership, itinerary.cabin) * len(people)
    nonfree = max(0, bags - free)
    total = itinerary.fares + values["extra_bag_fee"] * nonfree + values["insurance_fee"] * len(people) * insured
    flights_text = join_words([journey.describe(itinerary.cabin) for journey in itinerary.journeys])
    payments = yield from ask_for_payments(
        session, total, f"I have found {flights_text} each; the total price is ${total}."
    )
    paid = join_words([f"${payment['amount']} by {payment['payment_id']}" for payment in payments])
    return [
        Plan(
            f"I will book {flights_text} each, in {itinerary.cabin.replace('_', ' ')}, for "
            f"{join_words([full_name(person) for person in people])}, with {bags} checked bags, of which {nonfree} "
            f"are paid, and {'with' if insured else 'without'} insurance. The total price is ${total}, paid with "
            f"{paid}.",
            Do(
                "book_reservation",
                {
                    "user_id": session.user_id,
                    "origin": trip.origin,
                    "destination": trip.destination,
                    "flight_type": "round_trip" if trip.back else "one_way",
                    "cabin": itinerary.cabin,
                    "flights": [flight for journey in itinerary.journeys for flight in journey.flight_list],
                    "passengers": [person.model_dump() for person in people],
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
    """Answer what a journey would cost; nothing is booked."""
    user = yield from session.user()
    trip = yield from _ask_for_trip(session, text)
    (cabin,) = yield from session.find(_CABIN, _parse_cabin, _if_names_cabin(text))
    caller = parsing.passengers("me", user)
    count = yield from session.find("How many passengers will there be?", parsing.people_count, text)
    itinerary = yield from _find_itinerary(session, text, trip, Itinerary(cabin, caller * count, ()))
    flights_text = join_words([journey.describe(cabin) for journey in itinerary.journeys])
    return f"That would be {flights_text} each: ${itinerary.fares} in total for {count}, without bags and insurance."


def _ask_for_trip(session: Session, text: str) -> Talk[TripRequest]:
    question = "Where do you want to fly from, and where to?"
    origin, destination = yield from session.find(question, parsing.route, text)
    days = yield from session.find(
        "On which date do you want to fly?", lambda answer: parsing.dates(answer) or None, text
    )
    if _BACK.search(text) and len(days) > 1:
        return TripRequest(origin, destination, [days[0]], days[-1])
    return TripRequest(origin, destination, days)


def _if_names_cabin(text: str) -> str:
    """Return the text if it names a cabin, else nothing."""
    return text if parsing.cabins(text) else ""


def _parse_cabin(text: str) -> list[Cabin] | None:
    cabins = parsing.cabins(text)
    if len(cabins) > 1 and not re.search(r"\bwhichever\b|\binstead of\b", text):
        raise Declined("one reservation has one cabin, for all flights and all passengers")
    return cabins[:1] or None


def _check_party(people: list[Passenger], text: str, most: int) -> list[Passenger] | None:
    if len(people) > most or (parsing.people_count(text) or 0) > most:
        raise Declined(f"a reservation has {most} passengers at most")
    return people or None


def _parse_insurance(text: str) -> bool | None:
    if re.search(r"\bno insurance\b|\bwithout\b|\bnot?\b", text.lower()):
        return False
    return True if is_yes(text) or re.search(r"\binsurance\b", text.lower()) else None


def _find_itinerary(session: Session, text: str, trip: TripRequest, itinerary: Itinerary) -> Talk[Itinerary]:
    """Find the journeys of both ways; the user may take another day or cabin where there is nothing."""
    preference = (
        text
        if parse_preference(text, itinerary.cabin)
        else (yield from session.find(_FLIGHT, _preferring(itinerary.cabin)))
    )
    limit = _LIMIT.search(text)
    problem = ""
    for _ in range(_SEARCHES):
        try:
            return (yield from _search(session, preference, trip, itinerary, int(limit[1]) if limit else None))
        except Declined as declined:
            problem = str(declined)
        question = "Which other day or which other cabin would suit you?"
        answer = yield from session.find(f"Unfortunately {problem}. {question}", _day_or_cabin)
        days, cabins = parsing.dates(answer), parsing.cabins(answer)
        trip = trip._replace(out=days or trip.out)
        itinerary = itinerary._replace(cabin=cabins[0] if cabins else itinerary.cabin)
        preference = answer if parse_preference(answer, itinerary.cabin) else preference
    raise Declined(problem)


def _preferring(cabin: Cabin) -> Callable[[str], str | None]:
    return lambda text: text if parse_preference(text, cabin) else None


def _day_or_cabin(text: str) -> str | None:
    return text if parsing.dates(text) or parsing.cabins(text) else None


def _search(
    session: Session, preference: str, trip: TripRequest, itinerary: Itinerary, limit: int | None
) -> Talk[Itinerary]:
    prefers = parse_preference(preference, itinerary.cabin)
    assert prefers
    criteria = SearchCriteria(itinerary.cabin, len(itinerary.people), prefers, one_stop=accepts_stop(preference))
    journeys: list[Journey] = []
    for ends, days in trip.ways:
        journeys.append((yield from find_preferred(session, ends, days, criteria)))
    complete = itinerary._replace(journeys=tuple(journeys))
    if limit is not None and complete.fares > limit:
        raise Declined(f"in {itinerary.cabin.replace('_', ' ')} it would cost ${complete.fares}, above your limit")
    return complete
