"""Values among arguments and records: where they are, other values in their place, and the records that they name."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_tau.environment.arguments import resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_tau import Domain

Path: TypeAlias = tuple[str | int, ...]

#: A value that this many groups have is no key of a record, but a date or a name of a field.
_MOST_GROUPS = 3
_KEY_FIELDS = re.compile(r"(^|_)(id|number)$")
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)")


class Group(NamedTuple):
    """Records that a key tells apart: a table, or what one record has of a kind.

    Attributes:
        place: The names of fields that lead to it; a key on the way is ``*``: ``users/*/payment_methods``.
        path: The same with the keys.
        records: By key.
        is_list: Whether the data have it as a list.
    """

    place: str
    path: Path
    records: Mapping[str, Any]
    is_list: bool

    @property
    def is_table(self) -> bool:
        """Whether these are all records of a kind, not those of one owner."""
        return "*" not in self.place

    def siblings(self, key: str, owners: Mapping[str, Sequence[Group]]) -> list[str]:
        """Return the other keys of the same owner: of a table those that name a record which this one names, too."""
        others = [each for each in self.records if each != key]
        if not self.is_table:
            return others
        owned = {value for _, value in leaves(self.records[key]) if value != key and value in owners}
        return [each for each in others if any(value in owned for _, value in leaves(self.records[each]))]


class Records:
    """The groups of records in the data of a domain, by the keys in them."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.groups: dict[str, list[Group]] = defaultdict(list)
        found = [group for name, value in data.items() for group in _groups(value, (name,), name)]
        for group in sorted(found, key=lambda group: group.is_list):
            for key in group.records:
                if not (group.is_list and self.groups[key]):
                    self.groups[key].append(group)
        self.groups = {key: groups for key, groups in self.groups.items() if 0 < len(groups) <= _MOST_GROUPS}

    def group_of(self, value: Any) -> Group | None:
        """Return the group in which a value is a key; None if there is none, or several of different places."""
        groups = self.groups.get(value, []) if isinstance(value, str) else []
        return groups[0] if len({group.place for group in groups}) == 1 else None

    @functools.cached_property
    def holders(self) -> dict[Any, list[tuple[Group, str]]]:
        """The records that have a value, by value."""
        found: dict[Any, list[tuple[Group, str]]] = defaultdict(list)
        for group in {group.path: group for groups in self.groups.values() for group in groups}.values():
            for key, record in group.records.items():
                for value in {value for _, value in leaves(record)}:
                    found[value].append((group, key))
        return found

    def near(self, values: Iterable[str]) -> dict[str, list[str]]:
        """Return the keys of records that are named, that these records name or that are in them, by place."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for value in values:
            group = self.group_of(value)
            if group is None:
                continue
            found[group.place][value] = None
            for path, inside in leaves(group.records[value]):
                for key in (part for part in (*path, inside) if isinstance(part, str)):
                    if (named := self.group_of(key)) is not None:
                        found[named.place][key] = None
        return {place: list(keys) for place, keys in found.items()}


def data_of(domain: Domain, environment: Any = None) -> dict[str, Any]:
    """Return the agent's data as JSON."""
    data: dict[str, Any] = json.loads((environment or domain.environment()).agent_db.model_dump_json())
    return data


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the texts, numbers and truth values in a JSON value; also in a text that is a JSON object."""
    inside = _opened(value)
    if isinstance(inside, dict | list):
        for key, part in inside.items() if isinstance(inside, dict) else enumerate(inside):
            yield from leaves(part, (*path, key))
    elif value is not None:
        yield path, value


def replaced(value: Any, path: Path, new: Any) -> Any:
    """Return a JSON value with another value at a place."""
    if not path:
        return new
    inside = _opened(value)
    changed = copy.copy(inside)
    changed[path[0]] = replaced(inside[path[0]], path[1:], new)
    return json.dumps(changed) if isinstance(value, str) else changed


def schema_at(name: str, arguments: Mapping[str, Any], path: Path, tools: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an argument; arguments as text are those of the tool that another argument names."""
    schema = tools[name].parameters if name in tools else {}
    definitions, value = schema.get("$defs", {}), arguments
    for part in path:
        if isinstance(value, str):
            inner = next((each for each in arguments.values() if isinstance(each, str) and each in tools), None)
            schema = tools[inner].parameters if inner else {}
            definitions = schema.get("$defs", {})
        value = (_opened(value))[part]
        schema = _plain(schema, definitions)
        schema = schema.get("items", {}) if isinstance(part, int) else schema.get("properties", {}).get(part, {})
    found: Mapping[str, Any] = _plain(schema, definitions)
    return found


def choices(schema: Mapping[str, Any], value: Any) -> list[Any]:
    """Return the values that a schema allows: an enumeration, texts in quotes in its description, yes and no."""
    if isinstance(value, bool):
        return [True, False]
    if "enum" in schema:
        return list(schema["enum"])
    quoted = [one or other for one, other in _QUOTED.findall(str(schema.get("description", "")))]
    return quoted if value in quoted else []


def argument_of(path: Path) -> str:
    """Return the name of the argument that a path leads to."""
    return next(str(part) for part in reversed(path) if not isinstance(part, int))


def _plain(schema: Any, definitions: Any) -> Any:
    """Return a schema without references, and without the alternative null."""
    schema = resolved(schema, definitions)
    options = [each for each in (resolved(part, definitions) for part in schema.get("anyOf", ())) if "type" in each]
    return next((each for each in options if each["type"] != "null"), schema)


def _opened(value: Any) -> Any:
    """Return a text that is a JSON object as this object, and any other value as it is."""
    if not (isinstance(value, str) and value.startswith("{")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _groups(value: Any, path: Path, place: str) -> Iterator[Group]:
    for inner, records in _keyed(value):
        here = "/".join((place, *inner))
        yield Group(here, (*path, *inner), records, is_list=False)
        for key, record in records.items():
            yield from _groups(record, (*path, *inner, key), f"{here}/*")
    for inner, items in _listed(value):
        field = next((name for name in items[0] if _KEY_FIELDS.search(name)), None)
        keys = [each.get(field) for each in items] if field else []
        if keys and all(isinstance(key, str) for key in keys) and len(set(keys)) == len(keys):
            yield Group("/".join((place, *inner)), (*path, *inner), dict(zip(keys, items, strict=True)), is_list=True)


def _keyed(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the objects in a value whose values are all objects that look like records of one kind."""
    if not isinstance(value, dict) or not value:
        return
    if _is_keyed(value):
        yield path, value
        return
    for name, part in value.items():
        yield from _keyed(part, (*path, name))


def _is_keyed(value: Mapping[str, Any]) -> bool:
    """Return whether these are records by key: the keys have digits, or each record repeats its key."""
    if not all(isinstance(part, dict) for part in value.values()):
        return False
    return all(re.search(r"\d", key) or key in part.values() for key, part in value.items())


def _listed(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        yield path, value
    elif isinstance(value, dict) and not _is_keyed(value):
        for name, part in value.items():
            yield from _listed(part, (*path, name))
