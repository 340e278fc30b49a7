"""Check of arguments against a tool's JSON schema: the part of JSON Schema that tools' schemas use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..models.json_values import not_json
from ..models.problems import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_Types: TypeAlias = "dict[str, Callable[[Any], bool]]"
_TYPES: _Types = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and value % 1 == 0,
    "number": _is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}

#: For arguments that are stored as they are: 6.0 does not equal the 6 that an agent sends.
_STORED: _Types = {**_TYPES, "integer": lambda value: type(value) is int}

#: The type that a schema names for values of these types, and the keys by which a schema restricts them further.
_SCALARS: dict[type, str] = {str: "string", bool: "boolean", int: "integer"}
_PLAIN = frozenset({"$ref", "anyOf", "oneOf", "const", "enum"})


def misfits(arguments: dict[str, Any], schema: dict[str, Any], *, stored: bool = False) -> list[str]:
    """Return what is wrong with the arguments, a line each; empty if they fit.

    Args:
        arguments: A call's arguments.
        schema: The tool's parameters; one that they do not name is unknown.
        stored: The function does not convert its arguments. 6.0 is then wrong for an integer; JSON Schema accepts it.
    """
    known = schema.get("properties", {})
    # A schema of a tool server may accept arguments that it does not name.
    unknown = (
        []
        if schema.get("additionalProperties")
        else [
            f"{name}: unknown argument (known: {', '.join(known) or 'none'})" for name in arguments if name not in known
        ]
    )
    types = _STORED if stored else _TYPES
    found = unknown + list(_misfits(arguments, schema, schema.get("$defs", {}), types, ""))
    if not found and (problem := not_json(arguments)):  # such as NaN, where the schema takes any number
        found.append(problem)
    return found


def resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema, or its definition if it is a reference."""
    while "$ref" in schema:
        schema = definitions.get(schema["$ref"].rpartition("/")[2], {})
    return schema


def _misfits(
    value: Any, schema: dict[str, Any], definitions: dict[str, Any], types: _Types, path: str
) -> Iterator[str]:
    schema = resolved(schema, definitions)
    where = path or "arguments"
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        tried: list[list[str]] = []
        for alternative in alternatives:
            tried.append(list(_misfits(value, alternative, definitions, types, path)))
            if not tried[-1]:
                return  # before texts are made of what is wrong by the others
        yield from min(tried, key=len)
        return
    if "const" in schema or "enum" in schema:
        allowed = schema["enum"] if "enum" in schema else [schema["const"]]
        if value not in allowed or (types is _STORED and _is_other_number(value, allowed)):
            yield f"{where}: expected one of {', '.join(map(json_text, allowed))}, got {_shown(value, allowed)}"
        return
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else wanted or []
    if names and not any(types[name](value) for name in names):
        yield f"{where}: expected {' or '.join(names)}, got {_shown(value, names)}"
    elif isinstance(value, dict):
        yield from _object(value, schema, definitions, types, path)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _misfits(item, schema.get("items", {}), definitions, types, f"{path}.{position}")


def _object(
    value: dict[str, Any], schema: dict[str, Any], definitions: dict[str, Any], types: _Types, path: str
) -> Iterator[str]:
    prefix = f"{path}." if path else ""
    for name in schema.get("required", []):
        if name not in value:
            yield f"{prefix}{name}: missing"
    others = schema.get("additionalProperties")
    for name, part in value.items():
        expected = schema.get("properties", {}).get(name, others if isinstance(others, dict) else {})
        # Most values are of a plain type, and need no place.
        if _SCALARS.get(type(part), "") != expected.get("type") or not _PLAIN.isdisjoint(expected):
            yield from _misfits(part, expected, definitions, types, f"{prefix}{name}")


def _is_other_number(value: Any, allowed: list[Any]) -> bool:
    """Return whether only integers equal a number with a fraction, such as 1.0."""
    return isinstance(value, float) and not any(isinstance(each, float) and each == value for each in allowed)


def _shown(value: Any, expected: list[Any]) -> str:
    """Return the text of a wrong value; of 6.0 for an integer, with what is right."""
    is_whole = isinstance(value, float) and value % 1 == 0 and ("integer" in expected or value in expected)
    return f"{json_text(value)}: write {value:.0f}" if is_whole else json_text(value)
