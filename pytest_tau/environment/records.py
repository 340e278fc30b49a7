"""Records: the typed objects that databases consist of."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of a domain's records.

    Loading validates and converts; later assignments by tools are stored as they are, as in the reference.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")


def plain(value: Any) -> Any:
    """Return a value as JSON-like Python data; dates and members of an ``Enum`` stay what they are."""
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
    return json.dumps(value, sort_keys=True, default=_canonical_default)


def _canonical_default(value: Any) -> Any:
    return plain(value) if isinstance(value, BaseModel) else json_default(value)


def json_default(value: Any) -> Any:
    """Return what stands in JSON for a value that is not JSON: the value of a member of an ``Enum``, or the text."""
    return value.value if isinstance(value, Enum) else str(value)
