"""Finding flights that can be booked; shared records are read in database order and never copied."""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pytest_tau.environment import Table

from .models import Available, DirectFlight, Flight

#: Codes and cities, in the order in which they are listed.
AIRPORTS: Final = (
    ("SFO", "San Francisco"),
    ("JFK", "New York"),
    ("LAX", "Los Angeles"),
    ("ORD", "Chicago"),
    ("DFW", "Dallas"),
    ("DEN", "Denver"),
    ("SEA", "Seattle"),
    ("ATL", "Atlanta"),
    ("MIA", "Miami"),
    ("BOS", "Boston"),
    ("PHX", "Phoenix"),
    ("IAH", "Houston"),
    ("LAS", "Las Vegas"),
    ("MCO", "Orlando"),
    ("EWR", "Newark"),
    ("CLT", "Charlotte"),
    ("MSP", "Minneapolis"),
    ("DTW", "Detroit"),
    ("PHL", "Philadelphia"),
    ("LGA", "LaGuardia"),
)


class _Found(NamedTuple):
    flight: Flight
    day: Available


def direct_flights(
    flights: Table[Flight], origin: str | None, destination: str | None, date: str
) -> list[DirectFlight]:
    """Return flights between two airports on a day that can be booked, also where no seat is left.

    Args:
        flights: All flights.
        origin: Code of an airport; None for any.
        destination: Code of an airport; None for any.
        date: Day of departure, YYYY-MM-DD. Source: τ²-bench v1.0.1: not repeated in what is found.
    """
    return [_shown(flight) for flight in _search(flights.scan(), origin, destination, date)]


def onestop_flights(
    flights: Table[Flight], origin: str | None, destination: str | None, date: str
) -> list[list[DirectFlight]]:
    """Return pairs of flights by way of a third airport, each with its day of departure.

    The second leaves on the day of the first one's arrival, at its scheduled time or later.

    Source: τ²-bench v1.0.1: times are compared as text, so that after an arrival with ``+1`` the second flight
    cannot leave in the very same minute.
    """
    departing: dict[str, list[Flight]] = {}
    for flight in flights.scan():
        departing.setdefault(flight.origin, []).append(flight)
    return [
        [_shown(first, date), _shown(second, onward)]
        for first in _search(flights.scan(), origin, None, date)
        for onward in (_day_of_arrival(first.flight, date),)
        for second in _search(departing.get(first.flight.destination, ()), None, destination, onward)
        if second.flight.scheduled_departure_time_est >= first.flight.scheduled_arrival_time_est
    ]


def _search(flights: Iterable[Flight], origin: str | None, destination: str | None, date: str) -> Iterator[_Found]:
    for flight in flights:
        if origin in (None, flight.origin) and destination in (None, flight.destination):
            day = flight.dates.get(date)
            if isinstance(day, Available):
                yield _Found(flight, day)


def _shown(found: _Found, date: str | None = None) -> DirectFlight:
    flight, day = found
    return DirectFlight(
        flight_number=flight.flight_number,
        origin=flight.origin,
        destination=flight.destination,
        scheduled_departure_time_est=flight.scheduled_departure_time_est,
        scheduled_arrival_time_est=flight.scheduled_arrival_time_est,
        date=date,
        available_seats=day.available_seats,
        prices=day.prices,
    )


def _day_of_arrival(flight: Flight, date: str) -> str:
    if "+1" not in flight.scheduled_arrival_time_est:
        return date
    return (dt.date.fromisoformat(date) + dt.timedelta(days=1)).isoformat()
