"""Scripts of users without a model, made from texts that are written about them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_tau.models import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_USUAL_PATIENCE = 6
#: Words after which ``you`` becomes ``me``.
_TO_ME = "for|to|with|takes|about|of|forbids|give|told|wants|please|follow|asked|by|on|at|against"
_TO_FIRST_PERSON = (
    ("yourself", "myself"),
    ("yours", "mine"),
    ("your", "my"),
    ("you are", "I am"),
    ("you were", "I was"),
    (rf"({_TO_ME}) you", r"\1 me"),
    ("you", "I"),
)


def first_person(text: str) -> str:
    """Return what is written about a user as the user says it: ``You want it`` becomes ``I want it``."""
    if "you" not in text and "You" not in text:  # most texts: answers with a name or an amount
        return text
    for pattern, replacement in _TO_FIRST_PERSON:
        text = re.sub(rf"\b{pattern}\b", replacement, text)
        if pattern[0].isalpha():
            capital = replacement if replacement.startswith("I") else replacement.capitalize()
            text = re.sub(rf"\b{pattern.capitalize()}\b", capital, text)
    return text


def patience(persona: str | None, by_persona: Mapping[str, int]) -> int:
    """Return the number of turns without progress after which a user gives up."""
    return by_persona.get(persona or "", _USUAL_PATIENCE)


def say_before(deed: str, say: str) -> Answer:
    """Return what is said, once, where the agent sums up what it is about to do, or asks whether that is all.

    Args:
        deed: What it is about to do, such as ``return``.
        say: What is said.
    """
    questions = ("confirm", "agree", "proceed", "go ahead", "correct", "any other", "only once")
    return Answer(asks=[f"{deed} {words}" for words in questions], say=first_person(say))


def ask(
    say: str = "", *, insist: int = 0, fallback: str | None = None, answers: Sequence[Answer] = (), **facts: str
) -> Request:
    """Return a request of a user.

    Args:
        say: How it is put; empty for the reason of the scenario.
        insist: How often it is repeated when it is refused.
        fallback: The request that follows if this one stays refused.
        answers: Answers to other questions about it.
        facts: Answers to questions about a fact, by its name.
    """
    return Request(
        say=first_person(say),
        facts={name: first_person(value) for name, value in facts.items()},
        answers=list(answers),
        insist=insist,
        fallback=first_person(fallback) if fallback else None,
    )


def open_with(reason: str, requests: Sequence[Request]) -> list[Request]:
    """Return the requests; the first one says the reason unless it says something else."""
    first, *more = requests or [ask()]
    return [first.model_copy(update={"say": first.say or first_person(reason)}), *more]
