"""What a scenario wants its user to keep back until the agent asks, and what to say at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..segments import sentences
from ..vocabulary import facts_in, words

if TYPE_CHECKING:
    from collections.abc import Collection

#: A sentence that wants something kept back.
_WITHHOLDS: Final = re.compile(
    r"\b(?:not|\w+n't|never|only|reluctant|hesitant|unless|rather not)\b[^.]*"
    r"\b(?:reveal|provide|give|share|disclose|mention|volunteer|tell|say|offer)\b(?P<what>[^.]*)",
    re.IGNORECASE,
)
#: What is kept back if it is no certain fact.
_ANYTHING: Final = re.compile(
    r"\b(?:anything|information|details?|much|more|yourself|about you|personal|too many)\b", re.IGNORECASE
)
_AT_FIRST: Final = re.compile(
    r"\b(?:all|every|everything|full)\b[^.]*\b(?:up ?front|first message|at the (?:start|beginning|outset))\b",
    re.IGNORECASE,
)


def withheld_facts(scenario: str, known: Collection[str]) -> frozenset[str]:
    """Return the facts that a scenario wants said only if the agent asks for them.

    These are the ones that a sentence with "do not mention", "prefer not to provide" and the like names; all, if it
    speaks of information or details.

    Args:
        scenario: The text.
        known: The names of the facts that the user knows.
    """
    withheld: set[str] = set()
    for sentence in filter(None, map(_WITHHOLDS.search, sentences(scenario))):
        named = facts_in(words(sentence["what"]), tuple(known))
        if named:
            withheld.update(named)
        elif _ANYTHING.search(sentence["what"]):
            withheld.update(known)
    return frozenset(withheld)


def says_all_at_first(scenario: str) -> bool:
    """Return whether a scenario wants its user to give what it knows with its first message."""
    return _AT_FIRST.search(scenario) is not None
