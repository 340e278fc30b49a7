"""Searches of scenarios: offers for a trip, flights to book, and what a scenario finds in its own way."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias

from ...dates import TODAY, TOMORROW, add_days
from ...wallet import Wallet
from ..world import COMING, only_cheapest, require_found
from .conditions import OF_USER, meets_user

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...models import Cabin, User
    from ..trips import Trip
    from ..world import Offer, World

    #: Things by name, among them the user.
    Things: TypeAlias = dict[str, Any]
    Finder: TypeAlias = Callable[[World], Things]
    #: Two airports and a day.
    Way: TypeAlias = tuple[str, str, str]


# Offers for a trip


def _later(position: int, **more: int) -> Callable[[World, Trip], Offer | None]:
    return lambda world, trip: world.later(trip, position, **more)


def _back_later_of_regular(world: World, trip: Trip) -> Offer | None:
    offer = world.later(trip, 1)
    return offer if trip.user.membership == "regular" else None


def _instead_of_called_off(world: World, trip: Trip) -> Offer | None:
    called_off = trip.statuses == ["cancelled", "available"] and trip.legs[0].date > TODAY
    return world.later(trip, 0) if called_off else None


def _first_of_later_day(world: World, trip: Trip) -> Offer | None:
    leg = trip.legs[0]
    offers = world.offers(leg.origin, leg.destination, add_days(leg.date, 2), trip.cabin, trip.people)
    return min(offers, key=lambda offer: offer.flights[0].scheduled_departure_time_est) if len(offers) > 1 else None


def _after_full_day(world: World, trip: Trip) -> Offer | None:
    leg, seats = trip.legs[-1], (trip.cabin, trip.people)
    for date in COMING:
        listed = world.count_direct(leg.origin, leg.destination, date)
        if date > leg.date and listed and not world.offers(leg.origin, leg.destination, date, *seats):
            offer = world.cheapest(leg.origin, leg.destination, add_days(date, 1), *seats)
            if offer:
                return offer
    return None


def _way_back(world: World, trip: Trip) -> Offer | None:
    leg, date = trip.legs[0], add_days(trip.legs[0].date, 4)
    offer = world.cheapest(leg.destination, leg.origin, date, "economy") if date in COMING else None
    return offer if offer and offer.price >= 100 else None


def _both_ways_later(world: World, trip: Trip) -> Sequence[Offer | None] | None:
    ways = [(leg.origin, leg.destination, add_days(leg.date, 2)) for leg in trip.legs]
    offers = [world.cheapest(*way, trip.cabin, trip.people) if way[-1] in COMING else None for way in ways]
    return offers if all(offers) else None


def _same_flights_a_day_later(world: World, trip: Trip) -> Offer | None:
    booked, date = trip.reservation, add_days(trip.legs[0].date, 1)
    numbers = [leg.flight_number for leg in trip.legs]
    offers = world.connections(booked.origin, booked.destination, date, trip.cabin, trip.people)
    return next((offer for offer in offers if [flight.flight_number for flight in offer.flights] == numbers), None)


def _seat_on_same_flight(world: World, trip: Trip) -> Offer | None:
    leg = trip.legs[0]
    offers = [o for o in world.offers(leg.origin, leg.destination, leg.date, "economy") if o.price >= 70]
    return next((offer for offer in offers if offer.flights[0].flight_number == leg.flight_number), None)


def _in_business_later(world: World, trip: Trip) -> Offer | None:
    leg = trip.legs[0]
    return world.cheapest(leg.origin, leg.destination, add_days(leg.date, 2), "business", trip.people)


def _for_the_refund(world: World, trip: Trip) -> Offer | None:
    """Return a flight that a gift card can pay for once it has the refund of a downgrade, and not before."""
    balance, refund = trip.wallet.gift_cards[0].amount, -(trip.upgrade("economy") or 0)
    for ends, date in itertools.product(world.pairs(), COMING[6:]):
        offer = world.cheapest(*ends, date, "economy")
        if offer and balance < offer.price <= balance + refund:
            return offer
    return None


OFFERS: dict[str, Callable[[World, Trip], Any]] = {
    "later": _later(0),
    "tomorrow": _later(0, most_days=1),
    "way back later": _later(1),
    "way back later, of two": _later(1, choices=2),
    "way back later, of a regular member": _back_later_of_regular,
    "instead of a called-off flight": _instead_of_called_off,
    "first of a later day": _first_of_later_day,
    "after a full day": _after_full_day,
    "way back": _way_back,
    "both ways later": _both_ways_later,
    "same flights a day later": _same_flights_a_day_later,
    "seat on the same flight": _seat_on_same_flight,
    "in business later": _in_business_later,
    "for the refund": _for_the_refund,
}


# Flights to book, between two airports on a day


def _cheapest(world: World, _user: User, way: Way, cabin: Cabin = "economy", people: int = 1) -> Offer | None:
    return world.cheapest(*way, cabin, people)


def _beyond(world: World, user: User, way: Way, *, of: str, margin: int = 0, **seats: Any) -> Offer | None:
    """Return the cheapest flight if it costs more than what the user has of something."""
    offer = _cheapest(world, user, way, **seats)
    return offer if offer and offer.price * seats.get("people", 1) > OF_USER[of](user) + margin else None


def _within(world: World, user: User, way: Way, *, of: str, margin: int = 0, **seats: Any) -> Offer | None:
    """Return the cheapest flight if it costs no more than what the user has of something, less a margin."""
    offer = _cheapest(world, user, way, **seats)
    return offer if offer and offer.price * seats.get("people", 1) <= OF_USER[of](user) - margin else None


def _with_way_back(
    world: World, _user: User, way: Way, days: int, cabin: Cabin = "economy", people: int = 1
) -> Offer | None:
    out = world.cheapest(*way, cabin, people)
    return out if out and way[-1] < COMING[-1 - days] and back(world, out, days, cabin, people) else None


def back(world: World, out: Offer, days: int, cabin: Cabin, people: int) -> Offer | None:
    """Return the cheapest flight back, so many days later."""
    origin, destination = out.ends
    return world.cheapest(destination, origin, add_days(out.dates[0], days), cabin, people)


def _second_of_three_days(world: World, _user: User, way: Way) -> Offer | None:
    origin, destination, date = way
    days = [add_days(date, days) for days in range(3)]
    offers = [offer for day in days for offer in world.offers(origin, destination, day, "economy")]
    cheapest = only_cheapest(sorted(offers, key=lambda offer: offer.price))
    return cheapest if days[-1] in COMING and cheapest and cheapest.dates[0] == days[1] else None


def _overnight(world: World, _user: User, way: Way) -> Offer | None:
    offers = world.offers(*way, "economy", 2)
    late = [offer for offer in offers if "+1" in offer.flights[0].scheduled_arrival_time_est]
    before_ten = [offer for offer in late if offer.flights[0].scheduled_departure_time_est < "22"]
    return late[0] if len(late) == 1 and len(offers) > 1 and not before_ten else None


def _after_sold_out(world: World, _user: User, way: Way) -> Offer | None:
    origin, destination, date = way
    if world.offers(*way, "business") or not world.count_direct(*way):
        return None
    return world.cheapest(origin, destination, add_days(date, 1), "business")


def _within_limit(world: World, _user: User, way: Way) -> Offer | None:
    basic, economy = world.cheapest(*way, "basic_economy"), world.cheapest(*way, "economy")
    return basic if basic and economy and limit(basic) < economy.price else None


def limit(offer: Offer) -> int:
    """Return a limit that the price of an offer is within: more than it, in tens of USD."""
    return offer.price // 10 * 10 + 10


FLIGHTS: dict[str, Callable[..., Offer | None]] = {
    "cheapest": _cheapest,
    "beyond": _beyond,
    "within": _within,
    "with way back": _with_way_back,
    "second of three days": _second_of_three_days,
    "overnight": _overnight,
    "after a sold-out day": _after_sold_out,
    "within a limit": _within_limit,
}


# Searches of their own


def _two_of_three_to_cancel(world: World) -> Things:
    def fits(user: User) -> bool:
        trips = world.trips(user)
        simple = all(t.upcoming and (t.cancellable or t.booked_days_ago) and not t.insured for t in trips)
        return simple and len(trips) == 3 and sum(t.cancellable for t in trips) == 2

    user = world.user(where=fits)
    gone = [trip for trip in world.trips(user) if trip.cancellable]
    return {"user": user, "trips": world.trips(user), "gone": gone, "refund": sum(trip.paid for trip in gone)}


def _connection(world: World) -> Things:
    offers = (world.connections(*ends, COMING[5], "economy") for ends in world.unconnected())
    offer = require_found(
        next((connections[0] for connections in offers if len(connections) > 1 and only_cheapest(connections)), None)
    )
    user = world.user(where=lambda u: meets_user(u, {"membership": "silver", "cards": 1}))
    return {"user": user, "card": Wallet(user).card, "offer": offer}


def _tomorrow_after_tonight(world: World) -> Things:
    tonight = {
        (flight.origin, flight.destination)
        for flight in world.db.flights.scan()
        if flight.dates[TODAY].status == "on time" and flight.scheduled_departure_time_est > "17"
    }
    offers = (world.cheapest(*ends, TOMORROW, "economy") for ends in world.pairs() if ends in tonight)
    offer = require_found(next(filter(None, offers), None))
    user = world.user(where=lambda u: meets_user(u, {"membership": "gold", "cards": 1}))
    return {"user": user, "card": Wallet(user).card, "offer": offer}


def _balances(world: World) -> Things:
    worth = {"gift_cards_worth": ">= 100", "certificates_worth": ">= 100"}
    user = world.user(where=lambda u: meets_user(u, {"certificates": "> 1", **worth}))
    return {"user": user, **{name: OF_USER[name](user) for name in worth}}


def _several_upcoming(world: World) -> Things:
    user = world.user(where=lambda u: len(world.trips(u)) > 1 and all(trip.upcoming for trip in world.trips(u)))
    paid = [trip.paid for trip in world.trips(user)]
    return {"user": user, "trips": world.trips(user), "expression": " + ".join(map(str, paid)), "total": sum(paid)}


def _price_for_family(world: World) -> Things:
    user = world.user(where=lambda u: u.membership == "gold" and len(u.saved_passengers) > 2)
    for date in COMING[3:7]:
        for ends in world.pairs():
            out = world.cheapest(*ends, date, "economy", 4)
            home = back(world, out, 3, "economy", 4) if out else None
            if out and home and world.count_direct(*ends, date) > 1:
                return {"user": user, "out": out, "back": home, "total": 4 * (out.price + home.price)}
    return require_found(None)


def _one_to_cancel_one_to_move(world: World) -> Things:
    def pair(user: User) -> tuple[Trip, Trip] | None:
        trips = world.trips(user)
        ill = [t for t in trips if t.coming and t.insured and t.cabin == "economy"]
        later = [t for t in trips if t.plain and t.round_trip and world.later(t, 1, most_days=5)]
        return (ill[0], later[0]) if len(ill) == len(later) == 1 else None

    user = world.user(where=pair)
    ill, later = require_found(pair(user))
    offer = require_found(world.later(later, 1, most_days=5))
    return {"user": user, "card": Wallet(user).card, "ill": ill, "later": later, "offer": offer}


def _business_and_two_singles(world: World) -> Things:
    def three(user: User) -> list[Trip] | None:
        trips = world.trips(user)
        business = [t for t in trips if t.coming and t.cabin == "business"]
        single = [t for t in trips if t.plain and t.one_way]
        fits = len(trips) == 3 and len(business) == 1 and len(single) == 2 and world.later(single[1], 0)
        return business + single if fits else None

    user = world.user(where=three)
    business, staying, moved = require_found(three(user))
    offer = require_found(world.later(moved, 0))
    return {
        "user": user,
        "card": Wallet(user).card,
        "business": business,
        "kept": staying,
        "moved": moved,
        "offer": offer,
    }


def _two_from_different_cities(world: World) -> Things:
    user = world.user(where=lambda u: meets_user(u, {"companions": "> 0", "gift_card": ">= 200"}))
    offers = [world.cheapest(*ends, COMING[4], "economy") for ends in world.pairs() if ends[1] == "ATL"]
    mine, theirs = [offer for offer in offers if offer and 100 <= offer.price <= 200][:2]
    (home, meeting), (away, _meeting) = mine.ends, theirs.ends
    places = {"home": home, "away": away, "meeting": meeting}
    methods = {"card": Wallet(user).card, "gift": Wallet(user).gift_cards[0]}
    return {"user": user, "other": user.saved_passengers[0], "mine": mine, "theirs": theirs, **places, **methods}


SEARCHES: dict[str, Finder] = {
    "two of three that can be cancelled": _two_of_three_to_cancel,
    "connection": _connection,
    "tomorrow after a flight of tonight": _tomorrow_after_tonight,
    "balances": _balances,
    "several upcoming": _several_upcoming,
    "price for a family": _price_for_family,
    "one to cancel and one to move": _one_to_cancel_one_to_move,
    "business and two singles": _business_and_two_singles,
    "two from different cities": _two_from_different_cities,
}
