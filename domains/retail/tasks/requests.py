"""What a customer without a model goes by: the requests of a scenario, and how their words come from the prose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_tau.models import Answer, Request

from . import personas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .world import Swap

#: What a cancellation may be for, as the customer says it.
NOT_NEEDED = "It is no longer needed."
MISTAKE = "It was ordered by mistake."
#: Who pays, and where a refund goes, as the customer says it.
SAME_METHOD = "The method that paid for the order."
#: Offers to change the profile, too, turned down by somebody who wants a single order changed.
PROFILE_STAYS = ("also profile", "also default address")

#: Turns without progress after which a customer gives up, by the way they write.
_PATIENCE = {personas.CROSS: 4, personas.TERSE: 5, personas.CHATTY: 8, personas.NOVICE: 8}
_USUAL_PATIENCE = 6

_TO_ME = "for|to|with|please|follow|asked|about|of|by|on|at|against"
_TO_FIRST_PERSON = (
    (r"yourself", "myself"),
    (r"yours", "mine"),
    (r"your", "my"),
    (r"you are", "I am"),
    (rf"({_TO_ME}) you", r"\1 me"),
    (r"you", "I"),
)


def ask(
    say: str = "", *, insist: int = 0, fallback: str | None = None, answers: Sequence[Answer] = (), **facts: str
) -> Request:
    """One thing that the customer wants.

    Args:
        say: How it is put; empty for the scenario's reason, in the first person.
        insist: How often it is repeated when it is refused.
        fallback: What is asked for once it stays refused.
        answers: Other questions about it.
        facts: What is told when it is asked for, by name.
    """
    spoken = {name: first_person(value) for name, value in facts.items()}
    return Request(
        say=first_person(say),
        facts=spoken,
        answers=list(answers),
        insist=insist,
        fallback=fallback and first_person(fallback),
    )


def said_first(requests: Sequence[Request], reason: str) -> list[Request]:
    """The requests, where the first says the scenario's reason unless it says something else."""
    first, *more = requests or [ask()]
    return [first.model_copy(update={"say": first.say or first_person(reason)}), *more]


def before(deed: str, say: str) -> Answer:
    """Something that is said, once, where the agent sums up what it is about to do, or asks whether that is all.

    Args:
        deed: What it is about to do, such as ``return``.
        say: What is said.
    """
    asked = ("confirm", "agree", "proceed", "go ahead", "correct", "any other", "only once")
    return Answer(asks=[f"{deed} {words}" for words in asked], say=first_person(say))


def first_person(text: str) -> str:
    """What is written about the customer, as the customer says it: ``You want it`` becomes ``I want it``."""
    for pattern, said in _TO_FIRST_PERSON:
        text = re.sub(rf"\b{pattern}\b", said, text)
        capital = said if said.startswith(("I", "\\")) else said.capitalize()
        text = re.sub(rf"\b{pattern.capitalize()}\b", capital, text) if pattern[0].isalpha() else text
    return text


def patience(persona: str | None) -> int:
    """Turns without progress after which somebody who writes like this gives up."""
    return _PATIENCE.get(persona or "", _USUAL_PATIENCE)


def wished(swap: Swap) -> str:
    """What the new one should be like."""
    return f"With {swap.wish}, otherwise the same."
