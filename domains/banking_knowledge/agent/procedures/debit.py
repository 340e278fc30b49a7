"""Debit cards: activation, PINs, freezing, closing, ordering, alerts, and limits for a day."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...._kit.dialog import Declined
from ...._kit.parsing import is_yes
from .. import reading
from ..session import procedure

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ..session import Procedure, Session

_PINS = "rules for a PIN: four digits, not a row; forgotten PIN, change the PIN"
_TOOLS = {
    "activate_debit_card_8291": ("new_account", "first_card"),
    "activate_debit_card_8292": ("lost", "stolen", "fraud"),
    "activate_debit_card_8293": ("expired", "damaged", "upgrade", "bank_reissue"),
}
_ROWS = "0123456789 9876543210"


@procedure("activate a debit card that is PENDING, tool depends on issue_reason", _PINS)
def activate(session: Session, text: str) -> Talk[str]:
    """Activate a new debit card with the tool that fits why it was issued."""
    _, card = yield from session.debit_card(text, "PENDING")
    answer = yield from session.ask("What are the last four digits, the expiration date and the CVV of the card?")
    digits = re.search(r"digits\D{0,20}(\d{4})\b", answer)
    expiry, cvv = re.search(r"\b(\d\d/\d\d)\b", answer), re.search(r"(?i)cvv\D{0,12}(\d{3})\b", answer)
    if not (digits and expiry and cvv) or digits[1] != card["card_number_last_4"]:
        raise Declined("what you read from the card does not match, so the card cannot be activated")
    pin = yield from _pin(session, "Which PIN should the card have?")
    tool = next((tool for tool, reasons in _TOOLS.items() if card["issue_reason"] in reasons), "")
    yield from session.confirm("I will activate the card with the PIN of your choice.")
    yield from session.hidden(tool, last_4_digits=digits[1], expiration_date=expiry[1], cvv=cvv[1], pin=pin)
    return "Your debit card has been activated."


def _pin(session: Session, question: str) -> Talk[str]:
    """Ask for a PIN until it is one that the rules allow."""
    answer = yield from session.ask(question)
    for _ in range(3):
        pin = re.search(r"\b(\d{4})\b", answer)
        if pin and pin[1] not in _ROWS and len(set(pin[1])) > 1:
            return pin[1]
        answer = yield from session.ask("This PIN is too simple. Could you choose another PIN, please?")
    raise Declined("I need a PIN that follows the rules")


@procedure(_PINS)
def reset_pin(session: Session, text: str) -> Talk[str]:
    """Set a new PIN for one that was forgotten."""
    _, card = yield from session.debit_card(text, "ACTIVE")
    answer = yield from session.ask("What are the last four digits of the card?")
    digits = re.search(r"\b(\d{4})\b", answer)
    if not digits or digits[1] != card["card_number_last_4"]:
        raise Declined("these are not the digits of the card")
    pin = yield from _pin(session, "Which new PIN should the card have?")
    yield from session.confirm("I will set the new PIN of your debit card.")
    yield from session.hidden("reset_debit_card_pin", last_4_digits=digits[1], new_pin=pin)
    return "The PIN of your debit card has been reset."


@procedure(_PINS)
def change_pin(session: Session, text: str) -> Talk[str]:
    """Change a PIN that is known."""
    yield from session.debit_card(text, "ACTIVE")
    current = re.search(r"\b(\d{4})\b", (yield from session.ask("What is the current PIN?")))
    if not current:
        raise Declined("I need the current PIN")
    pin = yield from _pin(session, "Which new PIN should the card have?")
    yield from session.confirm("I will change the PIN of your debit card.")
    yield from session.hidden("change_debit_card_pin", current_pin=current[1], new_pin=pin)
    return "The PIN of your debit card has been changed."


def _simple(query: str, tool: str, status: str, will: str, done: str, **arguments: Any) -> Procedure:
    """Return a procedure that makes one call with the customer's card."""

    @procedure(query)
    def act(session: Session, text: str) -> Talk[str]:
        yield from session.debit_card(text, status)
        tool_arguments = {name: value(text) if callable(value) else value for name, value in arguments.items()}
        yield from session.confirm(f"I will {will} your debit card.")
        yield from session.hidden(tool, **tool_arguments)
        return f"Your debit card has been {done}."

    return act


def _closing_reason(text: str) -> str:
    reasons = (("stolen", "stolen"), ("copied", "fraud_suspected"), ("lost", "lost"), ("broke", "damaged"))
    return reading.choice(reasons, text) or "no_longer_needed"


_FREEZING = "freeze a debit card that is misplaced and may be found again"
freeze = _simple(_FREEZING, "freeze_debit_card", "ACTIVE", "freeze", "frozen")
release = _simple(_FREEZING, "unfreeze_debit_card", "FROZEN", "release", "released")
close_card = _simple(
    "debit card that is lost for good, stolen, copied, broken or not wanted is closed", "close_debit_card", "ACTIVE",
    "close", "closed", reason=_closing_reason,
)  # fmt: skip
block_recurring = _simple(
    "all recurring payments of a debit card declined, subscriptions", "set_debit_card_recurring_block", "ACTIVE",
    "block all recurring payments of", "changed: recurring payments are declined", block_recurring=True,
)  # fmt: skip


@procedure("checking account has at most one debit card ACTIVE, order_debit_card delivery_fee design_fee")
def order(session: Session, text: str) -> Talk[str]:
    """Order a debit card, with the fees of the account's product."""
    account, cards = yield from session.debit_cards(text)
    level = account["level"]
    yield from session.search(f"fees for a debit card of the {level} delivery and design")
    if any(card["status"] == "ACTIVE" for card in cards):
        raise Declined("the account has a debit card that is active")
    holds = reading.money(account["current_holdings"])
    if holds < session.figure("Lowest balance for an order"):
        raise Declined("the account holds too little for an order")
    wish = yield from session.ask("Which delivery would you like: standard, expedited or rush?")
    speed = next((word for word in ("expedited", "rush") if word in wish.lower()), "standard")
    wish = yield from session.ask("Which design would you like: classic, premium or custom?")
    design = next((word for word in ("premium", "custom") if word in wish.lower()), "classic")
    days = {"standard": "7-10", "expedited": "3-5", "rush": "1-2"}[speed]
    title = f"{level}: ordering a debit card"
    delivery_fee = reading.amount(session.fact(f"{speed.capitalize()} delivery, {days} business days", title)) or 0
    design_fee = reading.amount(session.fact(f"{design.capitalize()} design", title)) or 0
    total = delivery_fee + design_fee
    if holds < total:
        raise Declined(f"the fees are {reading.dollars(total)}, and the account holds {reading.dollars(holds)}")
    yield from session.confirm(
        f"I will order a debit card with {speed} delivery and the {design} design to {session.user['address']}; the "
        f"fees are {reading.dollars(total)}."
    )
    yield from session.hidden(
        "order_debit_card",
        delivery_option=speed.upper(),
        delivery_fee=reading.whole(delivery_fee),
        card_design=design.upper(),
        design_fee=reading.whole(design_fee),
    )
    return "Your debit card has been ordered."


@procedure("fraud_alert_active alert_source velocity_blocked, payments were their own, clear alert")
def clear_alert(session: Session, text: str) -> Talk[str]:
    """Clear an alert or a block of a debit card, or hand an alert of the bank over."""
    _, card = yield from session.debit_card(text, "ACTIVE")
    if card.get("fraud_alert_active") and card.get("alert_source") == "bank_initiated":
        yield from session.transfer("fraud_or_security_concern", "The bank flagged the customer's debit card.")
    if not (card.get("fraud_alert_active") or card.get("velocity_blocked")):
        raise Declined("I find neither an alert nor a block")
    answer = yield from session.ask("Were the payments your own?")
    if not is_yes(answer):
        raise Declined("the block stays as long as there are payments that you do not know")
    reason = "customer_verified" if card.get("fraud_alert_active") else "velocity_clear"
    yield from session.hidden("clear_debit_card_fraud_alert", reason=reason)
    return "The block of your debit card has been cleared."


@procedure("for 24 hours the daily limit of a debit card can be raised limit_type new_limit")
def raise_day_limit(session: Session, text: str) -> Talk[str]:
    """Raise a limit of a debit card for a day."""
    account, card = yield from session.debit_card(text, "ACTIVE")
    kind = "atm" if re.search(r"atm|cash|withdraw", text.lower()) else "purchase"
    if (yield from session.age(account["date_opened"])) < session.figure("Lowest age of the account"):
        raise Declined("the account is too young for a higher limit")
    if "Light Green" in account["level"]:
        raise Declined("the limits of this account are fixed")
    limit, now = reading.amount(text) or 0, float(card[f"daily_{kind}_limit"])
    most = int(now * session.figure("Highest temporary limit") / 100)
    if limit > most:
        raise Declined(f"the highest limit for a day is ${most:,}")
    yield from session.confirm(f"I will raise the daily limit of your debit card to ${limit:,.0f} for 24 hours.")
    yield from session.hidden("request_temporary_debit_card_limit_increase", limit_type=kind, new_limit=int(limit))
    return f"The daily limit of your debit card has been raised to ${limit:,.0f} for 24 hours."
