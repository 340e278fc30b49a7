"""The values among the arguments of an action, each with its place and its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..environment.arguments import resolved

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
