"""The shop's customers: names and streets come from Faker, the rest from the same seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...._kit.faking import new_faker
from ...models import Address, CreditCard, FullName, GiftCard, PaymentMethod, PayPal, User

if TYPE_CHECKING:
    import random


#: How many customers there are; of the last ``_NAMESAKES``, each is called like one of the first.
PEOPLE = 60
_NAMESAKES = 4
#: City, state, first digits of the zip code.
_CITIES = (
    ("Portland", "OR", "972"),
    ("Tucson", "AZ", "857"),
    ("Madison", "WI", "537"),
    ("Savannah", "GA", "314"),
    ("Boise", "ID", "837"),
    ("Duluth", "MN", "558"),
    ("Richmond", "VA", "232"),
    ("Omaha", "NE", "681"),
    ("Albany", "NY", "122"),
    ("Fresno", "CA", "937"),
    ("Tulsa", "OK", "741"),
    ("Burlington", "VT", "054"),
    ("Mobile", "AL", "366"),
    ("Spokane", "WA", "992"),
    ("Toledo", "OH", "436"),
    ("El Paso", "TX", "799"),
    ("Lansing", "MI", "489"),
    ("Boulder", "CO", "803"),
)
#: Payment methods that people have, in turn.
_WALLETS = (
    ("credit_card", "gift_card"),
    ("paypal", "gift_card"),
    ("credit_card", "paypal"),
    ("credit_card", "paypal", "gift_card"),
    ("credit_card",),
    ("credit_card", "credit_card", "gift_card"),
    ("paypal", "credit_card", "gift_card"),
    ("gift_card", "gift_card", "paypal"),
)
_BRANDS = ("visa", "mastercard", "amex", "discover")
#: Whole dollars on a gift card: next to nothing, some, enough for an order.
_BALANCES = ((1, 9), (20, 120), (300, 900), (600, 1800))


def make_people(rng: random.Random) -> list[User]:
    """Make every customer, without orders.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    fake = new_faker(rng.randrange(2**32))
    ids = map(str, rng.sample(range(1_000_000, 10_000_000), 4 * PEOPLE))
    people: list[User] = []
    emails: set[str] = set()
    for number in range(PEOPLE):
        distinct = PEOPLE - _NAMESAKES
        name = (
            people[number - distinct].name
            if number >= distinct
            else _new_name(fake, {p.name.last_name for p in people})
        )
        methods = [_method(rng, source, next(ids)) for source in _WALLETS[number % len(_WALLETS)]]
        email = _email(rng, name, emails)
        emails.add(email)
        people.append(
            User(
                user_id=f"{name.first_name}_{name.last_name}_{rng.randint(1000, 9999)}".lower(),
                name=name,
                address=make_address(rng, fake, city=number),
                email=email,
                payment_methods={method.id: method for method in methods},
                orders=[],
            )
        )
    rng.shuffle(people)
    return people


def make_address(rng: random.Random, fake: Any, city: int) -> Address:
    """Make an address in one of the cities."""
    name, state, digits = _CITIES[city % len(_CITIES)]
    flat = rng.choice(("", f"Apt {rng.randint(1, 48)}", f"Unit {rng.randint(1, 30)}"))
    return Address(
        address1=f"{rng.randint(11, 989)} {fake.street_name()}",
        address2=flat,
        city=name,
        country="USA",
        state=state,
        zip=f"{digits}{rng.randint(0, 99):02d}",
    )


def make_addresses(rng: random.Random, count: int) -> list[Address]:
    """Make addresses that are in no profile."""
    fake = new_faker(rng.randrange(2**32))
    return [make_address(rng, fake, rng.randrange(len(_CITIES))) for _ in range(count)]


def _new_name(fake: Any, taken: set[str]) -> FullName:
    while True:
        last_name = fake.last_name()
        if last_name not in taken and last_name.isalpha():
            return FullName(first_name=fake.first_name(), last_name=last_name)


def _email(rng: random.Random, name: FullName, taken: set[str]) -> str:
    while True:
        email = f"{name.first_name}.{name.last_name}{rng.randint(10, 99)}@example.com".lower()
        if email not in taken:
            return email


def _method(rng: random.Random, source: str, number: str) -> PaymentMethod:
    if source == "credit_card":
        last_four = f"{rng.randint(0, 9999):04d}"
        return CreditCard(
            source="credit_card", id=f"credit_card_{number}", brand=rng.choice(_BRANDS), last_four=last_four
        )
    if source == "gift_card":
        balance = round(rng.randint(*rng.choice(_BALANCES)) + rng.randint(1, 9) / 10 + rng.randint(1, 9) / 100, 2)
        return GiftCard(source="gift_card", id=f"gift_card_{number}", balance=balance)
    return PayPal(source="paypal", id=f"paypal_{number}")
