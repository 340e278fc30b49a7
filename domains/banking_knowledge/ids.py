"""Ids of records: derived from what they are about, so that a conversation repeats."""

import hashlib
import json
from typing import Any


def digest(seed: str, length: int) -> str:
    """Return the first hex digits of the SHA-256 of a text."""
    return hashlib.sha256(seed.encode()).hexdigest()[:length]


def id_of(kind: str, *parts: Any, length: int = 12, prefix: str = "") -> str:
    """Return the id of a record of a kind that is about these values, as Python prints them."""
    return prefix + digest(":".join([kind, *map(str, parts)]), length)


def id_of_texts(kind: str, *parts: str, length: int = 12, prefix: str = "") -> str:
    """Return the id of a record of a kind that is about these texts.

    Raises:
        TypeError: A part is no text; the tools with such ids fail then.
    """
    return prefix + digest(":".join([kind, *parts]), length)


def dispute_id(user_id: Any, transaction_id: Any) -> str:
    """Return the id of a dispute of any sort."""
    return id_of("dispute", user_id, transaction_id, prefix="dsp_")


def card_transaction_id(user_id: str, card_type: str, merchant: str, amount: float, category: str) -> str:
    """Return the id of a transaction with a credit card, or of a statement credit."""
    return id_of_texts("transaction", user_id, card_type, merchant, f"{amount:.2f}", category, prefix="txn_")


def user_call_id(tool: str, arguments: dict[str, Any]) -> str:
    """Return the id of the log of a user's call."""
    return id_of("user_discoverable_tool_call", tool, json.dumps(arguments, sort_keys=True), length=16)


def card_details(card_id: str) -> tuple[str, str]:
    """Return the last four digits and the CVV of a debit card that is issued."""
    four = _decimal(digest(f"card_details:{card_id}:last4", 8))[:4].zfill(4)
    return four, _decimal(digest(f"card_details:{card_id}:cvv", 6))[:3].zfill(3)


def credit_card_digits(account_id: Any) -> str:
    """Return the last four digits of an account's credit card."""
    return _decimal(digest(f"card_last4:{account_id}", 64))[:4].ljust(4, "0")


def _decimal(digits: str) -> str:
    return "".join(character for character in digits if character.isdigit())
