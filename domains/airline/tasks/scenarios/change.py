"""Scenarios about changing flights: what it costs, who pays, what is not possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dates import TODAY, TOMORROW, add_days
from ...formatting import CITIES
from ..builder import Order
from ..personas import ANXIOUS, BRISK, CHATTY, STUBBORN
from ..requests import CHEAPEST, EARLIEST
from ..trips import describe_method
from ..world import COMING, as_passenger, format_date, require_found

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ..builder import NewTask
    from ..trips import Trip
    from ..world import Offer, World

_FLIGHTS = "Changing: flights"


def plain(trip: Trip) -> bool:
    """Return whether a trip is upcoming, in economy, booked long ago, without insurance and not to be cancelled."""
    return trip.upcoming and trip.booked_days_ago and trip.cabin == "economy" and not trip.insured


def change_way_back(world: World, new_task: NewTask) -> Task:
    """The way back is moved to a later day, by the cheapest of several flights; the way out stays."""
    trip = world.trip(where=lambda t: plain(t) and t.is_round_trip and t.people == 2 and world.later(t, 1, choices=2))
    offer, card = require_found(world.later(trip, 1, choices=2)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(trip.legs[1].origin, trip.legs[1].destination, offer.dates[0])
    task.change_flights(trip, [trip.flight_list[0], *offer.flight_list], card.id)
    task.ask(flights=CHEAPEST, payment_method=describe_method(card))
    return task.build(
        rule=_FLIGHTS,
        reason=f"You want to stay longer: the way back of reservation {trip.id} is to be on "
        f"{format_date(offer.dates[0])}.",
        known=f"You pay with {describe_method(card)}.",
        do="You want the cheapest direct flight of that day, in the cabin that you have, for everybody in the "
        "reservation. The way out stays as it is. You agree to any price, and want nothing else.",
    )


def change_to_earliest(world: World, new_task: NewTask) -> Task:
    """A single flight is moved to the first flight of a later day, whatever it costs."""

    def first(t: Trip) -> Offer | None:
        date = add_days(t.legs[0].date, 2)
        offers = world.offers(t.reservation.origin, t.reservation.destination, date, t.cabin, t.people)
        return min(offers, key=lambda o: o.flights[0].scheduled_departure_time_est) if len(offers) > 1 else None

    trip = world.trip(where=lambda t: plain(t) and t.one_way and first(t))
    offer, card = require_found(first(trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(trip.reservation.origin, trip.reservation.destination, offer.dates[0])
    task.change_flights(trip, offer.flight_list, card.id)
    task.ask(flights=EARLIEST, payment_method=describe_method(card))
    return task.build(
        rule=_FLIGHTS,
        reason=f"You want to move your flight of reservation {trip.id} to {format_date(offer.dates[0])}.",
        known=f"You pay with {describe_method(card)}.",
        do="Of that day's direct flights you want the one that departs first, provided that there are seats for "
        "everybody in the reservation, in the cabin that you have. The price does not matter. You change nothing else.",
        persona=BRISK,
    )


def change_rest_of_journey(world: World, new_task: NewTask) -> Task:
    """The way out has been flown and stays listed; the way back is changed, for which no transfer is needed."""
    trip = world.trip(
        where=lambda t: (
            t.statuses == ["landed", "available"]
            and t.cabin == "economy"
            and not t.insured
            and world.later(t, 1)
            and t.user.membership == "regular"
        )
    )
    offer, card = require_found(world.later(trip, 1)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(trip.legs[1].origin, trip.legs[1].destination, offer.dates[0])
    task.change_flights(trip, [trip.flight_list[0], *offer.flight_list], card.id)
    task.ask(flights=CHEAPEST, payment_method=describe_method(card))
    return task.build(
        rule=_FLIGHTS,
        reason=f"You are already in {CITIES[trip.reservation.destination]} and want to fly home later than planned: on "
        f"{format_date(offer.dates[0])}. Your reservation is {trip.id}.",
        known=f"You pay with {describe_method(card)}.",
        do="You want the cheapest direct flight of that day, in the cabin that you have. You agree to the price. You "
        "do not want to cancel anything.",
        persona=CHATTY,
    )


def change_to_full_flight(world: World, new_task: NewTask) -> Task:
    """On the day that is wanted first there are too few seats; the next day has some."""

    def days(t: Trip) -> tuple[str, Offer] | None:
        leg, cabin, people = t.legs[-1], t.cabin, t.people
        for date in COMING:
            listed = world.count_direct(leg.origin, leg.destination, date)
            if date > leg.date and listed and not world.offers(leg.origin, leg.destination, date, cabin, people):
                offer = world.cheapest(leg.origin, leg.destination, add_days(date, 1), cabin, people)
                if offer:
                    return date, offer
        return None

    trip = world.trip(where=lambda t: plain(t) and (t.one_way or t.is_round_trip) and days(t))
    (full, offer), leg, card = require_found(days(trip)), trip.legs[-1], trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(leg.origin, leg.destination, full, offer.dates[0])
    task.change_flights(trip, [*trip.flight_list[:-1], *offer.flight_list], card.id)
    task.ask(
        flights=CHEAPEST,
        payment_method=describe_method(card),
        fallback=f"Then move the flight from {CITIES[leg.origin]} in reservation {trip.id} to "
        f"{format_date(offer.dates[0])}.",
    )
    return task.build(
        rule=_FLIGHTS,
        reason=f"Your flight from {CITIES[leg.origin]} on {format_date(leg.date)}, reservation {trip.id}, is to be "
        f"moved to {format_date(full)}.",
        known=f"You pay with {describe_method(card)}.",
        do="You want a direct flight with seats for everybody in the reservation, in the cabin that you have; "
        "another cabin or a stop will not do. If there is none on that day, you want the cheapest direct one on "
        f"{format_date(offer.dates[0])}. You agree to the price, and want nothing else changed.",
    )


def change_flight_of_today(world: World, new_task: NewTask) -> Task:
    """A flight that leaves today can no longer be booked, but it has not been flown, so it can be changed."""

    def tomorrow(t: Trip) -> Offer | None:
        return world.later(t, 0, most_days=1)

    trip = world.trip(
        where=lambda t: t.statuses[:1] == ["on time"] and t.cabin == "economy" and t.one_way and tomorrow(t)
    )
    offer, card = require_found(tomorrow(trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip)
    task.search_direct(trip.legs[0].origin, trip.legs[0].destination, TOMORROW)
    task.change_flights(trip, offer.flight_list, card.id)
    task.ask(flights=CHEAPEST, payment_method=describe_method(card))
    return task.build(
        rule=_FLIGHTS,
        reason=f"You will not make it to the airport for today's flight of reservation {trip.id}. You want to fly "
        f"tomorrow, {format_date(TOMORROW)}.",
        known=f"You pay with {describe_method(card)}.",
        do="You want the cheapest direct flight of tomorrow, in the cabin that you have. You agree to the price.",
        persona=BRISK,
    )


def change_basic_refused(world: World, new_task: NewTask) -> Task:
    """Flights in basic economy cannot be changed: that is declined; a bag is added."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.booked_days_ago
            and t.cabin == "basic_economy"
            and t.one_way
            and t.user.membership == "silver"
        )
    )
    card = trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.add_bags(trip, 2, card.id)
    task.ask(
        insist=1,
        fallback=f"Then you go as planned, with two more checked bags on reservation {trip.id} than before.",
        payment_method=describe_method(card),
    )
    return task.build(
        rule=_FLIGHTS,
        reason=f"You want to take the same flight as in reservation {trip.id}, but on the day after.",
        known=f"You pay with {describe_method(card)}.",
        do="You have heard that changes are possible for a fee, and you would pay it. You do not want another cabin, "
        "and you do not want to cancel or book anything. If the flight cannot be changed, you go as planned, with two "
        "more checked bags than before; agree to what they cost.",
        persona=STUBBORN,
    )


def change_destination_refused(world: World, new_task: NewTask) -> Task:
    """The destination has to stay: another one is declined; a later day on the same way is fine."""
    trip = world.trip(where=lambda t: plain(t) and t.one_way and t.user.membership == "regular" and world.later(t, 0))
    other = next(code for code in ("DEN", "CLT", "PHX") if code != trip.reservation.destination)
    offer, card = require_found(world.later(trip, 0)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(trip.legs[0].origin, trip.legs[0].destination, offer.dates[0])
    task.change_flights(trip, offer.flight_list, card.id)
    task.ask(
        flights=CHEAPEST,
        payment_method=describe_method(card),
        fallback=f"Then you go where you meant to go at first, but on {format_date(offer.dates[0])}: move the "
        f"flight of reservation {trip.id} to that day.",
    )
    return task.build(
        rule=_FLIGHTS,
        reason=f"Reservation {trip.id} takes you {trip.route}, but now you need to go to {CITIES[other]}. You want the "
        "reservation changed to a flight there.",
        known=f"You pay with {describe_method(card)}.",
        do="You do not want to cancel, nor to make a second reservation. If the destination cannot be changed, you go "
        f"where you meant to go at first, but on {format_date(offer.dates[0])}: by the cheapest direct flight, in "
        "the cabin that you have. You agree to the price.",
    )


def change_trip_type_refused(world: World, new_task: NewTask) -> Task:
    """A single flight cannot become a round trip: the way back is booked separately."""

    def way_back(t: Trip) -> Offer | None:
        date = add_days(t.legs[0].date, 4)
        if date not in COMING:
            return None
        offer = world.cheapest(t.reservation.destination, t.reservation.origin, date, "economy")
        return offer if offer and offer.price >= 100 else None

    trip = world.trip(where=lambda t: plain(t) and t.one_way and t.people == 1 and way_back(t))
    offer, card, booked = require_found(way_back(trip)), trip.wallet.card, trip.reservation
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(booked.destination, booked.origin, offer.dates[0])
    task.communicate(
        task.book(
            booked.destination, booked.origin, Order([offer], "economy", [as_passenger(trip.user)], [card.id], bags=1)
        )
    )
    task.ask_to_book(
        fallback=f"Then book a flight on its own from {CITIES[booked.destination]} to {CITIES[booked.origin]} "
        f"on {format_date(offer.dates[0])}, one way.",
        payment_method=describe_method(card),
        baggage="One checked bag.",
    )
    return task.build(
        rule="Changing: flights; Booking",
        reason=f"You want a flight back on {format_date(offer.dates[0])} added to reservation {trip.id}.",
        known=f"You pay with {describe_method(card)}. You will have one checked bag on the way back.",
        unknown="You do not know what the way back costs.",
        do="If nothing can be added to that reservation, you want the way back booked on its own: for yourself, in "
        "economy, by the cheapest direct flight of the day, without insurance. You want to hear its price in total and "
        "agree to it.",
    )


def change_called_off_flight(world: World, new_task: NewTask) -> Task:
    """The airline cancelled the way out, which is moved to the day after; compensation is not asked for."""

    def rebooked(t: Trip) -> Offer | None:
        return world.later(t, 0) if t.statuses == ["cancelled", "available"] and t.legs[0].date > TODAY else None

    trip = world.trip(where=lambda t: t.cabin == "economy" and t.user.membership == "silver" and rebooked(t))
    offer, card = require_found(rebooked(trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.search_direct(trip.legs[0].origin, trip.legs[0].destination, offer.dates[0])
    task.change_flights(trip, [*offer.flight_list, trip.flight_list[1]], card.id)
    task.ask(flights=CHEAPEST, payment_method=describe_method(card))
    return task.build(
        rule="Changing: flights; Compensation (never volunteered)",
        reason=f"You have had a message that your flight {trip.route} on {format_date(trip.legs[0].date)} does not "
        f"fly. You still want to go: reservation {trip.id} is to be changed to {format_date(offer.dates[0])}.",
        known=f"You pay with {describe_method(card)}.",
        do="You want the cheapest direct flight of that day, in the cabin that you have, for everybody in the "
        "reservation. The way back stays. You agree to the price. It does not occur to you to ask for compensation; if "
        "the agent offers some of its own accord, say that you did not ask for it and do not want it.",
    )


def change_both_ways(world: World, new_task: NewTask) -> Task:
    """A whole journey is moved by two days, each way by the cheapest flight of its day."""

    def moved(t: Trip) -> tuple[Offer, Offer] | None:
        ways = [
            world.cheapest(leg.origin, leg.destination, date, t.cabin, t.people) if date in COMING else None
            for leg in t.legs
            for date in (add_days(leg.date, 2),)
        ]
        return (ways[0], ways[1]) if ways[0] and ways[1] else None

    trip = world.trip(where=lambda t: plain(t) and t.is_round_trip and t.user.membership == "gold" and moved(t))
    offers, card = require_found(moved(trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    for leg, offer in zip(trip.legs, offers, strict=True):
        task.search_direct(leg.origin, leg.destination, offer.dates[0])
    task.change_flights(trip, [*offers[0].flight_list, *offers[1].flight_list], card.id)
    task.ask(flights=CHEAPEST, payment_method=describe_method(card))
    return task.build(
        rule=_FLIGHTS,
        reason=f"Everything has been put off by two days, and so must be reservation {trip.id}: the way out to "
        f"{format_date(offers[0].dates[0])}, the way back to {format_date(offers[1].dates[0])}.",
        known=f"You pay with {describe_method(card)}.",
        do="For both ways you want the cheapest direct flight of the day, in the cabin that you have. You want both "
        "changed together, in one go, and agree to the price.",
        persona=ANXIOUS,
    )


def change_connection(world: World, new_task: NewTask) -> Task:
    """A journey with a stop is moved by a day, on the same two flights."""

    def next_day(t: Trip) -> Offer | None:
        date, (origin, destination) = add_days(t.legs[0].date, 1), (t.reservation.origin, t.reservation.destination)
        numbers = [leg.flight_number for leg in t.legs]
        offers = world.connections(origin, destination, date, t.cabin, t.people)
        return next((offer for offer in offers if [f.flight_number for f in offer.flights] == numbers), None)

    trip = world.trip(
        where=lambda t: (
            plain(t) and len(t.legs) == 2 and not t.is_round_trip and t.user.membership == "silver" and next_day(t)
        )
    )
    offer, card = require_found(next_day(trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_onestop(trip.reservation.origin, trip.reservation.destination, offer.dates[0])
    task.change_flights(trip, offer.flight_list, card.id)
    task.ask(payment_method=describe_method(card))
    return task.build(
        rule=_FLIGHTS,
        reason=f"You want to travel a day later than booked in {trip.id}, on {format_date(offer.dates[0])}, with the "
        "very same two flight numbers.",
        known=f"You pay with {describe_method(card)}.",
        do="You agree to the price, as long as it is the same two flights and the same cabin, a day later.",
    )


def change_certificate_refused(world: World, new_task: NewTask) -> Task:
    """Certificates do not pay for changes: another payment method has to."""
    trip = world.trip(where=lambda t: plain(t) and t.is_round_trip and t.wallet.certificates and world.later(t, 1))
    offer, card, certificate = require_found(world.later(trip, 1)), trip.wallet.card, trip.wallet.certificates[0]
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(trip.legs[1].origin, trip.legs[1].destination, offer.dates[0])
    task.change_flights(trip, [trip.flight_list[0], *offer.flight_list], card.id)
    task.ask(
        flights=CHEAPEST,
        payment_method=describe_method(certificate),
        insist=1,
        fallback=f"Then use {describe_method(card)}.",
    )
    return task.build(
        rule="Changing: payment",
        reason=f"You want to come home on {format_date(offer.dates[0])} instead: reservation {trip.id}.",
        known=f"You have {describe_method(certificate).removeprefix('your ')} and "
        f"{describe_method(card).removeprefix('your ')}.",
        do="You want the cheapest direct flight of that day, in the cabin that you have, and the certificate is to pay "
        "for the change, or to receive what it gives back. If that is not possible, use the credit card. The way out "
        "stays. You agree to the price.",
        persona=STUBBORN,
    )


CHANGING = (
    change_way_back,
    change_to_earliest,
    change_rest_of_journey,
    change_to_full_flight,
    change_flight_of_today,
    change_basic_refused,
    change_destination_refused,
    change_trip_type_refused,
    change_called_off_flight,
    change_both_ways,
    change_connection,
    change_certificate_refused,
)
