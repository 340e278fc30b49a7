"""Searches for flights, and which of several a user prefers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...._kit.dialog import Declined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...._kit.dialog import Talk
    from ...models import Cabin, DirectFlight
    from ..session import Session

_ONE_STOP = re.compile(r"\b(?:one[- ]stop|connections?|with (?:one|a) stop)\b")
_HHMM = slice(0, 5)


class Journey(NamedTuple):
    """Flights that are booked together, one way."""

    flights: tuple[DirectFlight, ...]

    @property
    def flight_list(self) -> list[dict[str, str]]:
        """Return the flights as the tools take them."""
        return [{"flight_number": flight.flight_number, "date": flight.date or ""} for flight in self.flights]

    @property
    def numbers(self) -> list[str]:
        """Return the flight numbers."""
        return [flight.flight_number for flight in self.flights]

    def price(self, cabin: Cabin) -> int:
        """Return the price for each passenger, in USD."""
        return sum(flight.prices[cabin] for flight in self.flights)

    def describe(self, cabin: Cabin) -> str:
        """Return a description: numbers, days, times and price."""
        descriptions = [
            f"{flight.flight_number} on {flight.date} from {flight.origin} at "
            f"{flight.scheduled_departure_time_est[_HHMM]} to {flight.destination}"
            for flight in self.flights
        ]
        return f"{' and then '.join(descriptions)} for ${self.price(cabin)}"


class SearchCriteria(NamedTuple):
    """Criteria of a search: cabin, seats, and which one of several journeys."""

    cabin: Cabin
    seats: int
    prefers: Callable[[Sequence[Journey]], Journey | None]
    one_stop: bool = False


def search_journeys(session: Session, route: tuple[str, str], date: str, *, one_stop: bool) -> Talk[list[Journey]]:
    """Search what can be booked on a day, direct or with one stop."""
    if one_stop:
        return [Journey(tuple(pair)) for pair in (yield from session.onestop(*route, date))]
    return [Journey((flight,)) for flight in (yield from session.direct(*route, date))]


def find_preferred(
    session: Session, route: tuple[str, str], dates: Sequence[str], criteria: SearchCriteria
) -> Talk[Journey]:
    """Find the preferred journey of some days.

    Raises:
        Declined: There is none with enough seats.
    """
    journeys: list[Journey] = []
    for one_stop in (False, True) if criteria.one_stop else (False,):
        for date in dates:
            results = yield from search_journeys(session, route, date, one_stop=one_stop)
            journeys += [journey for journey in results if _free_seats(journey, criteria.cabin) >= criteria.seats]
        chosen = criteria.prefers(journeys) if journeys else None
        if chosen:
            return chosen
    days = " or ".join(dates)
    cabin = criteria.cabin.replace("_", " ")
    raise Declined(
        f"I find no such flight with {criteria.seats} free seats in {cabin} from {route[0]} to {route[1]} on {days}"
    )


def _free_seats(journey: Journey, cabin: Cabin) -> int:
    return min(flight.available_seats[cabin] for flight in journey.flights)


def parse_preference(text: str, cabin: Cabin) -> Callable[[Sequence[Journey]], Journey | None] | None:
    """Return how a user chooses among journeys; None where the text does not say."""
    low = text.lower()
    numbers = re.findall(r"\bHAT\d{3}\b", text)
    if numbers:
        return lambda found: next((journey for journey in found if journey.numbers == numbers), None)
    if re.search(r"\bnext morning\b|\bovernight\b", low):
        return lambda found: next((journey for journey in found if "+1" in _arrival(journey)), None)
    if re.search(r"\bdeparts? first\b|\bearliest\b|\bfirst flight\b|\bleaves first\b", low):
        return lambda found: min(found, key=_departure)
    if re.search(r"\blatest\b|\bdeparts? last\b|\blast flight\b", low):
        return lambda found: max(found, key=_departure)
    if re.search(r"\bcheapest\b|\blowest (?:price|fare)\b|\bleast expensive\b", low):
        return lambda found: min(found, key=lambda one: one.price(cabin))
    return None


def accepts_stop(text: str) -> bool:
    """Return whether a connection will do where nothing flies directly."""
    return bool(_ONE_STOP.search(text.lower()))


def _departure(journey: Journey) -> str:
    return journey.flights[0].scheduled_departure_time_est


def _arrival(journey: Journey) -> str:
    return journey.flights[-1].scheduled_arrival_time_est
