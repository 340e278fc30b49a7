"""The values of the airline's policy."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tau.environment import read_values

if TYPE_CHECKING:
    from pytest_tau.environment import Values

    from .models import Cabin, Membership, Reservation, User

_FOLDER = Path(__file__).parent
#: Those of the bundled policy.
VALUES = read_values(_FOLDER / "values.toml")


def free_bags(values: Values, membership: Membership, cabin: Cabin) -> int:
    """Return how many bags the policy gives each passenger for free; the tools do not know."""
    free: int = values["free_bags"][membership][cabin]
    return free


def may_be_compensated(values: Values, user: User, reservation: Reservation) -> bool:
    """Return whether the policy compensates a user for a disrupted flight of a reservation."""
    memberships = values["compensated_memberships"].split(" or ")
    insured = reservation.insurance == "yes"
    return user.membership in memberships or insured or reservation.cabin == values["compensated_cabin"]


@functools.lru_cache(maxsize=32)
def stated_values(policy: str) -> Values:
    """Return the values that a policy states; of one that words them differently, those of the bundled one."""
    return VALUES.stated_in(policy, (_FOLDER / "policy.md").read_text(encoding="utf-8"))
