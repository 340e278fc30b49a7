"""Records: the typed objects that databases consist of."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Iterable


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


def same(one: Any, other: Any) -> bool:
    """Return whether two values have the same canonical text, which is written only if needed."""
    found = _same(one, other)
    return canonical(one) == canonical(other) if found is None else found


def _same(one: Any, other: Any) -> bool | None:
    """Return whether two values have the same canonical text; None if that is not known without it."""
    kind = type(one)
    if one is other:
        found: bool | None = True
    elif kind is not type(other):
        found = False if kind in _JSON and type(other) in _JSON else None
    elif kind in _EQUAL:
        found = bool(one == other)
    elif kind is float:
        found = float.__repr__(one) == float.__repr__(other)
    elif kind is dict:
        found = _same_fields(one, other) if _TEXT.issuperset(map(type, (*one, *other))) else None
    elif kind is list:
        found = len(one) == len(other) and _same_values(zip(one, other, strict=True))
    elif issubclass(kind, Record) and not one.__pydantic_private__ and not other.__pydantic_private__:
        extra, others = one.__pydantic_extra__, other.__pydantic_extra__
        found = (extra is others or _same(extra, others)) and _same_fields(one.__dict__, other.__dict__)
        if found is False and any(field.exclude for field in kind.model_fields.values()):
            found = None  # they may differ in a field that does not belong to the state
    else:
        found = None
    return found


def _same_fields(one: dict[Any, Any], other: dict[Any, Any]) -> bool | None:
    return one.keys() == other.keys() and _same_values(zip(one.values(), map(other.__getitem__, one), strict=True))


def _same_values(pairs: Iterable[tuple[Any, Any]]) -> bool | None:
    all_known = True
    for mine, theirs in pairs:
        if mine is theirs:
            continue
        kind = type(mine)
        # Most values are these: they need no further call.
        found = bool(mine == theirs) if kind in _EQUAL and kind is type(theirs) else _same(mine, theirs)
        if found is False:
            return False
        all_known = all_known and found is not None
    return True if all_known else None


#: Types of JSON values, and types whose values have the same canonical text exactly if they are equal.
_JSON = frozenset({str, int, float, bool, type(None), dict, list})
_EQUAL = frozenset({str, int, bool, type(None), date})
_TEXT = frozenset({str})


def canonical(value: Any) -> str:
    """Return a text that is equal exactly if two values are, in order of lists and in type of JSON value.

    Equal decimals, sets and times with a zone have the same text.

    Source: τ²-bench v1.0.1, database hash: sorted keys, dates by ``str``; 1, 1.0 and true differ.
    """
    try:
        return json.dumps(value, sort_keys=True, default=_canonical_default)
    except TypeError:  # keys that are not texts, such as members of an Enum, or that cannot be sorted
        return json.dumps(_with_text_keys(value), sort_keys=True)


def digest(model: BaseModel) -> bytes:
    """Return a digest of a model's content, in 16 bytes."""
    return hashlib.blake2b(content_of(model), digest_size=16).digest()


def content_of(model: BaseModel) -> bytes:
    """Return a model's content in bytes of JSON."""
    try:
        return model.__pydantic_serializer__.to_json(model)
    except ValueError:  # a value that is not JSON, or text that is not Unicode
        return canonical(model).encode()


def _with_text_keys(value: Any) -> Any:
    """Return a value as JSON data, with a text for each key; of several with one text, further ones name their type."""
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for key, part in value.items():
            text = _key_text(key)
            found[f"{text} ({type(key).__name__})" if text in found else text] = _with_text_keys(part)
        return found
    if isinstance(value, list | tuple):
        return [_with_text_keys(part) for part in value]
    return value if type(value) in _JSON else _with_text_keys(_canonical_default(value))


def _key_text(key: Any) -> str:
    """Return the text of a key, for comparison only.

    It differs from that of ``jsonable.state_data``, which is for readers of JSON, and which refuses two keys with one
    text: records may have both, and equal records must have the digests that they had before.
    """
    if isinstance(key, str) and not isinstance(key, Enum):
        return key
    if isinstance(key, tuple):
        return canonical(key)
    text = value_text(key)
    return str(json_default(key)) if text is None else text


def _canonical_default(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return plain(value)
    text = value_text(value)
    return json_default(value) if text is None else text


def value_text(value: Any) -> str | None:
    """Return a text that all equal values share, of a decimal or a time with a zone; None for a value of another type.

    10.5 and 10.50 are equal, and so are 10:00+01:00 and 09:00Z.
    """
    if isinstance(value, Decimal):
        digits = len(value.as_tuple().digits)
        return "0" if value.is_zero() else str(value.normalize(Context(prec=max(1, digits), traps=[])))
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return str(value.astimezone(UTC))
    return None


def json_default(value: Any) -> Any:
    """Return what stands in JSON for a value that is not JSON.

    Of a member of an ``Enum`` it is the value, of a dataclass its fields, of a set or another container a list: of a
    set in an order that does not depend on the process. Of all else it is the text.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, AbstractSet):
        return sorted(value, key=canonical)
    if isinstance(value, deque):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return str(value)
