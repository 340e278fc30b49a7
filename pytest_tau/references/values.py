"""Where the values of a reference come from: a text, a record that can be read by then, or arithmetic over amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import json_or_none
from ..language.numbers import quantity_of
from .amounts import Amounts
from .arguments import arguments_in
from .documents import required_texts
from .known import Known
from .reading import Reader, Reading
from .sides import tools_of
from .statements import amount_of, may_be_moved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..environment import Domain
    from ..models import Task

#: Codes of states, countries and airports are common knowledge.
_LONGEST_CODE = 3
LOOKED = "neither the user nor the policy states it, and no tool returns it from what is known"


class Leaf(NamedTuple):
    """A text among the arguments of an action, and where it is: ``passengers.0.first_name``."""

    path: str
    value: str


class Unstated(NamedTuple):
    """A value of a reference that comes from nowhere.

    Attributes:
        position: The action; None for a required statement.
        name: Its tool; empty for a required statement.
        path: The argument, or ``communicate_info``.
        value: The value.
        looked: Where it was looked for.
    """

    position: int | None
    name: str
    path: str
    value: str
    looked: str = LOOKED


class Sources:
    """Looks for the sources of values in the tasks of one domain; its untouched state is read once."""

    def __init__(self, domain: Domain) -> None:
        self._domain, self._reader = domain, Reader(domain)

    def unstated(self, task: Task, texts: list[str] | None = None) -> Iterator[Unstated]:
        """Yield the arguments of reference actions, and the required statements, that an agent cannot know.

        Of statements, only those with a digit are facts; others are a matter of wording. Of arguments, numbers, choices
        of a schema, codes of up to three letters, and arguments of tools that hand over are skipped. A date is known
        also in words, or near one that is; a text of several words if each of them is; an amount with its unit if it
        is computed from amounts that are known.

        Args:
            task: The task.
            texts: What the user says; None for the scenario and the ticket.
        """
        told = [task.scenario_text, task.ticket or ""] if texts is None else texts
        environment = self._domain.environment(task)
        history = [message.content or "" for message in task.message_history]
        known = Known([*told, environment.policy, *required_texts(task, self._domain), *history])
        reading = Reading(self._reader, task, environment, known, told)
        for position, action in enumerate(task.criteria.actions or []):
            tool = tools_of(self._domain, action.requestor).get(action.name)
            if tool is not None and tool.kind in ("read", "write"):
                for leaf in leaves_of(action.arguments, tool.parameters):
                    if not (known.has(leaf.value) or reading.gives(leaf.value) or _computed(leaf.value, known)):
                        yield Unstated(position, action.name, leaf.path, leaf.value)
                        known.add(leaf.value)
            result = environment.call(action.name, action.arguments, action.requestor)
            known.add("" if result.error else result.content or "")
        for statement in task.criteria.communicate_info or [] if texts is None else ():
            amount = amount_of(statement)
            if amount is None:
                is_given = not any(map(str.isdigit, statement)) or known.has(statement) or reading.gives(statement)
            else:
                reading.read_all(environment)
                is_given = Amounts(known.texts).give_simply(amount) or may_be_moved(amount, task, self._domain)
            if not is_given:
                yield Unstated(None, "", "communicate_info", statement)


def unstated(task: Task, domain: Domain) -> list[Unstated]:
    """Return the values and required statements of a reference that come from nowhere."""
    return [*Sources(domain).unstated(task)]


def _computed(value: str, known: Known) -> bool:
    """Return whether a text is an amount with a unit that follows from the amounts in the known texts."""
    quantity = quantity_of(value)
    return quantity is not None and Amounts(known.texts).give(abs(quantity.value))


def leaves_of(arguments: Any, schema: Mapping[str, Any]) -> Iterator[Leaf]:
    """Yield the texts among arguments that are facts, those of a tool that is called by another one included.

    Args:
        arguments: The arguments.
        schema: The schema of the tool, whose choices are skipped; an empty one to yield them, too.
    """
    for path, value, part in arguments_in(arguments, schema):
        if not isinstance(value, str) or part.keys() & {"enum", "const"}:
            continue
        if value.startswith("{") and isinstance(inner := json_or_none(value), dict):
            # The arguments of a tool that is called by another one.
            yield from (Leaf(f"{path}.{leaf.path}", leaf.value) for leaf in leaves_of(inner, {}))
        elif len(value) > _LONGEST_CODE:
            yield Leaf(path, value)
