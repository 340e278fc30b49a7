"""Slots of a reference: arguments of its writes whose value is one of several.

What there is to choose from comes from general means: a record that has the value as a key, next to others, such as the
payment methods of a user and the variants of a product, and the enumerations of the tools' schemas.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from ..environment import Table
from ..environment.jsonable import jsonable
from ..language.documents import quoted_in
from ..language.names import is_name_of_amount
from .arguments import all_arguments_in, with_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..environment import Domain, Environment
    from ..models import Action, Task

#: A key that more records have is a date or the name of a field.
_MOST_OWNERS = 3
_NOTHING: Mapping[str, Any] = {}
_INDEXES: weakref.WeakKeyDictionary[Domain, tuple[dict[str, list[Group]], set[str]]] = weakref.WeakKeyDictionary()
_LISTS: weakref.WeakKeyDictionary[Domain, dict[str, list[Group]]] = weakref.WeakKeyDictionary()


class Group(NamedTuple):
    """Values of which an argument takes one.

    Attributes:
        owner: The record that has them; empty for an enumeration.
        field: Its field, or the argument.
        members: What is known of each value, by value.
        is_of_records: Whether there are records with a field of this name, from which a value can be taken over.
        is_count: Whether they are numbers: how many of something.
        owner_id: The id of the record that has them; empty for an enumeration.
    """

    owner: Mapping[str, Any]
    field: str
    members: Mapping[str, Any]
    is_of_records: bool = True
    is_count: bool = False
    owner_id: str = ""


class Slot(NamedTuple):
    """An argument of a reference write whose value is one of several.

    Attributes:
        position: The action.
        action: The same.
        path: The argument, such as ``new_item_ids.0``.
        value: Its value; of a count, the number as text.
        group: What there is to choose from.
    """

    position: int
    action: Action
    path: str
    value: str
    group: Group

    @property
    def argument(self) -> str:
        """The name of the argument, without positions."""
        return [part for part in self.path.split(".") if not part.isdigit()][-1]

    @property
    def is_enumeration(self) -> bool:
        """Whether its values are those of the tool's schema."""
        return not self.group.owner

    @property
    def others(self) -> list[str]:
        """The other values of the group."""
        return [value for value in self.group.members if value != self.value]

    def typed(self, value: str) -> str | int:
        """Return a value of the group as the argument takes it."""
        return int(value) if self.group.is_count else value

    def filled(self, value: str) -> dict[str, Any]:
        """Return the arguments of the action with another value."""
        arguments: dict[str, Any] = jsonable(self.action.arguments)
        filled: dict[str, Any] = with_value(arguments, self.path.split("."), self.typed(value))
        return filled


def slots_of(task: Task, domain: Domain) -> Iterator[Slot]:
    """Yield the slots of the agent's writes in the reference of a task."""
    environment = domain.environment()
    groups, fields = _index(domain, environment)
    schemas = {tool.name: tool.parameters for tool in environment.shared_tools()}
    for position, action in enumerate(task.criteria.actions or []):
        schema = schemas.get(action.name, {})
        if not is_write(action, environment):
            continue
        for path, value, part in all_arguments_in(action.arguments, schema):
            if not (isinstance(value, str) or (type(value) is int and "." not in path)):
                continue
            found = groups.get(value, []) if isinstance(value, str) else []
            group = _listed(path, value, part, fields) or (found[0] if len(found) == 1 else None)
            if group is not None:
                yield Slot(position, action, path, str(value), group)


def records_listed(task: Task, domain: Domain) -> Iterator[Slot]:
    """Yield the arguments that are ids of records, of which another record lists several, such as lines of a customer.

    Each record is one of its owner's alone.
    """
    listed = _lists_of(domain)
    actions = [*enumerate(task.criteria.actions or [])]
    if not any(isinstance(value, str) and value in listed for _, each in actions for value in each.arguments.values()):
        return
    environment = domain.environment(task)
    for position, action in actions:
        for name, value in action.arguments.items() if is_write(action, environment) else ():
            if isinstance(value, str) and len(found := listed.get(value, [])) == 1:
                group = found[0]
                records = addressed(group.members, environment)
                members = {key: records[key] for key in group.members if key in records}
                yield Slot(position, action, name, value, group._replace(members=members))


def _lists_of(domain: Domain) -> dict[str, list[Group]]:
    """Return the lists of ids of a domain's records by id; the members are the ids alone."""
    if domain not in _LISTS:
        environment = domain.environment()
        tables = [table for _, table in environment.agent_db if isinstance(table, Table)]
        found: dict[str, list[Group]] = {}
        for name, record in records_of(environment):
            for field, ids in record.items():
                if isinstance(ids, list) and len(ids) > 1 and any(_are_keys(ids, table) for table in tables):
                    group = Group(record, field, {key: key for key in ids}, owner_id=name)
                    for key in group.members:
                        found.setdefault(key, []).append(group)
        _LISTS[domain] = found
    return _LISTS[domain]


def _are_keys(ids: list[Any], table: Table[Any]) -> bool:
    return all(isinstance(key, str) and key in table for key in ids)


def _listed(path: str, value: str | int, schema: Mapping[str, Any], fields: set[str]) -> Group | None:
    """Return the values of a count or an enumeration; None if an argument is neither."""
    if isinstance(value, int):
        near = [value, value + 1, *([value - 1] if value else [])]
        members = {str(number): _NOTHING for number in near}
        return None if is_name_of_amount(path) else Group({}, path, members, path in fields, is_count=True)
    choices = _choices(schema, value)
    return Group({}, path, dict.fromkeys(choices, _NOTHING), path in fields) if len(choices) > 1 else None


def fields_of(domain: Domain) -> set[str]:
    """Return the names of all fields of a domain's records."""
    return _index(domain, domain.environment())[1]


def is_write(action: Action, environment: Environment) -> bool:
    """Return whether an action is a write of the agent."""
    return action.requestor == "assistant" and environment.mutates(action.name, "assistant")


def records_of(environment: Environment) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the records in the tables of the agent's database, with their ids."""
    for _, table in environment.agent_db:
        if isinstance(table, Table):
            for name, record in table.peek_items():
                if isinstance(value := jsonable(record), dict):
                    yield str(name), value


def addressed(arguments: Mapping[str, Any], environment: Environment) -> dict[str, Any]:
    """Return the records whose ids are arguments of a call, by id."""
    ids = {value for value in arguments.values() if isinstance(value, str)}
    tables = [table for _, table in environment.agent_db if isinstance(table, Table)]
    return {name: jsonable(table.peek(name)) for table in tables for name in ids if name in table}


def _index(domain: Domain, environment: Environment) -> tuple[dict[str, list[Group]], set[str]]:
    """Return the groups of records by value, and the names of all fields of records."""
    if domain not in _INDEXES:
        found: dict[str, list[Group]] = {}
        fields: set[str] = set()
        for name, record in records_of(environment):
            fields |= record.keys()
            for field, members in record.items():
                if isinstance(members, dict) and all(isinstance(member, dict) for member in members.values()):
                    for value in members:
                        found.setdefault(value, []).append(Group(record, field, members, owner_id=name))
        groups = {value: groups for value, groups in found.items() if len(groups) <= _MOST_OWNERS}
        _INDEXES[domain] = groups, fields
    return _INDEXES[domain]


def _choices(schema: Mapping[str, Any], value: str) -> list[str]:
    """Return the values that a schema allows, in an enumeration or in quotes in its description."""
    if "enum" in schema:
        return [choice for choice in schema["enum"] if isinstance(choice, str)]
    quoted = quoted_in(str(schema.get("description", "")))
    return quoted if value in quoted else []
