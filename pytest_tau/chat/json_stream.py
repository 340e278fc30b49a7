"""A stream of JSON objects, each of which begins a line, laid out so that a change shows as a small difference."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What is given a line for each of its items.
_BLOCKS = ("hashes", "tools", "messages", "reply")
#: What no editor shows as it is, or at all: controls, line separators, turns of direction, lone surrogates.
_UNSEEN = re.compile("[\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]")


def laid_out(value: dict[str, Any]) -> str:
    """An object as text: its small facts on the first line, then a line for each item of what is large."""
    large = [name for name in _BLOCKS if value.get(name)]
    first = ", ".join(f"{_json(name)}: {_json(item)}" for name, item in value.items() if name not in large)
    return "{" + ",\n ".join([first, *(f"{_json(name)}: {_block(name, value[name])}" for name in large)]) + "}\n"


def _block(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "[\n  " + ",\n  ".join(map(_item, value)) + "\n ]"
    items = [f"{_json(key)}: {_item(item)}" for key, item in value.items()]
    if name == "reply":  # the message, and on one line what it cost
        items = [items[0], ", ".join(items[1:])]
    return "{\n  " + ",\n  ".join(items) + "\n }"


def _item(value: Any) -> str:
    """A value on one line, but for texts of several lines."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_item, value)) + "]"
    if not isinstance(value, dict):
        return _json(value)
    if len(value) == 1 and isinstance(value.get("lines"), list):
        return '{"lines": [\n   ' + ",\n   ".join(map(_json, value["lines"])) + "\n  ]}"
    return "{" + ", ".join(f"{_json(name)}: {_item(item)}" for name, item in value.items()) + "}"


def _json(value: Any) -> str:
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


# Texts of several lines


def packed(value: Any) -> Any:
    """The value with each text of several lines as ``{"lines": [...]}``, and its lookalikes as ``{"plain": {...}}``."""
    if isinstance(value, str):
        return {"lines": value.split("\n")} if "\n" in value else value
    if isinstance(value, list):
        return [packed(item) for item in value]
    if isinstance(value, dict):
        inside = {key: packed(item) for key, item in value.items()}
        return {"plain": inside} if len(value) == 1 and ("lines" in value or "plain" in value) else inside
    return value


def unpacked(value: Any) -> Any:
    """What was packed.

    Raises:
        ValueError: ``lines`` are no texts, or ``plain`` is no object.
    """
    if isinstance(value, list):
        return [unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and "lines" in value:
        lines = value["lines"]
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise ValueError('"lines" is no list of texts')
        return "\n".join(lines)
    if len(value) == 1 and "plain" in value:
        if not isinstance(value["plain"], dict):
            raise ValueError('"plain" is no object')
        value = value["plain"]
    return {key: unpacked(item) for key, item in value.items()}


# Reading


class UnreadableError(Exception):
    """A stream that cannot be read; becomes an error that names the file.

    Attributes:
        line: Where, counted from 1.
    """

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        super().__init__(problem)


class CutOffError(UnreadableError):
    """The stream ends in the middle of a value."""


_SPACE = re.compile(r"[ \t\r\n]*")
_MERGE = re.compile(r"^(<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|$)", re.MULTILINE)


def objects_in(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each object of a stream, with the line that it begins on.

    Raises:
        UnreadableError: What comes next is none.
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
            raise _unreadable(text, error, line) from None
        if not isinstance(value, dict):
            raise UnreadableError(line, f"is no object: {_json(value)[:40]}")
        yield line, value
        line += text.count("\n", start, position)


def last_line(text: str) -> int:
    """The number of the last line."""
    return text.rstrip("\r\n").count("\n") + 1


def _unreadable(text: str, error: Exception, line: int) -> UnreadableError:
    marks = _MERGE.search(text)
    if marks:
        return UnreadableError(text.count("\n", 0, marks.start()) + 1, "has the marks of an unfinished merge")
    if not isinstance(error, json.JSONDecodeError):  # nested too deep, or an integer that is too long
        return UnreadableError(line, f"is not JSON: {error}")
    rest = text.rstrip()
    if error.pos >= len(rest) or not rest.endswith("}") or error.msg.startswith("Unterminated"):
        return CutOffError(last_line(text), "ends in the middle of a value")
    return UnreadableError(error.lineno, f"is not JSON: {error.msg}")
