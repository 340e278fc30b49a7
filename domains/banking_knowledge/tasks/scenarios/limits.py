"""Scenarios about credit limits: the conditions are in two documents, and an outdated one is more generous."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...._kit.cases import let, where
from ..calls import hidden
from ..personas import BREEZY, BRIEF, CAREFUL, IMPATIENT, NEW_HERE
from ..templates import scenario
from ..world import days_ago, money, new_id
from .cases import CREDIT_CARD

_LOOK = (
    hidden("get_credit_limit_increase_history_4829"),
    hidden("get_payment_history_6183", months=6),
    hidden("submit_credit_limit_increase_request_7392", requested_increase_amount="{wanted}"),
)
#: An increase by ``amount``, which is added to the largest one of the card if ``largest``.
_raise = partial(
    scenario,
    cases=(
        *CREDIT_CARD,
        let(
            wanted=lambda c: c.amount + (c.product.largest_increase if c.largest else 0),
            limit=lambda c: int(money(c.card["credit_limit"])) + c.wanted,
        ),
        where(lambda c: c.largest or c.wanted <= c.product.largest_increase),
    ),
    amount=500,
    largest=False,
    reason="You want the limit of your {card[card_type]} to be raised by ${wanted:,}.",
    details={"amount": "It should be ${wanted:,} more than now."},
    calls=(*_LOOK, hidden("approve_credit_limit_increase_5847", new_credit_limit="{limit}")),
    documents=("credit_limit_increase", "card_{product.key}_credit_line"),
)
_deny = partial(_raise, calls=(*_LOOK, hidden("deny_credit_limit_increase_5848", denial_reason="{why}")))


def _card(**fields: str) -> dict[str, Any]:
    return {"credit_card_accounts": {"{card[account_id]}": fields}}


def _record(table: str, key: str, record_id: str, **fields: str) -> dict[str, Any]:
    owner = {"credit_card_account_id": "{card[account_id]}", "user_id": "{user[user_id]}"}
    return {table: {record_id: {key: record_id, **owner, **fields}}}


def _denied(days: int) -> dict[str, Any]:
    earlier = {"denial_reason": "high_utilization", "decision_date": days_ago(days), "status": "DENIED"}
    return _record("credit_limit_increase_requests", "request_id", new_id("cli_", "earlier", days), **earlier)


LIMITS = (
    _raise("limit-raised", "All conditions are met, and the increase is below the largest one.", amount=600),
    _raise("limit-raised-by-the-most", "The increase is exactly the largest one of the card.", CAREFUL,
           amount=0, largest=True),
    _raise("limit-raised-after-an-old-denial", "An earlier request was denied longer ago than the waiting time.", BRIEF,
           tables=_denied(200)),
    _deny("limit-of-a-young-card",
          "The card is older than the outdated document asks for, and too young for the present one.", NEW_HERE,
          why="insufficient_account_age", tables=_card(date_of_account_open=days_ago(95))),
    _deny("limit-soon-after-a-denial", "An earlier request was denied within the waiting time; by the outdated "
          "document it would have passed.", why="cooldown_period_active", tables=_denied(70)),
    _deny("limit-with-a-past-due-balance", "Something is past due.", IMPATIENT,
          why="past_due_balance", tables=_card(account_status="PAST_DUE", past_due_amount="$48.00")),
    _deny("limit-of-a-card-in-heavy-use", "More than the allowed part of the limit is in use.", BREEZY,
          why="high_utilization", tables=_card(current_balance="$2,700.00", credit_limit="$5,000.00")),
    _deny("limit-after-a-late-payment", "A late payment interrupts the payments on time.",
          why="insufficient_payment_history",
          tables=_record("payment_history", "payment_id", "pay_{card[account_id]}_late09",
                         payment_date="09/28/2025", amount="$60.00", status="LATE")),
    _deny("limit-above-the-largest-increase", "The increase is larger than the document of the card allows.", BRIEF,
          why="requested_amount_exceeds_limit", largest=True),
)  # fmt: skip
