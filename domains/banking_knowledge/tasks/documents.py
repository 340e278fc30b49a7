"""The bank's documents: those about products are made from their figures, all others are written by hand."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tau.knowledge import Document, read_documents

from .products import BUSINESS, CARDS, CHECKING, SAVINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .products import Business, Checking, CreditCard, Savings

_FOLDER = Path(__file__).parents[1] / "documents"


@functools.cache
def contents() -> Mapping[str, str]:
    """Return the texts of all documents by id."""
    return {document.id: document.content for document in read_documents(_FOLDER)}


def stated(document_id: str, label: str) -> str:
    """Return what a document states."""
    return str(re.findall(rf"(?m)^- {label}: (.+)$", contents()[document_id])[0])


def document_files() -> dict[str, str]:
    """Return the texts of the files about products by name."""
    files = {one.id: json.dumps(one._asdict(), indent=1, ensure_ascii=False) + "\n" for one in _documents()}
    return {f"{document_id}.json": text for document_id, text in files.items()}


def _documents() -> Iterator[Document]:
    for card in CARDS:
        yield from (_card_fees(card), _rewards(card), _credit_line(card), _joining(card))
    for checking in CHECKING:
        yield from (_fees(checking), _limits(checking), _debit_cards(checking))
    for savings in SAVINGS:
        yield from (_yield(savings), _conditions(savings))
    yield from map(_business, BUSINESS)


def _document(doc_id: str, title: str, text: str, facts: Mapping[str, str]) -> Document:
    lines = "\n".join(f"- {label}: {value}" for label, value in facts.items())
    return Document(doc_id, title, f"In force since: 01/15/2025\n\n{text}\n\n{lines}")


def _dollars(amount: float) -> str:
    """Return an amount such as ``$1,250`` or ``$2.50``; nothing is ``none``."""
    if not amount:
        return "none"
    return f"${amount:,.2f}" if amount != int(amount) else f"${int(amount):,}"


def _card_fees(card: CreditCard) -> Document:
    return _document(
        f"card_{card.key}_fees",
        f"{card.name}: fees and interest",
        f"What the {card.name} costs. It is made for {card.audience}. Fees appear on the statement of the month in "
        "which they arise; interest is charged on what stays unpaid after the due date.",
        {
            "Annual fee": _dollars(card.annual_fee),
            "Interest on purchases": f"{card.apr} % a year",
            "Fee for purchases abroad": f"{card.foreign_fee} %" if card.foreign_fee else "none",
            "Late fee": _dollars(card.late_fee),
            "Express delivery of a replacement": "free" if card.express else "not offered, except after theft or fraud",
        },
    )


def _rewards(card: CreditCard) -> Document:
    special = {f"Points per dollar for {category}": f"{rate:g}" for category, rate in card.special.items()}
    return _document(
        f"card_{card.key}_rewards",
        f"{card.name}: rewards",
        f"How the {card.name} earns points. Points of a purchase are the amount times the rate of its category, cut to "
        "whole points. The category is the one that the transaction shows. A hundred points are worth one dollar. "
        "Points that were booked wrongly are corrected; see the procedure for wrong reward points.",
        {
            **special,
            f"Points per dollar for {'all else' if special else 'every purchase'}": f"{card.points:g}",
            "Points at the start": f"{card.welcome:,} after the first statement",
        },
    )


def _credit_line(card: CreditCard) -> Document:
    low, high = card.line
    return _document(
        f"card_{card.key}_credit_line",
        f"{card.name}: credit limit",
        f"The credit limit of the {card.name}. The limit at the start depends on income. It can be raised later; the "
        "conditions for that are the same for all cards and are in the procedure for credit limit increases. A single "
        "increase may not be larger than the figure below.",
        {
            "Limit at the start": f"{_dollars(low)} to {_dollars(high)}",
            "Largest increase at once": _dollars(card.largest_increase),
        },
    )


def _joining(card: CreditCard) -> Document:
    return _document(
        f"card_{card.key}_joining",
        f"{card.name}: applying and referring",
        f"Who can have the {card.name}, and what a referral brings. Applicants state their yearly income; the customer "
        "applies with a tool of their own, as the procedure for card applications describes. The bonus is paid to the "
        "person who refers, once the new cardholder has made a purchase.",
        {
            "Made for": card.audience,
            "Lowest yearly income": _dollars(card.min_income),
            "Bonus for a referral": _dollars(card.referral_bonus),
        },
    )


def _closing(closing: tuple[int, int]) -> dict[str, str]:
    fee, days = closing
    counts = f"{days} days after the opening" if fee else "none"
    return {"Early closure fee": _dollars(fee), "Early closure fee counts for": counts}


def _fees(account: Checking) -> Document:
    waived = f"from a balance of {_dollars(account.free_from)}" if account.free_from else "nothing to waive"
    return _document(
        f"checking_{account.key}_fees",
        f"{account.name}: fees",
        f"Fees of the {account.name}, a checking account for {account.audience}. The monthly fee is taken on the last "
        "day of the month. Who closes the account soon after opening it pays the early closure fee.",
        {
            "Monthly fee": _dollars(account.monthly_fee),
            "Monthly fee waived": waived if account.monthly_fee else "nothing to waive",
            **_closing(account.closing),
            "Fee at an ATM of another bank": _dollars(account.foreign_atm) if account.foreign_atm else "refunded",
        },
    )


def _limits(account: Checking) -> Document:
    fixed = " These limits are fixed for minors and cannot be raised." if account.key == "light_green" else ""
    return _document(
        f"checking_{account.key}_limits",
        f"{account.name}: daily limits",
        f"Daily limits of debit cards of the {account.name}. They start anew at midnight, Eastern time. The procedure "
        f"for temporary limits says when they can be raised for a day.{fixed}",
        {
            "Withdrawals a day": _dollars(account.atm_limit),
            "Purchases a day": _dollars(account.purchase_limit),
        },
    )


def _debit_cards(account: Checking) -> Document:
    def free(amount: int) -> str:
        return _dollars(amount) if amount else "free"

    return _document(
        f"checking_{account.key}_debit_card",
        f"{account.name}: ordering a debit card",
        f"Fees for a debit card of the {account.name}. Delivery and design are charged together to the account when "
        "the card is ordered.",
        {
            "Standard delivery, 7-10 business days": free(account.delivery[0]),
            "Expedited delivery, 3-5 business days": free(account.delivery[1]),
            "Rush delivery, 1-2 business days": free(account.delivery[2]),
            "Classic design": free(account.design[0]),
            "Premium design": free(account.design[1]),
            "Custom design": free(account.design[2]),
        },
    )


def _yield(account: Savings) -> Document:
    return _document(
        f"savings_{account.key}_interest",
        f"{account.name}: interest",
        f"Interest of the {account.name}, a savings account. Interest is credited once a month: the balance times the "
        "yield, divided by twelve and rounded to cents. If a credit is lower than that, the procedure for wrong "
        "interest applies.",
        {"APY": f"{account.apy:g} %"},
    )


def _conditions(account: Savings) -> Document:
    return _document(
        f"savings_{account.key}_fees",
        f"{account.name}: fees",
        f"Fees of the {account.name}, a savings account for people. Savings accounts have no cards and no checks.",
        {
            "Monthly fee": f"{_dollars(account.monthly_fee)}, below a balance of {_dollars(account.free_from)}",
            "Free withdrawals a month": str(account.withdrawals),
            "Early closure fee": "none, as long as the account is closed by customer service",
        },
    )


def _business(account: Business) -> Document:
    label, value = account.figure
    return _document(
        f"business_{account.key}",
        f"{account.name}: overview",
        f"The {account.name} is an account of the type {account.kind}, for {account.audience}. The procedure for "
        "opening accounts says which account a customer must have before.",
        {"Account type": account.kind, "Monthly fee": _dollars(account.monthly_fee), label: value},
    )
