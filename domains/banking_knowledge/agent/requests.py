"""The kinds of requests of customers: what each is recognised by, and the procedure for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._kit.request_kinds import RequestKind
from .procedures import credit, debit, disputes, money, people

if TYPE_CHECKING:
    from .session import Session

#: In order: the first kind that fits counts.
KINDS: tuple[RequestKind[Session], ...] = (
    RequestKind("death", r"\bdied\b|\bpassed away\b|\bdeath\b", people.report_death),
    RequestKind("third party", r"\baccount of (?:another|a different) person\b", people.refuse_third_party),
    RequestKind("law", r"\b(?:court|lawyer|attorney|subpoena)\b", people.report_letter),
    RequestKind("debit dispute", r"\bdispute\b.*\bdebit card\b", disputes.dispute_debit),
    RequestKind("dispute", r"\bdispute\b", disputes.dispute),
    RequestKind("points", r"\bpoints\b.*\b(?:wrong|missing|corrected)\b", disputes.correct_points),
    RequestKind("goodwill", r"\bgoodwill\b|\bcompensation\b", credit.refuse_goodwill),
    RequestKind("late fee", r"\blate fee\b", credit.take_back_late_fee),
    RequestKind("ATM fee", r"\bfee at an atm\b|\batm fee\b", money.refund_atm_fee),
    RequestKind("question", r"^\W*(?:what|how much|how many|how long|when|which)\b[^.]*\?", people.answer),
    RequestKind("day limit", r"\bdaily limit\b", debit.raise_day_limit),
    RequestKind("limit", r"\blimit\b.*\brais|\brais\w*\b.*\blimit\b|\bincrease\b.*\blimit\b", credit.raise_limit),
    RequestKind("activation", r"\bactivat\w+\b", debit.activate),
    RequestKind("PIN reset", r"\bforgot\b.*\bpin\b|\breset\b.*\bpin\b", debit.reset_pin),
    RequestKind("PIN", r"\bpin\b.*\bchang|\bchang\w*\b.*\bpin\b", debit.change_pin),
    RequestKind("recurring", r"\brecurring\b|\bsubscriptions\b", debit.block_recurring),
    RequestKind("release", r"\bunfreeze\b|\bfound my debit card\b", debit.release),
    RequestKind("freeze", r"\bfreeze\b|\bmisplaced\b", debit.freeze),
    RequestKind("alert", r"\bdeclined\b|\bfraud alert\b", debit.clear_alert),
    RequestKind("close debit card", r"\bdebit card\b.*\bclose\b|\bclose\b.*\bdebit card\b", debit.close_card),
    RequestKind("order debit card", r"\border\b.*\bdebit card\b", debit.order),
    RequestKind("application", r"\bapply for\b", people.apply_for_card),
    RequestKind("referral", r"\breferral\b|\brefer\b", people.refer),
    RequestKind("check", r"\bdeposit\b.*\bcheck\b", people.deposit_check),
    RequestKind("close credit card", r"\bclose my\b.*\bcredit card\b", credit.close_card),
    RequestKind("close account", r"\bclose my\b", money.close_account),
    RequestKind("pay", r"\bpay\b.*\bcredit card\b", credit.pay_card),
    RequestKind("replacement", r"\bcredit card\b.*\bnew one\b|\breplace\w*\b.*\bcard\b", credit.replace_card),
    RequestKind("opening", r"\bopen an?\b", money.open_account),
    RequestKind("transfer", r"\btransfer\b.*\bfrom\b|\bmove\b.*\bfrom\b", money.transfer_money),
    RequestKind("interest", r"\binterest\b", money.check_interest),
    RequestKind("email", r"\bemail\b", people.change_email),
    RequestKind("profile", r"\bphone number\b|\bmy address\b", people.refuse_profile),
)
