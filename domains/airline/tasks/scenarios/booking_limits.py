"""Scenarios about booking what cannot be booked as it is wanted: too many people, no seat, two cabins, too dear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dates import TODAY, TOMORROW, add_days
from ...formatting import full_name
from ...wallet import Wallet
from ..builder import Order
from ..personas import BRISK, STUBBORN
from ..routes import PLAIN, ends, from_to, one_card, pick
from ..trips import called
from ..world import COMING, as_passenger, spoken, the

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ..builder import Start
    from ..world import Offer, World

_BOOKING = "Booking"


def book_six_refused(w: World, start: Start) -> Task:
    """At most five people a reservation: the sixth stays at home."""
    user = w.user(where=lambda u: len(u.saved_passengers) == 5)
    *rest, left_out = user.saved_passengers
    card = Wallet(user).card
    offer = pick(w, lambda a, b, d: w.cheapest(a, b, d, "economy", 5), skip=4)
    origin, destination = ends(offer)
    s = start(user)
    s.profile()
    s.direct(origin, destination, offer.dates[0])
    s.say(s.book(origin, destination, Order([offer], "economy", [as_passenger(user), *rest], [card.id])))
    s.ask_to_book(
        payment_method=called(card),
        passengers="Six people: me and all five people saved in your profile.",
        fallback=f"Then {left_out.first_name} stays at home: the passengers are me, {', '.join(map(full_name, rest))}.",
    )
    return s.task(
        rule="Booking: passengers",
        reason=f"You want to book a flight {from_to(origin, destination)} on {spoken(offer.dates[0])} for six: you and "
        "the five people saved in your profile, one way, in one reservation.",
        known=f"You pay with {called(card)}.",
        do="You want the cheapest direct flight in economy. "
        + PLAIN
        + f"If six are too many for a reservation, {left_out.first_name} stays at home: you do not want a second "
        "reservation. The others are named in the order of your profile, after yourself. You want to know the total "
        "price and agree to it.",
    )


def book_sold_out(w: World, start: Start) -> Task:
    """Business is sold out on the day that is wanted first; the next day has seats."""

    def next_day(origin: str, destination: str, date: str) -> Offer | None:
        if w.offers(origin, destination, date, "business") or not w.listed(origin, destination, date):
            return None
        return w.cheapest(origin, destination, add_days(date, 1), "business")

    user = w.user(where=one_card)
    offer, card = pick(w, next_day, choices=1), Wallet(user).card
    (origin, destination), full = ends(offer), add_days(offer.dates[0], -1)
    s = start(user)
    s.profile()
    s.direct(origin, destination, full, offer.dates[0])
    s.book(origin, destination, Order([offer], "business", [as_passenger(user)], [card.id], bags=1))
    s.ask_to_book(
        payment_method=called(card),
        cabin="Business class.",
        baggage="One checked bag.",
        fallback=f"Then take the cheapest direct flight on {spoken(offer.dates[0])}.",
    )
    return s.task(
        rule=_BOOKING,
        reason=f"You want to fly {from_to(origin, destination)} in business class on {spoken(full)}, one way.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="Only a direct flight in business class will do. If there is no seat left on that day, take the cheapest "
        f"direct one on {spoken(offer.dates[0])}. You travel alone with one checked bag and do not want insurance. You "
        "agree to the price.",
        persona=BRISK,
    )


def book_mixed_cabins_refused(w: World, start: Start) -> Task:
    """One reservation has one cabin: business there and economy back is declined."""

    def back(out: Offer) -> Offer | None:
        origin, destination = ends(out)
        return w.cheapest(destination, origin, add_days(out.dates[0], 2), "economy")

    def out(origin: str, destination: str, date: str) -> Offer | None:
        found = w.cheapest(origin, destination, date, "economy")
        return found if found and date < COMING[-3] and back(found) else None

    user = w.user(where=lambda u: u.membership == "silver" and one_card(u))
    first, card = pick(w, out, skip=13, choices=1), Wallet(user).card
    second, (origin, destination) = the(back(first)), ends(first)
    s = start(user)
    s.profile()
    s.direct(origin, destination, first.dates[0])
    s.direct(destination, origin, second.dates[0])
    order = Order([first, second], "economy", [as_passenger(user)], [card.id], bags=1)
    s.say(s.book(origin, destination, order))
    s.ask_to_book(
        payment_method=called(card),
        cabin="Business class there, economy back.",
        baggage="One checked bag.",
        fallback="Then economy both ways.",
    )
    return s.task(
        rule="Booking: cabin",
        reason=f"You want a round trip {from_to(origin, destination)}: there on {spoken(first.dates[0])} in business "
        f"class, back on {spoken(second.dates[0])} in economy.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="It must be one reservation. If both ways have to be in the same cabin, you want economy both ways, by the "
        "cheapest direct flight of each day. You travel alone, with one checked bag and without insurance. You want "
        "the total price and agree to it.",
    )


def book_today_refused(w: World, start: Start) -> Task:
    """A flight of today can no longer be booked, although it has not left; one of tomorrow can."""

    def fits(origin: str, destination: str) -> Offer | None:
        leaving = [
            f
            for f in w.db.flights.scan()
            if (f.origin, f.destination) == (origin, destination)
            and f.dates[TODAY].status == "on time"
            and f.scheduled_departure_time_est > "17"
        ]
        return w.cheapest(origin, destination, TOMORROW, "economy") if leaving else None

    offer = the(next((found for ends in w.pairs() if (found := fits(*ends))), None))
    user = w.user(where=lambda u: u.membership == "gold" and one_card(u))
    (origin, destination), card = ends(offer), Wallet(user).card
    s = start(user)
    s.profile()
    s.direct(origin, destination, TODAY, TOMORROW)
    s.book(origin, destination, Order([offer], "economy", [as_passenger(user)], [card.id]))
    s.ask_to_book(
        f"You need to fly {from_to(origin, destination)} this evening, on {spoken(TODAY)}, one way.",
        insist=1,
        payment_method=called(card),
        fallback=f"Then the cheapest direct flight on {spoken(TOMORROW)}.",
    )
    return s.task(
        rule="Booking: available flights",
        reason=f"You need to fly {from_to(origin, destination)} this evening, on {spoken(TODAY)}.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="You have seen on the airport's board that a direct flight leaves in time tonight, and say so. If the agent "
        f"cannot book you on it, you want the cheapest direct flight in economy on {spoken(TOMORROW)}. You fly one way "
        "and alone. " + PLAIN + "You agree to the price.",
        persona=STUBBORN,
    )


def book_within_budget(w: World, start: Start) -> Task:
    """Economy is above the limit, basic economy is not."""

    def limit(offer: Offer) -> int:
        return offer.price // 10 * 10 + 10

    def fits(origin: str, destination: str, date: str) -> Offer | None:
        basic = w.cheapest(origin, destination, date, "basic_economy")
        economy = w.cheapest(origin, destination, date, "economy")
        return basic if basic and economy and limit(basic) < economy.price else None

    user = w.user(where=one_card)
    offer, card = pick(w, fits, skip=30), Wallet(user).card
    origin, destination = ends(offer)
    s = start(user)
    s.profile()
    s.direct(origin, destination, offer.dates[0])
    s.book(origin, destination, Order([offer], "basic_economy", [as_passenger(user)], [card.id]))
    s.ask_to_book(payment_method=called(card), fallback="Then the cheapest direct flight in basic economy.")
    return s.task(
        rule=_BOOKING,
        reason=f"You want to fly {from_to(origin, destination)} on {spoken(offer.dates[0])}, one way and without a "
        f"stop, and you can spend {limit(offer)} dollars at the most.",
        known=f"You were born on {user.dob}. You pay with your {card.brand}, the only credit card in your profile.",
        do="You prefer economy. If no direct flight in economy is within your limit, you take the cheapest direct "
        "one in basic economy. You travel alone. " + PLAIN + "You agree to a price within the limit.",
    )
