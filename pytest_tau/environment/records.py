"""Records: the typed objects that databases consist of."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class Record(BaseModel):
    """Base of a domain's records.

    Loading validates and converts; later assignments by tools are stored as they are, as in the reference.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")


def clone(value: T) -> T:
    """Return a deep copy of a record, a list or a dict; all other values of a database are immutable."""
    if isinstance(value, BaseModel):
        copy = value.model_copy()
        fields = copy.__dict__
        for name, field in fields.items():
            if isinstance(field, BaseModel | list | dict):
                fields[name] = clone(field)
        return copy
    if isinstance(value, list):
        return [clone(item) for item in value]  # type: ignore[return-value]
    if isinstance(value, dict):
        return {key: clone(item) for key, item in value.items()}  # type: ignore[return-value]
    return value


def plain(value: Any) -> Any:
    """Return a value as JSON-like Python data; dates stay dates."""
    if isinstance(value, BaseModel):
        # Without warnings: a tool may have stored a value of another type than declared.
        return value.model_dump(warnings=False)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def canonical(value: Any) -> str:
    """Return a text that is equal exactly if two values are, in order of lists and in type of JSON value.

    Source: τ²-bench v1.0.1, database hash: sorted keys, dates by ``str``; 1, 1.0 and true differ.
    """
    return json.dumps(plain(value), sort_keys=True, default=str)
