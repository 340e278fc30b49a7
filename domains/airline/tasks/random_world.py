"""A world that chooses at random: other people, reservations, ways and days than those of the bundled tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pytest_tau.errors import ConfigurationError

from ..dates import TODAY, add_days
from .world import World, only_cheapest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from random import Random

    from ..models import AirlineDB
    from .trips import Trip
    from .world import Offer

T = TypeVar("T")


class RandomWorld(World):
    """A world that chooses at random.

    Args:
        db: What it chooses from.
        rng: The chance.
        user_id: The only user that it knows; empty for all.
        taken: Ids of reservations that are not to be used.
    """

    def __init__(self, db: AirlineDB, rng: Random, user_id: str = "", taken: Collection[str] = ()) -> None:
        super().__init__(db)
        self._rng = rng
        self._user_id, self._taken = user_id, frozenset(taken)
        self._days_later: dict[tuple[str, int], int] = {}

    def _is_free(self, named: tuple[str, ...]) -> bool:
        """Return whether a user, or a reservation and its user, may be used."""
        return self._user_id in ("", *named) and self._taken.isdisjoint(named)

    def _choice(self, among: list[T], where: Callable[[T], object], ids: Callable[[T], tuple[str, ...]]) -> T:
        for candidate in self._shuffled(among):
            if self._is_free(ids(candidate)) and where(candidate):
                return candidate
        raise ConfigurationError("nobody fits the scenario")

    @property
    def days(self) -> Sequence[str]:
        """Return the days on which something can be booked, in any order."""
        return self._shuffled(super().days)

    def choose(self, offers: Iterable[Offer], position: int) -> Offer | None:
        """Return the first of the offers, which come in any order."""
        del position
        return next(iter(offers), None)

    def pairs(self) -> Iterable[tuple[str, str]]:
        """Return the ends of direct flights, in any order."""
        return self._shuffled(super().pairs())

    def unconnected(self) -> Iterable[tuple[str, str]]:
        """Return ends between which nothing flies directly, in any order."""
        return self._shuffled(super().unconnected())

    def later(self, trip: Trip, position: int, *, choices: int = 1, most_days: int = 3) -> Offer | None:
        """Return the one cheapest flight for a flight of a trip on some later day, the same each time."""
        leg = trip.legs[position]
        end = trip.legs[position + 1].date if position + 1 < len(trip.legs) else None
        first = self._days_later.setdefault((trip.id, position), self._rng.randrange(most_days))
        for days in range(most_days):
            date = add_days(leg.date, 1 + (first + days) % most_days)
            if TODAY < date < (end or self._last_day):
                offers = self.offers(leg.origin, leg.destination, date, trip.cabin, trip.people)
                if len(offers) >= choices and only_cheapest(offers):
                    return offers[0]
        return None

    @property
    def _last_day(self) -> str:
        return super().days[-1]

    def _shuffled(self, things: Iterable[T]) -> list[T]:
        listed = list(things)
        self._rng.shuffle(listed)
        return listed
