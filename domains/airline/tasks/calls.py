"""Calls of reference solutions, each by a word and what it is about: ``change trip card offer``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from pytest_tau.errors import TaskFormatError

from ..._kit.combine import Call
from ..._kit.transfer import TRANSFER
from ..models import CreditCard, User
from ..values import free_bags
from .world import Offer, as_passenger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Environment

    from ..._kit.scenario_tables import Texts
    from ..models import AirlineDB, Cabin, Leg, Passenger, Payment, PaymentMethod
    from .trips import FlightList, Trip

_BOOK = re.compile(
    r"book (?P<cabin>\w+) (?P<offers>.+) for (?P<people>.+) by (?P<methods>.+?)"
    r"(?: bags (?P<bags>\w+))?(?P<insured> insured)?"
)


class Calls:
    """Collects the calls of a task; each is carried out at once, and must succeed.

    Its methods without an underscore, other than :meth:`make`, are the words of lines.
    """

    def __init__(self, task_id: str, environment: Environment, user: User) -> None:
        self._id, self._user, self._environment = task_id, user, environment
        self._values = environment.values
        self.made: list[Call] = []

    def make(self, line: str, texts: Texts) -> None:
        """Make the calls of a line such as ``total = add_bags trip 2 card``.

        Args:
            line: A word and things; a name before it stands for the result afterwards.
            texts: Has the things.

        Raises:
            TaskFormatError: A tool refuses.
        """
        name, _, call = line.rpartition(" = ")
        word, *names = call.split()
        result = self._book(call, texts) if word == "book" else getattr(self, word)(*texts.look_up(names))
        if name:
            texts.things[name] = result

    def _call(self, tool: str, **arguments: Any) -> None:
        reply = self._environment.call(tool, arguments)
        if reply.error:
            raise TaskFormatError(f"{tool}: {reply.content}", task_id=self._id)
        self.made.append(Call(tool, arguments))

    # Reading

    def read_profile(self) -> None:
        """Read the user's profile."""
        self._call("get_user_details", user_id=self._user.user_id)

    def read_reservations(self, *trips: Trip) -> None:
        """Read reservations."""
        for trip in trips:
            self._call("get_reservation_details", reservation_id=trip.id)

    def read(self, *trips: Trip) -> None:
        """Read the user's profile and reservations."""
        self.read_profile()
        self.read_reservations(*trips)

    def read_statuses(self, *legs: Leg) -> None:
        """Read the status of flights of a reservation."""
        for leg in legs:
            self._call("get_flight_status", flight_number=leg.flight_number, date=leg.date)

    def search(self, offer: Offer, *dates: str) -> None:
        """Search direct flights between the ends of an offer, on its first day or on other ones."""
        origin, destination = offer.ends
        for date in dates or offer.dates[:1]:
            self._call("search_direct_flight", origin=origin, destination=destination, date=date)

    def search_onestop(self, offer: Offer) -> None:
        """Search flights with one stop between the ends of an offer, on its first day."""
        origin, destination = offer.ends
        self._call("search_onestop_flight", origin=origin, destination=destination, date=offer.dates[0])

    def search_fares(self, trip: Trip) -> None:
        """Search the current fares of the flights of a reservation."""
        for leg in trip.legs:
            self._call("search_direct_flight", origin=leg.origin, destination=leg.destination, date=leg.date)

    def calculate(self, expression: str) -> None:
        """Calculate."""
        self._call("calculate", expression=expression)

    # Writing

    def cancel(self, *trips: Trip) -> None:
        """Cancel reservations."""
        for trip in trips:
            self._call("cancel_reservation", reservation_id=trip.id)

    def change(self, trip: Trip, method: PaymentMethod, *flights: Leg | Offer) -> None:
        """Change flights of a reservation to these: those that stay, and new ones."""
        self._change(trip, trip.cabin, method, [listed for flight in flights for listed in _listed(flight)])

    def change_cabin(self, trip: Trip, cabin: Cabin, method: PaymentMethod) -> int:
        """Change the cabin, and return what that costs, negative where it gives money back."""
        return self._change(trip, cabin, method, trip.flight_list)

    def _change(self, trip: Trip, cabin: Cabin, method: PaymentMethod, flights: FlightList) -> int:
        before = len(self._history(trip))
        self._call(
            "update_reservation_flights", reservation_id=trip.id, cabin=cabin, flights=flights, payment_id=method.id
        )
        return sum(payment.amount for payment in self._history(trip)[before:])

    def add_bags(self, trip: Trip, more: int, method: PaymentMethod, cabin: Cabin | None = None) -> int:
        """Add so many bags, and return what that costs; the cabin is that of by now, where it has been changed."""
        booked = trip.reservation
        free = free_bags(self._values, trip.user.membership, cabin or trip.cabin) * trip.people
        total = booked.total_baggages + more
        nonfree = max(booked.nonfree_baggages, total - free)
        self._call(
            "update_reservation_baggages",
            reservation_id=trip.id,
            total_baggages=total,
            nonfree_baggages=nonfree,
            payment_id=method.id,
        )
        fee: int = self._values["extra_bag_fee"]
        return fee * (nonfree - booked.nonfree_baggages)

    def change_passengers(self, trip: Trip, *people: Passenger) -> None:
        """Replace the passengers."""
        listed = [person.model_dump() for person in people]
        self._call("update_reservation_passengers", reservation_id=trip.id, passengers=listed)

    def certificate(self, trip: Trip, amount: int) -> None:
        """Send a certificate of so much for each passenger of a trip."""
        self._call("send_certificate", user_id=self._user.user_id, amount=amount * trip.people)

    def hand_over(self, summary: str) -> None:
        """Hand over to a person."""
        self._call(TRANSFER, summary=summary)

    def _book(self, line: str, texts: Texts) -> int:
        """Book flights, and return the total price.

        The line is such as ``book economy offer for user companion by certificate card bags 2 insured``. Each payment
        method pays what it can of what is left.
        """
        parts = cast("re.Match[str]", _BOOK.fullmatch(line))
        offers, passengers, methods = (texts.look_up(parts[name].split()) for name in ("offers", "people", "methods"))
        cabin, insured = cast("Cabin", parts["cabin"]), bool(parts["insured"])
        (bags,) = texts.look_up([parts["bags"] or "0"])
        people = [as_passenger(passenger) if isinstance(passenger, User) else passenger for passenger in passengers]
        nonfree = max(0, bags - free_bags(self._values, self._user.membership, cabin) * len(people))
        extra: int = self._values["insurance_fee"] * insured * len(people) + self._values["extra_bag_fee"] * nonfree
        total: int = len(people) * sum(offer.price for offer in offers) + extra
        origin, destination = offers[0].ends
        self._call(
            "book_reservation",
            user_id=self._user.user_id,
            origin=origin,
            destination=destination,
            flight_type="round_trip" if offers[-1].ends[1] == origin else "one_way",
            cabin=cabin,
            flights=[listed for offer in offers for listed in _listed(offer)],
            passengers=[person.model_dump() for person in people],
            payment_methods=self._split(total, methods),
            total_baggages=bags,
            nonfree_baggages=nonfree,
            insurance="yes" if insured else "no",
        )
        return total

    def _split(self, total: int, methods: Sequence[PaymentMethod]) -> list[dict[str, Any]]:
        payments: list[dict[str, Any]] = []
        for payer in methods:
            method = self._db.user(self._user.user_id).payment_methods[payer.id]
            amount = total if isinstance(method, CreditCard) else min(total, int(method.amount))
            total -= amount
            payments.append({"payment_id": payer.id, "amount": amount})
        if total or not all(payment["amount"] for payment in payments):
            raise TaskFormatError("the payment methods do not fit the price", task_id=self._id)
        return payments

    def _history(self, trip: Trip) -> list[Payment]:
        return self._db.reservation(trip.id).payment_history

    @property
    def _db(self) -> AirlineDB:
        return cast("AirlineDB", self._environment.agent_db)


def _listed(flights: Leg | Offer) -> FlightList:
    """Return flights as the tools take them."""
    if isinstance(flights, Offer):
        return flights.flight_list
    return [{"flight_number": flights.flight_number, "date": flights.date}]
