"""The functions of Python's module ``json`` as Python has them.

A project may replace ``json.dumps`` by that of another library, which returns bytes, or knows none of its options. What
is paid for must be stored nevertheless, so this package uses these, under the name ``json``.
"""

from __future__ import annotations

from json.decoder import JSONDecodeError, JSONDecoder
from json.encoder import JSONEncoder
from typing import Any

__all__ = ["JSONDecodeError", "JSONDecoder", "JSONEncoder", "dumps", "loads"]

_ENCODER, _DECODER = JSONEncoder(), JSONDecoder()


def dumps(value: object, **options: Any) -> str:
    """Return a value as JSON.

    Args:
        value: The value.
        options: Those of ``json.dumps``.

    Raises:
        TypeError: Something in it is not a JSON value.
        ValueError: It contains itself, or a number that JSON does not have.
    """
    encoder: type[JSONEncoder] = options.pop("cls", JSONEncoder)
    return (encoder(**options) if options or encoder is not JSONEncoder else _ENCODER).encode(value)


def loads(text: str | bytes, **options: Any) -> Any:
    """Return the value of a JSON document.

    Args:
        text: The document; bytes are UTF-8.
        options: Those of ``json.loads``.

    Raises:
        ValueError: It is not valid JSON.
    """
    decoded = text if isinstance(text, str) else bytes(text).decode("utf-8", "surrogatepass")
    return (JSONDecoder(**options) if options else _DECODER).decode(decoded)
