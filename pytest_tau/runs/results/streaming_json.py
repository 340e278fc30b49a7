"""JSON files of any size, piece by piece: whatever is complete is read, wherever the rest is broken or cut off.

Not ijson: it stops at the first broken element, refuses NaN, integers of more than 64 bits and control characters in
texts, which result files have, and changes lone surrogates. It is no faster (62 MB in 0.6 s, here in 0.5 s).
"""

from __future__ import annotations

import codecs
import contextlib
import itertools
import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...documents import DocumentError, describe, nested_too_deep, parse_json, unpacked

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

#: Arrays of a document that are given element by element.
STREAMED: Final = frozenset({"simulations", "tasks"})
#: The most characters of one entry, and of everything else together; a long conversation has some 100,000.
LARGEST: Final = 32 << 20

_CHUNK: Final = 1 << 20
#: The search for the end of an entry that is too large ends after so many characters.
_FARTHEST: Final = 2 * LARGEST
_FIRST_LINE: Final = 16 << 20
_NO_SPACE: Final = re.compile(r"[^ \t\r\n]")
_STRUCTURE: Final = re.compile(r'["\[\]{}]')
_IN_STRING: Final = re.compile(r'["\\]')
_END_OF_SCALAR: Final = re.compile(r'[\s,:"\[\]{}]')
_DECODER: Final = json.JSONDecoder(strict=False)
_TOO_DEEP: Final = describe(RecursionError())
_TOO_LARGE: Final = f"larger than {LARGEST >> 20} MiB"


class Piece(NamedTuple):
    """One piece of a file.

    Attributes:
        key: The key that it stands under; empty in an array at the top and in JSON lines.
        position: Its place in its array, or among the lines; None for the whole value of a key.
        value: The decoded value.
        problem: Why there is no value.
        start: The position of its first character in the text of the file.
        end: The position after its last character; equal to ``start`` if it has no end.
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
        OSError: The file cannot be opened.
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
        problem = f"not a JSON document: begins with {first!r}" if first else f"the file is empty{text.why}"
        yield Piece("", None, problem=problem)


def chunks(path: Path) -> Iterator[str]:
    """Yield the text of a file, decompressed if it is gzipped, in chunks of limited size.

    Raises:
        DocumentError: The compressed data is damaged; what could be read of it was yielded before.
        OSError: The file cannot be read.
    """
    decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
    with path.open("rb") as file:
        for data in unpacked(file):
            yield decode(data)


class _Brackets:
    """Finds the end of an object, an array or a string in a text that comes in parts."""

    def __init__(self) -> None:
        self._depth, self._in_string, self._escaped = 0, False, False

    def end(self, text: str, at: int) -> int | None:
        """Return the position after the value, from which on the text has not been looked at; None if it goes on."""
        while at < len(text):
            if self._in_string:
                at = self._end_of_string(text, at)
                if self._in_string:
                    return None
            elif (closing := self._closing(text, at)) is None:
                return None
            else:
                at = closing
            if self._depth == 0 and not self._in_string:
                return at
        return None

    def _closing(self, text: str, at: int) -> int | None:
        """Return the position after the bracket that ends the value, or after the next quotation mark."""
        for token in _STRUCTURE.finditer(text, at):
            found = token.group()
            if found == '"':
                self._in_string = True
                return token.end()
            self._depth += 1 if found in "[{" else -1
            if self._depth == 0:
                return token.end()
        return None

    def _end_of_string(self, text: str, at: int) -> int:
        at += self._escaped
        self._escaped = False
        while (token := _IN_STRING.search(text, at)) is not None:
            if token.group() == '"':
                self._in_string = False
                return token.end()
            at = token.end() + 1
        self._escaped = at > len(text)
        return at


class JsonText:
    """The text read so far and not yet consumed.

    Attributes:
        why: Why the text ends before the file does, in brackets; empty if it does not.
    """

    def __init__(self, path: Path) -> None:
        self._chunks, self._buffer, self._at, self._before = chunks(path), "", 0, 0
        self._lines = self._counted = 0
        self.why = ""

    @property
    def position(self) -> int:
        """Return the number of characters consumed."""
        return self._before + self._at

    @property
    def line_number(self) -> int:
        """Return the number of the line of the next character, from 1."""
        self._lines += self._buffer.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._lines + 1

    def more(self) -> bool:
        """Read on, as much as there is already, so that large values cost no more than their size."""
        there = len(self._buffer) - self._at
        wanted, parts = max(_CHUNK, min(there, LARGEST - there)), [self._buffer[self._at :]]
        self._before += self._at
        self._lines += self._buffer.count("\n", self._counted, self._at)
        self._buffer, self._at, self._counted = "", 0, 0
        while wanted > 0 and (chunk := self._next()) is not None:
            parts.append(chunk)
            wanted -= len(chunk)
        self._buffer = "".join(parts)
        return len(parts) > 1

    def _next(self) -> str | None:
        try:
            return next(self._chunks, None)
        except DocumentError as error:
            self.why = f" ({error})"
            return None

    def peek(self) -> str:
        """Return the next character that is not a space; empty at the end."""
        while True:
            if found := _NO_SPACE.search(self._buffer, self._at):
                self._at = found.start()
                return found.group()
            self._at = len(self._buffer)
            if not self.more():
                return ""

    def take(self, expected: str) -> bool:
        """Pass over the next character that is not a space, if it is the expected one."""
        found = self.peek() == expected
        self._at += found
        return found

    def value(self) -> tuple[Any, str | None]:
        """Return the next value, and what is wrong with it; one that is complete but no JSON is skipped."""
        return self._delimited() if self.peek() in ("{", "[", '"') else self._scalar()

    def _delimited(self) -> tuple[Any, str | None]:
        """Return an object, an array or a string; a large one is not decoded before it is complete."""
        brackets, seen = _Brackets(), self._at
        while True:
            there = len(self._buffer) - self._at
            if there <= 2 * _CHUNK:
                with contextlib.suppress(ValueError, RecursionError):
                    value, self._at = _DECODER.raw_decode(self._buffer, self._at)
                    return _checked(value)
                if there < _CHUNK:
                    goes_on, seen = self.more(), self._at
                    if goes_on:  # which mostly completes the value
                        continue
            end = brackets.end(self._buffer, seen)
            if end is not None:
                return self._until(end)
            if there > LARGEST:
                return None, self._skip(brackets)
            seen = there
            if not self.more():
                self._at = len(self._buffer)
                return None, f"the file ends in the middle of an entry{self.why}"

    def _scalar(self) -> tuple[Any, str | None]:
        searched = self._at
        while (found := _END_OF_SCALAR.search(self._buffer, searched)) is None:
            searched = len(self._buffer) - self._at
            if searched > LARGEST:
                self._at = len(self._buffer)
                return None, _TOO_LARGE
            if not self.more():
                break
        if found is None and self._at == len(self._buffer):
            return None, f"the file ends in the middle of an entry{self.why}"
        return self._until(len(self._buffer) if found is None else found.start())

    def _until(self, end: int) -> tuple[Any, str | None]:
        """Return the value of the text up to a position, and consume it."""
        text, self._at = self._buffer[self._at : end], end
        try:
            return _checked(_DECODER.decode(text))
        except (ValueError, RecursionError) as error:
            return None, describe(error)

    def _skip(self, brackets: _Brackets) -> str:
        """Pass over the rest of a value that is too large, of which the buffer was looked at; return the problem."""
        end, last = None, self.position + _FARTHEST
        while end is None:
            self._at = len(self._buffer)
            if self.position > last:
                self._chunks = iter(())
                self.why = f" (after {_FARTHEST >> 20} MiB of one entry)"
            if not self.more():
                return f"{_TOO_LARGE}, and nothing after it is read{self.why}"
            end = brackets.end(self._buffer, 0)
        self._at = end
        return _TOO_LARGE

    def line(self) -> tuple[str, str | None] | None:
        """Return the rest of the line, and what is wrong with it; None at the end."""
        searched = self._at
        while (end := self._buffer.find("\n", searched)) < 0:
            if len(self._buffer) - self._at > LARGEST:
                return "", self._skip_line()
            searched = len(self._buffer) - self._at
            if not self.more():
                end = len(self._buffer)
                break
        if self._at >= len(self._buffer):
            return None
        line, self._at = self._buffer[self._at : end], min(end + 1, len(self._buffer))
        return line, None

    def _skip_line(self) -> str:
        while (end := self._buffer.find("\n", self._at)) < 0:
            self._at = len(self._buffer)
            if not self.more():
                return f"{_TOO_LARGE}, and nothing after it is read{self.why}"
        self._at = end + 1
        return _TOO_LARGE

    def begins_with_entry(self) -> bool:
        """Return whether the first line is an object of its own, and not one that contains others."""
        while "\n" not in self._buffer and len(self._buffer) < _FIRST_LINE and self.more():
            pass
        line, newline, _ = self._buffer[self._at :].partition("\n")
        self._shorten()
        try:
            found = parse_json(line, strict=False) if newline else None
        except DocumentError:
            return False
        return isinstance(found, dict) and not found.keys() & (STREAMED | {"simulation_index"})

    def _shorten(self) -> None:
        """Put back all but the beginning of the buffer, as its values are decoded at once only from a short one."""
        text, self._buffer = self._buffer, self._buffer[: self._at + _CHUNK]
        rest = range(len(self._buffer), len(text), _CHUNK)
        self._chunks = itertools.chain((text[at : at + _CHUNK] for at in rest), self._chunks)


def _checked(value: Any) -> tuple[Any, str | None]:
    return (None, _TOO_DEEP) if nested_too_deep(value) else (value, None)


def _elements(text: JsonText, key: str) -> Generator[Piece, None, bool]:
    """Yield the elements of an array; return whether it was read to its end."""
    text.take("[")
    if text.take("]"):
        return True
    number = 0
    while True:
        if not text.peek():
            yield Piece(key, number, problem=f"the file ends before the entry{text.why}")
            return False
        start = text.position
        value, problem = text.value()
        yield Piece(key, number, value, problem, start, text.position)
        if text.take("]"):
            return True
        if problem and not text.peek():
            return False
        if not text.take(","):
            yield Piece(key, number + 1, problem=_stuck(text, "','"))
            return False
        number += 1


def _members(text: JsonText) -> Iterator[Piece]:
    text.take("{")
    whole, size = text.take("}"), 0
    while not whole:
        key, problem = text.value()
        if problem or not isinstance(key, str) or not text.take(":"):
            yield Piece("", None, problem=_stuck(text, "a key"))
            return
        if key in STREAMED and text.peek() == "[":
            readable = yield from _elements(text, key)
        else:
            text.peek()
            start = text.position
            value, problem = text.value()
            readable = problem is None or bool(text.peek())
            size += text.position - start
            if size > LARGEST:  # values that are not too large alone
                value, problem = None, problem or f"{_TOO_LARGE}, together with what is before it"
            yield Piece(key, None, value, problem, start, text.position)
        if not readable:
            return
        whole = text.take("}")
        if not whole and not text.take(","):
            yield Piece("", None, problem=_stuck(text, "','"))
            return


def _stuck(text: JsonText, expected: str) -> str:
    found = text.peek()
    problem = f"expected {expected}, got {found!r}" if found else f"the file ends{text.why}"
    return f"nothing after this can be read: {problem}"


def _lines(text: JsonText) -> Iterator[Piece]:
    number, start = 0, text.position
    while (found := text.line()) is not None:
        line, problem = found
        if line.strip() or problem:
            try:
                value = None if problem else parse_json(line, strict=False, is_line=True)
            except DocumentError as error:
                value, problem = None, str(error)
            yield Piece("", number, value, problem, start, start + len(line))
            number += 1
        start = text.position
    if text.why:
        yield Piece("", number, problem=f"the file ends before the entry{text.why}")
