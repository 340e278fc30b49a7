"""Closed choices of a schema: enumerations and booleans, each with its place; and which of them a value takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..environment.arguments import resolved
from ..language.documents import quoted_choices_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

#: Schemas in schemas that are followed.
_DEPTH = 8


class ChosenValue(NamedTuple):
    """A value of a closed choice.

    Attributes:
        path: Where the choice is, without positions and keys of records: ``flights.cabin``.
        value: The value.
    """

    path: str
    value: Any

    @property
    def text(self) -> str:
        """The value at its place: ``cabin = economy``."""
        value = {True: "true", False: "false"}.get(self.value) if isinstance(self.value, bool) else self.value
        return f"{self.path} = {value}"


def choices_in(schema: Mapping[str, Any]) -> Iterator[ChosenValue]:
    """Yield the values of all closed choices of an object schema, in order.

    Args:
        schema: The schema of a tool's arguments, or of a record.
    """
    found = (ChosenValue(path, value) for path, values in _places(schema, schema.get("$defs", {})) for value in values)
    return iter(dict.fromkeys(found))


def choices_taken(value: Any, schema: Mapping[str, Any], keys: Collection[str] = ()) -> Iterator[ChosenValue]:
    """Yield the values of closed choices that a value takes.

    Args:
        value: Arguments, or a record.
        schema: Its schema.
        keys: What a call has named. Of a mapping that has some of these as keys, only these are looked at.
    """
    return _taken(value, schema, schema.get("$defs", {}), "", frozenset(keys))


def _alternatives(schema: Mapping[str, Any], definitions: Any) -> list[Mapping[str, Any]]:
    found = resolved(dict(schema), definitions)
    parts = found.get("anyOf") or found.get("oneOf")
    return [each for part in parts for each in _alternatives(part, definitions)] if parts else [found]


def _values(schema: Mapping[str, Any], description: str) -> list[Any]:
    if "enum" in schema or "const" in schema:
        return [each for each in schema.get("enum", [schema.get("const")]) if each is not None]
    if schema.get("type") == "boolean":
        return [True, False]
    return quoted_choices_in(description) if schema.get("type") == "string" else []


def _places(schema: Any, definitions: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, list[Any]]]:
    if not isinstance(schema, dict) or depth > _DEPTH:
        return
    description = str(schema.get("description", ""))
    for part in _alternatives(schema, definitions):
        if values := _values(part, description):
            yield path, values
        for name, inner in part.get("properties", {}).items():
            yield from _places(inner, definitions, f"{path}.{name}" if path else name, depth + 1)
        for inner in (part.get("items"), part.get("additionalProperties")):
            yield from _places(inner, definitions, path, depth + 1)


def _taken(value: Any, schema: Any, definitions: Any, path: str, keys: frozenset[str]) -> Iterator[ChosenValue]:
    if not isinstance(schema, dict):
        return
    description = str(schema.get("description", ""))
    for part in _alternatives(schema, definitions):
        if isinstance(value, dict):
            known, others = part.get("properties", {}), part.get("additionalProperties")
            named = keys.intersection(value) if isinstance(others, dict) and others else frozenset()
            for name, inner in value.items():
                if name in known:
                    yield from _taken(inner, known[name], definitions, f"{path}.{name}" if path else name, keys)
                elif not named or name in named:
                    yield from _taken(inner, others, definitions, path, keys)
        elif isinstance(value, list):
            for inner in value:
                yield from _taken(inner, part.get("items"), definitions, path, keys)
        elif any(value is each or (type(value) is type(each) and value == each) for each in _values(part, description)):
            yield ChosenValue(path, value)
