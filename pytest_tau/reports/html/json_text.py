"""Values as text: the page never sees a number of a conversation as its own, which has no integers and drops ``.0``."""

from __future__ import annotations

import math
from json.encoder import encode_basestring
from typing import Any

from ...models.json_values import json_bytes
from ...plain import json

#: Made once, for the many small values of a conversation.
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def value_text(value: Any, longest: int | None = None) -> str:
    """Return a JSON value as one line of JSON; what is not JSON as its text.

    Args:
        value: The value.
        longest: Characters after which it is cut off.
    """
    # Most values are texts, which need no further calls.
    text = encode_basestring(value) if type(value) is str else _ENCODER.encode(value)
    return text if longest is None else clipped(text, longest)


def clipped(text: str, longest: int) -> str:
    """Return the text, or its beginning with the number of characters that were cut off."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} … and {len(text) - longest:,} more characters"


def packed_document(value: Any) -> bytes:
    """Return a document for a packed part of the page: UTF-8, as no parser of HTML sees it."""
    try:
        return json_bytes(value)
    except ValueError:
        return _ascii(value).encode()


def document(value: Any) -> str:
    """Return a document for the page: ASCII, and harmless inside of a script element."""
    # Only strings have these characters, and there an escape means the same.
    return _ascii(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _ascii(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))


def _finite(value: Any) -> Any:
    """Return the value, with null instead of numbers that JSON lacks."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
