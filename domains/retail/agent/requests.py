"""What customers ask for: each kind of request, with the words that it is known by and the procedure for it.

A procedure finds out what it lacks, checks what the policy asks for, and returns plans. It declines by raising.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from . import parsing as reading
from .policy.address import move_order, move_profile
from .policy.exchange import swap
from .policy.money import cancel, give_back, pay_otherwise
from .session import Declined

if TYPE_CHECKING:
    from collections.abc import Callable

    from .session import Desk, Plan, Talk


class OutOfScope(Exception):  # noqa: N818 - no error: a request for a person
    """A request that nobody but a person can meet."""


class Kind(NamedTuple):
    """A kind of request.

    Attributes:
        name: What it is called.
        words: What it is known by, over a part of a sentence in lower case; the first row that fits counts.
        work: What is done about it.
    """

    name: str
    words: str
    work: Callable[[Desk, str], Talk[list[Plan]]]


def _declining(why: str) -> Callable[[Desk, str], Talk[list[Plan]]]:
    """What the policy forbids, whatever the order."""

    def work(desk: Desk, text: str) -> Talk[list[Plan]]:
        del desk, text
        raise Declined(why)
        yield

    return work


def _hand_over(desk: Desk, text: str) -> Talk[list[Plan]]:
    """What lies outside of the scope."""
    del desk
    raise OutOfScope(text)
    yield


KINDS = (
    Kind(
        "both",
        r"\breturn\b.*\bexchange\b|\bexchange\b.*\breturn\b",
        _declining("an order can have either a return or an exchange, it is not possible to do both"),
    ),
    Kind(
        "a person",
        r"\b(?:talk|speak) to (?:a|an|some|your)\b|\b(?:human|manager|supervisor)\b",
        _declining("I transfer to a person only what lies outside of my scope, and I cannot hand this over"),
    ),
    Kind(
        "out of scope",
        r"\bnew e-?mail|\bemail address (?:changed|updated)|\b(?:last|first) name\b|\baccount .*\b(?:deleted|closed)\b"
        r"|\b(?:delete|close) my account|\bnew (?:credit )?card\b.*\bprofile|\bplace (?:the|an) order\b"
        r"|\brepair(?:ed)?\b|\bwarranty\b",
        _hand_over,
    ),
    Kind(
        "one more",
        r"\btwo of the .* instead of one\b|\bone more\b|\badd\b.*\border\b",
        _declining("nothing can be added to an order"),
    ),
    Kind(
        "one less",
        r"\btake\b.*\bout of\b|\bremove\b.*\border\b",
        _declining("a single item cannot be taken out or cancelled, only the whole order"),
    ),
    Kind("cancel", r"\bcancel\b|(?<!\bi )(?<!\bnor )\bcancelled\b", cancel),
    Kind("return", r"\breturn\b|\b(?:go|goes|give|send|sent|sending) .*\bback\b|\bgo back\b|\bgoes back\b", give_back),
    Kind(
        "profile",
        r"\bdefault address\b|\bmy profile\b(?! stays)|\bmoving house\b|\bmoved\b|\baddress in (?:my|the) profile",
        move_profile,
    ),
    Kind(
        "address",
        r"\baddress\b|\b(?:sent|send|go|ship|shipped|deliver|delivered) (?:it |them |order \S+ )?to\b"
        r"|\bfollow me\b",
        move_order,
    ),
    Kind(
        "payment",
        r"\b(?:another|other|different) (?:payment )?method\b|\bpays?\b.*\bfor\b.*\border\b"
        r"|\border\b.*\b(?:be paid|is paid|paid by)\b|\bhow\b.*\bis paid\b",
        pay_otherwise,
    ),
    Kind(
        "version",
        r"\bexchange|\bswap|\bchang(?:e|ed)\b|\bversions?\b|\bwrong\b|\bdifferent\b|\bcheaper\b|\bplainer\b|\bbetter\b"
        r"|\bin the place of\b|\binstead of\b|\bwith \w+ \w+.*\bas in the order\b",
        swap,
    ),
)
#: What is said about an order or about money beside a request, and is none.
_ASIDE = re.compile(r"\b(?:profile|they|rest|all else|orders?) (?:stays?|keep)\b|\brefund\b|\bthat paid\b")

#: How a request is put as a question.
_POLITE = re.compile(r"\W*(?:please,? )?(?:can|could|would|will) (?:you|i|we)\b", re.IGNORECASE)


def recognise(text: str) -> list[Kind]:
    """The kinds of requests in a text, in the order of the table; questions are none."""
    found: list[Kind] = []
    for sentence in reading.sentences(text):
        parts = [] if is_question(sentence) else reading.clauses(sentence)
        found += [kind for part in parts for kind in _kind(part.lower(), text)]
    return [kind for kind in KINDS if kind in found]


def requests(text: str) -> list[tuple[Kind, str]]:
    """The kinds of requests in a text, each with the part of the text that is about it: all, if one order is named."""
    kinds = recognise(text)
    if len(kinds) == 1 or len(reading.order_ids(text)) <= 1:
        return [(kind, text) for kind in kinds]
    parts: dict[str, list[str]] = {}
    current = kinds[0].name if kinds else ""
    for clause in reading.clauses(text):
        current = next((kind.name for kind in _kind(clause.lower(), clause)), current)
        parts.setdefault(current, []).append(clause)
    return [(kind, ", ".join(parts.get(kind.name, [text]))) for kind in kinds]


def is_question(sentence: str) -> bool:
    """Whether a sentence asks for something to be told."""
    if _POLITE.match(sentence):
        return bool(re.search(r"\b(?:tell|say|know)\b", sentence))
    return sentence.rstrip().endswith("?") or bool(re.match(r"I want to know\b", sentence))


def _kind(part: str, text: str) -> list[Kind]:
    kind = next((kind for kind in KINDS if re.search(kind.words, part)), None)
    if kind is None:
        return []
    if kind.name == "profile" and reading.order_ids(text):
        # The default address is spoken of, as where an order should go, or should not.
        kind = next(kind for kind in KINDS if kind.name == "address")
    aside = _ASIDE.search(part) and kind.name not in ("return", "cancel", "version", "out of scope")
    return [] if aside else [kind]
