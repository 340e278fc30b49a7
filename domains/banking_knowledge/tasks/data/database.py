"""The bundled tables of a seed."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from .accounts import make_accounts, make_bank_transactions, make_debit_cards, make_people
from .credit import make_credit_cards, make_payments, make_purchases, make_referrals

if TYPE_CHECKING:
    from .accounts import Table

_NOTES = "Made-up records; see docs/knowledge.md."
_EMPTY = (
    "credit_card_applications",
    "verification_history",
    "cash_back_disputes",
    "transaction_disputes",
    "credit_card_orders",
    "debit_card_orders",
    "credit_card_closure_reasons",
    "credit_card_account_flags",
    "credit_limit_increase_requests",
)


def make_tables(seed: int) -> dict[str, Table]:
    """Make the tables of a seed; those that only conversations fill are empty.

    Raises:
        ConfigurationError: Faker is not installed.
    """

    # A stream of its own for each part, so that a change to one leaves the others as they are.
    def stream(name: str) -> random.Random:
        return random.Random(f"{seed} {name}")

    people = make_people(stream("people"))
    accounts = make_accounts(stream("accounts"), people)
    cards = make_credit_cards(stream("cards"), people, accounts)
    return {
        "users": people,
        "accounts": accounts,
        "debit_cards": make_debit_cards(stream("debit cards"), people, accounts),
        "referrals": make_referrals(stream("referrals"), people),
        "credit_card_transaction_history": make_purchases(stream("purchases"), cards),
        "bank_account_transaction_history": make_bank_transactions(stream("transactions"), accounts),
        "credit_card_accounts": cards,
        "payment_history": make_payments(stream("payments"), cards),
        **{name: {} for name in _EMPTY},
    }


def tables_text(tables: dict[str, Table]) -> str:
    """Return the tables as JSON, one record a line."""
    parts = []
    for name, table in tables.items():
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(record)}" for key, record in table.items())
        data = f"{{\n{lines}\n}}" if lines else "{}"
        parts.append(f'"{name}": {{"notes": {json.dumps(_NOTES)}, "data": {data}}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"
