"""The rules of the carrier's policy that a conversation alone can show to be broken."""

from __future__ import annotations

from pytest_tau.policy import bounded, no_text_with_calls, one_call_at_a_time, transfer_notice

from .account import ACCOUNT_RULES
from .customer import CUSTOMER_RULES
from .transfer import TRANSFER_RULES

_TURNS = "Never make two calls at once, and never put text beside a call."

_RULES = [
    one_call_at_a_time(_TURNS),
    no_text_with_calls(_TURNS),
    *CUSTOMER_RULES,
    *ACCOUNT_RULES,
    *TRANSFER_RULES,
    transfer_notice("Then send this notice, with nothing added:"),
]
RULES = bounded(_RULES)
