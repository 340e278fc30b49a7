"""Scenarios about booking what cannot be booked as it is wanted: too many people, no seat, two cabins, too dear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dates import TODAY, TOMORROW, add_days
from ...formatting import full_name
from ...wallet import Wallet
from ..builder import Order
from ..personas import BRISK, STUBBORN
from ..routes import NO_EXTRAS, endpoints, from_to, has_one_card, pick_offer
from ..trips import describe_method
from ..world import COMING, as_passenger, format_date, require_found

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ..builder import NewTask
    from ..world import Offer, World

_BOOKING = "Booking"


def book_six_refused(world: World, new_task: NewTask) -> Task:
    """At most five people a reservation: the sixth stays at home."""
    user = world.user(where=lambda u: len(u.saved_passengers) == 5)
    *rest, left_out = user.saved_passengers
    card = Wallet(user).card
    offer = pick_offer(world, lambda a, b, d: world.cheapest(a, b, d, "economy", 5), skip=4)
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.communicate(task.book(origin, destination, Order([offer], "economy", [as_passenger(user), *rest], [card.id])))
    task.ask_to_book(
        payment_method=describe_method(card),
        passengers="Six people: me and all five people saved in your profile.",
        fallback=f"Then {left_out.first_name} stays at home: the passengers are me, {', '.join(map(full_name, rest))}.",
    )
    return task.build(
        rule="Booking: passengers",
        reason=f"You want to book a flight {from_to(origin, destination)} on {format_date(offer.dates[0])} for six: "
        "you and the five people saved in your profile, one way, in one reservation.",
        known=f"You pay with {describe_method(card)}.",
        do="You want the cheapest direct flight in economy. "
        + NO_EXTRAS
        + f"If six are too many for a reservation, {left_out.first_name} stays at home: you do not want a second "
        "reservation. The others are named in the order of your profile, after yourself. You want to know the total "
        "price and agree to it.",
    )


def book_sold_out(world: World, new_task: NewTask) -> Task:
    """Business is sold out on the day that is wanted first; the next day has seats."""

    def next_day(origin: str, destination: str, date: str) -> Offer | None:
        if world.offers(origin, destination, date, "business") or not world.count_direct(origin, destination, date):
            return None
        return world.cheapest(origin, destination, add_days(date, 1), "business")

    user = world.user(where=has_one_card)
    offer, card = pick_offer(world, next_day, choices=1), Wallet(user).card
    (origin, destination), full = endpoints(offer), add_days(offer.dates[0], -1)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, full, offer.dates[0])
    task.book(origin, destination, Order([offer], "business", [as_passenger(user)], [card.id], bags=1))
    task.ask_to_book(
        payment_method=describe_method(card),
        cabin="Business class.",
        baggage="One checked bag.",
        fallback=f"Then take the cheapest direct flight on {format_date(offer.dates[0])}.",
    )
    return task.build(
        rule=_BOOKING,
        reason=f"You want to fly {from_to(origin, destination)} in business class on {format_date(full)}, one way.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="Only a direct flight in business class will do. If there is no seat left on that day, take the cheapest "
        f"direct one on {format_date(offer.dates[0])}. You travel alone with one checked bag and do not want "
        "insurance. You agree to the price.",
        persona=BRISK,
    )


def book_mixed_cabins_refused(world: World, new_task: NewTask) -> Task:
    """One reservation has one cabin: business there and economy back is declined."""

    def back(out: Offer) -> Offer | None:
        origin, destination = endpoints(out)
        return world.cheapest(destination, origin, add_days(out.dates[0], 2), "economy")

    def out(origin: str, destination: str, date: str) -> Offer | None:
        found = world.cheapest(origin, destination, date, "economy")
        return found if found and date < COMING[-3] and back(found) else None

    user = world.user(where=lambda u: u.membership == "silver" and has_one_card(u))
    first, card = pick_offer(world, out, skip=13, choices=1), Wallet(user).card
    second, (origin, destination) = require_found(back(first)), endpoints(first)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, first.dates[0])
    task.search_direct(destination, origin, second.dates[0])
    order = Order([first, second], "economy", [as_passenger(user)], [card.id], bags=1)
    task.communicate(task.book(origin, destination, order))
    task.ask_to_book(
        payment_method=describe_method(card),
        cabin="Business class there, economy back.",
        baggage="One checked bag.",
        fallback="Then economy both ways.",
    )
    return task.build(
        rule="Booking: cabin",
        reason=f"You want a round trip {from_to(origin, destination)}: there on {format_date(first.dates[0])} in "
        f"business class, back on {format_date(second.dates[0])} in economy.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="It must be one reservation. If both ways have to be in the same cabin, you want economy both ways, by the "
        "cheapest direct flight of each day. You travel alone, with one checked bag and without insurance. You want "
        "the total price and agree to it.",
    )


def book_today_refused(world: World, new_task: NewTask) -> Task:
    """A flight of today can no longer be booked, although it has not left; one of tomorrow can."""

    def fits(origin: str, destination: str) -> Offer | None:
        leaving = [
            f
            for f in world.db.flights.scan()
            if (f.origin, f.destination) == (origin, destination)
            and f.dates[TODAY].status == "on time"
            and f.scheduled_departure_time_est > "17"
        ]
        return world.cheapest(origin, destination, TOMORROW, "economy") if leaving else None

    offer = require_found(next((found for ends in world.pairs() if (found := fits(*ends))), None))
    user = world.user(where=lambda u: u.membership == "gold" and has_one_card(u))
    (origin, destination), card = endpoints(offer), Wallet(user).card
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, TODAY, TOMORROW)
    task.book(origin, destination, Order([offer], "economy", [as_passenger(user)], [card.id]))
    task.ask_to_book(
        f"You need to fly {from_to(origin, destination)} this evening, on {format_date(TODAY)}, one way.",
        insist=1,
        payment_method=describe_method(card),
        fallback=f"Then the cheapest direct flight on {format_date(TOMORROW)}.",
    )
    return task.build(
        rule="Booking: available flights",
        reason=f"You need to fly {from_to(origin, destination)} this evening, on {format_date(TODAY)}.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="You have seen on the airport's board that a direct flight leaves in time tonight, and say so. If the agent "
        f"cannot book you on it, you want the cheapest direct flight in economy on {format_date(TOMORROW)}. You fly "
        "one way and alone. " + NO_EXTRAS + "You agree to the price.",
        persona=STUBBORN,
    )


def book_within_budget(world: World, new_task: NewTask) -> Task:
    """Economy is above the limit, basic economy is not."""

    def limit(offer: Offer) -> int:
        return offer.price // 10 * 10 + 10

    def fits(origin: str, destination: str, date: str) -> Offer | None:
        basic = world.cheapest(origin, destination, date, "basic_economy")
        economy = world.cheapest(origin, destination, date, "economy")
        return basic if basic and economy and limit(basic) < economy.price else None

    user = world.user(where=has_one_card)
    offer, card = pick_offer(world, fits, skip=30), Wallet(user).card
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.book(origin, destination, Order([offer], "basic_economy", [as_passenger(user)], [card.id]))
    task.ask_to_book(payment_method=describe_method(card), fallback="Then the cheapest direct flight in basic economy.")
    return task.build(
        rule=_BOOKING,
        reason=f"You want to fly {from_to(origin, destination)} on {format_date(offer.dates[0])}, one way and "
        f"without a stop, and you can spend {limit(offer)} dollars at the most.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="You prefer economy. If no direct flight in economy is within your limit, you take the cheapest direct "
        "one in basic economy. You travel alone. " + NO_EXTRAS + "You agree to a price within the limit.",
    )
