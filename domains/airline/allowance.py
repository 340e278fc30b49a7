"""The free bags of the policy, for the generator; the tools do not know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .models import Cabin, Membership

_BY_MEMBERSHIP: Final = {"regular": 0, "silver": 1, "gold": 2}
_BY_CABIN: Final = {"basic_economy": 0, "economy": 1, "business": 2}


def free_bags(membership: Membership, cabin: Cabin) -> int:
    """How many bags are free for each passenger."""
    return _BY_MEMBERSHIP[membership] + _BY_CABIN[cabin]
