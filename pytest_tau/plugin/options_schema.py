"""The JSON Schema of the options in ``pytest.toml`` and ``pyproject.toml``, for ``tau schema``."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ..settings import flag
from .options import INI_KEYS, JSON_TABLES, LISTS, PAIRS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..settings import Option

_STRINGS = {"type": ["string", "array"], "items": {"type": "string"}}


def options_schema(options: Iterable[Option]) -> dict[str, Any]:
    """Return the schema of options, with a property for each ini key."""
    keys = {option.dest: _option(option) for option in options}
    keys |= {key: {**_STRINGS, "description": described} for key, described in INI_KEYS.items()}
    names = {"anyOf": [{"not": {"pattern": "^tau_"}}, {"enum": list(keys)}]}
    table = {"$ref": "#/definitions/options"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Options of pytest-tau in pytest.toml and pyproject.toml",
        "type": "object",
        "properties": {
            "pytest": table,
            # pytest reads [tool.pytest] as well as [tool.pytest.ini_options].
            "tool": {"properties": {"pytest": {"allOf": [table], "properties": {"ini_options": table}}}},
        },
        "definitions": {"options": {"type": "object", "properties": keys, "propertyNames": names}},
    }


def _option(option: Option) -> dict[str, Any]:
    described = {"description": option.full_help}
    if option.repeat:
        return {**_STRINGS, **described}
    if option.choices:
        return {"enum": [*option.choices, *([True, False] if option.bare else [])], **described}
    return {"type": _types(option), **described}


def _types(option: Option) -> str | list[str]:
    """Return the JSON types of an option's value. Each may be written as text, as in other ini files."""
    if option.type is flag:
        return "boolean"
    if option.type in JSON_TABLES + PAIRS:
        return ["object", "string"]
    if option.type in LISTS:
        return ["array", "string"]
    if option.bare:  # the option without a value
        return ["string", "boolean"]
    # The type of an option is a function; what it makes of a number says what it is for.
    converted: Any = None
    with contextlib.suppress(ValueError, TypeError):
        converted = option.type("1")
    if isinstance(converted, int):
        return ["integer", "string"]
    return ["number", "string"] if isinstance(converted, float) else "string"
