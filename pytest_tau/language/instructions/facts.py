"""What the user of a scenario knows, which offers it accepts and declines, and when it is content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..vocabulary import words

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Patterns of facts by their names; the first that matches counts.
_FACTS: Final[dict[str, tuple[str, ...]]] = {
    "name": (
        r"\b[Yy]ou are (?:called )?((?:[A-Z][\w'-]+)(?: (?:[A-Z][\w'-]+|[A-Z]\.)){1,3})",
        r"\b[Yy]our? name is ((?:[A-Z][\w'-]+)(?: [A-Z][\w'-]+){0,3})",
        r"\b[Yy]ou are [^.]*\bcalled ((?:[A-Z][\w'-]+)(?: [A-Z][\w'-]+){1,3})",
    ),
    "email": (r"\b([\w.+-]+@[\w-]+(?:\.[\w-]+)+(?: and [\w.+-]+@[\w-]+(?:\.[\w-]+)+)?)\b",),
    "zip": (r"(?i:zip ?code|zip|postal code|postcode)(?: is|:)? *(\d{5})\b", r"(?<![\w#-])(\d{5})(?![\w-])"),
    "user_id": (r"(?i:user id)(?: is|:)*\s*[\"'`]?([a-z]+(?:_[a-z]+)*_\d+)", r"\b([a-z]+_[a-z]+_\d{3,})\b"),
    "customer_id": (r"(?i:customer id)(?: is|:)*\s*([A-Z]\d+)",),
    "phone_number": (r"(?i:phone number|number)(?: is|:)* *(\+?\d[\d -]{6,}\d)", r"\b(\d{3}-\d{3}-\d{4})\b"),
    "date_of_birth": (
        r"(?i:born(?: on)?|date of birth|birthday)(?: is|:)* *(\d{4}-\d\d-\d\d|[A-Z]\w+ \d{1,2},? \d{4})",
    ),
    "address": (r"\b(?i:you live (?:in|at)|address is) (\d+ [A-Z][^.;]*)",),
    "order_id": (r"(#W\d+)\b",),
    "reservation_id": (
        r"(?i:reservation|booking|confirmation)(?i: id| number| code)?(?: is|:)* *\b((?=[A-Z0-9]*\d)[A-Z0-9]{6})\b",
        r"(?i:reservation|booking|confirmation)(?i: id| number| code)?(?: is|:)* *\b([A-Z]{6})\b",
    ),
    "location": (r"\b[Yy]ou are (?:currently )?((?:abroad|at home|travell?ing|in)\b[^.]*)",),
    "refuel_amount": (r"\brefuel (?:up to )?(\d+(?:\.\d+)? ?GB)",),
}
#: A user id that has the name in it.
_NAMED_ID: Final = re.compile(r"([a-z]+)_([a-z]+)_\d+")
#: Patterns of offers that the user accepts or declines; the rest of the clause is the offer.
_ACCEPTS: Final = (
    r"\bwilling to ([^.,;]+)",
    r"\b(?:you agree|you accept|you are happy|it is fine) to ([^.,;]+)",
    r"to (pay [^.,;]+), you accept",
)
_DECLINES: Final = (
    r"\b(?:do not|don't) want to ((?:change|switch|upgrade|buy|pay|accept|add)\b[^.,;]*)",
    r"\bnot willing to ((?!accept any other)[^.,;]+)",
)
#: Words of sentences that say when the user is content.
_CONTENT: Final = re.compile(r"\b(?:resolved|content|satisfied|want|until)\b")
#: An offer is known by so many of its words, and by words with more letters than these.
_OFFER_WORDS, _SHORT_WORD = 4, 3


def facts_of(text: str) -> dict[str, str]:
    """Return the facts that the text of a scenario has, by name."""
    facts = {name: _first(patterns, text) for name, patterns in _FACTS.items()}
    by_id = _NAMED_ID.fullmatch(facts["user_id"])
    if by_id and not facts["name"]:
        facts["name"] = f"{by_id[1]} {by_id[2]}".title()
    return {name: value for name, value in facts.items() if value}


def _first(patterns: Sequence[str], text: str) -> str:
    match = next(filter(None, (re.search(pattern, text) for pattern in patterns)), None)
    return match[1].strip() if match else ""


def accepted_offers(rules: str) -> list[str]:
    """Return the offers that instructions accept, each as a phrase of its first long words."""
    return _offers(_ACCEPTS, rules)


def declined_offers(rules: str) -> list[str]:
    """Return the offers that instructions decline, each as a phrase of its first long words."""
    return _offers(_DECLINES, rules)


def _offers(patterns: Sequence[str], text: str) -> list[str]:
    clauses = [match[1] for pattern in patterns for match in re.finditer(pattern, text, re.IGNORECASE)]
    return list(dict.fromkeys(filter(None, map(_offer, clauses))))


def _offer(clause: str) -> str:
    in_clause = [word for word in words(clause) if word.isalpha()]
    long = [word for word in in_clause if len(word) > _SHORT_WORD]
    if not long[1:]:  # "buy a new flight" is more than any flight
        long = [word for word in in_clause if len(word) >= _SHORT_WORD]
    return " ".join(long[:_OFFER_WORDS])


def tells_when_content(sentence: str) -> bool:
    """Return whether a sentence says what must be so for the user to be content."""
    return _CONTENT.search(sentence) is not None
