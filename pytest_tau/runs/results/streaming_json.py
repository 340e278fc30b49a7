"""JSON documents value by value: whatever is complete is read, wherever the rest is broken or cut off.

Only the text of a file is in memory as a whole. Not ijson: it stops at the first broken element, refuses NaN, integers
of more than 64 bits and control characters in texts, which result files have, and changes lone surrogates.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...documents import DocumentError, UnfoldedError, describe, nested_too_deep, parse_json, unpacked
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

#: Arrays of a document that are given element by element.
STREAMED: Final = frozenset({"simulations", "tasks"})

_NO_SPACE: Final = re.compile(r"[^ \t\r\n]")
#: A string, which may have no end, or a bracket.
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>")?|[\[\]{}]', re.DOTALL)
_DEPTHS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}
_AFTER_SCALAR: Final = re.compile(r'[\s,:"\[\]{}]')
_DECODER: Final = json.JSONDecoder(strict=False)
_TOO_DEEP: Final = describe(RecursionError())


class Piece(NamedTuple):
    """One piece of a file.

    Attributes:
        key: The key that it stands under; empty in an array at the top and in JSON lines.
        position: Its place in its array, or among the lines; None for the whole value of a key.
        value: The decoded value.
        problem: Why there is no value.
        start: The position of its first character in the text of the file; 0 for the value of a key.
        end: The position after its last character.
    """

    key: str
    position: int | None
    value: Any = None
    problem: str | None = None
    start: int = 0
    end: int = 0


def pieces(path: Path) -> Iterator[Piece]:
    """Yield the pieces of a file: of an object key by key, of an array element by element, of JSON lines line by line.

    Args:
        path: The file, gzipped or not.

    Raises:
        OSError: The file cannot be read.
    """
    text = JsonText(path)
    first = text.peek()
    if first == "[":
        yield from _elements(text, "")
    elif first == "{" and (".jsonl" in path.suffixes[-2:] or text.begins_with_entry()):
        yield from _lines(text)
    elif first == "{":
        yield from _members(text)
    else:
        problem = f"not a JSON document: begins with {first!r}" if first else text.why_empty
        yield Piece("", None, problem=problem)


class JsonText:
    """The text of a file, and how far it has been read.

    Attributes:
        content: The text, decompressed if the file is gzipped.
        position: The number of characters that have been read.
        why: Why the text ends before the file does, in brackets; empty if it does not.
    """

    def __init__(self, path: Path) -> None:
        data, self.why = bytearray(), ""
        try:
            with path.open("rb") as file:
                for part in unpacked(file):
                    data += part
        except UnfoldedError as error:
            data, self.why = bytearray(), f" ({error})"
        except DocumentError as error:
            self.why = f" ({error})"
        self.content, self.position = data.decode("utf-8-sig", "replace"), 0
        self._line, self._counted = 1, 0

    @property
    def why_empty(self) -> str:
        """Return why there is nothing to read."""
        return self.why.strip(" ()") or "the file is empty"

    @property
    def line_number(self) -> int:
        """Return the number of the line of the next character, from 1."""
        self._line += self.content.count("\n", self._counted, self.position)
        self._counted = self.position
        return self._line

    def peek(self) -> str:
        """Return the next character that is not a space; empty at the end."""
        match = _NO_SPACE.search(self.content, self.position)
        self.position = match.start() if match else len(self.content)
        return match.group() if match else ""

    def take(self, expected: str) -> bool:
        """Pass over the next character that is not a space, if it is the expected one."""
        is_next = self.peek() == expected
        self.position += is_next
        return is_next

    def value(self) -> tuple[Any, str | None]:
        """Return the next value, and what is wrong with it; one that is complete but no JSON is skipped."""
        self.peek()
        try:
            value, after = _DECODER.raw_decode(self.content, self.position)
            if not isinstance(value, dict | list | str) and after != self._end():  # such as a date without quotes
                raise json.JSONDecodeError("Extra data", "", 0)
            self.position = after
        except (ValueError, RecursionError) as error:
            end = self._end()
            self.position = len(self.content) if end is None else end
            return None, describe(error) if end is not None else f"the file ends in the middle of an entry{self.why}"
        return (None, _TOO_DEEP) if nested_too_deep(value) else (value, None)

    def _end(self) -> int | None:
        """Return the position after the next value, valid or not; None if the text ends before."""
        first, depth = self.peek(), 0
        if first and first not in '{["':
            after = _AFTER_SCALAR.search(self.content, self.position)
            return after.start() if after else len(self.content)
        for token in _TOKEN.finditer(self.content, self.position):
            depth += _DEPTHS.get(token.group(), 0)
            if depth == 0:
                return token.end() if token["end"] or first != '"' else None
        return None

    def line(self) -> str | None:
        """Return the rest of the line; None at the end."""
        start, self.position = self.position, self._end_of_line()
        return self.content[start : self.position].removesuffix("\n") if start < self.position else None

    def begins_with_entry(self) -> bool:
        """Return whether the first of several lines is an object of its own, and not one that contains others."""
        end = self._end_of_line()
        if not _NO_SPACE.search(self.content, end):
            return False
        try:
            document = parse_json(self.content[self.position : end], strict=False)
        except DocumentError:
            return False
        return isinstance(document, dict) and not document.keys() & (STREAMED | {"simulation_index"})

    def _end_of_line(self) -> int:
        return self.content.find("\n", self.position) + 1 or len(self.content)


def _elements(text: JsonText, key: str) -> Generator[Piece, None, bool]:
    """Yield the elements of an array; return whether it was read to its end."""
    text.take("[")
    number, is_complete = 0, text.take("]")
    while not is_complete:
        if not text.peek():
            yield Piece(key, number, problem=f"the file ends before the entry{text.why}")
            return False
        start = text.position
        value, problem = text.value()
        yield Piece(key, number, value, problem, start, text.position)
        number += 1
        is_complete = text.take("]")
        if not is_complete and not text.take(","):
            if text.peek() or not problem:
                yield Piece(key, number, problem=_stuck(text, "','"))
            return False
    return True


def _members(text: JsonText) -> Iterator[Piece]:
    text.take("{")
    is_complete = text.take("}")
    while not is_complete:
        key, problem = text.value()
        if problem or not isinstance(key, str) or not text.take(":"):
            yield Piece("", None, problem=_stuck(text, "a key"))
            return
        if key in STREAMED and text.peek() == "[":
            readable = yield from _elements(text, key)
        else:
            value, problem = text.value()
            readable = problem is None or bool(text.peek())
            yield Piece(key, None, value, problem)
        if not readable:
            return
        is_complete = text.take("}")
        if not is_complete and not text.take(","):
            yield Piece("", None, problem=_stuck(text, "','"))
            return


def _stuck(text: JsonText, expected: str) -> str:
    character = text.peek()
    problem = f"expected {expected}, got {character!r}" if character else f"the file ends{text.why}"
    return f"nothing after this can be read: {problem}"


def _lines(text: JsonText) -> Iterator[Piece]:
    number = 0
    while text.peek():
        start, line = text.position, text.line() or ""
        if line.strip():
            value, problem = None, None
            try:
                value = parse_json(line, strict=False, is_line=True)
            except DocumentError as error:
                problem = str(error)
            yield Piece("", number, value, problem, start, start + len(line))
            number += 1
    if text.why:
        yield Piece("", number, problem=f"the file ends before the entry{text.why}")
