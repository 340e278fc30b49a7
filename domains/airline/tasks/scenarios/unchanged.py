"""Scenarios in which cancelling is not the answer: it is declined, handed over, or done in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dates import add_days
from ...formatting import CITIES, full_name
from ..builder import Order
from ..personas import ANXIOUS, BRISK, STUBBORN
from ..requests import CHEAPEST, PLANS_CHANGED
from ..trips import describe_method
from ..world import as_passenger, format_date, require_found

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ..builder import NewTask
    from ..world import World

_REASONS = "Cancelling"
_NOTHING_ELSE = "You want nothing else; decline whatever else you are offered."


def cancel_refused_gold(world: World, new_task: NewTask) -> Task:
    """Gold membership is no reason to cancel: that is declined; a birth date is corrected."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.booked_days_ago
            and t.cabin == "economy"
            and t.user.membership == "gold"
            and not t.insured
            and t.people == 2
        )
    )
    companion = trip.reservation.passengers[1]
    corrected = companion.model_copy(update={"dob": add_days(companion.dob, -9)})
    task = new_task(trip.user)
    task.read(trip)
    task.change_passengers(trip, [trip.reservation.passengers[0], corrected])
    task.ask(
        reason="You would rather stay at home.",
        insist=1,
        fallback=f"Then correct the date of birth of {full_name(companion)} in reservation {trip.id}: the right "
        f"one is {corrected.dob}.",
    )
    return task.build(
        rule=_REASONS,
        reason=f"You want to cancel reservation {trip.id} because you would rather stay at home.",
        known=f"You booked weeks ago. The airline has {full_name(companion)}, who flies with you, with a wrong date of "
        f"birth; the right one is {corrected.dob}.",
        do="You are convinced that gold members can cancel whatever they like. If the agent declines nevertheless, "
        "keep the reservation, and have the date of birth of your companion corrected in it. You decline any other "
        "change.",
        persona=STUBBORN,
    )


def cancel_refused_reason(world: World, new_task: NewTask) -> Task:
    """Insurance does not cover a moved meeting: cancelling is declined; the way back is changed instead."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.booked_days_ago
            and t.insured
            and t.is_round_trip
            and t.cabin == "economy"
            and world.later(t, 1)
        )
    )
    offer = require_found(world.later(trip, 1))
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(trip.legs[1].origin, trip.legs[1].destination, offer.dates[0])
    task.change_flights(trip, [trip.flight_list[0], *offer.flight_list], trip.wallet.card.id)
    task.ask(
        reason="The meeting has been moved.",
        fallback=f"Then move the way back of reservation {trip.id} to {format_date(offer.dates[0])}.",
        flights=CHEAPEST,
        payment_method=describe_method(trip.wallet.card),
    )
    return task.build(
        rule=_REASONS,
        reason=f"The meeting for which you booked {trip.id} has been moved, so you want to cancel. You have insurance.",
        known=f"You pay with {describe_method(trip.wallet.card)}.",
        do="You are in good health, the weather is fine, and you say so if you are asked. If the agent does not "
        f"cancel, you want the way back moved to {format_date(offer.dates[0])} instead: the cheapest direct flight of "
        "that day in the cabin that you have. The way out stays. Agree to the price.",
    )


def cancel_refused_after_a_day(world: World, new_task: NewTask) -> Task:
    """Booked more than 24 hours ago: cancelling is declined, and the price that was paid is stated."""
    trip = world.trip(
        where=lambda t: t.upcoming and 24 < t.hours < 48 and t.cabin == "economy" and not t.insured and t.people == 2
    )
    task = new_task(trip.user)
    task.read(trip)
    task.communicate(trip.paid)
    task.ask(
        reason="You found a cheaper offer elsewhere.",
        insist=1,
        fallback=f"Then how much did you pay for reservation {trip.id} altogether?",
    )
    return task.build(
        rule=_REASONS,
        reason=f"You want to cancel reservation {trip.id}. You have read that this is free on the day after booking.",
        known="You booked it recently; you believe that it was less than 24 hours ago.",
        unknown="You do not know the exact time of the booking, nor what it cost.",
        do="The reason is that you found a cheaper offer elsewhere. If the agent declines, ask how much you paid for "
        "the reservation altogether, because you will try to sell the journey to a cousin. You change nothing.",
        persona=STUBBORN,
    )


def cancel_refused_false_claim(world: World, new_task: NewTask) -> Task:
    """A flight said to be cancelled is not: cancelling is declined; the cabin is changed instead."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.booked_days_ago
            and t.cabin == "economy"
            and not t.insured
            and t.user.membership == "silver"
            and (t.upgrade("business") or 0) > 100
        )
    )
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip)
    task.search_fares(trip)
    task.communicate(task.change_flights(trip, trip.flight_list, trip.wallet.card.id, cabin="business"))
    task.ask(
        reason="The airline has cancelled the flight, as you have heard.",
        fallback=f"Then you want all flights of reservation {trip.id} in business class, for everybody. What "
        "does that cost in total?",
        payment_method=describe_method(trip.wallet.card),
    )
    return task.build(
        rule=_REASONS,
        reason=f"You have heard that the airline has cancelled your flight {trip.route} on "
        f"{format_date(trip.legs[0].date)}. You want to cancel reservation {trip.id} for that reason.",
        known=f"You pay with {describe_method(trip.wallet.card)}.",
        unknown="You do not know for certain whether the flight was cancelled.",
        do="If the flight takes place, accept that. Then you want to fly in business class, all flights of the "
        "reservation and everybody in it, if that is possible. You ask what it costs in total and agree to any price.",
    )


def cancel_flown_business(world: World, new_task: NewTask) -> Task:
    """One flight has been flown, so that the agent cannot cancel and has to transfer, business or not."""
    trip = world.trip(where=lambda t: t.statuses == ["landed", "available"] and t.cabin == "business")
    task = new_task(trip.user)
    task.read_reservations(trip)
    task.hand_over("The user wants to cancel a reservation of which one flight has been flown.")
    task.ask(reason=PLANS_CHANGED)
    return task.build(
        rule="Cancelling: flown flights",
        reason=f"You are staying in {CITIES[trip.reservation.destination]} for good and do not need the way back of "
        f"reservation {trip.id}. You want to cancel and get back what has not been used.",
        do="The reason is a change of plans. If the agent wants to transfer you, agree; you do nothing else.",
    )


def cancel_flown_insured(world: World, new_task: NewTask) -> Task:
    """One flight has been flown, so that the agent has to transfer although insurance covers the reason."""
    trip = world.trip(where=lambda t: t.statuses == ["landed", "available"] and t.insured)
    task = new_task(trip.user)
    task.read_reservations(trip)
    task.hand_over("The user has fallen ill and wants to cancel; one flight of the reservation has been flown.")
    task.ask(reason="You have pneumonia.")
    return task.build(
        rule="Cancelling: flown flights",
        reason="You have come down with pneumonia while away and cannot take the flight back of reservation "
        f"{trip.id}. You want to cancel it; you have insurance.",
        do="Changing to another day is of no use to you. If the agent wants to transfer you, agree.",
        persona=ANXIOUS,
    )


def cancel_in_the_air(world: World, new_task: NewTask) -> Task:
    """A flight that is in the air counts as flown: the agent has to transfer."""
    trip = world.trip(where=lambda t: t.statuses == ["flying", "available"])
    task = new_task(trip.user)
    task.read_reservations(trip)
    task.hand_over("The user is on the way out and wants to cancel.")
    task.ask(reason="A friend will give you a lift home.")
    return task.build(
        rule="Cancelling: flown flights",
        reason=f"You are writing over the aircraft's Wi-Fi, on your way {trip.route}. You want to "
        f"cancel the rest of reservation {trip.id}, that is, the way back.",
        do="The reason is that a friend will give you a lift home. If the agent wants to transfer you, agree.",
        persona=BRISK,
    )


def cancel_one_of_two_people(world: World, new_task: NewTask) -> Task:
    """A single passenger cannot be taken out of a reservation, not even by a person; somebody else flies instead."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.people == 2
            and t.booked_days_ago
            and t.cabin == "economy"
            and len(t.user.saved_passengers) > 1
            and not t.insured
        )
    )
    companion, other = trip.user.saved_passengers[:2]
    task = new_task(trip.user)
    task.read(trip)
    task.change_passengers(trip, [trip.reservation.passengers[0], other])
    task.ask(
        f"{full_name(companion)} cannot come along on reservation {trip.id}. You want that one ticket cancelled "
        "and refunded; you still want to fly.",
        reason=f"{companion.first_name} cannot come along.",
        fallback=f"Then {full_name(other)} is to fly in place of {full_name(companion)} in reservation {trip.id}.",
    )
    return task.build(
        rule="Changing: passengers",
        reason=f"{full_name(companion)} cannot come along on reservation {trip.id}. You want that one ticket cancelled "
        "and refunded; you still want to fly.",
        known=f"{full_name(other)} is among the passengers saved in your profile.",
        unknown=f"You do not know the date of birth of {full_name(other)} by heart.",
        do="If the agent cannot take somebody out of the reservation, do not insist, and do not ask for a transfer. "
        f"Then {full_name(other)} is to fly in place of {full_name(companion)}.",
    )


def cancel_one_way_of_two(world: World, new_task: NewTask) -> Task:
    """A single flight cannot be cancelled; the whole reservation, in business, can."""
    trip = world.trip(
        where=lambda t: t.upcoming and t.booked_days_ago and t.is_round_trip and t.cabin == "business" and not t.insured
    )
    task = new_task(trip.user)
    task.read(trip)
    task.cancel(trip)
    task.ask(reason="You will come home by train.", fallback=f"Then cancel the whole reservation {trip.id}.")
    return task.build(
        rule=_REASONS,
        reason=f"You want to cancel only the flight back of reservation {trip.id}, on "
        f"{format_date(trip.legs[1].date)}.",
        do="The reason is that you will come home by train. If a single flight cannot be cancelled, give up the whole "
        "reservation: have all of it cancelled, since you can do the way out by train, too. You book nothing new.",
    )


def cancel_basic_and_rebook(world: World, new_task: NewTask) -> Task:
    """Flights in basic economy cannot be changed; a fresh booking can be cancelled and made anew."""
    trip = world.trip(
        where=lambda t: t.upcoming and t.hours < 22 and t.cabin == "basic_economy" and t.one_way and world.later(t, 0)
    )
    offer, card = require_found(world.later(trip, 0)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(trip.reservation.origin, trip.reservation.destination, offer.dates[0])
    task.cancel(trip)
    order = Order([offer], "basic_economy", [as_passenger(trip.user)], [card.id])
    task.book(trip.reservation.origin, trip.reservation.destination, order)
    task.ask(
        f"You want to fly on {format_date(offer.dates[0])} instead of {format_date(trip.legs[0].date)}, reservation "
        f"{trip.id}, in the same cabin as before.",
        flights=CHEAPEST,
        reason=PLANS_CHANGED,
        fallback=f"Then cancel reservation {trip.id}.",
    )
    task.ask_to_book(
        f"Now book a flight {trip.route} on {format_date(offer.dates[0])}, one way, without a stop.",
        payment_method=describe_method(card),
        cabin="Basic economy.",
    )
    return task.build(
        rule="Changing: basic economy; Cancelling; Booking",
        reason=f"You want to fly on {format_date(offer.dates[0])} instead of {format_date(trip.legs[0].date)}, "
        f"reservation {trip.id}, by the cheapest direct flight of the new day, and in the same cabin as before.",
        known=f"You made the reservation this morning or last night. You pay with {describe_method(card)}.",
        do="You do not want another cabin. If the flight cannot be changed, have the reservation cancelled (your plans "
        "have changed) and the new flight booked, for yourself alone, without bags and without insurance. You "
        "agree to the price.",
    )


KEEPING = (
    cancel_refused_gold,
    cancel_refused_reason,
    cancel_refused_after_a_day,
    cancel_refused_false_claim,
    cancel_flown_business,
    cancel_flown_insured,
    cancel_in_the_air,
    cancel_one_of_two_people,
    cancel_one_way_of_two,
    cancel_basic_and_rebook,
)
