"""Faults in an agent's calls and in the results that it sees, and in which conversations they have a chance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from ...documents import json_or_none
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...environment import Domain
    from ...models import Call, Simulation, Task
    from .mutant import Mutant

_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[A-Za-z]")
#: Values that an agent uses, by tool and argument: what an argument may be changed to.
Pool: TypeAlias = "Mapping[tuple[str, str], Sequence[Any]]"


def has_chance(mutant: Mutant, calls: Sequence[Call], pool: Pool) -> bool:
    """Return whether a fault takes effect among the calls of a conversation.

    Up to its first effect, the faulty agent acts as the agent does: an agent that never varies meets it there or
    nowhere.
    """
    of_tool = [call for call in calls if call.call.name == mutant.tool]
    if mutant.kind == "argument-changed":
        return any(with_other(call.call.arguments, mutant.detail, call.call.name, pool) is not None for call in of_tool)
    if mutant.kind == "result-first":
        return any(first_record(content) != content for content in map(_content, of_tool))
    if mutant.kind == "result-old":
        seen: dict[str, str] = {}
        return any(seen.setdefault(key_of(call.call.arguments), _content(call)) != _content(call) for call in of_tool)
    return bool(of_tool)


def changes_again(simulation: Simulation, task: Task, domain: Domain, tool: str) -> bool:
    """Return whether a second call, right after one that the agent has made, changes the state once more.

    One that is refused, or that leaves everything as it is, has no consequence.
    """
    if not domain.spec.agent_db.cheap_to_fork:
        return True
    environment = domain.environment(task)
    for recorded_call in simulation.calls:
        call = recorded_call.call
        environment.call(call.name, call.arguments, call.requestor)
        if call.name == tool:
            again = environment.fork()
            refused = again.call(call.name, call.arguments, call.requestor).error
            if not refused and not again.equals(environment):
                return True
    return False


def _content(call: Call) -> str:
    return (call.result.content or "") if call.result is not None and not call.result.error else ""


def key_of(arguments: Mapping[str, Any]) -> str:
    """Return arguments as a key."""
    return json.dumps(arguments, sort_keys=True)


def first_record(content: str) -> str:
    """Return a result in which only the first of several records is left; the result itself if there are no several."""
    value = json_or_none(content)
    cut = _cut(value)
    return content if cut == value else json.dumps(cut)


def _cut(value: Any) -> Any:
    if isinstance(value, list):
        return [_cut(part) for part in value[:1]]
    if isinstance(value, dict):
        records = [part for part in value.values() if isinstance(part, dict)]
        if len(value) > 1 and len(records) == len(value) and len({frozenset(record) for record in records}) == 1:
            return {name: _cut(part) for name, part in [*value.items()][:1]}
        return {name: _cut(part) for name, part in value.items()}
    return value


def with_other(arguments: Mapping[str, Any], name: str, tool: str, pool: Pool) -> dict[str, Any] | None:
    """Return arguments with another value of one of them; None if no other is known, or there is none.

    It is a value of the same form that the agent has used in another task, else the next number or the other truth
    value.
    """
    if name not in arguments:
        return None
    value = arguments[name]
    other = next(
        (
            candidate
            for candidate in pool.get((tool, name), ())
            if candidate != value and form_of(candidate) == form_of(value)
        ),
        None,
    )
    if other is None and isinstance(value, bool):
        other = not value
    elif other is None and isinstance(value, int | float):
        other = value + 1
    elif other is None and isinstance(value, list) and len(value) > 1:
        other = value[:-1]
    return None if other is None else {**arguments, name: other}


def form_of(value: Any) -> Any:
    """Return the form of a value: of a text, its digits as 0 and, if it has any, its letters as a."""
    if isinstance(value, str):
        return _LETTER.sub("a", _DIGIT.sub("0", value)) if _DIGIT.search(value) else ""
    if isinstance(value, list):
        return ["list", form_of(value[0]) if value and isinstance(value[0], str) else None]
    return type(value).__name__


def pool_of(conversations: Iterable[Sequence[Call]]) -> dict[tuple[str, str], list[Any]]:
    """Return the values that an agent has used in conversations, by tool and argument."""
    values_by_place: dict[tuple[str, str], dict[str, Any]] = {}
    for call in (call for calls in conversations for call in calls):
        for name, value in call.call.arguments.items():
            values_by_place.setdefault((call.call.name, name), {}).setdefault(json.dumps(value, sort_keys=True), value)
    return {place: [*values.values()] for place, values in values_by_place.items()}
