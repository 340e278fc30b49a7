"""Customers, and their bank accounts with debit cards and transactions; names and streets come from Faker."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ...._kit.faking import new_faker
from ...clock import NOW
from ..products import BUSINESS, CHECKING, SAVINGS, SAVINGS_ACCOUNT

if TYPE_CHECKING:
    import random
    from datetime import date

    from ..world import Record

    #: A table by key.
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
_SHOPS = ("HARBOR GROCERY", "CITY TRANSIT", "BIRCH PHARMACY", "NORTH LIGHT BOOKS", "CORNER BAKERY", "FUEL STOP 12")
#: Kinds of first debit cards.
_REASONS = ("new_account", "first_card", "expired")


def make_people(rng: random.Random) -> Table:
    """Make every customer, by user id.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    fake = new_faker(rng.randrange(2**32))
    people: Table = {}
    taken_numbers: set[str] = set()
    while len(people) < PEOPLE:
        first, last = fake.first_name(), fake.last_name()
        if last in taken_numbers or not last.isalpha():
            continue
        taken_numbers.add(last)
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


def make_accounts(rng: random.Random, people: Table) -> Table:
    """Make the accounts of all customers: a checking account each, and often more."""
    accounts: Table = {}
    for number, user_id in enumerate(people):
        checking = CHECKING[number % len(CHECKING)]
        _add(accounts, rng, f"chk_{user_id}", user_id, "checking", checking.name, (80, 2600))
        if number % 3:
            savings = SAVINGS[(number * 3) % len(SAVINGS)]
            _add(accounts, rng, f"sav_{user_id}", user_id, "saving", savings.name, (120, 1500))
        if number % 4 == 1:
            second = CHECKING[(number + 3) % len(CHECKING)]
            _add(accounts, rng, f"chk2_{user_id}", user_id, "checking", second.name, (70, 900))
        if number % 6 == 2:
            business = [product for product in BUSINESS if product.kind == "business_checking"][number % 3]
            _add(accounts, rng, f"biz_{user_id}", user_id, "business_checking", business.name, (60, 1200))
    return accounts


def _add(
    accounts: Table, rng: random.Random, account_id: str, user_id: str, kind: str, level: str, age: tuple[int, int]
) -> None:
    accounts[account_id] = {
        "account_id": account_id,
        "user_id": user_id,
        "class": kind,
        "level": level,
        "date_opened": american(NOW - timedelta(days=rng.randint(*age))),
        "status": "OPEN",
        "current_holdings": f"{rng.randint(300, 6400)}.{rng.randint(11, 99)}",
    }


def make_debit_cards(rng: random.Random, people: Table, accounts: Table) -> Table:
    """Make an active debit card for each checking account of a person."""
    cards: Table = {}
    limits = {product.name: (product.atm_limit, product.purchase_limit) for product in CHECKING}
    for account in accounts.values():
        if account["class"] != "checking":
            continue
        card_id = account["account_id"].replace("chk", "dbc")
        issued = NOW - timedelta(days=rng.randint(30, 60))
        atm, purchase = limits[account["level"]]
        cards[card_id] = {
            "card_id": card_id,
            "account_id": account["account_id"],
            "user_id": account["user_id"],
            "cardholder_name": people[account["user_id"]]["name"].upper(),
            "last_4_digits": f"{rng.randint(1000, 9999)}",
            "cvv": f"{rng.randint(101, 999)}",
            "status": "ACTIVE",
            "issue_date": american(issued),
            "expiration_date": f"{rng.randint(1, 12):02d}/30/{rng.randint(2027, 2029)}",
            "issue_reason": rng.choice(_REASONS),
            "daily_atm_limit": atm,
            "daily_purchase_limit": purchase,
        }
    return cards


def make_bank_transactions(rng: random.Random, accounts: Table) -> Table:
    """Make a few transactions of every account; of savings, the interest of the last months."""
    transactions: Table = {}
    for account in accounts.values():
        records = _interest(account) if account["class"] == "saving" else _payments(rng, account)
        for record in records:
            transaction_id = f"btxn_{rng.randrange(16**12):012x}"
            transactions[transaction_id] = {
                "account_id": account["account_id"],
                "transaction_id": transaction_id,
                **record,
            }
    return transactions


def _interest(account: Record) -> list[Record]:
    apy = SAVINGS_ACCOUNT[account["level"]].apy
    amount = round(float(account["current_holdings"]) * apy / 100 / 12, 2)
    return [
        {"date": f"{month:02d}/28/2025", "description": f"INTEREST CREDIT - APY {apy:g}%", "amount": amount,
         "type": "interest", "status": "posted"}
        for month in (8, 9, 10)
    ]  # fmt: skip


def _payments(rng: random.Random, account: Record) -> list[Record]:
    del account
    return [
        {"date": american(NOW - timedelta(days=days)), "description": f"{shop} - DEBIT CARD",
         "amount": -round(rng.uniform(4, 160), 2), "type": "debit_card_purchase", "status": "posted"}
        for shop, days in zip(rng.sample(_SHOPS, 4), sorted(rng.sample(range(1, 30), 4)), strict=True)
    ]  # fmt: skip


def american(day: date) -> str:
    """Return a date as the tables have it, MM/DD/YYYY."""
    return f"{day:%m/%d/%Y}"
