"""Routes and days for scenarios about booking, and how they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..formatting import CITIES
from .world import require_found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .world import Offer, World


def from_to(origin: str, destination: str) -> str:
    """Return a route as text, such as ``from Boston to Seattle``."""
    return f"from {CITIES[origin]} to {CITIES[destination]}"


def _routes(world: World, *, choices: int = 2) -> Iterator[tuple[str, str, str]]:
    """Yield ends and days of direct flights, several a day."""
    for date in world.days:
        for origin, destination in world.pairs():
            if world.count_direct(origin, destination, date) >= choices:
                yield origin, destination, date


def pick_offer(
    world: World, fits: Callable[[str, str, str], Offer | None], *, skip: int = 0, choices: int = 2
) -> Offer:
    """Return an offer on a route and day that fits, of three digits, after skipping some, so that scenarios differ."""
    found = (offer for route in _routes(world, choices=choices) if (offer := fits(*route)) and offer.price >= 100)
    return require_found(world.choose(found, skip * 11))


def endpoints(offer: Offer) -> tuple[str, str]:
    """Return the airports where an offer begins and ends."""
    return offer.flights[0].origin, offer.flights[-1].destination
