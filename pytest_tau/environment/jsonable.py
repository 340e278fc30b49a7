"""Foreign values as JSON: what tools return that were not written for this project, and snapshots of their state."""

from __future__ import annotations

import dataclasses
from collections import deque
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..models import clone
from ..plain import json
from .records import value_text
from .results import object_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Types whose values are JSON already; most values of a state are these, and need no call.
_PLAIN = frozenset({str, int, float, bool, type(None)})
#: Decimals with more digits than this before or after the point are written with an exponent.
_MOST_DIGITS = 40


def jsonable(value: Any, fallback: Callable[[Any], Any] | None = None) -> Any:
    """Return a copy of a value as JSON data.

    Args:
        value: JSON data, dataclasses, pydantic models, enums, sets, dates, decimals and the like.
        fallback: Converts other objects.

    Raises:
        ValueError: There is another object, and no fallback.
    """
    return _converted(value, fallback, of_state=False)


class Returned(str):  # noqa: SLOT000 - it has a value
    """The text of a tool's result: JSON, unless it is a text.

    Attributes:
        value: The result, in which later changes of the state do not show.
    """

    value: Any

    @classmethod
    def of(cls, result: Any) -> Returned:
        """Return the text of a result."""
        if isinstance(result, Returned):
            return result
        is_text = isinstance(result, str)
        text = cls(result if is_text else json.dumps(jsonable(result, fallback=object_text), ensure_ascii=False))
        text.value = clone(result)
        return text

    def __deepcopy__(self, memo: dict[int, Any]) -> str:
        return str(self)


def state_data(value: Any) -> Any:
    """Return a copy of a state as JSON data; equal values give equal data.

    Decimals and times with a zone lose their notation: 10.50 becomes 10.5, and 10:00+01:00 becomes 09:00Z.

    Raises:
        ValueError: An object cannot be written as JSON, or two keys become one; names the place.
    """
    try:
        return _converted(value, None, of_state=True)
    except ValueError as error:
        place = "/".join(_place_of_problem(value))
        raise ValueError(f"{place}: {error}" if place else str(error)) from None


def _place_of_problem(value: Any) -> list[str]:
    """Return the keys and positions that lead to the innermost part that cannot be converted."""
    names = _field_names(value)
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple | deque):
        parts = enumerate(value)
    elif names is not None:
        parts = ((name, getattr(value, name)) for name in names)
    for key, part in parts:
        try:
            _converted(part, None, of_state=True)
        except ValueError:
            return [str(key), *_place_of_problem(part)]
    return []


def _converted(value: Any, fallback: Callable[[Any], Any] | None, *, of_state: bool) -> Any:
    if type(value) in _PLAIN or (isinstance(value, str | int | float) and not isinstance(value, Enum)):
        return value
    if isinstance(value, dict):
        found = {
            key if type(key) is str else _key(key, of_state=of_state): part
            if type(part) in _PLAIN
            else _converted(part, fallback, of_state=of_state)
            for key, part in value.items()
        }
        if of_state and len(found) < len(value):
            _refuse_keys(value)
        return found
    if isinstance(value, list | tuple | deque):
        return [part if type(part) in _PLAIN else _converted(part, fallback, of_state=of_state) for part in value]
    if isinstance(value, set | frozenset):  # equal sets may differ in order
        parts = (_converted(part, fallback, of_state=of_state) for part in value)
        return sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))
    names = _field_names(value)
    if names is not None:
        return {name: _converted(getattr(value, name), fallback, of_state=of_state) for name in names}
    return _scalar(_in_one_notation(value) if of_state else value, fallback)


def _scalar(value: Any, fallback: Callable[[Any], Any] | None) -> Any:
    try:
        return to_jsonable_python(value, inf_nan_mode="constants", fallback=fallback)
    except PydanticSerializationError:
        raise ValueError(f"a {type(value).__qualname__} cannot be written as JSON") from None


def _in_one_notation(value: Any) -> Any:
    """Return a decimal as the text, and a time with a zone as the time in UTC, that all equal values share."""
    text = value_text(value)
    if text is None:
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    # 100 is easier to read than 1E+2.
    return format(Decimal(text), "f") if value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS else text


def _refuse_keys(value: dict[Any, Any]) -> None:
    """Refuse a dict in which two keys have the same text in JSON.

    Raises:
        ValueError: Always; names both.
    """
    known: dict[str, Any] = {}
    for key in value:
        text = _key(key, of_state=True)
        if text in known:
            raise ValueError(f"the keys {known[text]!r} and {key!r} are the same in JSON")
        known[text] = key


def _field_names(value: Any) -> list[str] | None:
    if isinstance(value, BaseModel):
        return list(type(value).model_fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [field.name for field in dataclasses.fields(value)]
    return None


def _key(key: Any, *, of_state: bool) -> str:
    # The text that a reader of JSON expects, such as null of None. ``records.canonical`` has texts of its own: it only
    # compares, and must keep two keys apart that are one in JSON.
    converted = _converted(key, None, of_state=of_state)
    return converted if isinstance(converted, str) else json.dumps(converted)
