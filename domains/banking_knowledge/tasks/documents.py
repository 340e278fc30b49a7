"""The bank's documents: those about products are made from their figures, all others are written by hand."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_tau.knowledge import Document, read_documents

from .products import BUSINESS, CARDS, CHECKING, SAVINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .products import Checking, CreditCard

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
    return {
        f"{document.id}.json": json.dumps(document._asdict(), indent=1, ensure_ascii=False) + "\n"
        for document in _documents()
    }


class _Form(NamedTuple):
    """The form of a document about each product of a kind: templates of its id, title and text, and its facts."""

    id: str
    title: str
    text: str
    facts: Callable[[Any], dict[str, str]]


def _documents() -> Iterator[Document]:
    for products, forms in _FORMS:
        for product in products:
            for form in forms:
                known = product._asdict()
                facts = "\n".join(f"- {label}: {value}" for label, value in form.facts(product).items())
                content = f"In force since: 01/15/2025\n\n{form.text.format(**known)}\n\n{facts}"
                yield Document(form.id.format(**known), form.title.format(**known), content)


def _dollars(amount: float) -> str:
    """Return an amount such as ``$1,250`` or ``$2.50``; nothing is ``none``."""
    if not amount:
        return "none"
    return f"${amount:,.2f}" if amount != int(amount) else f"${int(amount):,}"


def _points(card: CreditCard) -> dict[str, str]:
    special = {f"Points per dollar for {category}": f"{rate:g}" for category, rate in card.special.items()}
    return {
        **special,
        f"Points per dollar for {'all else' if special else 'every purchase'}": f"{card.points:g}",
        "Points at the start": f"{card.welcome:,} after the first statement",
    }


def _fees(account: Checking) -> dict[str, str]:
    fee, days = account.closing
    waived = account.monthly_fee and account.free_from
    return {
        "Monthly fee": _dollars(account.monthly_fee),
        "Monthly fee waived": f"from a balance of {_dollars(account.free_from)}" if waived else "nothing to waive",
        "Early closure fee": _dollars(fee),
        "Early closure fee counts for": f"{days} days after the opening" if fee else "none",
        "Fee at an ATM of another bank": _dollars(account.foreign_atm) if account.foreign_atm else "refunded",
    }


def _debit_card_fees(account: Checking) -> dict[str, str]:
    labels = (
        *("Standard delivery, 7-10 business days", "Expedited delivery, 3-5 business days"),
        *("Rush delivery, 1-2 business days", "Classic design", "Premium design", "Custom design"),
    )
    fees = [_dollars(fee) if fee else "free" for fee in (*account.delivery, *account.design)]
    return dict(zip(labels, fees, strict=True))


_FORMS: tuple[tuple[Sequence[Any], Sequence[_Form]], ...] = (
    (CARDS, (
        _Form("card_{key}_fees", "{name}: fees and interest",
              "What the {name} costs. It is made for {audience}. Fees appear on the statement of the month in which "
              "they arise; interest is charged on what stays unpaid after the due date.",
              lambda card: {
                  "Annual fee": _dollars(card.annual_fee),
                  "Interest on purchases": f"{card.apr} % a year",
                  "Fee for purchases abroad": f"{card.foreign_fee} %" if card.foreign_fee else "none",
                  "Late fee": _dollars(card.late_fee),
                  "Express delivery of a replacement":
                      "free" if card.express else "not offered, except after theft or fraud",
              }),
        _Form("card_{key}_rewards", "{name}: rewards",
              "How the {name} earns points. Points of a purchase are the amount times the rate of its category, cut to "
              "whole points. The category is the one that the transaction shows. A hundred points are worth one "
              "dollar. Points that were booked wrongly are corrected; see the procedure for wrong reward points.",
              _points),
        _Form("card_{key}_credit_line", "{name}: credit limit",
              "The credit limit of the {name}. The limit at the start depends on income. It can be raised later; the "
              "conditions for that are the same for all cards and are in the procedure for credit limit increases. A "
              "single increase may not be larger than the figure below.",
              lambda card: {
                  "Limit at the start": " to ".join(map(_dollars, card.line)),
                  "Largest increase at once": _dollars(card.largest_increase),
              }),
        _Form("card_{key}_joining", "{name}: applying and referring",
              "Who can have the {name}, and what a referral brings. Applicants state their yearly income; the customer "
              "applies with a tool of their own, as the procedure for card applications describes. The bonus is paid "
              "to the person who refers, once the new cardholder has made a purchase.",
              lambda card: {
                  "Made for": card.audience,
                  "Lowest yearly income": _dollars(card.min_income),
                  "Bonus for a referral": _dollars(card.referral_bonus),
              }),
    )),
    (CHECKING, (
        _Form("checking_{key}_fees", "{name}: fees",
              "Fees of the {name}, a checking account for {audience}. The monthly fee is taken on the last day of the "
              "month. Who closes the account soon after opening it pays the early closure fee.",
              _fees),
        _Form("checking_{key}_limits", "{name}: daily limits",
              "Daily limits of debit cards of the {name}. They start anew at midnight, Eastern time. The procedure for "
              "temporary limits says when they can be raised for a day.{limits_note}",
              lambda account: {
                  "Withdrawals a day": _dollars(account.atm_limit),
                  "Purchases a day": _dollars(account.purchase_limit),
              }),
        _Form("checking_{key}_debit_card", "{name}: ordering a debit card",
              "Fees for a debit card of the {name}. Delivery and design are charged together to the account when the "
              "card is ordered.",
              _debit_card_fees),
    )),
    (SAVINGS, (
        _Form("savings_{key}_interest", "{name}: interest",
              "Interest of the {name}, a savings account. Interest is credited once a month: the balance times the "
              "yield, divided by twelve and rounded to cents. If a credit is lower than that, the procedure for wrong "
              "interest applies.",
              lambda account: {"APY": f"{account.apy:g} %"}),
        _Form("savings_{key}_fees", "{name}: fees",
              "Fees of the {name}, a savings account for people. Savings accounts have no cards and no checks.",
              lambda account: {
                  "Monthly fee": f"{_dollars(account.monthly_fee)}, below a balance of {_dollars(account.free_from)}",
                  "Free withdrawals a month": str(account.withdrawals),
                  "Early closure fee": "none, as long as the account is closed by customer service",
              }),
    )),
    (BUSINESS, (
        _Form("business_{key}", "{name}: overview",
              "The {name} is an account of the type {kind}, for {audience}. The procedure for opening accounts says "
              "which account a customer must have before.",
              lambda account: {
                  "Account type": account.kind,
                  "Monthly fee": _dollars(account.monthly_fee),
                  account.figure[0]: account.figure[1],
              }),
    )),
)  # fmt: skip
