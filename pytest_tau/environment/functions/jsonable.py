"""Foreign values as JSON: what tools return that were not written for this project, and snapshots of their state."""

from __future__ import annotations

import dataclasses
import json
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

if TYPE_CHECKING:
    from collections.abc import Callable

#: Types whose values are JSON already; most values of a state are these, and need no call.
_PLAIN = frozenset({str, int, float, bool, type(None)})


def jsonable(value: Any, fallback: Callable[[Any], Any] | None = None) -> Any:
    """Return a copy of a value as JSON data; equal values give equal data.

    Args:
        value: JSON data, dataclasses, pydantic models, enums, sets, dates, decimals and the like.
        fallback: Converts other objects.

    Raises:
        ValueError: There is another object, and no fallback.
    """
    if type(value) in _PLAIN or (isinstance(value, str | int | float) and not isinstance(value, Enum)):
        return value
    if isinstance(value, dict):
        return {
            key if type(key) is str else _key(key): part if type(part) in _PLAIN else jsonable(part, fallback)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [part if type(part) in _PLAIN else jsonable(part, fallback) for part in value]
    if isinstance(value, set | frozenset):  # equal sets may differ in order
        return sorted((jsonable(part, fallback) for part in value), key=lambda part: json.dumps(part, sort_keys=True))
    names = _field_names(value)
    if names is not None:
        return {name: jsonable(getattr(value, name), fallback) for name in names}
    try:
        return to_jsonable_python(value, inf_nan_mode="constants", fallback=fallback)
    except PydanticSerializationError:
        raise ValueError(f"a {type(value).__qualname__} cannot be written as JSON") from None


def _field_names(value: Any) -> list[str] | None:
    if isinstance(value, BaseModel):
        return list(type(value).model_fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [field.name for field in dataclasses.fields(value)]
    return None


def _key(key: Any) -> str:
    converted = jsonable(key)
    return converted if isinstance(converted, str) else json.dumps(converted)
