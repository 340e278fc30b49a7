"""What a user without a model goes by: what it asks for, in its own words, and how long it puts up with an agent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_tau.models import Answer, Request

from . import personas

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What every booking asks for, as it is told unless something else is wanted.
BOOKING: Final = {
    "cabin": "Economy.",
    "flights": "The cheapest direct flight.",
    "passengers": "I travel alone.",
    "baggage": "No checked bags.",
    "insurance": "No insurance.",
}
INSURED: Final = "Yes, with insurance."
#: Which flight is meant, where a day has several.
CHEAPEST: Final = BOOKING["flights"]
EARLIEST: Final = "The direct flight that departs first."
PLANS_CHANGED: Final = "My plans have changed."

#: Turns without progress after which somebody gives up, by what they are like.
_PATIENCE = {personas.BRISK: 5, personas.CHATTY: 8, personas.ANXIOUS: 8}
_USUAL_PATIENCE = 6

_AFTER = "for|to|with|takes|about|of|forbids|give|told|wants"
_TO_FIRST_PERSON = (
    ("yourself", "myself"),
    ("yours", "mine"),
    ("your", "my"),
    ("you are", "I am"),
    ("you were", "I was"),
    (rf"({_AFTER}) you", r"\1 me"),
    ("you", "I"),
)


def wish(
    say: str, *, insist: int = 0, fallback: str | None = None, answers: Sequence[Answer] = (), **facts: str
) -> Request:
    """One thing that the user wants.

    Args:
        say: How it is put.
        insist: How often it is repeated when it is refused.
        fallback: What is asked for once it stays refused.
        answers: Other questions about it.
        facts: What is told when it is asked for, by name.
    """
    return Request(
        say=first_person(say),
        facts={name: first_person(value) for name, value in facts.items()},
        answers=list(answers),
        insist=insist,
        fallback=first_person(fallback) if fallback else None,
    )


def first_person(text: str) -> str:
    """What is written about the user, as the user says it: ``You want it`` becomes ``I want it``."""
    for pattern, said in _TO_FIRST_PERSON:
        text = re.sub(rf"\b{pattern}\b", said, text)
        if pattern[0].isalpha():
            capital = said if said.startswith("I") else said.capitalize()
            text = re.sub(rf"\b{pattern.capitalize()}\b", capital, text)
    return text


def patience(persona: str) -> int:
    """Turns without progress after which somebody who is like this gives up."""
    return _PATIENCE.get(persona, _USUAL_PATIENCE)
