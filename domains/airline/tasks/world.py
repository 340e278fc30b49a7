"""The database as scenarios see it: trips, users, and flights that can be booked, found by what they are."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pytest_tau.errors import ConfigurationError

from ..dates import TODAY, add_days
from ..models import Available, Passenger
from ..search import AIRPORTS, onestop_flights
from ..values import VALUES
from .data.timetable import DAYS
from .trips import Trip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_tau.environment import Values

    from ..models import AirlineDB, Cabin, Flight, User
    from .trips import FlightList

T = TypeVar("T")

_NOTHING = "nothing in the database fits the scenario: try another seed"
#: The days that can be booked, but for the first one and the last ones.
COMING = DAYS[DAYS.index(TODAY) + 2 : -3]


def format_date(date: str) -> str:
    """Return a date as people say it: ``May 20``."""
    day = dt.date.fromisoformat(date[:10])
    return f"{day:%B} {day.day}"


class Offer(NamedTuple):
    """Flights that can be booked together, with what they cost each passenger."""

    flights: tuple[Flight, ...]
    dates: tuple[str, ...]
    price: int

    @property
    def ends(self) -> tuple[str, str]:
        """Return the airports where it begins and ends."""
        return self.flights[0].origin, self.flights[-1].destination

    @property
    def flight_list(self) -> FlightList:
        """Return the flights as the tools take them."""
        return [{"flight_number": f.flight_number, "date": d} for f, d in zip(self.flights, self.dates, strict=True)]


class World:
    """The database, the values of the policy, and how often scenarios have used trips and users."""

    def __init__(self, db: AirlineDB, values: Values = VALUES) -> None:
        self.db, self.values = db, values
        self._trips = [Trip(db, trip, db.user(trip.user_id), values) for trip in db.reservations.scan()]
        self._users = list(db.users.scan())
        self._flights: dict[tuple[str, str], list[Flight]] = {}
        for flight in db.flights.scan():
            self._flights.setdefault((flight.origin, flight.destination), []).append(flight)
        self._used: Counter[str] = Counter()

    def trip(self, *, where: Callable[[Trip], object]) -> Trip:
        """Return a trip that meets the condition, the least used first.

        Raises:
            ConfigurationError: There is none.
        """
        return self._choice(self._trips, where, lambda trip: (trip.id, trip.user.user_id))

    def user(self, *, where: Callable[[User], object]) -> User:
        """Return a user who meets the condition, the least used first.

        Raises:
            ConfigurationError: There is none.
        """
        return self._choice(self._users, where, lambda user: (user.user_id,))

    def _choice(self, among: list[T], where: Callable[[T], object], ids: Callable[[T], tuple[str, ...]]) -> T:
        fitting = [candidate for candidate in among if where(candidate)]
        if not fitting:
            raise ConfigurationError(_NOTHING)
        # Whom other values treat differently, a scenario with these values is about first.
        chosen = min(
            fitting,
            key=lambda one: [not getattr(one, "told_apart", False), *(self._used[one_id] for one_id in ids(one))],
        )
        self._used.update(ids(chosen))
        return chosen

    @property
    def days(self) -> Sequence[str]:
        """Return the days on which something can be booked."""
        return COMING

    def choose(self, offers: Iterable[Offer], position: int) -> Offer | None:
        """Return the offer at a position; of fewer offers, counted round and round."""
        listed = list(offers)
        return listed[position % len(listed)] if listed else None

    def pick_offer(self, fits: Callable[[str, str, str], Offer | None], *, skip: int = 0, choices: int = 2) -> Offer:
        """Return an offer of three digits that fits, where so many direct flights go a day.

        Args:
            fits: Returns an offer between two airports on a day, if there is one.
            skip: How many elevens of offers to skip, so that scenarios differ.
            choices: How many direct flights there must be, at least.

        Raises:
            ConfigurationError: There is none.
        """
        ways = ((*ends, date) for date in self.days for ends in self.pairs())
        fitting = (fits(*way) for way in ways if self.count_direct(*way) >= choices)
        return require_found(self.choose((offer for offer in fitting if offer and offer.price >= 100), skip * 11))

    def trips(self, user: User) -> list[Trip]:
        """Return all trips of a user, in the order of the profile."""
        return [next(trip for trip in self._trips if trip.id == trip_id) for trip_id in user.reservations]

    def offers(self, origin: str, destination: str, date: str, cabin: Cabin, people: int = 1) -> list[Offer]:
        """Return direct flights with enough seats, the cheapest first."""
        days = self._open(origin, destination, date)
        direct = [
            Offer((flight,), (date,), day.prices[cabin]) for flight, day in days if day.available_seats[cabin] >= people
        ]
        return sorted(direct, key=lambda offer: offer.price)

    def cheapest(self, origin: str, destination: str, date: str, cabin: Cabin, people: int = 1) -> Offer | None:
        """Return the one cheapest direct flight with enough seats; None where there is none, or more than one."""
        return only_cheapest(self.offers(origin, destination, date, cabin, people))

    def later(self, trip: Trip, position: int, *, choices: int = 1, most_days: int = 3) -> Offer | None:
        """Return the one cheapest flight for a flight of a trip on the first possible later day; the others stay.

        Args:
            trip: Which trip.
            position: Which of its flights.
            choices: How many flights with enough seats there must be on that day, at least.
            most_days: How many days later, at most.
        """
        leg = trip.legs[position]
        end = trip.legs[position + 1].date if position + 1 < len(trip.legs) else DAYS[-1]
        for days in range(1, most_days + 1):
            date = add_days(leg.date, days)
            if TODAY < date < end:
                offers = self.offers(leg.origin, leg.destination, date, trip.cabin, trip.people)
                if len(offers) >= choices and only_cheapest(offers):
                    return offers[0]
        return None

    def count_direct(self, origin: str, destination: str, date: str) -> int:
        """Return how many direct flights a search shows."""
        return len(list(self._open(origin, destination, date)))

    def connections(self, origin: str, destination: str, date: str, cabin: Cabin, people: int = 1) -> list[Offer]:
        """Return connections with one stop that have enough seats, the cheapest first."""
        with_stop = [
            Offer(
                flights=(self.db.flight(first.flight_number), self.db.flight(second.flight_number)),
                dates=(first.date or "", second.date or ""),
                price=first.prices[cabin] + second.prices[cabin],
            )
            for first, second in onestop_flights(self.db.flights, origin, destination, date)
            if min(first.available_seats[cabin], second.available_seats[cabin]) >= people
        ]
        return sorted(with_stop, key=lambda offer: offer.price)

    def pairs(self) -> Iterable[tuple[str, str]]:
        """Return the ends of direct flights."""
        return list(self._flights)

    def unconnected(self) -> Iterable[tuple[str, str]]:
        """Return ends between which nothing flies directly."""
        codes = [code for code, _ in AIRPORTS]
        return [(a, b) for a in codes for b in codes if a != b and (a, b) not in self._flights]

    def _open(self, origin: str, destination: str, date: str) -> Iterator[tuple[Flight, Available]]:
        for flight in self._flights.get((origin, destination), ()):
            day = flight.dates[date]
            if isinstance(day, Available):
                yield flight, day


def require_found(thing: T | None) -> T:
    """Return the thing, which the scenario has made sure of.

    Raises:
        ConfigurationError: It is not there.
    """
    if thing is None:
        raise ConfigurationError(_NOTHING)
    return thing


def only_cheapest(offers: list[Offer]) -> Offer | None:
    """Return the first of offers in order of price; None where there is none, or where the second costs the same."""
    if not offers or (len(offers) > 1 and offers[0].price == offers[1].price):
        return None
    return offers[0]


def as_passenger(user: User) -> Passenger:
    """Return the user as a passenger."""
    return Passenger(first_name=user.name.first_name, last_name=user.name.last_name, dob=user.dob)
