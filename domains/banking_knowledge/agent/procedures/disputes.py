"""Disputed transactions, and points that are missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...._kit.dialog import Declined
from .. import reading
from ..session import procedure
from .credit import order_replacement

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ..session import Session

_REASONS = (
    (r"fraud|was not (?:me|you)|stranger", "unauthorized_fraudulent_charge"),
    (r"charged twice|double", "duplicate_charge"),
    (r"amount is wrong|wrong amount", "incorrect_amount"),
    (r"not received|never (?:came|arrived)", "goods_services_not_received"),
    (r"not as described", "goods_services_not_as_described"),
    (r"subscription", "canceled_subscription_still_charging"),
    (r"refund was never|never processed", "refund_never_processed"),
)
_CATEGORIES = (
    (r"fraud|was not (?:me|you)", "card_not_present_fraud"),
    (r"charged twice|double", "duplicate_charge"),
    (r"wrong amount|amount is wrong", "incorrect_amount"),
    (r"not received|never (?:came|arrived)", "goods_services_not_received"),
)


def _purchase(session: Session, text: str, card: dict[str, str]) -> Talk[dict[str, str]]:
    """Return the purchase that is meant, by its merchant or its amount."""
    heard = yield from session.call("get_credit_card_transactions_by_user", user_id=session.user["user_id"])
    purchase_amount = reading.amount(text)
    for transaction in reading.records(heard.text):
        is_named = transaction["merchant_name"].lower() in text.lower()
        if (
            transaction["credit_card_type"] == card["card_type"]
            and is_named
            and reading.amount(transaction["transaction_amount"]) == purchase_amount
        ):
            return transaction
    raise Declined("I do not find this purchase")


@procedure(
    "dispute a credit card transaction dispute_reason card_action provisional credit",
    "a dispute is filed with file_credit_card_transaction_dispute; latest dispute days after the purchase",
)
def dispute(session: Session, text: str) -> Talk[str]:
    """File a dispute of a purchase by credit card."""
    card = yield from session.credit_card(text)
    purchase = yield from _purchase(session, text, card)
    reason = reading.choice(_REASONS, text)
    if not reason:
        raise Declined("I need to know what is wrong with the charge")
    if (yield from session.age(purchase["transaction_date"])) > session.figure("Latest dispute"):
        raise Declined(f"the purchase of {purchase['transaction_date']} is too old for a dispute")
    fraud = reason == "unauthorized_fraudulent_charge"
    answer = yield from session.ask("Did you contact the merchant?")
    contacted = not re.search(r"\bnot\b|\bno\b", answer.lower())
    if not (fraud or contacted):
        raise Declined("please contact the merchant first")
    digits, noticed = yield from _digits_and_day(session)
    refund = yield from session.ask("Do you want a full or a partial refund?")
    partial = reading.amount(refund) if "partial" in refund.lower() else None
    age = yield from session.age(card["date_of_account_open"])
    large = (reading.amount(purchase["transaction_amount"]) or 0) >= session.figure(
        "Provisional credit from an amount of"
    )
    yield from session.confirm(
        f"I will file a dispute of {purchase['transaction_amount']} by {purchase['merchant_name']}."
    )
    yield from session.hidden(
        "file_credit_card_transaction_dispute",
        transaction_id=purchase["transaction_id"],
        card_action="cancel_and_reissue" if fraud else "keep_active",
        card_last_4_digits=digits,
        contacted_merchant=contacted,
        purchase_date=purchase["transaction_date"],
        issue_noticed_date=noticed,
        dispute_reason=reason,
        resolution_requested="partial_refund" if partial else "full_refund",
        eligible_for_provisional_credit=large
        and age >= session.figure("Provisional credit from a card account age of"),
        **({"partial_refund_amount": partial} if partial else {}),
    )
    statement = "The dispute has been filed."
    return f"{statement} {yield from order_replacement(session, card, 'fraud_suspected')}" if fraud else statement


def _digits_and_day(session: Session) -> Talk[tuple[str, str]]:
    """Ask for the last digits of the card, and for the day on which the charge was noticed."""
    digits = re.search(r"\b(\d{4})\b", (yield from session.ask("What are the last four digits of the card?")))
    noticed = reading.first_date((yield from session.ask("On which day did you notice it?")))
    if not digits or not noticed:
        raise Declined("I need the last four digits of the card and the day for that")
    return digits[1], noticed


@procedure(
    "dispute a debit card transaction written statement liability police report PIN",
    "transactions of a checking or savings account are listed by the tool, the latest first",
    "freeze a debit card that is misplaced and may be found again",
)
def dispute_debit(session: Session, text: str) -> Talk[str]:
    """File a dispute of an online purchase by debit card."""
    _, cards = yield from session.debit_cards(text)
    transactions = yield from session.hidden("get_bank_account_transactions")
    charge = reading.amount(text)
    record = next(
        (transaction for transaction in reading.records(transactions) if -float(transaction["amount"]) == charge), None
    )
    if record is None:
        raise Declined("I do not find this transaction")
    card = next(card for card in cards if card["status"] == "ACTIVE")
    category = reading.choice(_CATEGORIES, text)
    fraud = category.endswith("fraud")
    arguments = yield from _circumstances(session, record, fraud=fraud)
    yield from session.confirm(f"I will file a dispute of {reading.dollars(charge or 0)}.")
    in_hand = arguments["card_in_possession"]
    action = ("freeze_pending_investigation" if in_hand else "close_and_reissue") if fraud else "keep_active"
    yield from session.hidden(
        "file_debit_card_transaction_dispute",
        transaction_id=record["transaction_id"],
        card_id=card["card_id"],
        dispute_category=category,
        transaction_date=record["date"],
        disputed_amount=charge,
        transaction_type="online_purchase",
        card_action=action,
        **arguments,
    )
    if fraud and in_hand:
        yield from session.hidden("freeze_debit_card", card_id=card["card_id"])
    return "The dispute has been filed."


def _circumstances(session: Session, record: dict[str, str], *, fraud: bool) -> Talk[dict[str, Any]]:
    """Ask for the circumstances of a debit card dispute, and return the arguments that follow from them."""
    discovered = reading.first_date((yield from session.ask("On which day did you discover it?")))
    if discovered is None:
        raise Declined("I need the day on which you discovered it")
    in_hand = yield from session.ask("Is the card in your possession?")
    pin = yield from session.ask("Does anybody else know the PIN?")
    contacted = yield from session.ask("Did you contact the merchant?")
    police = yield from session.ask("Is there a police report?")
    statement = yield from session.ask("Is there a written statement?")
    age = yield from session.age(record["date"])
    gap = (reading.american(discovered) - reading.american(record["date"])).days
    amount = -float(record["amount"])
    limits = ((2, "Liability, discovered early"), (60, "Liability, discovered late"))
    limit = next((session.figure(label) for days, label in limits if gap <= days), -1)
    written = not _denied(statement)
    return {
        "discovery_date": discovered,
        "card_in_possession": not _denied(in_hand),
        "pin_compromised": "no" if re.search(r"nobody|no one|\bno\b", pin.lower()) else "yes_shared",
        "contacted_merchant": not _denied(contacted),
        "police_report_filed": not _denied(police),
        "written_statement_provided": written,
        "provisional_credit_eligible": written and age <= session.figure("Provisional credit up to an age of"),
        "customer_max_liability_amount": reading.whole(min(limit, amount)) if fraud else 0,
    }


def _denied(said: str) -> bool:
    return bool(re.search(r"\bno\b|\bnot\b", said.lower()))


@procedure("misses points for a purchase; status RESOLVED means points have to be corrected")
def correct_points(session: Session, text: str) -> Talk[str]:
    """Have wrong points disputed by the customer, and correct them if that is approved at once."""
    card = yield from session.credit_card(text)
    name = card["card_type"]
    yield from session.search(f"how the {name} earns points per dollar rate of its category")
    purchase = yield from _purchase(session, text, card)
    title = f"{name}: rewards"
    labels = (purchase["category"], "all else", "every purchase")
    rates = [session.library.fact(f"Points per dollar for {label}", title) for label in labels]
    rate = next((reading.number(points) for points in rates if points), None)
    if rate is None:
        raise Declined("I find no document about the points of this card")
    points = int((reading.amount(purchase["transaction_amount"]) or 0) * rate)
    if purchase["rewards_earned"] == f"{points} points":
        raise Declined(f"the points are right: {rate:g} for a dollar are {points} points")
    transaction = purchase["transaction_id"]
    decision = yield from session.give(
        "submit_cash_back_dispute", user_id=session.user["user_id"], transaction_id=transaction
    )
    if "RESOLVED" not in decision:
        return "Your dispute has been submitted; a colleague decides within ten days."
    yield from session.hidden(
        "update_transaction_rewards", transaction_id=transaction, new_rewards_earned=f"{points} points"
    )
    return f"The points have been corrected to {points}."
