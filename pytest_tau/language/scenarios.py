"""What the prose of a scenario settles, and what it leaves open: limits, conditions, choices, secrets."""

from __future__ import annotations

import re
from typing import Final

from .message import plain_quotes
from .numbers import value_of
from .segments import clauses

#: Leaves something to what the record has.
_AS_BEFORE: Final = r"original\w*|by default|whichever"
_KEEPS: Final = re.compile(rf"\b(?:same|exact\w*|{_AS_BEFORE})\b", re.IGNORECASE)
_ANY_ORIGIN: Final = re.compile(rf"\b(?:{_AS_BEFORE}|where (?:it|they) (?:came|comes?) from|any card)\b", re.IGNORECASE)
_CAUSE: Final = re.compile(r"\b(?:because|since|due to|reasons?)\b", re.IGNORECASE)
_LIMIT: Final = re.compile(
    r"(?:\b(?:up to|at most|a maximum of|budget (?:is|of)|(?:less|cheaper) than|under|below)|"
    r"(?:\b(?:no|not|never)|n't)(?: \w+){0,2} more than)(?: a budget of)? "
    r"\$(\d[\d,]*+(?:\.\d+)?+)(?! (?:per|each|a|for each|for every)\b)",
    re.IGNORECASE,
)
#: A limit of one of several payments is not a limit of what something costs.
_ONE_PAYMENT: Final = re.compile(r"card\b|certificate|paypal|\bbalance", re.IGNORECASE)
_ONLY_IF: Final = re.compile(r"(?<!and )\bonly if\b", re.IGNORECASE)
#: What the user does if a condition is not met.
_ELSE: Final = re.compile(
    r"\b(?:otherwise|else|if (?:not|none)|forget|rather|instead|do(?:es)? not want|don't want|without)\b|"
    r"\bif (?:there|it|that|this|the|no|any|you|agent)\b[^.;]*"
    r"(?:\bno\b|\bnot\b|n't|cannot|unable|unavailable|more|above|exceed|refus|den)",
    re.IGNORECASE,
)
_SUPERLATIVE: Final = r"\b(?:cheapest|lowest[- ]priced?|least expensive|most expensive|best)\b"
_ALL_OWN: Final = re.compile(r"\ball (?:of )?(?:your|my) (\w+)", re.IGNORECASE)
#: What qualifies "all": then those that cannot be written are not meant.
_QUALIFIED: Final = re.compile(
    r"\b(?:possible|pending|delivered|received|upcoming|future|that|which|who|wherever|eligible|order\w* #|"
    r"in (?:the|that|this|it|one|your)|from (?:the|that))\b",
    re.IGNORECASE,
)
#: Characters in which a word qualifies another one.
_NEAR: Final = 60
_REFUSED: Final = re.compile(
    r"\b(?:not possible|impossible|can ?not|can't|unable|not able|refus\w+|if possible|possible)\b", re.IGNORECASE
)
_PAYMENT: Final = re.compile(r"\b(?:pay\w*|card|giftcard|refund\w*|remember)\b", re.IGNORECASE)
#: Lets other options change, or chooses by the price.
_FREE: Final = re.compile(
    r"\b(?:cheap\w*|expensive|price\w*|any\b|different|whatever|whichever|do(?:es)? not care|don't care|"
    r"closest|fanc\w+|best|latest|newest|upgrade\w*|money|same (?:\w+ )?as)\b",
    re.IGNORECASE,
)
_SIMILAR: Final = re.compile(r"\b(?:similar|something like|comparable)\b", re.IGNORECASE)
#: The user asks what it gets or pays, not what something costs.
_MOVES: Final = re.compile(
    r"\b(?:get|getting|got|receive|receiving|be) (?:it |that |this |all |the money |money )?(?:back|refunded)\b|"
    r"\brefund(?:ed|s)?\b|\b(?:will|would) (?:be charged|have to pay|get|receive|pay)\b",
    re.IGNORECASE,
)
_TOTAL: Final = re.compile(r"\b(?:amount|total|how much|sum)\b", re.IGNORECASE)
_SECRET: Final = re.compile(
    r"\b(?:do not|don't|never|not to|shouldn't|should not|must not)\s+(?:want to\s+)?(?:\w+ly\s+)?"
    r"(?:mention|reveal|share|disclose|volunteer|tel+|give away|give out)\b"
    r"|\byou never tel+\b|\bkeep (?:\w+ ){1,4}(?:secret|to yourself)\b",
    re.IGNORECASE,
)
_IF_ASKED: Final = re.compile(r"\b(?:unless|until|if|when|except)\b", re.IGNORECASE)
_BOOKING: Final = re.compile(
    r"\b(?:book|reserve|schedule|make an? (?:booking|reservation|appointment))\b", re.IGNORECASE
)


def keeps_what_is(text: str) -> bool:
    """Return whether a text wants something to be as it is: "the same", "the original one"."""
    return _KEEPS.search(text) is not None


def takes_any_origin(text: str) -> bool:
    """Return whether a text leaves to the record where something goes back to, or comes from: "any card"."""
    return _ANY_ORIGIN.search(text) is not None


def gives_cause(text: str) -> bool:
    """Return whether a text says why something is wanted."""
    return _CAUSE.search(text) is not None


def spending_limits(text: str) -> set[float]:
    """Return the limits that a text sets for what something costs; none if one of them is that of a single payment."""
    limited = [clause for clause in clauses(text) if _LIMIT.search(clause)]
    if any(map(_ONE_PAYMENT.search, limited)):
        return set()
    return {value_of(match[1]) for clause in limited for match in _LIMIT.finditer(clause)}


def wants_only_if(sentence: str) -> bool:
    """Return whether a sentence wants something under a condition only."""
    return _ONLY_IF.search(sentence) is not None


def says_otherwise(text: str) -> bool:
    """Return whether a text says what the user does if a condition is not met."""
    return _ELSE.search(plain_quotes(text)) is not None


def compared_in(text: str, things: str) -> str | None:
    """Return the words with which a text wants the extreme one of some things: "cheapest economy"; None if it does not.

    Args:
        text: The text.
        things: What they are called.
    """
    match = re.search(rf"{_SUPERLATIVE} (?:(?!in\b)\w+ )?{re.escape(things)}\b", text, re.IGNORECASE)
    return match[0] if match else None


def names_of_all_own(sentence: str) -> list[str]:
    """Return what a sentence calls things of the user of which it speaks as of all: ``orders`` of "all your orders"."""
    return _ALL_OWN.findall(sentence)


def qualifies_all(sentence: str) -> bool:
    """Return whether a sentence with "all" means only some of them: "all your pending orders"."""
    return _QUALIFIED.search(sentence.partition("all ")[2][:_NEAR]) is not None


def names_one(text: str, noun: str) -> str | None:
    """Return the words by which a text takes something from one thing, "from your order"; None if it does not."""
    match = re.search(rf"\bfrom (?:a|an|the|your|my|one) (?:(?!same\b)\w+ )?{re.escape(noun)}\b", text, re.IGNORECASE)
    return match[0] if match else None


def speaks_of_several(text: str, noun: str) -> bool:
    """Return whether a text speaks of several things of a kind, or of another one."""
    plural = re.escape(noun)
    several = rf"\b(?:{plural}s|(?:an)?other {plural}|different|each|both)\b"
    return re.search(several, text, re.IGNORECASE) is not None


def settles_refusal(sentence: str) -> bool:
    """Return whether a sentence speaks of what may not be possible, and not of the payment."""
    return _REFUSED.search(plain_quotes(sentence)) is not None and not _PAYMENT.search(sentence)


def leaves_options_open(text: str) -> bool:
    """Return whether a text lets other options change, or chooses by the price: "the latest", "any colour"."""
    return _FREE.search(plain_quotes(text)) is not None


def wants_similar(text: str) -> bool:
    """Return whether a text wants something that is only similar to another thing."""
    return _SIMILAR.search(text) is not None


def asks_for_sum(sentence: str) -> bool:
    """Return whether a sentence asks how much the user gets or pays, and not what something costs."""
    return _MOVES.search(sentence) is not None and _TOTAL.search(sentence) is not None


def wants_secret(sentence: str) -> bool:
    """Return whether a sentence wants the user to keep something to itself."""
    return _SECRET.search(plain_quotes(sentence)) is not None


def has_condition(sentence: str) -> bool:
    """Return whether a sentence has a condition, such as that of a secret which may be told when the agent asks."""
    return _IF_ASKED.search(sentence) is not None


def wants_booking(text: str) -> bool:
    """Return whether a text wants something for a certain time: a booking, an appointment."""
    return _BOOKING.search(text) is not None
