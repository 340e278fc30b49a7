"""Scripts for tasks that have none, made of the scenario's prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...language.instructions import (
    accepted_offers,
    declined_offers,
    facts_of,
    first_person,
    read_instructions,
    tells_when_content,
)
from ...language.segments import sentences
from ...language.vocabulary import follows, words
from ...models import Answer, Goal, Request, Spoken, UserScript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...environment import Tool
    from ...models import Task, UserScenario
    from ..task_views import UserTask

_PATIENCE = 8


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
    reason, _, rules = _parts(scenario)
    read = read_instructions(reason, rules)
    first = Request(say=first_person(" ".join(read.says) or reason), insist=read.insist, fallback=read.fallback or None)
    return UserScript(
        requests=[first, *(Request(say=say) for say in read.requests)],
        facts=read.facts | facts_of(prose_of(scenario)),
        answers=[Answer(asks=reply.asks, say=reply.say) for reply in read.replies],
        accepts=accepted_offers(rules),
        declines=declined_offers(rules),
        goals=_goals(f"{reason}\n{rules}", tools, spoken),
        patience=_PATIENCE,
    )


def unread_prose(task: Task) -> list[str]:
    """Return the conditions and wishes in the prose of a task that its user does not go by; none with a script."""
    scenario = task.user_scenario
    if scenario.script is not None:
        return []
    reason, _, rules = _parts(scenario)
    return read_instructions(reason, rules).unread


def is_playable(task: Task) -> bool:
    """Return whether the scripted user can play a task: it has a script, or prose that states a request."""
    return all(scenario.script is not None or words(_reason(scenario)) for scenario in task.scenarios)


def opening_of(task: Task) -> str:
    """Return the request of a task in the first person, with what the user knows, as one text."""
    scenario = task.user_scenario
    if scenario.script is not None and not words(_reason(scenario)):
        return scenario.script.requests[0].say
    reason, known, _ = _parts(scenario)
    return first_person(" ".join(part for part in (reason, known) if part))


def prose_of(scenario: UserScenario) -> str:
    """Return the whole prose of a scenario."""
    reason, known, rules = _parts(scenario)
    return f"{known}\n{reason}\n{rules}"


def _reason(scenario: UserScenario) -> str:
    return _parts(scenario)[0]


def _parts(scenario: UserScenario) -> tuple[str, str, str]:
    """Return the reason of a scenario, what its user knows, and how it behaves; an undivided text is the reason."""
    parts = scenario.instructions
    if isinstance(parts, str):
        return parts, "", ""
    return parts.reason_for_call, parts.known_info or "", parts.task_instructions


def _goals(text: str, tools: Sequence[Tool], spoken: Mapping[str, Spoken]) -> list[Goal]:
    """Return the results that the user's tools must show, if the prose says when the user is content."""
    goals: dict[str, Goal] = {}
    for sentence in filter(tells_when_content, sentences(text)):
        for tool in tools:
            for phrase, shown in spoken.get(tool.name, Spoken()).shows.items():
                if follows(phrase, words(sentence)) is not None:
                    goals[tool.name] = Goal(tool=tool.name, expects=[shown])
    return list(goals.values())
