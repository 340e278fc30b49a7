"""Tool results as text, in the reference's format."""

from __future__ import annotations

import json
from datetime import date
from enum import Enum
from typing import Any

from pydantic import BaseModel

from .records import json_default, plain


def result_text(result: Any) -> str:
    """Return the text of a tool's result.

    A string stays as it is. Records keep their numbers; bare numbers and booleans, also directly inside a list or
    a dict, become strings; dates inside a record are written by ``str``, others in ISO format. A member of an ``Enum``
    is written as its value, which is what a call passes.

    Source: τ²-bench v1.0.1, environment responses.
    """
    result = _value(result)
    return result if isinstance(result, str) else json.dumps(_stringified(result), default=json_default)


def _stringified(value: Any) -> Any:
    value = _value(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, BaseModel):
        return plain(value)
    if isinstance(value, set | frozenset):
        value = json_default(value)
    if isinstance(value, list | tuple):
        return [_stringified(item) for item in value]
    if isinstance(value, dict):
        return {_value(key): _stringified(item) for key, item in value.items()}
    if isinstance(value, date):  # a datetime is one, too
        return value.isoformat()
    return str(value)


def _value(result: Any) -> Any:
    return result.value if isinstance(result, Enum) else result
