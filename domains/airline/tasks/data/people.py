"""The users of the generated database: names and addresses by Faker, memberships, wallets, companions."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from ...._kit.faking import new_faker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from faker import Faker

_MEMBERSHIPS = ("regular",) * 4 + ("silver",) * 3 + ("gold",) * 3
_BRANDS = ("visa", "mastercard")
#: Gift cards and certificates in a wallet: a user has the numbers at one position, and so on in turn.
_WALLETS = ((1, 1), (0, 0), (2, 0), (0, 1), (1, 2), (1, 0), (4, 0), (0, 2), (2, 1))
_COMPANIONS = (1, 3, 0, 2, 5, 2, 1, 4)
_CERTIFICATES = (75, 100, 150, 200, 250, 300)


def users(count: int, seed: int, rng: Random) -> dict[str, dict[str, Any]]:
    """Return users by id, without reservations.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    fake = new_faker(seed)
    by_id: dict[str, dict[str, Any]] = {}
    names: set[tuple[str, str]] = set()
    while len(by_id) < count:
        name = (fake.first_name(), fake.last_name())
        if name not in names:
            names.add(name)
            user = _user(name, fake, rng, position=len(by_id))
            by_id[user["user_id"]] = user
    return by_id


def _user(name: tuple[str, str], fake: Faker, rng: Random, position: int) -> dict[str, Any]:
    first, last = (re.sub("[^a-z]", "", part.lower()) for part in name)
    wallet = list(_wallet(_WALLETS[position % len(_WALLETS)], rng))
    return {
        "user_id": f"{first}_{last}_{rng.randint(1000, 9999)}",
        "name": {"first_name": name[0], "last_name": name[1]},
        "address": _address(fake, rng),
        "email": f"{first}.{last}{rng.randint(10, 99)}@example.com",
        "dob": _birthday(rng, 1950, 2003),
        "payment_methods": {method["id"]: method for method in wallet},
        "saved_passengers": list(_companions(name, fake, rng, _COMPANIONS[position % len(_COMPANIONS)])),
        "membership": _MEMBERSHIPS[position * 7 % len(_MEMBERSHIPS)],
        "reservations": [],
    }


def _address(fake: Faker, rng: Random) -> dict[str, Any]:
    state = fake.state_abbr(include_territories=False, include_freely_associated_states=False)
    return {
        "address1": fake.street_address().split(" Apt.")[0].split(" Suite")[0],
        "address2": fake.secondary_address() if rng.random() < 0.3 else None,
        "city": fake.city(),
        "country": "USA",
        "state": state,
        "zip": fake.postcode_in_state(state),
    }


def _wallet(cards: tuple[int, int], rng: Random) -> Iterator[dict[str, Any]]:
    taken_numbers: set[int] = set()

    def new_id(kind: str) -> str:
        number = rng.choice(
            [n for n in (rng.randint(1_000_000, 9_999_999) for _ in range(9)) if n not in taken_numbers]
        )
        taken_numbers.add(number)
        return f"{kind}_{number}"

    gift_cards, certificates = cards
    for brand in _BRANDS if rng.random() < 0.35 else rng.sample(_BRANDS, 1):
        last_four = f"{rng.randint(0, 9999):04}"
        yield {"source": "credit_card", "id": new_id("credit_card"), "brand": brand, "last_four": last_four}
    # In steps of the size of ten, so that no two cards of a wallet are worth the same.
    for balance in rng.sample(range(40, 330, 10), gift_cards):
        yield {"source": "gift_card", "id": new_id("gift_card"), "amount": float(balance + rng.randint(0, 9))}
    for amount in rng.sample(_CERTIFICATES, certificates):
        yield {"source": "certificate", "id": new_id("certificate"), "amount": float(amount)}


def _companions(name: tuple[str, str], fake: Faker, rng: Random, count: int) -> Iterator[dict[str, str]]:
    first_names = {name[0]}
    while len(first_names) <= count:
        first = fake.first_name()
        if first not in first_names:
            first_names.add(first)
            last = name[1] if rng.random() < 0.7 else fake.last_name()
            yield {"first_name": first, "last_name": last, "dob": _birthday(rng, 1950, 2014)}


def _birthday(rng: Random, first_year: int, last_year: int) -> str:
    start, end = dt.date(first_year, 1, 1), dt.date(last_year, 12, 31)
    return (start + dt.timedelta(days=rng.randint(0, (end - start).days))).isoformat()


def travellers(user: dict[str, Any], count: int) -> Sequence[dict[str, str]]:
    """Return the user and the first companions, as passengers."""
    return [{**user["name"], "dob": user["dob"]}, *user["saved_passengers"]][:count]
