"""The kinds of requests of customers: what each is recognised by, and the procedure for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..._kit.parsing import sentences
from ..._kit.request_kinds import RequestKind, declining, first_kind, hand_over
from . import parsing
from .policy.address import change_order_address, change_profile_address
from .policy.exchange import change_items
from .policy.money import cancel, change_payment, return_items

if TYPE_CHECKING:
    from .session import Session

KINDS: tuple[RequestKind[Session], ...] = (
    RequestKind(
        "both",
        r"\breturn\b.*\bexchange\b|\bexchange\b.*\breturn\b",
        declining("an order can have either a return or an exchange, it is not possible to do both"),
    ),
    RequestKind(
        "a person",
        r"\b(?:talk|speak) to (?:a|an|some|your)\b|\b(?:human|manager|supervisor)\b",
        declining("I transfer to a person only what lies outside of my scope, and I cannot hand this over"),
    ),
    RequestKind(
        "out of scope",
        r"\bnew e-?mail|\bemail address (?:changed|updated)|\b(?:last|first) name\b|\baccount .*\b(?:deleted|closed)\b"
        r"|\b(?:delete|close) my account|\bnew (?:credit )?card\b.*\bprofile|\bplace (?:the|an) order\b"
        r"|\brepair(?:ed)?\b|\bwarranty\b",
        hand_over,
    ),
    RequestKind(
        "one more",
        r"\btwo of the .* instead of one\b|\bone more\b|\badd\b.*\border\b",
        declining("nothing can be added to an order"),
    ),
    RequestKind(
        "one less",
        r"\btake\b.*\bout of\b|\bremove\b.*\border\b",
        declining("a single item cannot be taken out or cancelled, only the whole order"),
    ),
    RequestKind("cancel", r"\bcancel\b|(?<!\bi )(?<!\bnor )\bcancelled\b", cancel),
    RequestKind(
        "return", r"\breturn\b|\b(?:go|goes|give|send|sent|sending) .*\bback\b|\bgo back\b|\bgoes back\b", return_items
    ),
    RequestKind(
        "profile",
        r"\bdefault address\b|\bmy profile\b(?! stays)|\bmoving house\b|\bmoved\b|\baddress in (?:my|the) profile",
        change_profile_address,
    ),
    RequestKind(
        "address",
        r"\baddress\b|\b(?:sent|send|go|ship|shipped|deliver|delivered) (?:it |them |order \S+ )?to\b"
        r"|\bfollow me\b",
        change_order_address,
    ),
    RequestKind(
        "payment",
        r"\b(?:another|other|different) (?:payment )?method\b|\bpays?\b.*\bfor\b.*\border\b"
        r"|\border\b.*\b(?:be paid|is paid|paid by)\b|\bhow\b.*\bis paid\b",
        change_payment,
    ),
    RequestKind(
        "version",
        r"\bexchange|\bswap|\bchang(?:e|ed)\b|\bversions?\b|\bwrong\b|\bdifferent\b|\bcheaper\b|\bplainer\b|\bbetter\b"
        r"|\bin the place of\b|\binstead of\b|\bwith \w+ \w+.*\bas in the order\b",
        change_items,
    ),
)
#: Remarks about an order or about money that are no requests.
_ASIDE = re.compile(r"\b(?:profile|they|rest|all else|orders?) (?:stays?|keep)\b|\brefund\b|\bthat paid\b")

#: The beginning of a request that is put as a question.
_POLITE = re.compile(r"\W*(?:please,? )?(?:can|could|would|will) (?:you|i|we)\b", re.IGNORECASE)


def recognise(text: str) -> list[RequestKind[Session]]:
    """Return the kinds of requests in a text, in the order of the table; questions are none."""
    kinds: list[RequestKind[Session]] = []
    for sentence in sentences(text):
        parts = [] if is_question(sentence) else parsing.clauses(sentence)
        kinds += [kind for part in parts for kind in _kind(part.lower(), text)]
    return [kind for kind in KINDS if kind in kinds]


def requests(text: str) -> list[tuple[RequestKind[Session], str]]:
    """Return the kinds of requests in a text, each with the part of it that it is about: all, if one order is named."""
    kinds = recognise(text)
    if len(kinds) == 1 or len(parsing.order_ids(text)) <= 1:
        return [(kind, text) for kind in kinds]
    parts: dict[str, list[str]] = {}
    current = kinds[0].name if kinds else ""
    for clause in parsing.clauses(text):
        current = next((kind.name for kind in _kind(clause.lower(), clause)), current)
        parts.setdefault(current, []).append(clause)
    return [(kind, ", ".join(parts.get(kind.name, [text]))) for kind in kinds]


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks for information."""
    if _POLITE.match(sentence):
        return bool(re.search(r"\b(?:tell|say|know)\b", sentence))
    return sentence.rstrip().endswith("?") or bool(re.match(r"I want to know\b", sentence))


def _kind(part: str, text: str) -> list[RequestKind[Session]]:
    kind = first_kind(KINDS, part)
    if kind is None:
        return []
    if kind.name == "profile" and parsing.order_ids(text):
        # The default address is mentioned as where an order should go, or should not.
        kind = next(kind for kind in KINDS if kind.name == "address")
    aside = _ASIDE.search(part) and kind.name not in ("return", "cancel", "version", "out of scope")
    return [] if aside else [kind]
