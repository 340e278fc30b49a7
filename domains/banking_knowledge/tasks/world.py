"""The tables as scenarios see them: customers with their accounts, cards and transactions."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..clock import NOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_tau.environment import Database

    #: A record of a table, and a table by key.
    Record = dict[str, Any]
    Tables = Mapping[str, Mapping[str, Record]]


class World:
    """Lookups in the tables, in an order that depends on nothing else.

    Args:
        tables: Records by table and key.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.users = list(tables["users"].values())

    def accounts(self, user: Record, kind: str = "") -> list[Record]:
        """Return a customer's bank accounts, of one class or all."""
        owned = self._of("accounts", "user_id", user["user_id"])
        return [account for account in owned if account["class"] == kind or not kind]

    def credit_cards(self, user: Record) -> list[Record]:
        """Return a customer's credit card accounts."""
        return self._of("credit_card_accounts", "user_id", user["user_id"])

    def purchases(self, card: Record) -> list[Record]:
        """Return the transactions of a credit card account."""
        return self._of("credit_card_transaction_history", "credit_card_account_id", card["account_id"])

    def transactions(self, account: Record) -> list[Record]:
        """Return the transactions of a bank account."""
        return self._of("bank_account_transaction_history", "account_id", account["account_id"])

    def referrals(self, user: Record) -> list[Record]:
        """Return the referrals that a customer made."""
        return self._of("referrals", "referrer_id", user["user_id"])

    def debit_card(self, account: Record) -> Record:
        """Return the debit card of a checking account."""
        return self._of("debit_cards", "account_id", account["account_id"])[0]

    def _of(self, table: str, field: str, value: str) -> list[Record]:
        return [record for record in self.tables[table].values() if record.get(field) == value]


def records_of(db: Database) -> dict[str, dict[str, Record]]:
    """Return the records of the bank's database by table and key."""
    return {name: table["data"] for name, table in db.dump().items()}


def money(text: str) -> float:
    """Return an amount of a record, such as ``$1,250.00``."""
    return float(text.replace("$", "").replace(",", ""))


def days_ago(days: int) -> str:
    """Return the date so many days before today, as the tables have it."""
    return f"{NOW - timedelta(days=days):%m/%d/%Y}"


def age(text: str) -> int:
    """Return the days from a date of a record until today."""
    return (NOW - datetime.strptime(text, "%m/%d/%Y")).days


def new_id(prefix: str, *parts: object, length: int = 12) -> str:
    """Return an id for a record that a task adds; the same for the same parts."""
    digest = hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest()
    return f"{prefix}{digest[:length]}"
