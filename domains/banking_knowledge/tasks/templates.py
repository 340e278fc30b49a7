"""Scenarios as rows: templates of texts, calls and records, and the steps that find the customers whom they fit.

A template is a text in the manner of ``str.format``, such as ``{account[level]}``, or a dict or sequence of
templates. A text that is nothing but one placeholder stands for the value itself.
"""

from __future__ import annotations

import dataclasses
import re
from string import Formatter
from typing import TYPE_CHECKING, Any

from ..._kit.cases import Case, find_cases
from .builder import Draft, Scenario
from .calls import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..._kit.cases import Step as CaseStep
    from .world import World

_VALUE = re.compile(r"\{([^{}:!]+)\}")
_FIELDS = {field.name for field in dataclasses.fields(Draft)}


def scenario(
    task_id: str, purpose: str, persona: str | None = None, *, cases: Sequence[CaseStep], rule: str = "", **row: Any
) -> Scenario:
    """Make a scenario.

    Args:
        task_id: The task's id.
        purpose: What the task is for.
        persona: A way to write.
        cases: The steps by which it is found whom and what it may be about.
        rule: The document that it is about, if it is not the first one of ``documents``.
        row: Templates by the names of the fields of :class:`Draft`, or functions of the case that return such; any
            other name is a fact for templates.
    """
    templates = {name: value for name, value in row.items() if name in _FIELDS}
    facts = {name: value for name, value in row.items() if name not in _FIELDS}

    def drafts(world: World) -> Iterator[Draft]:
        customers = (Case(world=world, user=user, stated=facts.keys(), **facts) for user in world.users)
        for case in find_cases(customers, cases):
            filled = {name: fill(value, case) for name, value in templates.items()}
            filled["calls"] = [call for calls in filled.get("calls", ()) for call in calls]
            yield Draft(case.user, **filled)

    return Scenario(task_id, drafts, purpose, rule or row["documents"][0].format(**facts), persona)


def fill(template: Any, case: Case) -> Any:
    """Return a template with the facts of a case."""
    filled: Any = template
    if isinstance(template, str):
        match = _VALUE.fullmatch(template)
        value = Formatter().get_field(match[1], (), vars(case))[0] if match else None
        filled = fill(value, case) if match else template.format_map(vars(case))
    elif callable(template):
        filled = fill(template(case), case)
    elif isinstance(template, dict):
        filled = {fill(key, case): fill(value, case) for key, value in template.items()}
    elif isinstance(template, Step):
        filled = template.calls(lambda part: fill(part, case))
    elif isinstance(template, list | tuple):
        filled = [fill(part, case) for part in template]
    return filled
