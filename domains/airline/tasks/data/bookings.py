"""The reservations of the generated database: kinds that the tasks need, each on flights of the right status."""

from __future__ import annotations

import datetime as dt
import string
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from ...dates import MOMENT, TODAY
from ...values import VALUES, free_bags
from .people import travellers
from .timetable import usual_prices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from ...models import Cabin

Age: TypeAlias = Literal["fresh", "yesterday", "old"]


class Situation(NamedTuple):
    """The status of the first flight of a trip, the first and the last day for it, and the status of the others."""

    status: str
    first: str
    last: str
    others: str = "available"


_SITUATIONS: Final = {
    "upcoming": Situation("available", "2024-05-18", "2024-05-24"),
    "flown": Situation("landed", "2024-05-09", "2024-05-13"),
    "in the air": Situation("flying", TODAY, TODAY),
    "on time": Situation("on time", TODAY, TODAY),
    "delayed": Situation("delayed", TODAY, TODAY),
    "was cancelled": Situation("cancelled", "2024-05-12", TODAY),
    "will be cancelled": Situation("cancelled", "2024-05-16", "2024-05-24"),
    "over": Situation("landed", "2024-05-02", "2024-05-06", others="landed"),
}
#: Hours since a booking, at least and at most.
_HOURS: dict[Age, tuple[float, float]] = {"fresh": (1, 20), "yesterday": (26, 40), "old": (24 * 13.5, 24 * 45)}


class ReservationKind(NamedTuple):
    """A kind of reservation.

    Attributes:
        times: How many there are.
        situation: The status of its flights, by name.
        people: How many people fly.
        busy: Whether both ends are connected by several direct flights a day.
        stop: Whether the way out has a stop.
        same_user: Whether it belongs to the user of the reservation before it.
    """

    times: int
    situation: str
    cabin: Cabin
    membership: str
    round_trip: bool = True
    people: int = 1
    insured: bool = False
    age: Age = "old"
    busy: bool = False
    stop: bool = False
    cancelled: bool = False
    same_user: bool = False


_ONE_WAY = False
RESERVATION_KINDS: Final = (
    # Several that belong to one user; first, so that nothing else is added to them.
    ReservationKind(1, "upcoming", "economy", "regular", age="fresh"),
    ReservationKind(1, "upcoming", "business", "regular", same_user=True),
    ReservationKind(1, "upcoming", "economy", "regular", same_user=True),
    ReservationKind(1, "upcoming", "economy", "silver", _ONE_WAY, insured=True, busy=True),
    ReservationKind(1, "upcoming", "economy", "silver", same_user=True, busy=True),
    ReservationKind(1, "upcoming", "economy", "gold", _ONE_WAY, busy=True),
    ReservationKind(1, "upcoming", "economy", "gold", _ONE_WAY, busy=True, same_user=True),
    ReservationKind(1, "upcoming", "business", "gold", same_user=True),
    # Upcoming, and nothing else to it.
    ReservationKind(3, "upcoming", "economy", "regular", people=2, busy=True),
    ReservationKind(3, "upcoming", "economy", "silver", people=2, busy=True),
    ReservationKind(3, "upcoming", "economy", "gold", people=1, busy=True),
    ReservationKind(3, "upcoming", "economy", "regular", _ONE_WAY, busy=True),
    ReservationKind(3, "upcoming", "economy", "silver", _ONE_WAY, people=2, busy=True),
    ReservationKind(2, "upcoming", "economy", "gold", _ONE_WAY, people=3, busy=True),
    ReservationKind(2, "upcoming", "economy", "regular", _ONE_WAY, people=3),
    ReservationKind(2, "upcoming", "economy", "silver"),
    ReservationKind(3, "upcoming", "economy", "gold", people=2),
    ReservationKind(3, "upcoming", "economy", "silver", _ONE_WAY, stop=True),
    ReservationKind(2, "upcoming", "economy", "regular", _ONE_WAY, people=2, stop=True),
    ReservationKind(5, "upcoming", "economy", "regular", insured=True, people=2),
    ReservationKind(3, "upcoming", "economy", "gold", insured=True),
    ReservationKind(3, "upcoming", "economy", "silver", _ONE_WAY, insured=True, busy=True),
    ReservationKind(3, "upcoming", "basic_economy", "regular", people=2),
    ReservationKind(3, "upcoming", "basic_economy", "silver", _ONE_WAY, busy=True),
    ReservationKind(2, "upcoming", "basic_economy", "gold"),
    ReservationKind(2, "upcoming", "basic_economy", "silver", insured=True, people=2),
    ReservationKind(4, "upcoming", "business", "regular", people=2),
    ReservationKind(3, "upcoming", "business", "silver", busy=True),
    ReservationKind(2, "upcoming", "business", "gold", _ONE_WAY, people=2),
    ReservationKind(3, "upcoming", "economy", "regular", age="fresh"),
    ReservationKind(2, "upcoming", "economy", "gold", _ONE_WAY, people=2, age="fresh", busy=True),
    ReservationKind(3, "upcoming", "basic_economy", "regular", _ONE_WAY, age="fresh", busy=True),
    ReservationKind(2, "upcoming", "basic_economy", "silver", people=2, age="fresh"),
    ReservationKind(3, "upcoming", "economy", "regular", people=2, age="yesterday"),
    ReservationKind(2, "upcoming", "economy", "silver", _ONE_WAY, age="yesterday"),
    # Begun, or over.
    ReservationKind(3, "flown", "economy", "regular", busy=True),
    ReservationKind(3, "flown", "economy", "gold", people=2),
    ReservationKind(2, "flown", "economy", "silver", people=2, insured=True),
    ReservationKind(2, "flown", "business", "regular"),
    ReservationKind(2, "in the air", "economy", "silver"),
    ReservationKind(2, "in the air", "business", "regular"),
    ReservationKind(5, "over", "economy", "gold", people=2),
    ReservationKind(3, "over", "basic_economy", "regular", _ONE_WAY),
    # In trouble, or claimed to be.
    ReservationKind(2, "was cancelled", "economy", "regular"),
    ReservationKind(2, "was cancelled", "economy", "silver", people=2),
    ReservationKind(2, "was cancelled", "basic_economy", "gold", people=2),
    ReservationKind(2, "was cancelled", "business", "regular", people=3),
    ReservationKind(2, "will be cancelled", "basic_economy", "regular", _ONE_WAY),
    ReservationKind(2, "will be cancelled", "economy", "silver", people=2),
    ReservationKind(2, "will be cancelled", "economy", "regular", people=2, insured=True),
    ReservationKind(2, "delayed", "economy", "silver", people=2),
    ReservationKind(2, "delayed", "economy", "regular", _ONE_WAY, people=2, insured=True),
    ReservationKind(2, "delayed", "business", "regular", people=2),
    ReservationKind(2, "delayed", "economy", "regular"),
    ReservationKind(1, "delayed", "economy", "gold", _ONE_WAY, people=3),
    ReservationKind(2, "on time", "economy", "gold", people=2),
    ReservationKind(2, "on time", "economy", "silver", _ONE_WAY),
    # Cancelled before.
    ReservationKind(4, "upcoming", "economy", "silver", cancelled=True),
)


class Booker:
    """Makes reservations over a database's users and flights, and enters them in the users' profiles."""

    def __init__(self, users: dict[str, Any], flights: dict[str, Any], rng: Random) -> None:
        self._users, self._flights, self._rng = users, flights, rng
        self._pairs = Counter((flight["origin"], flight["destination"]) for flight in flights.values())

    def reservations(self) -> dict[str, dict[str, Any]]:
        """Return all reservations by id."""
        by_id: dict[str, dict[str, Any]] = {}
        user: dict[str, Any] = {}
        for kind in RESERVATION_KINDS:
            for _ in range(kind.times):
                user = user if kind.same_user else self._user_for(kind)
                reservation_id = self._new_id(by_id)
                by_id[reservation_id] = self._reservation(reservation_id, kind, user)
                user["reservations"].append(reservation_id)
        return dict(sorted(by_id.items()))

    def _user_for(self, kind: ReservationKind) -> dict[str, Any]:
        fitting = [
            user
            for user in self._users.values()
            if user["membership"] == kind.membership and len(user["saved_passengers"]) >= kind.people - 1
        ]
        fewest = min(len(user["reservations"]) for user in fitting)
        return self._rng.choice([user for user in fitting if len(user["reservations"]) == fewest])

    def _new_id(self, taken: dict[str, Any]) -> str:
        while True:
            letters = [*self._rng.choices(string.ascii_uppercase, k=4), *self._rng.choices(string.digits, k=2)]
            self._rng.shuffle(letters)
            if "".join(letters) not in taken:
                return "".join(letters)

    def _reservation(self, reservation_id: str, kind: ReservationKind, user: dict[str, Any]) -> dict[str, Any]:
        out, back = self._ways(kind)
        legs = [self._leg(number, date, kind) for number, date in [*out, *back]]
        bags = self._rng.randint(0, (free_bags(VALUES, user["membership"], kind.cabin) + 1) * kind.people)
        paid_bags = max(0, bags - free_bags(VALUES, user["membership"], kind.cabin) * kind.people)
        fares = sum(leg["price"] for leg in legs) * kind.people
        total = fares + VALUES["insurance_fee"] * kind.people * kind.insured + VALUES["extra_bag_fee"] * paid_bags
        payments = list(self._payments(user, total))
        if kind.cancelled:
            payments += [{**payment, "amount": -payment["amount"]} for payment in payments]
        hours = self._rng.uniform(*_HOURS[kind.age])
        return {
            "reservation_id": reservation_id,
            "user_id": user["user_id"],
            "origin": legs[0]["origin"],
            "destination": legs[len(out) - 1]["destination"],
            "flight_type": "round_trip" if kind.round_trip else "one_way",
            "cabin": kind.cabin,
            "flights": legs,
            "passengers": travellers(user, kind.people),
            "payment_history": payments,
            "created_at": (MOMENT - dt.timedelta(minutes=round(hours * 60))).isoformat(),
            "total_baggages": bags,
            "nonfree_baggages": paid_bags,
            "insurance": "yes" if kind.insured else "no",
            "status": "cancelled" if kind.cancelled else None,
        }

    def _ways(self, kind: ReservationKind) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        situation = _SITUATIONS[kind.situation]
        ways_with_returns = [
            (way, list(self._way_back(way, situation)))
            for way in self._ways_out(situation, kind)
            if not (kind.busy and self._pairs[self._ends(way)] < 2)
        ]
        way, returns = self._rng.choice(
            [(way, returns) for way, returns in ways_with_returns if returns or not kind.round_trip]
        )
        return way, [self._rng.choice(returns)] if kind.round_trip else []

    def _ways_out(self, situation: Situation, kind: ReservationKind) -> Iterator[list[tuple[str, str]]]:
        for number, flight in self._flights.items():
            for date, day in flight["dates"].items():
                if day["status"] == situation.status and situation.first <= date <= situation.last:
                    if not kind.stop:
                        yield [(number, date)]
                    elif "+1" not in flight["scheduled_arrival_time_est"]:
                        yield from ([(number, date), (onward, date)] for onward in self._onward(flight, date))

    def _onward(self, first: dict[str, Any], date: str) -> Iterator[str]:
        for number, flight in self._flights.items():
            fits = flight["origin"] == first["destination"] and flight["destination"] != first["origin"]
            in_time = flight["scheduled_departure_time_est"] > first["scheduled_arrival_time_est"]
            direct = self._pairs[first["origin"], flight["destination"]]
            if fits and in_time and not direct and flight["dates"][date]["status"] == "available":
                yield number

    def _way_back(self, way: list[tuple[str, str]], situation: Situation) -> Iterator[tuple[str, str]]:
        home, there = self._ends(way)
        day = dt.date.fromisoformat(way[-1][1])
        # Travellers who are on the way come back a week later, all others within a week.
        later = range(4, 11) if situation.status != "available" and situation.others == "available" else range(2, 6)
        dates = {(day + dt.timedelta(days=days)).isoformat() for days in later}
        for number, flight in self._flights.items():
            if (flight["origin"], flight["destination"]) == (there, home):
                for date, status in flight["dates"].items():
                    if date in dates and status["status"] == situation.others and date != TODAY:
                        yield number, date

    def _ends(self, way: list[tuple[str, str]]) -> tuple[str, str]:
        return self._flights[way[0][0]]["origin"], self._flights[way[-1][0]]["destination"]

    def _leg(self, number: str, date: str, kind: ReservationKind) -> dict[str, Any]:
        flight = self._flights[number]
        origin, destination = flight["origin"], flight["destination"]
        if kind.age != "old" and flight["dates"][date]["status"] == "available":
            price = flight["dates"][date]["prices"][kind.cabin]
        else:
            price = round(usual_prices(origin, destination)[kind.cabin] * self._rng.uniform(0.72, 0.98))
        return {
            "flight_number": number,
            "origin": origin,
            "destination": destination,
            "date": date,
            "price": price,
        }

    def _payments(self, user: dict[str, Any], total: int) -> Iterator[dict[str, Any]]:
        methods = list(user["payment_methods"].values())
        card = self._rng.choice([method["id"] for method in methods if method["source"] == "credit_card"])
        gift_cards = [method["id"] for method in methods if method["source"] == "gift_card"]
        chance = self._rng.random()
        if gift_cards and chance < 0.2:
            yield {"payment_id": gift_cards[0], "amount": total}
        elif chance > 0.85 and total > 150:
            # A certificate leaves the profile when it is spent.
            yield {"payment_id": f"certificate_{self._rng.randint(1_000_000, 9_999_999)}", "amount": 100}
            yield {"payment_id": card, "amount": total - 100}
        else:
            yield {"payment_id": card, "amount": total}
