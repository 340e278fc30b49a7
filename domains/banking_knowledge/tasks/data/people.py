"""The bank's customers: names and streets come from Faker, the rest from the same seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...._kit.faking import new_faker

if TYPE_CHECKING:
    import random

    #: A record of a table, and a table by key.
    Record = dict[str, Any]
    Table = dict[str, Record]

PEOPLE = 48
#: City, state, first digits of the zip code, area code.
_CITIES = (
    ("Duluth", "MN", "558", "218"),
    ("Omaha", "NE", "681", "402"),
    ("Richmond", "VA", "232", "804"),
    ("Spokane", "WA", "992", "509"),
    ("Savannah", "GA", "314", "912"),
    ("Boise", "ID", "837", "208"),
    ("Albany", "NY", "122", "518"),
    ("Tulsa", "OK", "741", "918"),
    ("Burlington", "VT", "054", "802"),
    ("Toledo", "OH", "436", "419"),
    ("Lansing", "MI", "489", "517"),
    ("Tucson", "AZ", "857", "520"),
)


def make_people(rng: random.Random) -> Table:
    """Make every customer, by user id.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    fake = new_faker(rng.randrange(2**32))
    people: Table = {}
    taken: set[str] = set()
    while len(people) < PEOPLE:
        first, last = fake.first_name(), fake.last_name()
        if last in taken or not last.isalpha():
            continue
        taken.add(last)
        user_id = f"{rng.randrange(16**10):010x}"
        city, state, digits, area = _CITIES[len(people) % len(_CITIES)]
        people[user_id] = {
            "name": f"{first} {last}",
            "user_id": user_id,
            "address": f"{rng.randint(11, 989)} {fake.street_name()}, {city}, {state} {digits}{rng.randint(0, 99):02d}",
            "email": f"{first}.{last}{rng.randint(10, 99)}@example.com".lower(),
            "phone_number": f"{area}-555-{100 + len(people):04d}",
            "date_of_birth": f"{rng.randint(1, 12):02d}/{rng.randint(1, 28):02d}/{rng.randint(1951, 2001)}",
        }
    return people
