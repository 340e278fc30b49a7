"""The part of a recorded JSON schema that tools' schemas use; nothing else is read."""

from __future__ import annotations

from typing import Any, Final

_TYPES: Final = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
#: Levels of a schema that are read.
_DEEPEST: Final = 20


def plain_schema(schema: Any, depth: int = 0) -> dict[str, Any]:
    """Return a schema with types, choices, descriptions, properties and items; empty for anything else."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return {}
    found: dict[str, Any] = {}
    kind = schema.get("type")
    kinds = [each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str) and each in _TYPES]
    if kinds:
        found["type"] = kinds if isinstance(kind, list) else kinds[0]
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and all(isinstance(each, str | int | float | None) for each in choices):
        found["enum"] = choices
    description = schema.get("description")
    if isinstance(description, str) and description:
        found["description"] = description
    properties = schema.get("properties")
    if isinstance(properties, dict):
        found["properties"] = {str(name): plain_schema(each, depth + 1) for name, each in properties.items()}
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        found["required"] = [each for each in dict.fromkeys(filter(_is_text, names)) if each in properties]
    if isinstance(schema.get("items"), dict):
        found["items"] = plain_schema(schema["items"], depth + 1)
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
