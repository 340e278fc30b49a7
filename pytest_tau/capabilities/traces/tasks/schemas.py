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
    plain: dict[str, Any] = {}
    kind = schema.get("type")
    kinds = [name for name in (kind if isinstance(kind, list) else [kind]) if isinstance(name, str) and name in _TYPES]
    if kinds:
        plain["type"] = kinds if isinstance(kind, list) else kinds[0]
    choices = schema.get("enum")
    if (
        isinstance(choices, list)
        and choices
        and all(isinstance(choice, str | int | float | None) for choice in choices)
    ):
        plain["enum"] = choices
    description = schema.get("description")
    if isinstance(description, str) and description:
        plain["description"] = description
    properties = schema.get("properties")
    if isinstance(properties, dict):
        plain["properties"] = {str(name): plain_schema(inner, depth + 1) for name, inner in properties.items()}
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        plain["required"] = [name for name in dict.fromkeys(filter(_is_text, names)) if name in properties]
    if isinstance(schema.get("items"), dict):
        plain["items"] = plain_schema(schema["items"], depth + 1)
    return plain


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
