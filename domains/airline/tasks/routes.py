"""What scenarios about booking have in common: choosing a way and a day, and speaking of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..formatting import CITIES
from ..wallet import Wallet
from .world import require_found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..models import User
    from .world import Offer, World

NO_EXTRAS = "You have no checked bags and do not want insurance. "


def from_to(origin: str, destination: str) -> str:
    """Such as ``from Boston to Seattle``."""
    return f"from {CITIES[origin]} to {CITIES[destination]}"


def _ways(w: World, *, choices: int = 2) -> Iterator[tuple[str, str, str]]:
    """Ends and days of direct flights, several a day."""
    for date in w.days:
        for origin, destination in w.pairs():
            if w.count_direct(origin, destination, date) >= choices:
                yield origin, destination, date


def pick_offer(w: World, fits: Callable[[str, str, str], Offer | None], *, skip: int = 0, choices: int = 2) -> Offer:
    """An offer on the way and day that fits, of three digits, after skipping some, so that scenarios differ."""
    found = (offer for way in _ways(w, choices=choices) if (offer := fits(*way)) and offer.price >= 100)
    return require_found(w.choose(found, skip * 11))


def endpoints(offer: Offer) -> tuple[str, str]:
    """Where an offer begins and ends."""
    return offer.flights[0].origin, offer.flights[-1].destination


def has_one_card(user: User) -> bool:
    """Whether a user has a single credit card, so that it needs no name."""
    return len(Wallet(user).cards) == 1
