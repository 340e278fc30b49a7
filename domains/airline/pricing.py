"""Prices and allowances beyond the fares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .models import Cabin, Membership

#: In USD, for each passenger.
INSURANCE_PRICE: Final = 30
#: In USD, for each bag beyond the free ones.
BAG_PRICE: Final = 50
_FREE_BY_MEMBERSHIP: Final = {"regular": 0, "silver": 1, "gold": 2}
_FREE_BY_CABIN: Final = {"basic_economy": 0, "economy": 1, "business": 2}


def free_bags(membership: Membership, cabin: Cabin) -> int:
    """Return how many bags the policy gives each passenger for free; the tools do not know."""
    return _FREE_BY_MEMBERSHIP[membership] + _FREE_BY_CABIN[cabin]
