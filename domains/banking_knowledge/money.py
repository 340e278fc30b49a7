"""Amounts of money in records: numbers, or texts with or without ``$`` and commas."""

from typing import Any

from .tables import BankRecord


def balance(account: BankRecord) -> float:
    """Return what an account holds.

    Raises:
        ValueError: The record has a text that is no amount.
    """
    held = account.get("current_holdings", account.get("balance", 0))
    if isinstance(held, str):
        return float(held.replace("$", "").replace(",", ""))
    return held if isinstance(held, int | float) else 0


def amount_in(text: Any) -> float:
    """Return the amount of a text such as ``$1,038.52``; 0 if it is none."""
    try:
        return float(str(text).replace("$", "").replace(",", ""))
    except ValueError:
        return 0.0


def plain(amount: float) -> str:
    """Return an amount as most records of accounts have it, without a currency sign."""
    return f"{amount:.2f}"


def dollars(amount: float) -> str:
    """Return an amount with a currency sign, without separators."""
    return f"${amount:.2f}"
