"""Scenarios about bags, insurance and passengers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...formatting import full_name
from ...pricing import free_bags
from ..builder import Order
from ..personas import BRISK, CHATTY, FORMAL, STUBBORN
from ..requests import INSURED
from ..trips import describe_method
from ..world import format_date
from .change import plain

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ..builder import NewTask
    from ..trips import Trip
    from ..world import Offer, World

_BAGS, _PASSENGERS = "Changing: bags and insurance", "Changing: passengers"


def _spare(trip: Trip) -> int:
    """Return the number of further free bags."""
    return trip.free_bags - trip.reservation.total_baggages


def bags_free(world: World, new_task: NewTask) -> Task:
    """A bag within the free allowance costs nothing."""
    trip = world.trip(where=lambda t: plain(t) and t.user.membership == "silver" and _spare(t) > 0)
    task = new_task(trip.user)
    task.read(trip)
    task.add_bags(trip, 1, trip.wallet.card.id)
    task.ask(payment_method=describe_method(trip.wallet.card))
    return task.build(
        rule=_BAGS,
        reason=f"You want to check in one bag more than booked in {trip.id}.",
        known=f"If it costs anything, you pay with {describe_method(trip.wallet.card)}.",
        unknown="You do not know how many bags are free.",
        do="You agree if it is free, and also if it costs something. You want exactly one bag more.",
    )


def bags_paid(world: World, new_task: NewTask) -> Task:
    """Bags beyond the allowance cost 50 dollars each."""
    trip = world.trip(where=lambda t: plain(t) and t.user.membership == "regular" and _spare(t) <= 0)
    task = new_task(trip.user)
    task.read(trip)
    task.communicate(task.add_bags(trip, 2, trip.wallet.card.id))
    task.ask(payment_method=describe_method(trip.wallet.card))
    return task.build(
        rule=_BAGS,
        reason=f"You need two more checked bags on reservation {trip.id}, and ask what both cost together.",
        known=f"You pay with {describe_method(trip.wallet.card)}.",
        do="You agree to the price once you know it for both together. You want nothing else.",
        persona=BRISK,
    )


def bags_partly_free(world: World, new_task: NewTask) -> Task:
    """Of several additional bags some are free and the others are paid."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming and t.booked_days_ago and t.cabin != "business" and 1 <= _spare(t) <= 2 and t.people > 1
        )
    )
    more = _spare(trip) + 2
    task = new_task(trip.user)
    task.read(trip)
    task.communicate(task.add_bags(trip, more, trip.wallet.card.id))
    task.ask(payment_method=describe_method(trip.wallet.card))
    return task.build(
        rule=_BAGS,
        reason=f"You are moving house, and reservation {trip.id} needs {more} checked bags more than it has.",
        known=f"You pay with {describe_method(trip.wallet.card)}.",
        unknown="You do not know which of them are free.",
        do="You want to hear what all the additional bags cost together, and agree to it.",
        persona=CHATTY,
    )


def bags_of_basic(world: World, new_task: NewTask) -> Task:
    """A regular member in basic economy has no free bag, and a gift card pays for one."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.cabin == "basic_economy"
            and t.user.membership == "regular"
            and any(card.amount >= 50 for card in t.wallet.gift_cards)
        )
    )
    card = trip.wallet.gift_cards[0]
    task = new_task(trip.user)
    task.read(trip)
    task.add_bags(trip, 1, card.id)
    task.ask(payment_method=describe_method(card))
    return task.build(
        rule=_BAGS,
        reason=f"You want to add one checked bag to reservation {trip.id}. A friend told you that the first is free.",
        known=f"If it must be paid, use {describe_method(card)}.",
        do="If it is not free, accept the price and pay. You want one bag more, no more than that.",
    )


def bags_claimed_gold(world: World, new_task: NewTask) -> Task:
    """The membership that the user claims is checked: no free bag for a regular member."""
    trip = world.trip(
        where=lambda t: (
            plain(t)
            and t.user.membership == "regular"
            and free_bags("gold", "economy") * t.people - t.reservation.total_baggages > 0 >= _spare(t)
        )
    )
    task = new_task(trip.user)
    task.read(trip)
    task.add_bags(trip, 1, trip.wallet.card.id)
    task.ask(payment_method=describe_method(trip.wallet.card))
    return task.build(
        rule=_BAGS,
        reason=f"You want one more bag on reservation {trip.id}, free of charge since you are a gold member.",
        known="You believe that you are a gold member. You own "
        f"{describe_method(trip.wallet.card).removeprefix('your ')}.",
        do="If the agent says that your membership is another one and the bag has to be paid, be astonished, then "
        "agree and pay with the credit card.",
        persona=STUBBORN,
    )


def bags_not_removed(world: World, new_task: NewTask) -> Task:
    """Bags cannot be taken away and insurance cannot be added; both are declined, and a surname is changed."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming and t.reservation.nonfree_baggages > 0 and not t.insured and t.people > 1 and t.booked_days_ago
        )
    )
    first, second, *others = trip.reservation.passengers
    renamed = second.model_copy(update={"last_name": f"{second.last_name}-Whitlock"})
    task = new_task(trip.user)
    task.read(trip)
    task.change_passengers(trip, [first, renamed, *others])
    task.ask(f"You want one checked bag less on reservation {trip.id}, and your money back for it.")
    task.ask(f"You want to add travel insurance to reservation {trip.id}.")
    task.ask(
        f"{full_name(second)}, who flies with you on reservation {trip.id}, has married and is now called "
        f"{full_name(renamed)}."
    )
    return task.build(
        rule="Changing: bags and insurance; passengers",
        reason=f"Three things about reservation {trip.id}: you want one checked bag less and your money back for it; "
        f"you want to add travel insurance; and {full_name(second)} has married and is now called "
        f"{full_name(renamed)}.",
        do="Ask for one after the other, in this order. If something is not possible, accept it and go on to the next. "
        "You do not want to cancel or to change anything else.",
        persona=FORMAL,
    )


def insurance_refused(world: World, new_task: NewTask) -> Task:
    """Insurance cannot be added after booking: that is declined; a bag is added."""
    trip = world.trip(where=lambda t: plain(t) and t.user.membership == "gold" and _spare(t) > 0 and t.people == 2)
    task = new_task(trip.user)
    task.read(trip)
    task.add_bags(trip, 1, trip.wallet.card.id)
    task.ask(
        fallback=f"Then add one checked bag to reservation {trip.id} instead.",
        payment_method=describe_method(trip.wallet.card),
    )
    return task.build(
        rule=_BAGS,
        reason=f"You forgot to take out insurance for reservation {trip.id} and want to do that now, for everybody "
        "in it.",
        known=f"You pay with {describe_method(trip.wallet.card)}.",
        do="You ask whether a supervisor could add it; a no is fine. If insurance is not possible, have one "
        "checked bag added instead, and agree to the price, if any.",
    )


def bags_after_upgrade(world: World, new_task: NewTask) -> Task:
    """More bags are free in business: first the cabin is changed, then the bags cost nothing."""

    def fits(t: Trip) -> bool:
        spare_in_business = free_bags(t.user.membership, "business") * t.people - t.reservation.total_baggages
        fits_bags = not t.reservation.nonfree_baggages and _spare(t) < 2 <= spare_in_business
        return plain(t) and fits_bags and (t.upgrade("business") or 0) >= 100

    trip = world.trip(where=fits)
    card = trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.communicate(task.change_flights(trip, trip.flight_list, card.id, cabin="business"))
    task.add_bags(trip, 2, card.id, cabin="business")
    task.ask(
        f"You want business class for reservation {trip.id}, all flights and everybody. What does that cost in total?",
        payment_method=describe_method(card),
    )
    task.ask(f"Now you want two more checked bags on reservation {trip.id}.", payment_method=describe_method(card))
    return task.build(
        rule="Changing: cabin; bags and insurance",
        reason=f"You want business class for reservation {trip.id}, all flights and everybody, and after that two more "
        "checked bags.",
        known=f"You pay with {describe_method(card)}.",
        do="You want to be told what business class costs in total, and agree to it. Then you ask for the bags, which "
        "you want whether they cost anything or not.",
    )


def passenger_renamed(world: World, new_task: NewTask) -> Task:
    """A passenger's name is corrected."""
    trip = world.trip(where=lambda t: t.upcoming and t.booked_days_ago and t.people == 3)
    first, second, third = trip.reservation.passengers
    renamed = third.model_copy(update={"first_name": f"{third.first_name} Jo"})
    task = new_task(trip.user)
    task.read(trip)
    task.change_passengers(trip, [first, second, renamed])
    return task.build(
        rule=_PASSENGERS,
        reason=f"On reservation {trip.id} the first name of {full_name(third)} is incomplete. The passport says "
        f"{renamed.first_name}, and the surname {third.last_name}.",
        do="Only that name is to be corrected; everything else about the passengers is right. Agree when the agent has "
        "understood it.",
    )


def passenger_replaced(world: World, new_task: NewTask) -> Task:
    """Somebody else flies: the name comes from the user, the date of birth from the profile."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.people == 2
            and t.cabin == "basic_economy"
            and len(t.user.saved_passengers) > 1
            and sum(other.route == t.route for other in world.trips(t.user)) == 1
        )
    )
    old, new = trip.user.saved_passengers[:2]
    task = new_task(trip.user)
    task.read(*world.trips(trip.user))
    task.change_passengers(trip, [trip.reservation.passengers[0], new])
    task.ask(
        f"{full_name(old)} is ill, so {full_name(new)} will fly with you in your reservation {trip.route}.",
        reservation_id=f"You do not know it; it is the reservation {trip.route}.",
    )
    return task.build(
        rule=_PASSENGERS,
        reason=f"{full_name(old)} is ill, so {full_name(new)} will fly with you. That is to be changed in your "
        f"reservation {trip.route}.",
        known=f"{full_name(new)} is among the passengers saved in your profile.",
        unknown=f"You know neither the reservation id nor {new.first_name}'s date of birth.",
        do="You have heard that in basic economy nothing can be changed; be glad if that is wrong. Agree to the "
        "change.",
        persona=CHATTY,
    )


def add_passenger_refused(world: World, new_task: NewTask) -> Task:
    """Nobody can be added to a reservation: that is declined without a transfer; the other books separately."""

    def seat(t: Trip) -> Offer | None:
        leg = t.legs[0]
        offers = [o for o in world.offers(leg.origin, leg.destination, leg.date, "economy") if o.price >= 70]
        return next((offer for offer in offers if offer.flights[0].flight_number == leg.flight_number), None)

    def fits(t: Trip) -> bool:
        return plain(t) and t.one_way and len(t.user.saved_passengers) >= t.people and seat(t) is not None

    trip = world.trip(where=fits)
    other, card, offer = trip.user.saved_passengers[trip.people - 1], trip.wallet.card, seat(trip)
    assert offer is not None
    task = new_task(trip.user)
    task.read(trip)
    task.search_direct(trip.legs[0].origin, trip.legs[0].destination, trip.legs[0].date)
    order = Order([offer], "economy", [other], [card.id], insured=True)
    task.communicate(task.book(trip.reservation.origin, trip.reservation.destination, order))
    task.ask_to_book(
        fallback=f"Then book a reservation of its own for {full_name(other)}, {trip.route} on "
        f"{format_date(trip.legs[0].date)}, one way.",
        payment_method=describe_method(card),
        flights=f"Flight {trip.legs[0].flight_number}, the same as in reservation {trip.id}.",
        passengers=f"Only {full_name(other)}, born on {other.dob}.",
        insurance=INSURED,
    )
    return task.build(
        rule="Changing: passengers; Booking",
        reason=f"{full_name(other)} wants to come along, and you want to add {other.first_name} to "
        f"reservation {trip.id}.",
        known=f"{full_name(other)} was born on {other.dob}. You pay with {describe_method(card)}.",
        do="If nobody can be added, do not ask for a person. Book a reservation for "
        f"{other.first_name} alone, on the same flight on {format_date(trip.legs[0].date)}, in economy, with "
        "insurance and without checked bags. You want to hear what it costs altogether and agree to it.",
    )


EXTRAS = (
    bags_free,
    bags_paid,
    bags_partly_free,
    bags_of_basic,
    bags_claimed_gold,
    bags_not_removed,
    insurance_refused,
    bags_after_upgrade,
    passenger_renamed,
    passenger_replaced,
    add_passenger_refused,
)
