"""JSON values that every reader and writer of this package can store and restore."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, TypeAdapter

from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_DEPTH, _MAX_INTEGER = 100, 10**1000
_ANY: TypeAdapter[Any] = TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="null"))


def writable(text: str) -> str:
    """Return the text with lone surrogates escaped, which JSON allows and files do not; a plain string in any case."""
    text = str.__str__(text)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON in UTF-8, in a third of the time of ``json``; null for numbers that JSON lacks.

    Raises:
        ValueError: A text is not Unicode, or the value is nested too deep.
    """
    return _ANY.dump_json(value)


def json_copy(value: Any, depth: int = 0) -> Any:
    """Return a copy of a JSON value, of plain strings and numbers: those of other classes may compare as they like.

    Raises:
        TypeError: It contains something that is not a JSON value.
        ValueError: It is nested too deep, or contains an integer that is too long.
    """
    if depth > _MAX_DEPTH:
        raise ValueError(f"nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, str):  # as most values are
        return value if type(value) is str and value.isascii() else writable(value)
    if isinstance(value, dict):
        return {_name(key): json_copy(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_copy(item, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        number = int.__int__(value)
        if abs(number) >= _MAX_INTEGER:
            raise ValueError("an integer of more than 1000 digits")
        return number
    if isinstance(value, float):
        return float.__float__(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _name(key: Any) -> str:
    return key if type(key) is str and key.isascii() else writable(str(key))


def not_json(value: Any, path: str = "") -> str | None:
    """Return which value is not JSON, the first one, such as ``due: datetime.date is not JSON``; None if all are.

    NaN and the infinities are none either: they would be executed as numbers, and stored as null.
    """
    if isinstance(value, dict | list | tuple):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            if type(part) is not str and (problem := not_json(part, f"{path}.{key}" if path else f"{key}")):
                return problem
        return None
    if isinstance(value, float) and not math.isfinite(value):
        name = json.dumps(value)
    elif value is None or isinstance(value, str | int | float):
        return None
    else:
        kind = type(value)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{path}: {name} is not JSON" if path else f"{name} is not JSON"


def strings_in(value: Any) -> Iterator[str]:
    """Yield every string among the values of a JSON value, at any depth; keys are not values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings_in(item)
