"""Names of cities and people, as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .search import AIRPORTS

if TYPE_CHECKING:
    from .models import Name, Passenger

#: Cities by code; airports of the same city have different names.
CITIES: Final = dict(AIRPORTS) | {"JFK": "New York (JFK)", "LGA": "New York (LaGuardia)", "EWR": "Newark"}


def spoken(cabin: str) -> str:
    """Return a cabin as one says it, such as ``basic economy``."""
    return cabin.replace("_", " ")


def full_name(person: Name | Passenger) -> str:
    """Return the first and the last name of somebody."""
    return f"{person.first_name} {person.last_name}"
