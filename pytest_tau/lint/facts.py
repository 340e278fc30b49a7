"""Check that an agent can know what reference actions need: from the user's text, the policy, or what it can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..references import Known, Leaf, Sources
from .findings import Finding
from .statements import unknown_statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task, UserScript
    from ..references import Unstated


class FactChecker:
    """Checks the tasks of one domain; what can be read of its untouched state is read once."""

    def __init__(self, domain: Domain) -> None:
        self._sources = Sources(domain)

    def check(self, task: Task) -> Iterator[Finding]:
        """Check ``fact-missing``: an argument that no text, required document or reading before it gives.

        ``communicate-unknown`` is the same of a required statement.

        ``Sources.unstated`` says what is skipped, and what counts as given.
        """
        for fact in self._sources.unstated(task):
            if fact.position is None:
                yield unknown_statement(fact, task)
                continue
            text = f"{_where(fact)}: the agent cannot know {fact.path} {fact.value!r}: {fact.looked}"
            change = f"state {fact.value!r} in the scenario, or correct the argument"
            yield Finding("fact-missing", "warning", task.id, text, change=change)

    def of_user(self, task: Task) -> list[tuple[int, Leaf]]:
        """Return the arguments that the user's prose states and nothing else, each with the position of its action."""
        prose = Known([task.scenario_text])
        missing = self._sources.unstated(task, [])
        return [
            (fact.position, Leaf(fact.path, fact.value))
            for fact in missing
            if fact.position is not None and prose.has(fact.value)
        ]

    def check_script(self, task: Task, script: UserScript | None = None) -> Iterator[Finding]:
        """Check ``script-silent``: an argument that the prose gives, but not the script, nor any reading before it.

        The same arguments are skipped as above.

        Args:
            task: The task.
            script: The script, if the task has none of its own.
        """
        scripts = [scenario.script for scenario in task.scenarios if scenario.script] or ([script] if script else [])
        if not scripts:
            return
        spoken = [text for spoken_script in scripts for text in _spoken_texts(spoken_script)]
        silent = list(self._sources.unstated(task, spoken))
        missing_anyway = list(self._sources.unstated(task)) if silent else []
        for fact in silent:
            if fact not in missing_anyway:
                text = f"{_where(fact)}: the script lacks {fact.path} {fact.value!r}, which the prose states"
                yield Finding("script-silent", "warning", task.id, text)


def _where(fact: Unstated) -> str:
    return f"action {fact.position} ({fact.name})"


def _spoken_texts(script: UserScript) -> list[str]:
    requests = script.requests
    answers = [*script.answers, *(answer for request in requests for answer in request.answers)]
    facts = [script.facts, *(request.facts for request in requests)]
    return [
        *(request.say for request in requests),
        *(request.fallback for request in requests if request.fallback),
        *(value for known_facts in facts for value in known_facts.values()),
        *(answer.say for answer in answers),
    ]
