"""Whom and what a scenario is about: how the conditions of its table are looked up in the database.

A table has conditions for a trip and its user, or for a user and a flight to book, or names a search of its own.
"""

from __future__ import annotations

import string
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pytest_tau.errors import ConfigurationError

from ...dates import add_days
from ...wallet import Wallet
from ..world import require_found
from .conditions import meets_trip, meets_user
from .searches import FLIGHTS, OFFERS, SEARCHES, back, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...models import Passenger
    from ..trips import Trip
    from ..world import World
    from .conditions import Conditions
    from .searches import Finder, Things


def make_finder(
    task_id: str,
    *,
    find: str = "",
    trip: Conditions | None = None,
    user: Conditions | None = None,
    offer: str = "",
    flight: Mapping[str, Any] | None = None,
    let: Mapping[str, str] | None = None,
) -> Finder:
    """Return the search of a scenario.

    Args:
        task_id: The scenario's id, under which :data:`FURTHER` may have things.
        find: A search by name.
        trip: Conditions for a trip and its user.
        user: Conditions for a user.
        offer: What there must be for the trip, by name.
        flight: What there must be to book: a kind of flight, and its arguments.
        let: Names for things, such as ``{companion = "user.saved_passengers[0]"}``.
    """
    if find:
        search = SEARCHES[find]
    elif trip:
        search = _search_trip(task_id, trip, OFFERS[offer] if offer else None)
    else:
        search = _search_flight(task_id, user or {}, **(flight or {}))

    def found(world: World) -> Things:
        named_things = {**world.values.by_first_name, **search(world)}
        for name, path in (let or {}).items():
            named_things[name], _first = string.Formatter().get_field(path, (), named_things)
        for name, value in FURTHER.get(task_id, {}).items():
            named_things[name] = value(SimpleNamespace(**named_things))
        return named_things

    return found


def only_with(values: Mapping[str, Any], find: Finder) -> Finder:
    """Return a search that finds nothing where the policy has other values: one, or one of a list, by name."""

    def found(world: World) -> Things:
        for name, accepted in values.items():
            if world.values[name] not in (accepted if isinstance(accepted, list) else [accepted]):
                raise ConfigurationError(f"it is about another value of {name} than {world.values[name]!r}")
        return find(world)

    return found


def _search_trip(task_id: str, trip: Conditions, offer: Callable[[World, Trip], Any] | None) -> Finder:
    def search(world: World) -> Things:
        conditions = world.values.fill_all(dict(trip), task_id)
        chosen = world.trip(where=lambda one: meets_trip(one, conditions) and (offer is None or offer(world, one)))
        named_things = {
            "trip": chosen,
            "user": chosen.user,
            "card": chosen.wallet.card,
            "trips": world.trips(chosen.user),
        }
        return {**named_things, "offer": require_found(offer(world, chosen))} if offer else named_things

    return search


def _search_flight(
    task_id: str, user: Conditions, *, kind: str = "cheapest", skip: int = 0, choices: int = 2, **arguments: Any
) -> Finder:
    def search(world: World) -> Things:
        conditions, seats = (world.values.fill_all(dict(table), task_id) for table in (user, arguments))
        caller = world.user(where=lambda one: meets_user(one, conditions))
        wallet = Wallet(caller)
        offer = world.pick_offer(lambda *way: FLIGHTS[kind](world, caller, way, **seats), skip=skip, choices=choices)
        named_things = {"user": caller, "wallet": wallet, "card": wallet.card, "offer": offer, "world": world}
        return {**named_things, "companion": caller.saved_passengers[0]} if caller.saved_passengers else named_things

    return search


# Further things, made of those that were found


def _changed(person: Passenger, **changes: str) -> Passenger:
    return person.model_copy(update=changes)


#: What a user calls the gift cards that may be used, by their number.
_GIFT_CARDS = {
    1: ("the one with the highest balance", "the gift card with the highest balance"),
    2: (
        "the two with the highest balances, the higher one first",
        "the two gift cards with the highest balances, the higher one first",
    ),
    3: (
        "the three with the highest balances, the highest first and the lowest of the three last",
        "the three gift cards with the highest balances, the highest first",
    ),
}
#: What insurance does not cover, by what it covers: a noun, the request, that nothing else is wrong, and the reason.
_MEETING = (
    "a moved meeting",
    "The meeting for which you booked {trip} has been moved",
    "You are in good health, the weather is fine",
    "The meeting has been moved.",
)
_STORM = (
    "a storm",
    "A storm is forecast for the days of {trip}",
    "You are in good health",
    "A storm is forecast.",
)
_ILLNESS = (
    "an illness",
    "Your doctor forbids you the journey of {trip}",
    "The weather is fine",
    "Your doctor forbids you the journey.",
)
_UNCOVERED = {"health or weather": _MEETING, "health": _STORM, "weather": _ILLNESS}
#: By scenario: each is made of what was found, and of those before it.
FURTHER: dict[str, dict[str, Callable[[Any], Any]]] = {
    "cancel-refused-reason": {
        "uncovered": lambda c: tuple(text.format(trip=c.trip.id) for text in _UNCOVERED[c.insured_reasons]),
    },
    "cancel-refused-gold": {"corrected": lambda c: _changed(c.companion, dob=add_days(c.companion.dob, -9))},
    "change-to-full-flight": {
        "leg": lambda c: c.trip.legs[-1],
        "kept": lambda c: c.trip.legs[:-1],
        "full": lambda c: add_days(c.offer.dates[0], -1),
    },
    "change-destination-refused": {
        "other": lambda c: next(code for code in ("DEN", "CLT", "PHX") if code != c.trip.reservation.destination),
    },
    "upgrade-over-budget": {
        "price": lambda c: c.trip.upgrade("business"),
        "limit": lambda c: c.price // 100 * 100 - 50,
        "rest": lambda c: c.trip.reservation.passengers[:-1],
        "companion": lambda c: c.trip.reservation.passengers[-1],
        "corrected": lambda c: _changed(c.companion, dob=add_days(c.companion.dob, -9)),
    },
    "bags-partly-free": {"more": lambda c: c.trip.spare_bags + 2},
    "bags-not-removed": {
        "others": lambda c: c.trip.reservation.passengers[2:],
        "renamed": lambda c: _changed(c.second, last_name=f"{c.second.last_name}-Whitlock"),
    },
    "passenger-renamed": {"renamed": lambda c: _changed(c.third, first_name=f"{c.third.first_name} Jo")},
    "add-passenger-refused": {"other": lambda c: c.user.saved_passengers[c.trip.people - 1]},
    "book-round-trip-business": {"second": lambda c: back(c.world, c.offer, 3, "business", 2)},
    "book-six-refused": {
        "left_out": lambda c: c.user.saved_passengers[c.max_passengers - 1],
        "rest": lambda c: c.user.saved_passengers[: c.max_passengers - 1],
        "party": lambda c: c.max_passengers + 1,
    },
    "book-two-certificates-refused": {"largest": lambda c: c.wallet.certificates[: c.max_certificates]},
    "book-cheapest-day": {
        "before": lambda c: add_days(c.offer.dates[0], -1),
        "after": lambda c: add_days(c.offer.dates[0], 1),
    },
    "book-sold-out": {"full": lambda c: add_days(c.offer.dates[0], -1)},
    "book-mixed-cabins-refused": {"second": lambda c: back(c.world, c.offer, 2, "economy", 1)},
    "book-within-budget": {"limit": lambda c: limit(c.offer)},
    "book-gift-cards-refused": {
        "largest": lambda c: c.wallet.gift_cards[: c.max_gift_cards],
        "all": lambda c: c.max_gift_cards + 1,
        "some": lambda c: _GIFT_CARDS[c.max_gift_cards],
    },
    "several-changes": {"renamed": lambda c: _changed(c.second, last_name="Oakhurst")},
}
