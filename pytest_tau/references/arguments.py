"""The values among the arguments of an action, each with its place and its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import json_or_none
from ..environment.arguments import resolved
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Argument(NamedTuple):
    """A value that is not an object or an array.

    Attributes:
        path: Where it is, such as ``passengers.0.first_name``.
        value: The value.
        schema: Its schema, of several that of the last kind besides null; empty if it has none.
    """

    path: str
    value: Any
    schema: Mapping[str, Any]


def arguments_in(value: Any, schema: Mapping[str, Any]) -> Iterator[Argument]:
    """Yield the values among arguments.

    Args:
        value: The arguments.
        schema: The schema of the tool; an empty one if it does not matter.
    """
    return _within(value, schema, schema.get("$defs", {}), "")


def inner_arguments(value: Any) -> dict[str, Any] | None:
    """Return the arguments of a tool that is called by another one, which are a JSON text; None for another value."""
    inner = json_or_none(value) if isinstance(value, str) and value.startswith("{") else None
    return inner if isinstance(inner, dict) else None


def all_arguments_in(value: Any, schema: Mapping[str, Any]) -> Iterator[Argument]:
    """Yield the values among arguments, those among inner arguments as well, but not the texts of these."""
    for argument in arguments_in(value, schema):
        inner = inner_arguments(argument.value)
        if inner is None:
            yield argument
        for part in arguments_in(inner or {}, {}):
            yield part._replace(path=f"{argument.path}.{part.path}")


def with_value(value: Any, path: list[str], new: Any) -> Any:
    """Return arguments with another value at a place, in inner arguments as well."""
    if not path:
        return new
    if isinstance(value, str):
        return json.dumps(with_value(inner_arguments(value), path, new))
    if isinstance(value, list):
        at = int(path[0])
        return [*value[:at], with_value(value[at], path[1:], new), *value[at + 1 :]]
    return {**value, path[0]: with_value(value[path[0]], path[1:], new)}


def with_other_id(value: Any, old: str, new: str) -> Any:
    """Return arguments with another id wherever they have an old one, in inner arguments as well."""
    if isinstance(value, dict):
        return {name: with_other_id(part, old, new) for name, part in value.items()}
    if isinstance(value, list):
        return [with_other_id(part, old, new) for part in value]
    if isinstance(value, str) and old in value and (inner := inner_arguments(value)) is not None:
        return json.dumps(with_other_id(inner, old, new))
    return new if value == old else value


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts among arguments, those of inner arguments included."""
    yield from (argument.value for argument in all_arguments_in(value, {}) if isinstance(argument.value, str))


def _within(value: Any, schema: Any, definitions: Any, path: str) -> Iterator[Argument]:
    schema = resolved(schema, definitions)
    for part in (resolved(part, definitions) for part in schema.get("anyOf", ())):
        schema = part if part.get("type", "null") != "null" else schema
    if isinstance(value, dict):
        for name, part in value.items():
            inside = schema.get("properties", {}).get(name, {})
            yield from _within(part, inside, definitions, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _within(part, schema.get("items", {}), definitions, f"{path}.{position}")
    else:
        yield Argument(path, value, schema)
