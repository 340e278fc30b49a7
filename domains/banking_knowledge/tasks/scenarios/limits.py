"""Scenarios about credit limits: the conditions are in two documents, and an outdated one is more generous."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..calls import hidden
from ..personas import BREEZY, BRIEF, CAREFUL, IMPATIENT, NEW_HERE
from ..templates import scenario
from ..world import days_ago, money, new_id
from .cases import CREDIT_CARD

if TYPE_CHECKING:
    from ..calls import Step
    from ..templates import Case


def _tables(case: Case) -> dict[str, Any]:
    return {**case.more, "credit_card_accounts": {case.card["account_id"]: case.changes}} if case.changes else case.more


def _calls(case: Case) -> list[Step]:
    new_limit = int(money(case.card["credit_limit"])) + case.wanted
    return [
        hidden("get_credit_limit_increase_history_4829"),
        hidden("get_payment_history_6183", months=6),
        hidden("submit_credit_limit_increase_request_7392", requested_increase_amount=case.wanted),
        hidden("deny_credit_limit_increase_5848", denial_reason=case.denial)
        if case.denial
        else hidden("approve_credit_limit_increase_5847", new_credit_limit=new_limit),
    ]


def _earlier_request(days: int) -> dict[str, Any]:
    record = {
        "request_id": new_id("cli_", "earlier", days),
        "credit_card_account_id": "{card[account_id]}",
        "user_id": "{user[user_id]}",
        "denial_reason": "high_utilization",
        "decision_date": days_ago(days),
        "status": "DENIED",
    }
    return {"credit_limit_increase_requests": {record["request_id"]: record}}


_LATE_PAYMENT = {
    "payment_id": "pay_{card[account_id]}_late09",
    "credit_card_account_id": "{card[account_id]}",
    "user_id": "{user[user_id]}",
    "payment_date": "09/28/2025",
    "amount": "$60.00",
    "status": "LATE",
}
# ``amount`` is in USD, and added to the largest increase of the card if ``largest``; ``changes`` are of the card.
_raise = partial(
    scenario,
    cases=CREDIT_CARD.let(wanted=lambda c: c.amount + (c.product.largest_increase if c.largest else 0)).where(
        lambda c: c.largest or c.wanted <= c.product.largest_increase
    ),
    amount=500,
    largest=False,
    denial="",
    changes={},
    more={},
    reason="You want the limit of your {card[card_type]} to be raised by ${wanted:,}.",
    details={"amount": "It should be ${wanted:,} more than now."},
    calls=_calls,
    documents=("credit_limit_increase", "card_{product.key}_credit_line"),
    tables=_tables,
)
LIMITS = (
    _raise("limit-raised", "All conditions are met, and the increase is below the largest one.", amount=600),
    _raise("limit-raised-by-the-most", "The increase is exactly the largest one of the card.", CAREFUL,
           amount=0, largest=True),
    _raise("limit-raised-after-an-old-denial", "An earlier request was denied longer ago than the waiting time.", BRIEF,
           more=_earlier_request(200)),
    _raise("limit-of-a-young-card",
           "The card is older than the outdated document asks for, and too young for the present one.", NEW_HERE,
           denial="insufficient_account_age", changes={"date_of_account_open": days_ago(95)}),
    _raise("limit-soon-after-a-denial", "An earlier request was denied within the waiting time; by the outdated "
           "document it would have passed.",
           denial="cooldown_period_active", more=_earlier_request(70)),
    _raise("limit-with-a-past-due-balance", "Something is past due.", IMPATIENT,
           denial="past_due_balance", changes={"account_status": "PAST_DUE", "past_due_amount": "$48.00"}),
    _raise("limit-of-a-card-in-heavy-use", "More than the allowed part of the limit is in use.", BREEZY,
           denial="high_utilization", changes={"current_balance": "$2,700.00", "credit_limit": "$5,000.00"}),
    _raise("limit-after-a-late-payment", "A late payment interrupts the payments on time.",
           denial="insufficient_payment_history",
           more={"payment_history": {_LATE_PAYMENT["payment_id"]: _LATE_PAYMENT}}),
    _raise("limit-above-the-largest-increase", "The increase is larger than the document of the card allows.", BRIEF,
           denial="requested_amount_exceeds_limit", largest=True),
)  # fmt: skip
