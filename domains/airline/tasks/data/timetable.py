"""The timetable of the generated database: which flights there are, and how each stands on every day."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ...dates import MOMENT, TODAY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random


DAYS = tuple((dt.date(2024, 5, 1) + dt.timedelta(days=day)).isoformat() for day in range(30))


#: Latitude and longitude in degrees, for distances.
_PLACES = {
    "ATL": (33.6, -84.4), "BOS": (42.4, -71.0), "CLT": (35.2, -80.9), "DEN": (39.9, -104.7), "DFW": (32.9, -97.0),
    "DTW": (42.2, -83.4), "EWR": (40.7, -74.2), "IAH": (30.0, -95.3), "JFK": (40.6, -73.8), "LAS": (36.1, -115.2),
    "LAX": (33.9, -118.4), "LGA": (40.8, -73.9), "MCO": (28.4, -81.3), "MIA": (25.8, -80.3), "MSP": (44.9, -93.2),
    "ORD": (42.0, -87.9), "PHL": (39.9, -75.2), "PHX": (33.4, -112.0), "SEA": (47.4, -122.3), "SFO": (37.6, -122.4),
}  # fmt: skip
#: To a hub in the morning, from it in the afternoon, so that any two spokes of a hub are connected.
_SPOKES = {
    "ORD": ("SEA", "BOS", "MSP", "DTW", "DEN", "LGA", "SFO"),
    "ATL": ("MIA", "MCO", "CLT", "PHL", "EWR", "BOS", "IAH"),
    "DFW": ("PHX", "LAS", "LAX", "IAH", "JFK", "DEN"),
}
#: Direct flights between other airports: both ends, hours of departure there and back; 22 and 23 fly overnight.
_TRUNKS = (
    ("JFK", "LAX", (8, 16), (9, 15, 22)),
    ("SFO", "JFK", (8, 22), (10, 17)),
    ("LAX", "SFO", (7, 17), (9, 19)),
    ("LGA", "MIA", (9, 16), (8, 18)),
    ("ORD", "ATL", (9, 17), (11, 18)),
    ("BOS", "SEA", (16,), (9,)),
    ("PHL", "LAS", (10,), (23,)),
    ("EWR", "SEA", (17,), (22,)),
    ("EWR", "MCO", (9,), (16,)),
    ("DTW", "MCO", (10,), (17,)),
    ("DFW", "ORD", (16,), (10,)),
)
_MILES_PER_MINUTE = 7.7
_CANCELLED_SHARE, _CANCELLED_LATER_SHARE, _DELAYED_SHARE, _SOLD_OUT_SHARE = 0.05, 0.012, 0.3, 0.08
#: The last day for which the airline has cancelled flights in advance.
_CANCELLED_UNTIL = "2024-05-24"


class Route(NamedTuple):
    """A flight as the timetable has it; ``minutes`` in the air."""

    origin: str
    destination: str
    departure: dt.time
    minutes: int

    def leaves(self, date: str) -> dt.datetime:
        """Return the moment at which it is scheduled to leave on a day."""
        return dt.datetime.combine(dt.date.fromisoformat(date), self.departure)


def flights(rng: Random) -> dict[str, dict[str, Any]]:
    """Return all flights by number, each with all days."""
    return {f"HAT{number}": _flight(f"HAT{number}", route, rng) for number, route in enumerate(_routes(rng), start=201)}


def usual_prices(origin: str, destination: str) -> dict[str, int]:
    """Return the price of a flight on an average day, by cabin, in USD."""
    economy = 70 + 0.075 * _miles(origin, destination)
    return {"basic_economy": round(economy * 0.62), "economy": round(economy), "business": round(economy * 2.6)}


def _routes(rng: Random) -> Iterator[Route]:
    for hub, spokes in _SPOKES.items():
        for spoke in spokes:
            yield _route(spoke, hub, rng.choice((7, 8)), rng)
            yield _route(hub, spoke, rng.choice((15, 16, 17)), rng)
    for airport, other, there, back in _TRUNKS:
        for hour in there:
            yield _route(airport, other, hour, rng)
        for hour in back:
            yield _route(other, airport, hour, rng)


def _route(origin: str, destination: str, hour: int, rng: Random) -> Route:
    minutes = 5 * round((40 + _miles(origin, destination) / _MILES_PER_MINUTE) / 5)
    return Route(origin, destination, dt.time(hour, rng.randrange(0, 60, 5)), minutes)


def _miles(origin: str, destination: str) -> float:
    (north, east), (other_north, other_east) = (_PLACES[code] for code in (origin, destination))
    mean = math.radians((north + other_north) / 2)
    return 69.0 * math.hypot(north - other_north, (east - other_east) * math.cos(mean))


def _flight(number: str, route: Route, rng: Random) -> dict[str, Any]:
    arrival = route.leaves(TODAY) + dt.timedelta(minutes=route.minutes)
    next_day = "+1" if arrival.date() > MOMENT.date() else ""
    return {
        "flight_number": number,
        "origin": route.origin,
        "destination": route.destination,
        "scheduled_departure_time_est": route.departure.isoformat(),
        "scheduled_arrival_time_est": f"{arrival.time().isoformat()}{next_day}",
        "dates": {date: _day(route, date, rng) for date in DAYS},
    }


def _day(route: Route, date: str, rng: Random) -> dict[str, Any]:
    if date > TODAY:
        if date <= _CANCELLED_UNTIL and rng.random() < _CANCELLED_LATER_SHARE:
            return {"status": "cancelled"}
        return _open_day(route, rng)
    if rng.random() < _CANCELLED_SHARE:
        return {"status": "cancelled"}
    late = rng.randrange(45, 240, 5) if date == TODAY and rng.random() < _DELAYED_SHARE else rng.randrange(-4, 22)
    leaves = route.leaves(date) + dt.timedelta(minutes=late)
    arrives = leaves + dt.timedelta(minutes=route.minutes + rng.randrange(-12, 9))
    if leaves > MOMENT:
        status, kinds = ("delayed" if late >= 45 else "on time"), ("estimated", "estimated")
    elif arrives > MOMENT:
        status, kinds = "flying", ("actual", "estimated")
    else:
        status, kinds = "landed", ("actual", "actual")
    return {
        "status": status,
        f"{kinds[0]}_departure_time_est": leaves.isoformat(),
        f"{kinds[1]}_arrival_time_est": arrives.isoformat(),
    }


def _open_day(route: Route, rng: Random) -> dict[str, Any]:
    usual = usual_prices(route.origin, route.destination)
    return {
        "status": "available",
        "available_seats": {
            cabin: 0 if rng.random() < _SOLD_OUT_SHARE else rng.randint(1, most)
            for cabin, most in (("basic_economy", 18), ("economy", 22), ("business", 9))
        },
        "prices": {cabin: round(price * rng.uniform(0.85, 1.2)) for cabin, price in usual.items()},
    }
