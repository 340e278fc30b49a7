"""Scenarios about cancelling: what may be cancelled, and what is refunded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...formatting import CITIES
from ..personas import ANXIOUS, BRISK, CHATTY, FORMAL
from ..requests import PLANS_CHANGED
from ..world import format_date

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ...models import User
    from ..builder import NewTask
    from ..trips import Trip
    from ..world import World

_REASONS = "Cancelling"
_NOTHING_ELSE = "You want nothing else; decline whatever else you are offered."


def cancellable(trip: Trip) -> bool:
    """Return whether an upcoming trip may be cancelled for any reason."""
    return trip.hours < 24 or trip.cabin == "business"


def cancel_fresh_booking(world: World, new_task: NewTask) -> Task:
    """A reservation in economy, without insurance, booked within the last 24 hours, is cancelled."""
    trip = world.trip(
        where=lambda t: t.upcoming and t.hours < 22 and t.cabin == "economy" and t.user.membership == "regular"
    )
    task = new_task(trip.user)
    task.read(trip)
    task.cancel(trip)
    task.ask(reason=PLANS_CHANGED)
    return task.build(
        rule=_REASONS,
        reason=f"Your plans have changed and you no longer need reservation {trip.id}. You want it cancelled.",
        known="You booked it less than a day ago.",
        do="Asked for the reason, say that your plans have changed. Agree to the cancellation. " + _NOTHING_ELSE,
    )


def cancel_business_refund(world: World, new_task: NewTask) -> Task:
    """A reservation in business is cancelled for a change of plans, and the refund is stated."""
    trip = world.trip(
        where=lambda t: t.upcoming and t.booked_days_ago and t.cabin == "business" and not t.insured and t.people == 2
    )
    task = new_task(trip.user)
    task.read(trip)
    task.cancel(trip)
    task.communicate(trip.paid)
    task.ask(reason="A wedding was called off.")
    return task.build(
        rule=_REASONS,
        reason=f"You and your companion will not fly {trip.route} after all. Reservation {trip.id} is to be cancelled, "
        "and you want to know how many dollars you get back altogether.",
        unknown="You do not remember what you paid.",
        do="The reason is that a wedding was called off. Agree to the cancellation, and do not end the conversation "
        "before you have been told the amount of the refund. " + _NOTHING_ELSE,
        persona=FORMAL,
    )


def cancel_insured_illness(world: World, new_task: NewTask) -> Task:
    """An insured reservation is cancelled for illness."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming and t.booked_days_ago and t.cabin == "economy" and t.insured and t.user.membership == "regular"
        )
    )
    task = new_task(trip.user)
    task.read(trip)
    task.cancel(trip)
    task.ask(reason="You broke your ankle last week, and your doctor forbids you to travel until June.")
    return task.build(
        rule=_REASONS,
        reason=f"You want to cancel reservation {trip.id}.",
        known="You broke your ankle last week, and your doctor forbids you to travel until June.",
        do="Tell about the ankle when you are asked why. Agree to the cancellation. " + _NOTHING_ELSE,
        persona=CHATTY,
    )


def cancel_insured_storm(world: World, new_task: NewTask) -> Task:
    """An insured reservation, to be found in the profile, is cancelled for the weather."""

    def fits(t: Trip) -> bool:
        same = [o for o in world.trips(t.user) if o.reservation.destination == t.reservation.destination]
        return t.upcoming and t.booked_days_ago and t.cabin == "economy" and t.insured and t.one_way and same == [t]

    trip = world.trip(where=fits)
    task = new_task(trip.user)
    task.read(*world.trips(trip.user))
    task.cancel(trip)
    task.ask(
        reservation_id=f"You do not have it at hand; you mean your flight {trip.route} on "
        f"{format_date(trip.legs[0].date)}.",
        reason="A severe storm is forecast.",
    )
    return task.build(
        rule=_REASONS,
        reason=f"A severe storm is forecast for {CITIES[trip.reservation.destination]} on the day of your flight there "
        "and you do not dare to fly into it. You want to cancel.",
        unknown="You do not have the reservation id at hand; the agent has to find the reservation.",
        do=f"You mean your flight {trip.route} on {format_date(trip.legs[0].date)}. Agree to the cancellation. "
        + _NOTHING_ELSE,
    )


def cancel_flight_called_off(world: World, new_task: NewTask) -> Task:
    """A reservation in basic economy whose flight the airline has called off is cancelled."""
    trip = world.trip(
        where=lambda t: t.statuses == ["cancelled"] and t.cabin == "basic_economy" and t.user.membership == "regular"
    )
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip)
    task.cancel(trip)
    task.ask(reason="The flight will not take place, as you hear.")
    return task.build(
        rule=_REASONS,
        reason=f"A friend says that your flight {trip.route} on {format_date(trip.legs[0].date)} will not take "
        f"place. If that is so, you want reservation {trip.id} cancelled and your money back.",
        do="If the flight takes place after all, you want to keep the reservation. If it does not, agree to the "
        "cancellation. You do not ask for any compensation. " + _NOTHING_ELSE,
    )


def cancel_basic_fresh(world: World, new_task: NewTask) -> Task:
    """A reservation in basic economy, booked within the last 24 hours, is cancelled, and the refund is stated."""
    trip = world.trip(
        where=lambda t: t.upcoming and t.hours < 22 and t.cabin == "basic_economy" and t.people == 2 and not t.insured
    )
    task = new_task(trip.user)
    task.read(trip)
    task.cancel(trip)
    task.communicate(trip.paid)
    task.ask(
        f"You booked {trip.id} in basic economy by mistake, on the wrong month of your calendar. Can it be cancelled?",
        reason="You looked at the wrong month.",
    )
    task.ask("How much will be refunded in total?")
    return task.build(
        rule=_REASONS,
        reason=f"You booked {trip.id} in basic economy by mistake, on the wrong month of your calendar. You fear that "
        "basic economy is never refunded, and ask whether anything can be done.",
        known="You booked it a few hours ago.",
        do="If the reservation can be cancelled, agree, and ask how much will be refunded in total; you need the "
        "figure for your notes. " + _NOTHING_ELSE,
        persona=ANXIOUS,
    )


def cancel_return_of_called_off(world: World, new_task: NewTask) -> Task:
    """The airline cancelled the way out, so that the reservation can be cancelled as a whole."""
    trip = world.trip(
        where=lambda t: (
            t.statuses == ["cancelled", "available"]
            and t.cabin == "economy"
            and t.user.membership == "regular"
            and not t.insured
            and t.booked_days_ago
        )
    )
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip)
    task.cancel(trip)
    task.communicate(trip.paid)
    task.ask(
        f"Your flight {trip.route} on {format_date(trip.legs[0].date)} never left, and now the way back of "
        f"reservation {trip.id} is of no use either. You want the whole reservation cancelled, and to hear "
        "how much you get back.",
        reason="The airline cancelled the way out.",
    )
    return task.build(
        rule=_REASONS,
        reason=f"Your flight {trip.route} on {format_date(trip.legs[0].date)} never left, so you stayed at home, and "
        f"now the way back of reservation {trip.id} is of no use either. You want all your money back and to hear how "
        "much.",
        do="The reason is that the airline cancelled the way out. Agree to the cancellation of the whole reservation. "
        "You do not ask for compensation. " + _NOTHING_ELSE,
    )


def cancel_all_that_can_be(world: World, new_task: NewTask) -> Task:
    """Two of three reservations may be cancelled, and only these are; the total refund is stated."""

    def fits(user: User) -> bool:
        trips = world.trips(user)
        plain = all(t.upcoming and (cancellable(t) or t.booked_days_ago) and not t.insured for t in trips)
        return plain and len(trips) == 3 and sum(map(cancellable, trips)) == 2

    user = world.user(where=fits)
    trips = world.trips(user)
    task = new_task(user)
    task.read(*trips)
    for trip in filter(cancellable, trips):
        task.cancel(trip)
    task.communicate(sum(trip.paid for trip in trips if cancellable(trip)))
    task.ask(reason=PLANS_CHANGED)
    task.ask("How much is refunded for all of the cancelled reservations taken together?")
    return task.build(
        rule=_REASONS,
        reason="You have been given a new job and must give up every trip that you have booked. You want all of your "
        "reservations cancelled, as far as that is possible.",
        unknown="You do not know the reservation ids, nor what you paid.",
        do="The reason is the same for all: a change of plans. You are in good health, and none of the airline's "
        "flights was called off as far as you know. What cannot be cancelled you keep as it is. Agree to the rest, and "
        "ask for one figure in the end: the refund of all cancelled reservations taken together.",
        persona=BRISK,
    )


CANCELLING = (
    cancel_fresh_booking,
    cancel_business_refund,
    cancel_insured_illness,
    cancel_insured_storm,
    cancel_flight_called_off,
    cancel_basic_fresh,
    cancel_return_of_called_off,
    cancel_all_that_can_be,
)
