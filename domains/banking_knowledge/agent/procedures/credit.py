"""Credit cards: replacing, closing, paying, late fees, and limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...._kit.dialog import Declined
from ...._kit.parsing import is_yes
from .. import reading
from ..session import procedure, refusing

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ..session import Session

_REPLACING = (
    "replacement of a credit card that is lost stolen damaged expired, shipping_address reason expedited_shipping",
    "look for a replacement that is on its way get_pending_replacement_orders",
)
_REASONS = (
    (r"stolen", "stolen"),
    (r"fraud", "fraud_suspected"),
    (r"damaged|broke", "damaged"),
    (r"expired", "expired"),
    (r"lost", "lost"),
)
_CLOSURES = (
    (r"annual fee", "annual_fee"),
    (r"not using|do not use|don't use", "not_using_card"),
    (r"better card", "found_better_card"),
    (r"rewards|points", "unhappy_with_rewards"),
    (r"simplify", "simplifying_finances"),
    (r"bad experience|unfriendly", "negative_experience"),
)


@procedure(*_REPLACING)
def replace_card(session: Session, text: str) -> Talk[str]:
    """Order a new credit card."""
    card = yield from session.credit_card(text)
    return (yield from order_replacement(session, card, reading.choice(_REASONS, text) or "other"))


def order_replacement(session: Session, card: dict[str, str], reason: str) -> Talk[str]:
    """Order a new credit card for a reason, unless one is on its way."""
    yield from session.search(*_REPLACING)
    waiting = yield from session.hidden("get_pending_replacement_orders")
    order = next(
        (waiting_order for waiting_order in reading.records(waiting) if waiting_order.get("status") != "DELIVERED"),
        None,
    )
    if order:
        raise Declined(f"a new card is on its way already, and should arrive by {order['expected_delivery']}")
    expedited = reason in ("stolen", "fraud_suspected") or (yield from _wants_express(session, card))
    speed = "expedited" if expedited else "standard"
    yield from session.confirm(
        f"I will cancel your {card['card_type']} and order a new card by {speed} shipping to {session.user['address']}."
    )
    yield from session.hidden("order_replacement_credit_card", reason=reason, expedited_shipping=expedited)
    return f"Your new card has been ordered by {speed} shipping, and the old one has been cancelled."


def _wants_express(session: Session, card: dict[str, str]) -> Talk[bool]:
    """Return whether the card includes express delivery, and the customer wants it."""
    name = card["card_type"]
    yield from session.search(f"what the {name} costs annual fee late fee express delivery of a replacement:")
    if session.fact("Express delivery of a replacement", f"{name}: fees") != "free":
        return False
    wish = yield from session.ask("Which shipping would you like, standard or expedited?")
    return bool(re.search(r"fast|express|expedited|hurry(?!,)", wish.lower())) and "no hurry" not in wish.lower()


@procedure("closing a credit card, closure_reason and balance of $0.00", "retention offer: a year without annual fee")
def close_card(session: Session, text: str) -> Talk[str]:
    """Close a credit card, or keep it without annual fee."""
    card = yield from session.credit_card(text)
    why = yield from session.ask("What is the reason for closing the card?")
    reason = reading.choice(_CLOSURES, why) or "other"
    yield from session.hidden("log_credit_card_closure_reason", closure_reason=reason)
    if reason == "annual_fee" and (yield from _stays(session, card)):
        return "A year without annual fee has been booked, and your card stays open."
    if reading.money(card["current_balance"]):
        raise Declined(f"the card has a balance of {card['current_balance']}, which has to be paid first")
    yield from session.confirm(f"I will close your {card['card_type']} for good; unused points are lost.")
    yield from session.hidden("close_credit_card_account")
    return f"Your {card['card_type']} has been closed."


def _stays(session: Session, card: dict[str, str]) -> Talk[bool]:
    """Make the retention offer to who is entitled to it, and return whether it was taken."""
    years = session.figure("Years with the card")
    if (yield from session.age(card["date_of_account_open"])) < years * 365:
        return False
    answer = yield from session.ask("Would you like to keep the card for a year without annual fee?")
    if not is_yes(answer):
        return False
    year = (yield from session.look_at_clock()).year
    yield from session.hidden(
        "apply_credit_card_account_flag",
        flag_type="annual_fee_waived",
        expiration_date=session.fact(f"Offers of {year} expire on"),
        reason="retention_offer",
    )
    return True


@procedure("pay a credit card from a checking account of their own")
def pay_card(session: Session, text: str) -> Talk[str]:
    """Pay a credit card from a checking account."""
    account = yield from session.account(text, "checking")
    card = yield from session.credit_card(text)
    owed, holds = reading.money(card["current_balance"]), reading.money(account["current_holdings"])
    payment = reading.amount(text) or owed
    if payment > owed:
        raise Declined(f"the balance of the card is {reading.dollars(owed)}, and you can pay up to that")
    if payment > holds:
        raise Declined(f"the account holds {reading.dollars(holds)}")
    yield from session.confirm(
        f"I will pay {reading.dollars(payment)} to your {card['card_type']} from your {account['level']}."
    )
    yield from session.hidden("pay_credit_card_from_checking", amount=payment)
    return f"{reading.dollars(payment)} have been paid to your {card['card_type']}."


@procedure("late fee on a credit card can be taken back as a courtesy late_fee_reversal")
def take_back_late_fee(session: Session, text: str) -> Talk[str]:
    """Take back a late fee as a courtesy."""
    card = yield from session.credit_card(text)
    yield from session.search(
        f"what the {card['card_type']} costs annual fee late fee express delivery of a replacement:"
    )
    history = yield from session.hidden("get_payment_history", months=12)
    statuses = re.findall(r"Status: (\w+)", history)
    before = statuses[statuses.index("LATE") + 1 :] if "LATE" in statuses else statuses
    in_a_row = next((place for place, status in enumerate(before) if status != "ON_TIME"), len(before))
    if in_a_row < session.figure("Payments on time before the late one"):
        raise Declined("there were not enough payments on time before the late one")
    heard = yield from session.call("get_credit_card_transactions_by_user", user_id=session.user["user_id"])
    mine = [
        transaction
        for transaction in reading.records(heard.text)
        if transaction.get("credit_card_account_id") == card["account_id"]
    ]
    for day in [
        transaction["transaction_date"]
        for transaction in mine
        if transaction.get("credit_reason") == "late_fee_reversal"
    ]:
        if (yield from session.age(day)) < session.figure("Time between two courtesies"):
            raise Declined(f"a late fee was taken back on {day}, which is not long enough ago")
    fee = reading.amount(session.fact("Late fee", f"{card['card_type']}: fees")) or 0
    yield from session.confirm(f"I will credit the late fee of {reading.dollars(fee)} to your {card['card_type']}.")
    yield from session.hidden("apply_statement_credit", amount=reading.whole(fee), reason="late_fee_reversal")
    return f"{reading.dollars(fee)} have been credited to your card."


refuse_goodwill = refusing(
    "goodwill for long waits is not given as money, credits on a statement",
    "credits for long waits are not given, but thank you for the remark",
)


@procedure(
    "increase of a credit limit is decided by these steps and conditions denial_reason",
    "waiting time since an earlier request, payments on time, part of the limit that is in use",
)
def raise_limit(session: Session, text: str) -> Talk[str]:
    """Decide about a higher credit limit."""
    card = yield from session.credit_card(text)
    name = card["card_type"]
    yield from session.search(f"the credit limit of the {name} at the start, a single increase")
    increase = reading.amount(text)
    while increase is None:
        increase = reading.amount((yield from session.ask("By which amount should the limit be raised?")))
    earlier = yield from session.hidden("get_credit_limit_increase_history")
    payments = yield from session.hidden("get_payment_history", months=6)
    problem = yield from _problem(session, card, increase, earlier, payments)
    yield from session.confirm(
        f"I will record a request to raise the limit of your {name} by {reading.dollars(increase)}."
    )
    yield from session.hidden("submit_credit_limit_increase_request", requested_increase_amount=int(increase))
    if problem:
        yield from session.hidden("deny_credit_limit_increase", denial_reason=problem)
        raise Declined(f"the request was denied, because of {problem.replace('_', ' ')}")
    limit = int(reading.money(card["credit_limit"]) + increase)
    yield from session.hidden("approve_credit_limit_increase", new_credit_limit=limit)
    return f"The limit of your {name} has been raised to {reading.dollars(limit)}."


def _problem(session: Session, card: dict[str, str], wanted: float, earlier: str, payments: str) -> Talk[str]:
    """Return the reason of a denial by the first condition that is missed; empty if there is none."""
    age = yield from session.age(card["date_of_account_open"])
    waited = []
    for request in reading.records(earlier):
        if "decision_date" not in request:
            continue  # it was recorded in this conversation
        waited += [(yield from session.age(request["decision_date"]))]
    used = 100 * reading.money(card["current_balance"]) / reading.money(card["credit_limit"])
    in_a_row = reading.number(payments.partition("Consecutive on-time payments:")[2]) or 0
    missed = {
        "insufficient_account_age": age < session.figure("Lowest age of the card account"),
        "cooldown_period_active": bool(waited) and min(waited) < session.figure("Waiting time after a decision"),
        "past_due_balance": reading.money(card["past_due_amount"]) > 0,
        "high_utilization": used > session.figure("Highest part of the limit in use"),
        "insufficient_payment_history": in_a_row < session.figure("Payments on time in a row"),
        "requested_amount_exceeds_limit": wanted
        > session.figure("Largest increase at once", f"{card['card_type']}: credit limit"),
    }
    return next((reason for reason, is_missed in missed.items() if is_missed), "")
