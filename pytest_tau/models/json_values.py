"""JSON values that every reader of ours can write down and read back."""

from __future__ import annotations

from typing import Any

_DEEPEST, _LONGEST_INTEGER = 100, 10**1000


def writable(text: str) -> str:
    """The text with lone surrogates escaped, which JSON may hold and no file can."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_copy(value: Any, depth: int = 0) -> Any:
    """A copy of a JSON value.

    Raises:
        TypeError: There is something that is no JSON value.
        ValueError: It is nested too deep, or holds an integer that is too long.
    """
    if depth > _DEEPEST:
        raise ValueError(f"nested more than {_DEEPEST} levels deep")
    if isinstance(value, dict):
        return {writable(str(key)): json_copy(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_copy(item, depth + 1) for item in value]
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, int) and abs(value) >= _LONGEST_INTEGER:
        raise ValueError("an integer of more than 1000 digits")
    if value is None or isinstance(value, int | float):
        return value
    raise TypeError(f"{type(value).__name__} is no JSON value")
