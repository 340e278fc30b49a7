"""Conditions of scenarios for trips and users, such as ``{coming = true, people = "> 1"}``."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from ...dates import TODAY
from ...values import free_bags
from ...wallet import Wallet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...models import User
    from ..trips import Trip

    #: Wanted values by name: a value, or a comparison as a text, or a list of comparisons.
    Conditions: TypeAlias = Mapping[str, Any]

_OPERATORS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne,
}  # fmt: skip
_COMPARISON = re.compile(r"([<>!]=?) (.+)")

#: What conditions for a trip are about; other names are those of its user, or attributes of trips.
_OF_TRIP: dict[str, Callable[[Trip], Any]] = {
    "fresh": lambda t: t.upcoming and t.hours < t.values["hours_to_cancel"] - 2,
    "old": lambda t: t.booked_days_ago,
    "yesterday": lambda t: t.upcoming and t.values["hours_to_cancel"] < t.hours < 2 * t.values["hours_to_cancel"],
    "stops": lambda t: not t.one_way and not t.round_trip,
    "status": lambda t: ", ".join(t.statuses),
    "first_status": lambda t: t.statuses[0],
    "over": lambda t: set(t.statuses) == {"landed"},
    # By the airline; the reservation itself may have been cancelled by the user.
    "called_off": lambda t: "cancelled" in t.statuses and t.reservation.status is None,
    "was_called_off": lambda t: t.statuses == ["cancelled", "available"] and t.legs[0].date <= TODAY,
    "bags": lambda t: t.reservation.total_baggages,
    "paid_bags": lambda t: t.reservation.nonfree_baggages,
    "spare_bags_of_gold": lambda t: free_bags(t.values, "gold", t.cabin) * t.people - t.reservation.total_baggages,
    "spare_bags_in_business": lambda t: (
        free_bags(t.values, t.user.membership, "business") * t.people - t.reservation.total_baggages
    ),
    # Changes of the cabin, in USD; 0 where that cannot be done.
    "to_business": lambda t: t.upgrade("business") or 0,
    "to_economy": lambda t: t.upgrade("economy") or 0,
    "to_basic_economy": lambda t: t.upgrade("basic_economy") or 0,
    "beyond_gift_card": lambda t: (t.upgrade("business") or 0) > t.wallet.gift_cards[0].amount,
    "companion_stays": lambda t: len(t.user.saved_passengers) >= t.people,
    "trips_to_its_city": lambda t: sum(o.destination == t.reservation.destination for o in t.of_user),
    "trips_on_its_route": lambda t: sum(
        (o.origin, o.destination) == (t.reservation.origin, t.reservation.destination) for o in t.of_user
    ),
}
#: What conditions for a user are about.
OF_USER: dict[str, Callable[[User], Any]] = {
    "membership": lambda u: u.membership,
    "companions": lambda u: len(u.saved_passengers),
    "cards": lambda u: len(Wallet(u).cards),
    "brand": lambda u: Wallet(u).card.brand,
    "gift_cards": lambda u: len(Wallet(u).gift_cards),
    "gift_card": lambda u: max((card.amount for card in Wallet(u).gift_cards), default=0),
    "gift_cards_worth": lambda u: int(sum(card.amount for card in Wallet(u).gift_cards)),
    "certificates": lambda u: len(Wallet(u).certificates),
    "certificate": lambda u: max((certificate.amount for certificate in Wallet(u).certificates), default=0),
    "certificates_worth": lambda u: int(sum(certificate.amount for certificate in Wallet(u).certificates)),
    "credit": lambda u: int(sum(credit.amount for credit in (*Wallet(u).gift_cards, *Wallet(u).certificates))),
}


def meets_trip(trip: Trip, conditions: Conditions) -> bool:
    """Return whether a trip and its user are as wanted."""
    return all(_holds(_about(trip, name), condition) for name, condition in conditions.items())


def _about(trip: Trip, name: str) -> Any:
    if name in OF_USER:
        return OF_USER[name](trip.user)
    return _OF_TRIP[name](trip) if name in _OF_TRIP else getattr(trip, name)


def meets_user(user: User, conditions: Conditions) -> bool:
    """Return whether a user is as wanted."""
    return all(_holds(OF_USER[name](user), condition) for name, condition in conditions.items())


def _holds(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return all(_holds(value, condition) for condition in wanted)
    comparison = _COMPARISON.fullmatch(wanted) if isinstance(wanted, str) else None
    if comparison is None:
        return bool(value == wanted)
    return bool(_OPERATORS[comparison[1]](value, type(value)(comparison[2])))
