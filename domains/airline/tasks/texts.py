"""Texts of scenarios: what a user calls trips, flights, people and the rest, where a placeholder names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_tau.environment import number_word

from ..formatting import CITIES, full_name, spoken
from ..models import Certificate, CreditCard, GiftCard, Leg, Passenger
from .trips import Trip, describe_method
from .world import Offer, format_date

if TYPE_CHECKING:
    from collections.abc import Callable

_METHOD_FORMS: dict[str, Callable[[Any], str]] = {
    "": describe_method,
    "bare": lambda method: describe_method(method).removeprefix("your "),
    "capital": lambda method: describe_method(method).capitalize(),
}
#: By type, and by what follows the colon in a placeholder such as ``{offer:route}``.
FORMS: dict[tuple[type, str], Callable[[Any], str]] = {
    (Trip, ""): lambda trip: trip.id,
    (Leg, ""): lambda leg: format_date(leg.date),
    (Offer, ""): lambda offer: format_date(offer.dates[0]),
    (Offer, "route"): lambda offer: "from {} to {}".format(*map(CITIES.__getitem__, offer.ends)),
    (Passenger, ""): full_name,
    (list, ""): lambda people: ", ".join(map(full_name, people)),
    (str, ""): str,
    (str, "cabin"): spoken,
    (str, "city"): CITIES.__getitem__,
    (str, "day"): format_date,
    (str, "lower"): str.lower,
    (int, ""): str,
    (int, "abs"): lambda amount: str(abs(amount)),
    (int, "word"): number_word,
    (int, "capital"): lambda number: number_word(number).capitalize(),
    (int, "ordinal"): {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth"}.__getitem__,
    **{(kind, form): write for kind in (CreditCard, GiftCard, Certificate) for form, write in _METHOD_FORMS.items()},
}


def write(thing: object, form: str) -> str:
    """Return how a thing is written."""
    return FORMS[type(thing), form](thing)
