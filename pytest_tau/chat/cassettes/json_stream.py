"""A stream of JSON objects, each of which begins a line, laid out so that a change shows as a small difference.

No library does this. ``json`` has one indentation for all values. ijson reads several values from one file, but its
errors have no line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...documents import describe, nested_too_deep
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Made once: a recorded call has hundreds of values.
_encode = json.JSONEncoder(ensure_ascii=False).encode
#: What a text of several lines begins with, which gets a line for each of its own.
_LINES = '{"lines": ['
#: Fields that get a line for each of their items.
_BLOCKS = ("hashes", "tools", "messages", "reply")
#: Characters that editors do not show as they are: controls, line separators, changes of direction, lone surrogates.
_UNSEEN = re.compile("[\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]")


def dump(value: dict[str, Any]) -> str:
    """Return an object as text: its small fields on the first line, then a line for each item of a large one."""
    large = [name for name in _BLOCKS if value.get(name)]
    first = ", ".join(f"{_json(name)}: {_json(item)}" for name, item in value.items() if name not in large)
    return "{" + ",\n ".join([first, *(f"{_json(name)}: {_block(name, value[name])}" for name in large)]) + "}\n"


def _block(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "[\n  " + ",\n  ".join(map(_item, value)) + "\n ]"
    items = [f"{_json(key)}: {_item(item)}" for key, item in value.items()]
    if name == "reply":  # the message, and all else on one line
        items = [items[0], ", ".join(items[1:])]
    return "{\n  " + ",\n  ".join(items) + "\n }"


def _item(value: Any) -> str:
    """Return a value as text on one line; texts of several lines get a line for each of theirs."""
    text = _json(value)
    if _LINES not in text:  # as in most values; in a string the quotes are escaped
        return text
    if isinstance(value, list):
        return "[" + ", ".join(map(_item, value)) + "]"
    if len(value) == 1 and isinstance(value.get("lines"), list):
        return '{"lines": [\n   ' + ",\n   ".join(map(_json, value["lines"])) + "\n  ]}"
    return "{" + ", ".join(f"{_json(name)}: {_item(item)}" for name, item in value.items()) + "}"


def _json(value: Any) -> str:
    return _UNSEEN.sub(_escaped, _encode(value))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


# Texts of several lines


def encode_multiline(value: Any) -> Any:
    """Return a value with texts of several lines as ``{"lines": [...]}``, and such objects as ``{"plain": {...}}``."""
    if isinstance(value, str):
        return {"lines": value.split("\n")} if "\n" in value else value
    if isinstance(value, list):
        return [encode_multiline(item) for item in value]
    if isinstance(value, dict):
        inside = {key: encode_multiline(item) for key, item in value.items()}
        return {"plain": inside} if len(value) == 1 and ("lines" in value or "plain" in value) else inside
    return value


def decode_multiline(value: Any) -> Any:
    """Return the value that was encoded by ``encode_multiline``.

    Raises:
        ValueError: ``lines`` are not strings, or ``plain`` is not an object.
    """
    if isinstance(value, list):
        return [decode_multiline(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and "lines" in value:
        lines = value["lines"]
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise ValueError('"lines" is not a list of strings')
        return "\n".join(lines)
    if len(value) == 1 and "plain" in value:
        if not isinstance(value["plain"], dict):
            raise ValueError('"plain" is not an object')
        value = value["plain"]
    return {key: decode_multiline(item) for key, item in value.items()}


# Reading


class UnreadableError(Exception):
    """A stream cannot be read; the reader of the file turns this into an error that names the file.

    Attributes:
        line: The line of the problem, counted from 1.
    """

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        super().__init__(problem)


_SPACE = re.compile(r"[ \t\r\n]*")
_MERGE = re.compile(r"^(<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|$)", re.MULTILINE)


def objects_in(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object of a stream, with the line that it begins on.

    Raises:
        UnreadableError: The next value is not an object, or not valid JSON.
    """
    decoder, position, line = json.JSONDecoder(), 0, 1
    while True:
        start = position + len(_SPACE.match(text, position)[0])  # type: ignore[index] # it matches anything
        line += text.count("\n", position, start)
        if start == len(text):
            return
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            raise _read_error(text, error, line) from None
        if nested_too_deep(value):
            raise UnreadableError(line, f"is {describe(RecursionError())}")
        if not isinstance(value, dict):
            raise UnreadableError(line, f"is not an object: {_json(value)[:40]}")
        yield line, value
        line += text.count("\n", start, position)


def _read_error(text: str, error: Exception, line: int) -> UnreadableError:
    marks = _MERGE.search(text)
    if marks:
        return UnreadableError(text.count("\n", 0, marks.start()) + 1, "has conflict markers of an unfinished merge")
    if not isinstance(error, json.JSONDecodeError):  # nested too deep, or an integer that is too long
        return UnreadableError(line, f"is {describe(error)}")
    return UnreadableError(error.lineno, f"is not valid JSON: {error.msg}")
