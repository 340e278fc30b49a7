"""Rules about changes and transfers: what the customer has to agree to, and when a person takes over."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_tau.policy import Rule, confirmation, is_yes

from .documents import documents_before
from .unwrapped import GIVE, UNLOCK, unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.policy import Breach, MadeCall, Trajectory

_TRANSFER = "transfer_to_human_agents"
_WANTS_PERSON = re.compile(
    r"\b(?:human|a person|real person|representative|agent|supervisor|manager|colleague)\b|"
    r"\btransfer me\b|\b(?:speak|talk) (?:to|with) (?:someone|somebody)\b",
    re.IGNORECASE,
)
_OFFERS = re.compile(r"\btransfer|\bhuman\b|\bcolleague\b|\bconnect you\b", re.IGNORECASE)
#: Changes that record what the customer has said or done, or what the documents decide, and alter nothing else.
_EXEMPT: Final = (
    UNLOCK,
    GIVE,
    "log_verification",
    "log_credit_card_closure_reason_4521",
    "deny_credit_limit_increase_5848",
    "update_transaction_rewards_3847",
)
#: Documents have a question of their own for these, which the customer answers with a yes.
_OWN_QUESTION: Final = ("clear_debit_card_fraud_alert_4892",)
_SENTENCE: Final = "Before you change anything, sum up what will change and wait for a clear yes."
_CONFIRMATION: Final = confirmation(_SENTENCE, exempt=_EXEMPT)


def _confirmation(trajectory: Trajectory) -> Iterator[Breach]:
    real_calls = unwrapped(trajectory)
    for breach in _CONFIRMATION.check(real_calls):
        call = breach.call
        answers = real_calls.user_texts(before=call)
        if not (call and call.name in _OWN_QUESTION and answers and is_yes(answers[-1].text)):
            yield breach


def _transfer(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool(_TRANSFER):
        if _documented(trajectory, call) or _wanted(trajectory, call):
            continue
        yield trajectory.breach(call, "no document that was read says so, and the customer has not asked for it")


def _documented(trajectory: Trajectory, call: MadeCall) -> bool:
    """Return whether a document that was read names the reason of the transfer."""
    reason = str(call.arguments.get("reason", ""))
    return bool(reason) and reason in documents_before(trajectory, call)


def _wanted(trajectory: Trajectory, call: MadeCall) -> bool:
    """Return whether the customer has asked for a person, or has agreed to the offer of one."""
    texts = trajectory.user_texts(before=call)
    if any(_WANTS_PERSON.search(turn.text) for turn in texts):
        return True
    offers = trajectory.agent_texts(before=texts[-1]) if texts else []
    return bool(offers) and bool(_OFFERS.search(offers[-1].text)) and is_yes(texts[-1].text)


CONDUCT_RULES = [
    replace(_CONFIRMATION, check=_confirmation),
    Rule(
        "transfer",
        "Transfer with transfer_to_human_agents only if a document says so, or if the request is beyond the documents "
        "and the customer wants the transfer.",
        _transfer,
        needs_dialog=True,
    ),
]
