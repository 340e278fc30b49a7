"""Bank accounts of the customers, with their debit cards and transactions."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ...clock import NOW
from ..products import BUSINESS, CHECKING, SAVINGS, SAVINGS_ACCOUNT

if TYPE_CHECKING:
    import random
    from datetime import date

    from .people import Record, Table

_SHOPS = ("HARBOR GROCERY", "CITY TRANSIT", "BIRCH PHARMACY", "NORTH LIGHT BOOKS", "CORNER BAKERY", "FUEL STOP 12")
#: Kinds of first debit cards.
_REASONS = ("new_account", "first_card", "expired")


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
            business = [one for one in BUSINESS if one.kind == "business_checking"][number % 3]
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
    limits = {one.name: (one.atm_limit, one.purchase_limit) for one in CHECKING}
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
    found: Table = {}
    for account in accounts.values():
        records = _interest(account) if account["class"] == "saving" else _payments(rng, account)
        for record in records:
            transaction_id = f"btxn_{rng.randrange(16**12):012x}"
            found[transaction_id] = {"account_id": account["account_id"], "transaction_id": transaction_id, **record}
    return found


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
