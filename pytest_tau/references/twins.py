"""Twins: records of a kind of which the scenario says the same, whatever it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..environment import Table
from ..environment.jsonable import jsonable
from ..language.ids import is_plain_id
from .arguments import all_arguments_in, texts_in
from .slots import Group, Slot, is_write, slots_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain, Environment
    from ..models import Task
    from .wishes import Wishes


def twins(task: Task, domain: Domain, wishes: Wishes) -> Iterator[tuple[Slot, list[str]]]:
    """Yield the slots of the agent's writes whose record has twins, each with the ids of these.

    A twin belongs to the same records, and differs in nothing but digits of ids that the scenario does not have. The
    reference does not name it, as it would else be about both.
    """
    environment = domain.environment(task)
    named = {leaf for action in task.criteria.actions or [] for leaf in texts_in(action.arguments)}
    for slot in [*_of_tables(task, environment), *_of_records(task, domain, environment)]:
        if slot.value.lower() in wishes.text:
            continue
        found = [
            other
            for other, record in slot.group.members.items()
            if other not in named
            and other.lower() not in wishes.text
            and _is_like(slot.group.members[slot.value], record, (slot.value, other), environment, wishes)
        ]
        if found:
            yield slot, found


def _of_tables(task: Task, environment: Environment) -> Iterator[Slot]:
    """Yield the arguments that are the id of a record in a table, with the records that may be its twins."""
    tables = {name: table for name, table in environment.agent_db if isinstance(table, Table)}
    for position, action in enumerate(task.criteria.actions or []):
        if not is_write(action, environment):
            continue
        for path, value, _ in all_arguments_in(action.arguments, {}):
            holding = [name for name, table in tables.items() if isinstance(value, str) and value in table]
            if len(holding) == 1:
                members = _alike(value, tables[holding[0]])
                yield Slot(position, action, path, value, Group({}, holding[0], members))


def _alike(value: str, table: Table[Any]) -> dict[str, Any]:
    """Return a record of a table and those whose texts are the same, but for ids, by id; few are read in full."""
    own = _plain_texts(table.peek(value), value)
    return {key: jsonable(record) for key, record in table.peek_items() if _plain_texts(record, key) == own}


def _plain_texts(record: Any, key: str) -> list[tuple[str, str]]:
    fields = record.items() if isinstance(record, dict) else vars(record).items()
    return [(name, part) for name, part in fields if isinstance(part, str) and part != key and not is_plain_id(part)]


def _of_records(task: Task, domain: Domain, environment: Environment) -> Iterator[Slot]:
    """Yield the arguments whose value is a key in a record, such as a payment method, as the task begins."""
    for slot in slots_of(task, domain):
        for _, table in environment.agent_db if slot.group.owner else ():
            if isinstance(table, Table) and slot.group.owner_id in table:
                members = jsonable(table.peek(slot.group.owner_id)).get(slot.group.field, {})
                if isinstance(members, dict) and slot.value in members:
                    yield slot._replace(group=slot.group._replace(members=members))


def _is_like(record: Any, other: Any, keys: tuple[str, str], environment: Environment, wishes: Wishes) -> bool:
    """Return whether two records differ in nothing that a word of the scenario can be about."""
    if keys[0] == keys[1]:
        return False
    ours, theirs = (dict(_leaves(part, key, ())) for part, key in zip((record, other), keys, strict=True))
    differing = [(ours[path], theirs[path]) for path in ours if path in theirs and ours[path] != theirs[path]]
    return ours.keys() == theirs.keys() and all(_is_silent(one, two, environment, wishes) for one, two in differing)


def _is_silent(one: Any, two: Any, environment: Environment, wishes: Wishes) -> bool:
    """Return whether two values are ids that differ in digits only, and neither is said or names a record."""
    if not all(isinstance(value, str) and is_plain_id(value) for value in (one, two)):
        return False
    said = any(value.lower() in wishes.text for value in (one, two))
    tables = [table for _, table in environment.agent_db if isinstance(table, Table)]
    return not said and _without_digits(one) == _without_digits(two) and not any(one in table for table in tables)


def _without_digits(name: str) -> str:
    return "".join(character for character in name if not character.isdecimal())


def _leaves(value: Any, own: str, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the values in a record by their place, its own id as an empty text."""
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(part, own, (*path, "" if name == own else name))
    else:
        yield path, "" if value == own else value
