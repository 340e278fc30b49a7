"""What a task's instructions want said at once, and what only if the agent asks for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .vocabulary import facts_in, words

if TYPE_CHECKING:
    from ...models import Task, UserScript
    from ..task_views import UserTask

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
#: A sentence that wants something kept back.
_WITHHOLDS = re.compile(
    r"\b(?:not|\w+n't|never|only|reluctant|hesitant|unless|rather not)\b[^.]*"
    r"\b(?:reveal|provide|give|share|disclose|mention|volunteer|tell|say|offer)\b(?P<what>[^.]*)",
    re.IGNORECASE,
)
#: What is kept back if it is no certain fact.
_ANYTHING = re.compile(
    r"\b(?:anything|information|details?|much|more|yourself|about you|personal|too many)\b", re.IGNORECASE
)
_AT_FIRST = re.compile(
    r"\b(?:all|every|everything|full)\b[^.]*\b(?:up ?front|first message|at the (?:start|beginning|outset))\b",
    re.IGNORECASE,
)


def withheld_facts(task: Task | UserTask, script: UserScript) -> frozenset[str]:
    """Return the facts that the user's instructions want said only if the agent asks for them.

    These are the ones that a sentence with "do not mention", "prefer not to provide" and the like names; all, if it
    speaks of information or details.
    """
    found: set[str] = set()
    for sentence in filter(None, map(_WITHHOLDS.search, _SENTENCES.split(_text(task)))):
        named = facts_in(words(sentence["what"]), tuple(script.facts))
        if named:
            found.update(named)
        elif _ANYTHING.search(sentence["what"]):
            found.update(script.facts)
    return frozenset(found)


def says_all_at_first(task: Task | UserTask) -> bool:
    """Return whether the user gives what it knows with its first message."""
    return bool(_AT_FIRST.search(_text(task)))


def _text(task: Task | UserTask) -> str:
    given = task.user_scenario.instructions
    if isinstance(given, str):
        return given
    return "\n".join([given.known_info or "", given.reason_for_call, given.task_instructions])
