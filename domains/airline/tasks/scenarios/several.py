"""Scenarios with several requests in one conversation."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ...dates import add_days
from ...formatting import CITIES, full_name
from ...wallet import Wallet
from ..builder import Order
from ..personas import CHATTY, FORMAL
from ..requests import CHEAPEST, INSURED, PLANS_CHANGED
from ..routes import from_to
from ..trips import describe_method
from ..world import COMING, as_passenger, format_date, require_found
from .change import plain

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ...models import User
    from ..builder import NewTask
    from ..trips import Trip
    from ..world import Offer, World


def several_changes(world: World, new_task: NewTask) -> Task:
    """In one reservation: a passenger's name, later flights, which basic economy does not allow, and the cabin."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.booked_days_ago
            and t.people == 2
            and t.is_round_trip
            and t.cabin == "basic_economy"
            and (t.upgrade("economy") or 0) >= 100
        )
    )
    card = trip.wallet.card
    first, second = trip.reservation.passengers
    renamed = second.model_copy(update={"last_name": "Oakhurst"})
    task = new_task(trip.user)
    task.read(trip)
    task.change_passengers(trip, [first, renamed])
    task.search_fares(trip)
    task.communicate(task.change_flights(trip, trip.flight_list, card.id, cabin="economy"))
    task.ask(
        f"There is a lot to do about reservation {trip.id}. First, {full_name(second)} is now called "
        f"{full_name(renamed)}."
    )
    task.ask(f"Next, the flights of reservation {trip.id} are to be moved: you want all of them a day later.")
    task.ask(
        f"Then everybody in reservation {trip.id} is to fly in economy instead of basic economy. What does "
        "that cost in total?",
        payment_method=describe_method(card),
    )
    return task.build(
        rule="Changing: passengers; flights; cabin",
        reason=f"There is a lot to do about reservation {trip.id}. {full_name(second)} is now called "
        f"{full_name(renamed)}; everybody is to fly in economy instead of basic economy; and the flights "
        "are to be a day later.",
        known=f"You pay with {describe_method(card)}.",
        do="Ask for one after the other: first the name, then the later flights, then the cabin. If the flights cannot "
        "be a day later in basic economy, they stay as they are, for good: do not come back to it once the cabin has "
        "been changed. You want to be told what the cabin costs in total, and agree to it.",
        persona=FORMAL,
    )


def several_reservations(world: World, new_task: NewTask) -> Task:
    """One reservation is cancelled for illness, which its insurance covers; in the other the way back is moved."""

    def pair(u: User) -> tuple[Trip, Trip] | None:
        trips = world.trips(u)
        ill = [t for t in trips if t.upcoming and t.booked_days_ago and t.insured and t.cabin == "economy"]
        later = [t for t in trips if plain(t) and t.is_round_trip and world.later(t, 1, most_days=5)]
        return (ill[0], later[0]) if len(ill) == 1 and len(later) == 1 else None

    user = world.user(where=pair)
    ill, later = require_found(pair(user))
    offer, card = require_found(world.later(later, 1, most_days=5)), Wallet(user).card
    task = new_task(user)
    task.read(ill, later)
    task.cancel(ill)
    task.search_direct(later.legs[1].origin, later.legs[1].destination, offer.dates[0])
    task.change_flights(later, [later.flight_list[0], *offer.flight_list], card.id)
    task.communicate(ill.paid)
    task.ask(
        f"Reservation {ill.id} is to be cancelled, and you want to know the total of the refund.",
        reason="Your doctor wants you in hospital for a small operation on that day.",
    )
    task.ask(
        f"In reservation {later.id} the way back is to be on {format_date(offer.dates[0])}.",
        flights=CHEAPEST,
        payment_method=describe_method(card),
    )
    return task.build(
        rule="Cancelling; Changing: flights",
        reason=f"Two things. Reservation {ill.id} is to be cancelled, and you want to know the total of the refund. In "
        f"reservation {later.id} the way back is to be on {format_date(offer.dates[0])}.",
        known=f"You pay with {describe_method(card)}.",
        do=f"You cannot take the flight of {ill.id} because your doctor wants you in hospital for a small operation on "
        "that day. For the new way back you want the cheapest direct flight of the day, in the cabin that you "
        "have; the way out stays. Agree to both.",
        persona=CHATTY,
    )


def several_for_gold(world: World, new_task: NewTask) -> Task:
    """One reservation is cancelled, one is refused, and one is moved."""

    def three(u: User) -> tuple[Trip, Trip, Trip] | None:
        trips = world.trips(u)
        business = [t for t in trips if t.upcoming and t.booked_days_ago and t.cabin == "business"]
        single = [t for t in trips if plain(t) and t.one_way]
        fits = len(trips) == 3 and len(business) == 1 and len(single) == 2 and world.later(single[1], 0)
        return (business[0], single[0], single[1]) if fits else None

    user = world.user(where=three)
    business, kept, moved = require_found(three(user))
    offer, card = require_found(world.later(moved, 0)), Wallet(user).card
    task = new_task(user)
    task.read(business, kept, moved)
    task.cancel(business)
    task.search_direct(moved.legs[0].origin, moved.legs[0].destination, offer.dates[0])
    task.change_flights(moved, offer.flight_list, card.id)
    task.communicate(business.paid)
    task.ask(
        f"You want to cancel reservations {business.id} and {kept.id}, as far as that is possible.",
        reason=PLANS_CHANGED,
    )
    task.ask(
        f"The flight of reservation {moved.id} is to be moved to {format_date(offer.dates[0])}.",
        flights=CHEAPEST,
        payment_method=describe_method(card),
    )
    task.ask("How much is refunded in total?")
    return task.build(
        rule="Cancelling; Changing: flights",
        reason=f"You want to cancel reservations {business.id} and {kept.id}, and to move the flight of {moved.id} to "
        f"{format_date(offer.dates[0])}.",
        known=f"You pay with {describe_method(card)}.",
        do="You cancel because your plans have changed. What cannot be cancelled stays as it is; you do not change "
        "it in any way. You want to know how much is refunded in total. For the new day you want the cheapest "
        "direct flight, in the cabin that you have, and agree to the price.",
    )


def several_with_refund(world: World, new_task: NewTask) -> Task:
    """The refund of a downgrade goes to a gift card, which then pays for another booking."""

    def fits(t: Trip) -> bool:
        cards, refund = t.wallet.gift_cards, -(t.upgrade("economy") or 0)
        return t.upcoming and t.cabin == "business" and refund >= 100 and bool(cards) and extra(t) is not None

    def extra(t: Trip) -> Offer | None:
        card, refund = t.wallet.gift_cards[0], -(t.upgrade("economy") or 0)
        for (origin, destination), date in itertools.product(world.pairs(), COMING[6:]):
            offer = world.cheapest(origin, destination, date, "economy")
            if offer and card.amount < offer.price <= card.amount + refund:
                return offer
        return None

    trip = world.trip(where=fits)
    offer, card = require_found(extra(trip)), trip.wallet.gift_cards[0]
    (flight,), (date,) = offer.flights, offer.dates
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.communicate(-task.change_flights(trip, trip.flight_list, card.id, cabin="economy"))
    task.search_direct(flight.origin, flight.destination, date)
    task.book(flight.origin, flight.destination, Order([offer], "economy", [as_passenger(trip.user)], [card.id]))
    task.ask(
        f"You want reservation {trip.id} to be in economy instead of business class. How much do you get back "
        "in total?",
        payment_method=describe_method(card),
    )
    task.ask_to_book(
        f"Then you want to fly {from_to(flight.origin, flight.destination)} on {format_date(date)}, one way.",
        payment_method=describe_method(card),
    )
    return task.build(
        rule="Changing: cabin; Booking: payment",
        reason=f"You want reservation {trip.id} to be in economy instead of business class, and to spend the money "
        f"on a flight {from_to(flight.origin, flight.destination)} on {format_date(date)}.",
        known=f"The refund is to go to {describe_method(card)}, which is to pay for the new flight, too. You were "
        f"born on {trip.user.dob}.",
        do="First comes the change of the cabin, for everybody and all flights; ask how much comes back in total. Then "
        "you book the cheapest direct flight in economy, one way, for yourself alone, without bags and insurance, paid "
        "with the gift card alone. You agree to both.",
    )


def several_bookings(world: World, new_task: NewTask) -> Task:
    """Two people fly from different cities to the same place: two reservations, each with its own payment."""
    date, meeting = COMING[4], "ATL"
    user = world.user(where=lambda u: u.saved_passengers and any(card.amount >= 200 for card in Wallet(u).gift_cards))
    other, card, gift = user.saved_passengers[0], Wallet(user).card, Wallet(user).gift_cards[0]
    ends = [
        a
        for a, b in world.pairs()
        if b == meeting and (o := world.cheapest(a, b, date, "economy")) and 100 <= o.price <= 200
    ]
    mine, theirs = (require_found(world.cheapest(origin, meeting, date, "economy")) for origin in ends[:2])
    task = new_task(user)
    task.read_profile()
    for offer, passenger, pay in ((mine, as_passenger(user), card.id), (theirs, other, gift.id)):
        origin = offer.flights[0].origin
        task.search_direct(origin, meeting, date)
        task.communicate(task.book(origin, meeting, Order([offer], "economy", [passenger], [pay])))
    task.ask_to_book(
        f"You want to fly {from_to(ends[0], meeting)} on {format_date(date)}, one way.",
        payment_method=describe_method(card),
    )
    task.ask_to_book(
        f"Now book a flight for {full_name(other)} {from_to(ends[1], meeting)} on {format_date(date)}, one way.",
        payment_method=describe_method(gift),
        passengers=f"Only {full_name(other)}, who is saved in your profile.",
    )
    return task.build(
        rule="Booking",
        reason=f"You and {full_name(other)} want to meet in {CITIES[meeting]} on {format_date(date)}. You come from "
        f"{CITIES[ends[0]]}, {other.first_name} from {CITIES[ends[1]]}.",
        known=f"{full_name(other)} is saved in your profile. {describe_method(card).capitalize()} pays for your "
        f"flight, and {describe_method(gift)} for {other.first_name}'s.",
        do="For each of you, the cheapest direct flight in economy, one way, in a reservation of its own: first yours, "
        f"then {other.first_name}'s. No bags, no insurance. You want to know the price of each and agree.",
    )


def several_fresh(world: World, new_task: NewTask) -> Task:
    """A fresh booking for two is cancelled and made anew on a later day, in business."""

    def new_day(t: Trip) -> Offer | None:
        date = add_days(t.legs[0].date, 2)
        return world.cheapest(t.reservation.origin, t.reservation.destination, date, "business", t.people)

    trip = world.trip(
        where=lambda t: (
            t.upcoming and t.hours < 22 and t.one_way and t.people == 2 and t.cabin == "economy" and new_day(t)
        )
    )
    offer, card = require_found(new_day(trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.cancel(trip)
    task.search_direct(trip.reservation.origin, trip.reservation.destination, offer.dates[0])
    order = Order([offer], "business", trip.reservation.passengers, [card.id], insured=True)
    task.communicate(trip.paid, task.book(trip.reservation.origin, trip.reservation.destination, order))
    task.ask(
        f"Last night you forgot something when you booked {trip.id}. You want that reservation {trip.id} "
        "cancelled, and to hear what is refunded.",
        reason=PLANS_CHANGED,
    )
    task.ask_to_book(
        f"Now book a flight {trip.route} on {format_date(offer.dates[0])}, one way, for the same people.",
        payment_method=describe_method(card),
        cabin="Business class.",
        passengers=" and ".join(["Me", *map(full_name, trip.reservation.passengers[1:])]) + ".",
        insurance=INSURED,
    )
    return task.build(
        rule="Cancelling; Booking",
        reason=f"Last night you forgot to take out insurance when you booked {trip.id}. You want that reservation "
        "cancelled and a new one made.",
        known=f"You pay with {describe_method(card)}.",
        do="The reason for cancelling is that your plans have changed: you now want to fly on "
        f"{format_date(offer.dates[0])}. You insist on two steps, a cancellation and a new booking: same people, same "
        "way, one way, by the cheapest direct flight of the new day in business class, with insurance, without "
        "checked bags. You want to know the refund of the old reservation and the total price of the new one.",
    )


SEVERAL = (
    several_changes,
    several_reservations,
    several_for_gold,
    several_with_refund,
    several_bookings,
    several_fresh,
)
