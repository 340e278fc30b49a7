"""Questions of a person, and what they ask for."""

from __future__ import annotations

import re
from typing import Final

from .segments import sentences

_QUESTION: Final = re.compile(
    r"\?|^\W*(?:what|where|when|which|who|how|is|are|has|have|did|do|does|can you (?:t[e]ll|check|look)|t[e]ll me"
    r"|let me know|check|i(?:'d| would)? (?:want|need|like) to know|i wonder|status)\b",
    re.IGNORECASE,
)
#: Words of the names of fields by a phrase of a question that asks for them.
_ASKED_FIELDS: Final = tuple(
    (re.compile(rf"\b(?:{phrase})\b", re.IGNORECASE), frozenset(fields.split()))
    for phrase, fields in (
        (
            "how much|costs?|prices?|pay|balances?|values?|worth|credit",
            "price cost total amount fee charge balance rate due",
        ),
        (
            "when|what (?:day|date|time)|how (?:long|soon)|arriv(?:e|al)",
            "date time eta arrival delivery departure days",
        ),
        ("how many|left|in stock|availab(?:le|ility)", "count quantity qty stock available left remaining seats"),
        ("where|status|progress|happen(?:ed|s|ing)|shipped|arrived|delivered|sent", "status state location carrier"),
        ("who", "name owner contact"),
        ("refunds?|money back|get back", "refund refunded amount"),
    )
)


def questions_in(text: str) -> list[str]:
    """Return the sentences of a text that ask for something, as a question or not: "Tell me when it arrives"."""
    return [sentence for sentence in sentences(text) if _QUESTION.search(sentence)]


def fields_asked(question: str) -> set[str]:
    """Return words of the names of fields for which a question asks in other words: ``price`` for "how much"."""
    return {field for phrase, fields in _ASKED_FIELDS if phrase.search(question) for field in fields}
