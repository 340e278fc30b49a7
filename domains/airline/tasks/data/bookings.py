"""The reservations of the generated database: kinds that the tasks need, each on flights that stand as it asks for."""

from __future__ import annotations

import datetime as dt
import string
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from ...dates import MOMENT, TODAY
from ...pricing import BAG_PRICE, INSURANCE_PRICE, free_bags
from .people import travellers
from .timetable import usual_prices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from ...models import Cabin

Age: TypeAlias = Literal["fresh", "yesterday", "old"]


class Standing(NamedTuple):
    """How the first flight of a trip stands: its status, the first and the last day, and the status of the others."""

    status: str
    first: str
    last: str
    others: str = "available"


_STANDINGS: Final = {
    "ahead": Standing("available", "2024-05-18", "2024-05-24"),
    "flown": Standing("landed", "2024-05-09", "2024-05-13"),
    "in the air": Standing("flying", TODAY, TODAY),
    "on time": Standing("on time", TODAY, TODAY),
    "delayed": Standing("delayed", TODAY, TODAY),
    "was cancelled": Standing("cancelled", "2024-05-12", TODAY),
    "will be cancelled": Standing("cancelled", "2024-05-16", "2024-05-24"),
    "over": Standing("landed", "2024-05-02", "2024-05-06", others="landed"),
}
#: Hours since a booking, at least and at most.
_HOURS: dict[Age, tuple[float, float]] = {"fresh": (1, 20), "yesterday": (26, 40), "old": (24 * 13.5, 24 * 45)}


class Kind(NamedTuple):
    """A kind of reservation.

    Attributes:
        people: How many fly.
        busy: Both ends are connected by several direct flights a day.
        stop: The way out has a stop.
        companion: It belongs to the user of the reservation before it.
    """

    times: int
    standing: str
    cabin: Cabin
    membership: str
    round_trip: bool = True
    people: int = 1
    insured: bool = False
    age: Age = "old"
    busy: bool = False
    stop: bool = False
    cancelled: bool = False
    companion: bool = False


_ONE_WAY = False
KINDS: Final = (
    # Several that belong to one user; first, so that nothing else is added to them.
    Kind(1, "ahead", "economy", "regular", age="fresh"),
    Kind(1, "ahead", "business", "regular", companion=True),
    Kind(1, "ahead", "economy", "regular", companion=True),
    Kind(1, "ahead", "economy", "silver", _ONE_WAY, insured=True, busy=True),
    Kind(1, "ahead", "economy", "silver", companion=True, busy=True),
    Kind(1, "ahead", "economy", "gold", _ONE_WAY, busy=True),
    Kind(1, "ahead", "economy", "gold", _ONE_WAY, busy=True, companion=True),
    Kind(1, "ahead", "business", "gold", companion=True),
    # Ahead, and nothing else to it.
    Kind(3, "ahead", "economy", "regular", people=2, busy=True),
    Kind(3, "ahead", "economy", "silver", people=2, busy=True),
    Kind(3, "ahead", "economy", "gold", people=1, busy=True),
    Kind(3, "ahead", "economy", "regular", _ONE_WAY, busy=True),
    Kind(3, "ahead", "economy", "silver", _ONE_WAY, people=2, busy=True),
    Kind(2, "ahead", "economy", "gold", _ONE_WAY, people=3, busy=True),
    Kind(2, "ahead", "economy", "regular", _ONE_WAY, people=3),
    Kind(2, "ahead", "economy", "silver"),
    Kind(3, "ahead", "economy", "gold", people=2),
    Kind(3, "ahead", "economy", "silver", _ONE_WAY, stop=True),
    Kind(2, "ahead", "economy", "regular", _ONE_WAY, people=2, stop=True),
    Kind(5, "ahead", "economy", "regular", insured=True, people=2),
    Kind(3, "ahead", "economy", "gold", insured=True),
    Kind(3, "ahead", "economy", "silver", _ONE_WAY, insured=True, busy=True),
    Kind(3, "ahead", "basic_economy", "regular", people=2),
    Kind(3, "ahead", "basic_economy", "silver", _ONE_WAY, busy=True),
    Kind(2, "ahead", "basic_economy", "gold"),
    Kind(2, "ahead", "basic_economy", "silver", insured=True, people=2),
    Kind(4, "ahead", "business", "regular", people=2),
    Kind(3, "ahead", "business", "silver", busy=True),
    Kind(2, "ahead", "business", "gold", _ONE_WAY, people=2),
    Kind(3, "ahead", "economy", "regular", age="fresh"),
    Kind(2, "ahead", "economy", "gold", _ONE_WAY, people=2, age="fresh", busy=True),
    Kind(3, "ahead", "basic_economy", "regular", _ONE_WAY, age="fresh", busy=True),
    Kind(2, "ahead", "basic_economy", "silver", people=2, age="fresh"),
    Kind(3, "ahead", "economy", "regular", people=2, age="yesterday"),
    Kind(2, "ahead", "economy", "silver", _ONE_WAY, age="yesterday"),
    # Begun, or over.
    Kind(3, "flown", "economy", "regular", busy=True),
    Kind(3, "flown", "economy", "gold", people=2),
    Kind(2, "flown", "economy", "silver", people=2, insured=True),
    Kind(2, "flown", "business", "regular"),
    Kind(2, "in the air", "economy", "silver"),
    Kind(2, "in the air", "business", "regular"),
    Kind(5, "over", "economy", "gold", people=2),
    Kind(3, "over", "basic_economy", "regular", _ONE_WAY),
    # In trouble, or claimed to be.
    Kind(2, "was cancelled", "economy", "regular"),
    Kind(2, "was cancelled", "economy", "silver", people=2),
    Kind(2, "was cancelled", "basic_economy", "gold", people=2),
    Kind(2, "was cancelled", "business", "regular", people=3),
    Kind(2, "will be cancelled", "basic_economy", "regular", _ONE_WAY),
    Kind(2, "will be cancelled", "economy", "silver", people=2),
    Kind(2, "will be cancelled", "economy", "regular", people=2, insured=True),
    Kind(2, "delayed", "economy", "silver", people=2),
    Kind(2, "delayed", "economy", "regular", _ONE_WAY, people=2, insured=True),
    Kind(2, "delayed", "business", "regular", people=2),
    Kind(2, "delayed", "economy", "regular"),
    Kind(1, "delayed", "economy", "gold", _ONE_WAY, people=3),
    Kind(2, "on time", "economy", "gold", people=2),
    Kind(2, "on time", "economy", "silver", _ONE_WAY),
    # Cancelled before.
    Kind(4, "ahead", "economy", "silver", cancelled=True),
)


class Booker:
    """Makes reservations over a database's users and flights, and enters them in the users' profiles."""

    def __init__(self, users: dict[str, Any], flights: dict[str, Any], rng: Random) -> None:
        self._users, self._flights, self._rng = users, flights, rng
        self._pairs = Counter((flight["origin"], flight["destination"]) for flight in flights.values())

    def reservations(self) -> dict[str, dict[str, Any]]:
        """Return all reservations by id."""
        made: dict[str, dict[str, Any]] = {}
        user: dict[str, Any] = {}
        for kind in KINDS:
            for _ in range(kind.times):
                user = user if kind.companion else self._user_for(kind)
                reservation_id = self._new_id(made)
                made[reservation_id] = self._reservation(reservation_id, kind, user)
                user["reservations"].append(reservation_id)
        return dict(sorted(made.items()))

    def _user_for(self, kind: Kind) -> dict[str, Any]:
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

    def _reservation(self, reservation_id: str, kind: Kind, user: dict[str, Any]) -> dict[str, Any]:
        out, back = self._ways(kind)
        legs = [self._leg(number, date, kind) for number, date in [*out, *back]]
        bags = self._rng.randint(0, (free_bags(user["membership"], kind.cabin) + 1) * kind.people)
        paid_bags = max(0, bags - free_bags(user["membership"], kind.cabin) * kind.people)
        fares = sum(leg["price"] for leg in legs) * kind.people
        total = fares + INSURANCE_PRICE * kind.people * kind.insured + BAG_PRICE * paid_bags
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

    def _ways(self, kind: Kind) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        standing = _STANDINGS[kind.standing]
        found = [
            (way, list(self._way_back(way, standing)))
            for way in self._ways_out(standing, kind)
            if not (kind.busy and self._pairs[self._ends(way)] < 2)
        ]
        way, returns = self._rng.choice([(way, returns) for way, returns in found if returns or not kind.round_trip])
        return way, [self._rng.choice(returns)] if kind.round_trip else []

    def _ways_out(self, standing: Standing, kind: Kind) -> Iterator[list[tuple[str, str]]]:
        for number, flight in self._flights.items():
            for date, day in flight["dates"].items():
                if day["status"] == standing.status and standing.first <= date <= standing.last:
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

    def _way_back(self, way: list[tuple[str, str]], standing: Standing) -> Iterator[tuple[str, str]]:
        home, there = self._ends(way)
        day = dt.date.fromisoformat(way[-1][1])
        # Whoever is on the way comes back a week later, everybody else within a week.
        later = range(4, 11) if standing.status != "available" and standing.others == "available" else range(2, 6)
        dates = {(day + dt.timedelta(days=days)).isoformat() for days in later}
        for number, flight in self._flights.items():
            if (flight["origin"], flight["destination"]) == (there, home):
                for date, status in flight["dates"].items():
                    if date in dates and status["status"] == standing.others and date != TODAY:
                        yield number, date

    def _ends(self, way: list[tuple[str, str]]) -> tuple[str, str]:
        return self._flights[way[0][0]]["origin"], self._flights[way[-1][0]]["destination"]

    def _leg(self, number: str, date: str, kind: Kind) -> dict[str, Any]:
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
