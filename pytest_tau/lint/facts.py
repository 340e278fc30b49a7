"""Check that an agent can know what reference actions need: from the user's text, the policy, or what it can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import json_or_none
from ..environment.arguments import resolved
from .actions import tools_of
from .findings import Finding
from .knowledge import required_texts
from .known import Known
from .reading import Reader, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task, UserScript

#: Codes of states, countries and airports are common knowledge.
_LONGEST_CODE = 3


class Leaf(NamedTuple):
    """A text among the arguments of an action, and where it is: ``passengers.0.first_name``."""

    path: str
    value: str


class FactChecker:
    """Checks the tasks of one domain; what can be read of its untouched state is read once."""

    def __init__(self, domain: Domain) -> None:
        self._domain, self._reader = domain, Reader(domain)

    def check(self, task: Task) -> Iterator[Finding]:
        """Check ``fact-missing``: an argument that no text, required document or reading before it gives.

        Numbers, choices of a schema, codes of up to three letters, and free text that hands over are skipped; a
        date counts as given also in words, or near one that is; a text of several words if each of them is given.
        """
        for where, leaf in self._missing(task, [str(task.user_scenario), task.ticket or ""]):
            text = (
                f"{where}: the agent cannot know {leaf.path} {leaf.value!r}: neither the user nor the policy "
                "states it, and no tool returns it from what is known"
            )
            yield Finding("fact-missing", "warning", task.id, text)

    def of_user(self, task: Task) -> list[tuple[int, Leaf]]:
        """Return the arguments that the user's prose states and nothing else, each with the position of its action."""
        prose = Known([str(task.user_scenario)])
        return [(where[0], leaf) for where, leaf in self._missing_at(task, []) if prose.has(leaf.value)]

    def check_script(self, task: Task, script: UserScript | None = None) -> Iterator[Finding]:
        """Check ``script-silent``: an argument that the prose gives, but not the script, nor any reading before it.

        The same arguments are skipped as above.

        Args:
            task: The task.
            script: The script, if the task has none of its own.
        """
        script = task.user_scenario.script or script
        if script is None:
            return
        silent = list(self._missing(task, _spoken_texts(script)))
        missing_anyway = list(self._missing(task, [str(task.user_scenario), task.ticket or ""])) if silent else []
        for where, leaf in silent:
            if (where, leaf) not in missing_anyway:
                text = f"{where}: the script lacks {leaf.path} {leaf.value!r}, which the prose states"
                yield Finding("script-silent", "warning", task.id, text)

    def _missing(self, task: Task, texts: list[str]) -> Iterator[tuple[str, Leaf]]:
        """Arguments that an agent cannot know who has these texts, the policy, and what it can read."""
        return ((where[1], leaf) for where, leaf in self._missing_at(task, texts))

    def _missing_at(self, task: Task, texts: list[str]) -> Iterator[tuple[tuple[int, str], Leaf]]:
        """Yield the same, each with the position of its action."""
        environment = self._domain.environment(task)
        history = [message.content or "" for message in task.message_history]
        known = Known([*texts, environment.policy, *required_texts(task, self._domain), *history])
        reading = Reading(self._reader, task, environment, known, texts)
        for position, action in enumerate(task.criteria.actions or []):
            tool = tools_of(self._domain, action.requestor).get(action.name)
            if tool is not None and tool.kind in ("read", "write"):
                for leaf in _leaves(action.arguments, tool.parameters, tool.parameters.get("$defs", {}), ""):
                    if not (known.has(leaf.value) or reading.gives(leaf.value)):
                        yield (position, f"action {position} ({action.name})"), leaf
                        known.add(leaf.value)
            result = environment.call(action.name, action.arguments, action.requestor)
            known.add("" if result.error else result.content or "")


def _spoken_texts(script: UserScript) -> list[str]:
    requests = script.requests
    answers = [*script.answers, *(answer for request in requests for answer in request.answers)]
    facts = [script.facts, *(request.facts for request in requests)]
    return [
        *(request.say for request in requests),
        *(request.fallback for request in requests if request.fallback),
        *(value for each in facts for value in each.values()),
        *(answer.say for answer in answers),
    ]


def _leaves(value: Any, schema: dict[str, Any], definitions: dict[str, Any], path: str) -> Iterator[Leaf]:
    """Yield the texts among the arguments that are facts."""
    schema = resolved(schema, definitions)
    alternatives = [resolved(alternative, definitions) for alternative in schema.get("anyOf", [])]
    if any(one.keys() & {"enum", "const"} for one in [schema, *alternatives]):
        return
    if isinstance(value, dict):
        for name, part in value.items():
            inside = schema.get("properties", {}).get(name, {})
            yield from _leaves(part, inside, definitions, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _leaves(part, schema.get("items", {}), definitions, f"{path}.{position}")
    elif isinstance(value, str) and value.startswith("{") and isinstance(inner := json_or_none(value), dict):
        # The arguments of a tool that is called by another one.
        yield from _leaves(inner, {}, {}, path)
    elif isinstance(value, str) and len(value) > _LONGEST_CODE:
        yield Leaf(path, value)
