"""Scenarios about booking: which flights, who flies, how many bags there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dates import add_days
from ...formatting import full_name
from ...pricing import free_bags
from ...wallet import Wallet
from ..builder import Order
from ..personas import ANXIOUS, BRISK, CHATTY, FORMAL
from ..requests import INSURED
from ..routes import NO_EXTRAS, endpoints, from_to, has_one_card, pick_offer
from ..trips import describe_method
from ..world import COMING, as_passenger, format_date, only_cheapest, require_found
from .booking_limits import (
    book_mixed_cabins_refused,
    book_six_refused,
    book_sold_out,
    book_today_refused,
    book_within_budget,
)

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ..builder import NewTask
    from ..world import Offer, World

_BOOKING = "Booking"


def book_cheapest_one_way(world: World, new_task: NewTask) -> Task:
    """The cheapest of several direct flights is booked for the user alone."""
    user = world.user(where=has_one_card)
    offer = pick_offer(world, lambda a, b, d: world.cheapest(a, b, d, "economy"), skip=9)
    (origin, destination), card = endpoints(offer), Wallet(user).card
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.communicate(task.book(origin, destination, Order([offer], "economy", [as_passenger(user)], [card.id])))
    task.ask_to_book(payment_method=describe_method(card))
    return task.build(
        rule=_BOOKING,
        reason=f"You want to fly {from_to(origin, destination)} on {format_date(offer.dates[0])}, one way and "
        "without a stop.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="You want the cheapest direct flight in economy; basic economy is out of the question. You travel alone. "
        + NO_EXTRAS
        + "You agree once you have heard the price.",
    )


def book_round_trip_business(world: World, new_task: NewTask) -> Task:
    """A round trip in business for two, with insurance; the companion is known to the profile."""

    def back(out: Offer) -> Offer | None:
        origin, destination = endpoints(out)
        return world.cheapest(destination, origin, add_days(out.dates[0], 3), "business", 2)

    def out(origin: str, destination: str, date: str) -> Offer | None:
        found = world.cheapest(origin, destination, date, "business", 2)
        return found if found and date < COMING[-4] and back(found) else None

    user = world.user(where=lambda u: u.saved_passengers and Wallet(u).cards)
    first = pick_offer(world, out, skip=5, choices=1)
    second, companion, card = require_found(back(first)), user.saved_passengers[0], Wallet(user).card
    origin, destination = endpoints(first)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, first.dates[0])
    task.search_direct(destination, origin, second.dates[0])
    people = [as_passenger(user), companion]
    task.communicate(
        task.book(origin, destination, Order([first, second], "business", people, [card.id], bags=3, insured=True))
    )
    task.ask_to_book(
        payment_method=describe_method(card),
        cabin="Business class.",
        passengers=f"Me and {full_name(companion)}, who is saved in your profile.",
        baggage="Three checked bags.",
        insurance=INSURED,
    )
    return task.build(
        rule=_BOOKING,
        reason=f"You want to book a round trip for two in business class, {from_to(origin, destination)} on "
        f"{format_date(first.dates[0])} and back on {format_date(second.dates[0])}.",
        known=f"{full_name(companion)} flies with you and is saved in your profile. You pay with "
        f"{describe_method(card)}.",
        unknown=f"You do not know {companion.first_name}'s date of birth by heart.",
        do="You want the cheapest direct flight in business class each way. You have three checked bags between you, "
        "and you want insurance for both. You want to know the total price, and agree to it.",
        persona=FORMAL,
    )


def book_connection(world: World, new_task: NewTask) -> Task:
    """Nothing flies directly: the cheapest connection is booked."""

    def cheapest(origin: str, destination: str) -> Offer | None:
        date = COMING[5]
        offers = world.connections(origin, destination, date, "economy")
        return only_cheapest(offers) if len(offers) > 1 else None

    offer = require_found(next((o for ends in world.unconnected() if (o := cheapest(*ends))), None))
    user = world.user(where=lambda u: u.membership == "silver" and has_one_card(u))
    (origin, destination), card = endpoints(offer), Wallet(user).card
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.search_onestop(origin, destination, offer.dates[0])
    task.communicate(task.book(origin, destination, Order([offer], "economy", [as_passenger(user)], [card.id], bags=2)))
    task.ask_to_book(
        payment_method=describe_method(card),
        flights="A direct flight, or else the cheapest connection with one stop.",
        baggage="Two checked bags.",
    )
    return task.build(
        rule=_BOOKING,
        reason=f"You need to get {from_to(origin, destination)} on {format_date(offer.dates[0])}, one way.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="You would like a direct flight; if there is none, the connection with one stop that is cheapest in "
        "economy. You fly alone, with two checked bags and without insurance. You agree to the price once you know it.",
        persona=BRISK,
    )


def book_gold_bags(world: World, new_task: NewTask) -> Task:
    """A gold member's free bags are counted, and only what exceeds them is paid."""
    user = world.user(where=lambda u: u.membership == "gold" and has_one_card(u))
    card, bags = Wallet(user).card, free_bags("gold", "economy") + 1
    offer = pick_offer(world, lambda a, b, d: world.cheapest(a, b, d, "economy"), skip=17, choices=1)
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.communicate(
        task.book(origin, destination, Order([offer], "economy", [as_passenger(user)], [card.id], bags=bags))
    )
    task.ask_to_book(
        f"You want to fly {from_to(origin, destination)} on {format_date(offer.dates[0])}, one way, with your "
        "instruments.",
        payment_method=describe_method(card),
        baggage=f"{bags} checked bags.",
    )
    return task.build(
        rule="Booking: checked bags",
        reason=f"You are going on tour with your instruments: {from_to(origin, destination)} on "
        f"{format_date(offer.dates[0])}, one way, with {bags} checked bags.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        unknown="You do not know how many bags are free.",
        do="You want the cheapest direct flight in economy, for yourself, without insurance. You ask for the total "
        "price with all the bags and agree to it.",
        persona=CHATTY,
    )


def book_basic_bags(world: World, new_task: NewTask) -> Task:
    """In basic economy, every bag of a regular member is paid."""
    user = world.user(where=lambda u: u.membership == "regular" and has_one_card(u))
    card = Wallet(user).card
    offer = pick_offer(world, lambda a, b, d: world.cheapest(a, b, d, "basic_economy"), skip=21)
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.communicate(
        task.book(origin, destination, Order([offer], "basic_economy", [as_passenger(user)], [card.id], bags=2))
    )
    task.ask_to_book(
        f"You want the cheapest way to fly {from_to(origin, destination)} without a stop on "
        f"{format_date(offer.dates[0])}, one way.",
        payment_method=describe_method(card),
        cabin="Basic economy.",
        baggage="Two checked bags.",
    )
    return task.build(
        rule="Booking: checked bags",
        reason=f"You want the cheapest way to fly {from_to(origin, destination)} without a stop on "
        f"{format_date(offer.dates[0])}: basic economy, one way.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="You take two checked bags, and neither insurance nor company. You ask for the total price, bags included, "
        "and agree to it.",
    )


def book_cheapest_day(world: World, new_task: NewTask) -> Task:
    """Of three days, the one with the cheapest flight is booked."""

    def best(origin: str, destination: str, date: str) -> Offer | None:
        days = [add_days(date, days) for days in range(3)]
        offers = [offer for day in days for offer in world.offers(origin, destination, day, "economy")]
        found = only_cheapest(sorted(offers, key=lambda offer: offer.price))
        return found if days[-1] in COMING and found and found.dates[0] == days[1] else None

    user = world.user(where=has_one_card)
    offer, card = pick_offer(world, best, skip=2, choices=1), Wallet(user).card
    (origin, destination), (date,) = endpoints(offer), offer.dates
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, add_days(date, -1), date, add_days(date, 1))
    task.communicate(task.book(origin, destination, Order([offer], "economy", [as_passenger(user)], [card.id])))
    task.ask_to_book(payment_method=describe_method(card))
    return task.build(
        rule=_BOOKING,
        reason=f"You want to fly {from_to(origin, destination)}, one way and without a stop, on "
        f"{format_date(add_days(date, -1))}, {format_date(date)} or {format_date(add_days(date, 1))}, whichever is "
        "cheapest in economy.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="The time of the day does not matter. You travel alone. "
        + NO_EXTRAS
        + "You want to hear the price and agree.",
        persona=ANXIOUS,
    )


def book_overnight(world: World, new_task: NewTask) -> Task:
    """Of a day's flights, the one that arrives on the next morning is booked."""

    def night(origin: str, destination: str, date: str) -> Offer | None:
        offers = world.offers(origin, destination, date, "economy", 2)
        late = [offer for offer in offers if "+1" in offer.flights[0].scheduled_arrival_time_est]
        before_ten = [offer for offer in late if offer.flights[0].scheduled_departure_time_est < "22"]
        return late[0] if len(late) == 1 and len(offers) > 1 and not before_ten else None

    user = world.user(where=lambda u: u.saved_passengers and has_one_card(u))
    offer, card, companion = pick_offer(world, night, skip=1), Wallet(user).card, user.saved_passengers[0]
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    order = Order([offer], "economy", [as_passenger(user), companion], [card.id])
    task.communicate(task.book(origin, destination, order))
    task.ask_to_book(
        payment_method=describe_method(card),
        flights="The direct flight that arrives on the next morning.",
        passengers=f"Me and {full_name(companion)}, born on {companion.dob}.",
    )
    return task.build(
        rule=_BOOKING,
        reason=f"You want to fly {from_to(origin, destination)} overnight: to leave late on "
        f"{format_date(offer.dates[0])} and to arrive on the next morning, one way, without a stop, together with "
        f"{full_name(companion)}.",
        known=f"{full_name(companion)} was born on {companion.dob}. You pay with {describe_method(card)}.",
        do="Only the flight that arrives on the next morning will do, whatever it costs. You fly in economy. "
        + NO_EXTRAS
        + "You want to know the price for both of you and agree to it.",
    )


def book_insured_if_asked(world: World, new_task: NewTask) -> Task:
    """Insurance has to be offered: the user takes it, but does not think of it."""
    user = world.user(where=has_one_card)
    offer, card = pick_offer(world, lambda a, b, d: world.cheapest(a, b, d, "economy"), skip=47), Wallet(user).card
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.communicate(
        task.book(origin, destination, Order([offer], "economy", [as_passenger(user)], [card.id], insured=True))
    )
    task.ask_to_book(payment_method=describe_method(card), insurance=INSURED)
    return task.build(
        rule="Booking: insurance",
        reason=f"You want to fly {from_to(origin, destination)} on {format_date(offer.dates[0])}, one way and "
        "without a stop.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="You want the cheapest direct flight in economy, for yourself, without checked bags. You do not mention "
        "insurance yourself; if the agent asks whether you want it, you do. You want to know the total price and "
        "agree.",
    )


BOOKING = (
    book_cheapest_one_way,
    book_round_trip_business,
    book_connection,
    book_six_refused,
    book_gold_bags,
    book_basic_bags,
    book_cheapest_day,
    book_overnight,
    book_sold_out,
    book_mixed_cabins_refused,
    book_today_refused,
    book_within_budget,
    book_insured_if_asked,
)
