"""Scripts for tasks that have none, made of the scenario's prose by simple patterns."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from ...language.vocabulary import follows, words
from ...models import Goal, Request, Spoken, UserScript
from ...models.messages import STOP_TOKENS
from .conditions import read_prose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...environment import Tool
    from ...models import Task, UserScenario
    from ..task_views import UserTask

_PATIENCE = 8

#: Prose says when to end a conversation, and with which token.
_STOPS = re.compile("|".join(map(re.escape, STOP_TOKENS)))
#: Replacements that turn text about the user into the first person.
_TURNED = (
    (r"\byou are\b", "I am"),
    (r"\byou're\b", "I am"),
    (r"\byou were\b", "I was"),
    (r"\byou've\b", "I have"),
    (r"\byou'll\b", "I will"),
    (r"\byou'd\b", "I would"),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"\byou to\b", "me to"),
    (r"\b(to|for|with|from|of|at|by|let|help|send|give|tell|told|asked|charged|offered) you\b", r"\1 me"),
    (r"\b(gives|saves|shows|refund|transfer) you\b", r"\1 me"),
    (r"\byou\b", "I"),
)

#: Patterns of facts; the first that matches counts.
_FACTS: dict[str, tuple[str, ...]] = {
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
_NAMED_ID = re.compile(r"([a-z]+)_([a-z]+)_\d+")
#: Patterns of offers that the user accepts or declines; the rest of the clause is the offer.
_ACCEPTS = (
    r"\bwilling to ([^.,;]+)",
    r"\b(?:you agree|you accept|you are happy|it is fine) to ([^.,;]+)",
    r"to (pay [^.,;]+), you accept",
)
_DECLINES = (
    r"\b(?:do not|don't) want to ((?:change|switch|upgrade|buy|pay|accept|add)\b[^.,;]*)",
    r"\bnot willing to ((?!accept any other)[^.,;]+)",
)
#: Words of sentences that say when the user is content.
_CONTENT = re.compile(r"\b(?:resolved|content|satisfied|want|until)\b")
_OFFER_WORDS, _SHORT_WORD = 4, 3


def script_of(task: Task | UserTask, tools: Sequence[Tool], spoken: Mapping[str, Spoken]) -> UserScript:
    """Return the script of a task: its own, or one made of the prose.

    Args:
        task: The task.
        tools: The user's tools.
        spoken: The words by which people ask for the tools, by tool.
    """
    scenario = task.user_scenario
    if scenario.script is not None:
        return scenario.script
    given = scenario.instructions
    if isinstance(given, str):
        reason, known, rules = given, "", ""
    else:
        reason, known, rules = given.reason_for_call, given.known_info or "", given.task_instructions
    everything = f"{known}\n{reason}\n{rules}"
    read = read_prose(reason, rules, first_person)
    first = Request(say=first_person(" ".join(read.says) or reason), insist=read.insist, fallback=read.fallback or None)
    return UserScript(
        requests=[first, *(Request(say=say) for say in read.requests)],
        facts=read.facts | _facts(everything),
        answers=read.answers,
        accepts=_offers(_ACCEPTS, rules),
        declines=_offers(_DECLINES, rules),
        goals=_goals(f"{reason}\n{rules}", tools, spoken),
        patience=_PATIENCE,
    )


def unread_prose(task: Task) -> list[str]:
    """Return the conditions and wishes in the prose of a task that its user does not go by; none with a script."""
    scenario = task.user_scenario
    if scenario.script is not None:
        return []
    given = scenario.instructions
    reason, rules = (given, "") if isinstance(given, str) else (given.reason_for_call, given.task_instructions)
    return read_prose(reason, rules, first_person).unread


def is_playable(task: Task) -> bool:
    """Return whether the scripted user can play a task: it has a script, or prose that states a request."""
    return all(each.script is not None or words(_reason(each)) for each in task.scenarios)


def opening_of(task: Task) -> str:
    """Return the request of a task in the first person, with what the user knows, as one text."""
    scenario = task.user_scenario
    if scenario.script is not None and not words(_reason(task.user_scenario)):
        return scenario.script.requests[0].say
    known = None if isinstance(scenario.instructions, str) else scenario.instructions.known_info
    return first_person(" ".join(part for part in (_reason(task.user_scenario), known) if part))


def _reason(scenario: UserScenario) -> str:
    given = scenario.instructions
    return given if isinstance(given, str) else given.reason_for_call


@functools.lru_cache(maxsize=1024)
def first_person(text: str) -> str:
    """Return text about the user in the first person, without tokens that end a conversation if they are said."""
    said = " ".join(_STOPS.sub("", text).split())
    for pattern, replacement in _TURNED:
        said = re.sub(pattern, replacement, said, flags=re.IGNORECASE)
    said = re.sub(r"(^|[.!?] )(m[ey])\b", lambda found: found[1] + found[2].capitalize(), said)
    return said or "I need help."


def _facts(text: str) -> dict[str, str]:
    found = {name: _first(patterns, text) for name, patterns in _FACTS.items()}
    by_id = _NAMED_ID.fullmatch(found["user_id"])
    if by_id and not found["name"]:
        found["name"] = f"{by_id[1]} {by_id[2]}".title()
    return {name: value for name, value in found.items() if value}


def _first(patterns: Sequence[str], text: str) -> str:
    match = next(filter(None, (re.search(pattern, text) for pattern in patterns)), None)
    return match[1].strip() if match else ""


def _offers(patterns: Sequence[str], text: str) -> list[str]:
    """Return offers as phrases: their first long words."""
    clauses = [found[1] for pattern in patterns for found in re.finditer(pattern, text, re.IGNORECASE)]
    return list(dict.fromkeys(filter(None, map(_offer, clauses))))


def _offer(clause: str) -> str:
    said = [word for word in words(clause) if word.isalpha()]
    long = [word for word in said if len(word) > _SHORT_WORD]
    if not long[1:]:  # "buy a new flight" is more than any flight
        long = [word for word in said if len(word) >= _SHORT_WORD]
    return " ".join(long[:_OFFER_WORDS])


def _goals(text: str, tools: Sequence[Tool], spoken: Mapping[str, Spoken]) -> list[Goal]:
    """Return the results that the user's tools must show, if the prose says when the user is content."""
    goals: dict[str, Goal] = {}
    for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
        if not _CONTENT.search(sentence):
            continue
        for tool in tools:
            for phrase, shown in spoken.get(tool.name, Spoken()).shows.items():
                if follows(phrase, words(sentence)) is not None:
                    goals[tool.name] = Goal(tool=tool.name, expects=[shown])
    return list(goals.values())
