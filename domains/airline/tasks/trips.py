"""Reservations as scenarios see them: the status of their flights, who flies, and what their users can pay with."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ..dates import MOMENT
from ..formatting import CITIES
from ..models import Available
from ..values import VALUES, free_bags, may_be_compensated
from ..wallet import Wallet

if TYPE_CHECKING:
    from pytest_tau.environment import Values

    from ..models import AirlineDB, Cabin, Leg, PaymentMethod, Reservation, User

#: Flights as the tools take them.
FlightList: TypeAlias = list[dict[str, Any]]


def describe_method(method: PaymentMethod) -> str:
    """Return what its owner calls a payment method: its kind and id."""
    return f"your {method.source.replace('_', ' ')} {method.id}"


@dataclass(frozen=True)
class Trip:
    """A reservation with its user and the status of its flights."""

    db: AirlineDB
    reservation: Reservation
    user: User
    values: Values = VALUES

    @property
    def id(self) -> str:
        """Return the reservation's id."""
        return self.reservation.reservation_id

    @property
    def legs(self) -> list[Leg]:
        """Return the flights."""
        return self.reservation.flights

    @property
    def statuses(self) -> list[str]:
        """Return the status of each flight."""
        return [self.db.day(leg.flight_number, leg.date).status for leg in self.legs]

    @property
    def upcoming(self) -> bool:
        """Return whether every flight can still be booked."""
        return self.reservation.status is None and set(self.statuses) == {"available"}

    @property
    def hours(self) -> float:
        """Return the hours since it was booked."""
        return (MOMENT - dt.datetime.fromisoformat(self.reservation.created_at)).total_seconds() / 3600

    @property
    def told_apart(self) -> bool:
        """Return whether it may be cancelled, or its user compensated, either by its own values or the bundled ones."""
        bundled = replace(self, values=VALUES)
        return (self.cancellable, self.compensated) != (bundled.cancellable, bundled.compensated)

    @property
    def booked_days_ago(self) -> bool:
        """Return whether it was booked long ago."""
        return bool(self.hours > 2 * self.values["hours_to_cancel"])

    @property
    def coming(self) -> bool:
        """Return whether it is upcoming and was booked long ago."""
        return self.upcoming and self.booked_days_ago

    @property
    def plain(self) -> bool:
        """Return whether it is coming, in economy and without insurance, so that it cannot be cancelled."""
        return self.coming and self.cabin == "economy" and not self.insured

    @property
    def cancellable(self) -> bool:
        """Return whether it may be cancelled for any reason if it is upcoming."""
        return self.cabin == self.values["cabin_to_cancel"] or bool(self.hours < self.values["hours_to_cancel"])

    @property
    def compensated(self) -> bool:
        """Return whether its user is compensated if a flight is disrupted."""
        return may_be_compensated(self.values, self.user, self.reservation)

    @property
    def cabin(self) -> Cabin:
        """Return the cabin."""
        return self.reservation.cabin

    @property
    def insured(self) -> bool:
        """Return whether it has insurance."""
        return self.reservation.insurance == "yes"

    @property
    def one_way(self) -> bool:
        """Return whether it has one flight only."""
        return len(self.legs) == 1

    @property
    def round_trip(self) -> bool:
        """Return whether it has one flight out and one back."""
        return self.reservation.flight_type == "round_trip" and len(self.legs) == 2

    @property
    def people(self) -> int:
        """Return how many people fly."""
        return len(self.reservation.passengers)

    @property
    def free_bags(self) -> int:
        """Return how many bags are free in all."""
        return free_bags(self.values, self.user.membership, self.cabin) * self.people

    @property
    def spare_bags(self) -> int:
        """Return how many further bags are free."""
        return self.free_bags - self.reservation.total_baggages

    @property
    def of_user(self) -> list[Reservation]:
        """Return all reservations of its user."""
        return [self.db.reservation(trip_id) for trip_id in self.user.reservations]

    @property
    def paid(self) -> int:
        """Return what has been paid, in USD."""
        return sum(payment.amount for payment in self.reservation.payment_history)

    @property
    def route(self) -> str:
        """Return the route as text, such as ``from Boston to Seattle``."""
        return f"from {CITIES[self.reservation.origin]} to {CITIES[self.reservation.destination]}"

    @property
    def wallet(self) -> Wallet:
        """Return the payment methods of its user."""
        return Wallet(self.user)

    @property
    def flight_list(self) -> FlightList:
        """Return the flights as the tools take them."""
        return [{"flight_number": leg.flight_number, "date": leg.date} for leg in self.legs]

    def upgrade(self, cabin: Cabin) -> int | None:
        """Return the price of changing the cabin, in all; None where that cannot be done."""
        total = 0
        for leg in self.legs:
            day = self.db.day(leg.flight_number, leg.date)
            if not isinstance(day, Available) or day.available_seats[cabin] < self.people:
                return None
            total += day.prices[cabin] - leg.price
        return total * self.people
