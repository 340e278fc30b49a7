"""Documents that others wrote, JSON and TOML: read within limits, with one kind of error for all that is wrong.

Nothing else in this package parses a file that may be foreign. A document is refused if it is nested too deep, which
ends in a ``RecursionError`` somewhere later, if it has an integer that Python does not convert, or if it is too large,
also if only because a small compressed file unfolds to it.
"""

from __future__ import annotations

import ast
import codecs
import re
import sys
import warnings
import zlib
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final

from .plain import json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = [
    "DocumentError",
    "json_or_none",
    "parse_json",
    "parse_literal",
    "parse_toml",
    "read_json",
    "read_toml",
]

#: The most levels of a document; what pydantic and a recursion over JSON can handle.
MAX_DEPTH: Final = 200
#: The most bytes, uncompressed, of a document that is read as a whole.
MAX_BYTES: Final = 256 << 20
#: What unfolds to more bytes than these may not be more than so many times as large as its file; results reach 30.
MAX_UNFOLDED: Final = 4 << 20
MAX_RATIO: Final = 200

#: A literal takes a hundred times its size while it is parsed.
_LONGEST_LITERAL: Final = 1 << 20

_GZIP: Final = b"\x1f\x8b"
_CHUNK: Final = 1 << 20
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


#: A text, the colon of its value if it is a key, and where objects begin and end.
_TOKEN: Final = re.compile(r'"(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"(?P<colon>\s*:)?|[{}]', re.DOTALL)


class DocumentError(ValueError):
    """A document cannot be read; the text says why, and does not name the file."""


class UnfoldedError(DocumentError):
    """Compressed data unfolds to an absurd size: nothing of it is worth reading."""


class _RepeatedKeyError(Exception):
    """An object has a key twice."""


def parse_json(
    text: str | bytes,
    *,
    strict: bool = True,
    is_line: bool = False,
    unique_keys: bool = False,
    share_texts: bool = False,
) -> Any:
    """Return the value of a JSON document.

    Args:
        text: The document; bytes are UTF-8.
        strict: Whether control characters inside texts are refused.
        is_line: It is a line of a file, so that errors name no line.
        unique_keys: Whether an object that has a key twice is refused; else the last value counts.
        share_texts: Whether equal texts of a document that is kept become one; its keys are unique, too.

    Raises:
        DocumentError: It is not UTF-8, not valid JSON, nested too deep, or has an integer that is too long.
    """
    try:
        decoded = _decoded(text)
        make = _sharing_texts() if share_texts else _unique_keys if unique_keys else None
        value = json.loads(decoded, strict=strict, object_pairs_hook=make)
    except _RepeatedKeyError:
        raise DocumentError(_repeated(decoded)) from None
    except (ValueError, RecursionError) as error:
        raise DocumentError(describe(error) + _place(error, is_line=is_line)) from None
    if nested_too_deep(value):
        raise DocumentError(_TOO_DEEP)
    return value


def json_or_none(text: str | bytes) -> Any:
    """Return the value of a JSON document; None if it is not one."""
    try:
        return parse_json(text)
    except DocumentError:
        return None


def parse_literal(text: str) -> Any:
    """Return the value of a Python literal, such as ``{'paid': True}``; nothing in it is executed.

    Raises:
        DocumentError: It is not a literal, or too long.
    """
    if len(text) > _LONGEST_LITERAL:
        raise DocumentError(f"not a Python literal: longer than {_LONGEST_LITERAL:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes in texts that Python does not know
            value = ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise DocumentError("not a Python literal") from None
    if nested_too_deep(value):
        raise DocumentError(_TOO_DEEP)
    return value


def read_json(path: Path, *, unique_keys: bool = False) -> Any:
    """Return the JSON document in a file, gzipped or not.

    Args:
        path: The file.
        unique_keys: As for ``parse_json``.

    Raises:
        DocumentError: As for ``parse_json``; or it is too large, or its compressed data is damaged.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        return parse_json(file_text(_whole(file)), share_texts=unique_keys)


def parse_toml(text: str | bytes) -> dict[str, Any]:
    """Return the value of a TOML document.

    Raises:
        DocumentError: It is not UTF-8, not valid TOML, nested too deep, or has an integer that is too long.
    """
    import tomllib

    try:
        document: dict[str, Any] = tomllib.loads(_decoded(text))
    except tomllib.TOMLDecodeError as error:
        raise DocumentError(f"not valid TOML: {error}") from None
    except (ValueError, RecursionError) as error:
        raise DocumentError(describe(error, "TOML") + _place(error)) from None
    if nested_too_deep(document):
        raise DocumentError(describe(RecursionError(), "TOML"))
    return document


def read_toml(path: Path) -> dict[str, Any]:
    """Return the TOML document in a file.

    Raises:
        DocumentError: As for ``parse_toml``; or it is too large.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        return parse_toml(file_text(_whole(file)))


def read_text(path: Path) -> str:
    """Return the text of a file, whose lines end in a line feed.

    Raises:
        DocumentError: As for ``file_text``.
        OSError: The file cannot be read.
    """
    return file_text(path.read_bytes()).replace("\r\n", "\n").replace("\r", "\n")


def file_text(data: bytes) -> str:
    """Return the content of a file as text, without a byte order mark.

    Raises:
        DocumentError: It is not UTF-8; names the place, and what to do.
    """
    if data.startswith(_UTF16) or 0 in data[:2]:
        raise DocumentError("not UTF-8 text: it begins like UTF-16 (line 1, column 1); save it as UTF-8")
    try:
        return _decoded(data)
    except UnicodeDecodeError as error:
        raise DocumentError(f"{describe(error)}{_place(error)}; save it as UTF-8") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _RepeatedKeyError
    return members


def _sharing_texts() -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Return a function that makes the objects of a document, in which equal texts are one."""
    texts: dict[str, str] = {}

    def make(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = _unique_keys(pairs).items()
        return {key: texts.setdefault(value, value) if type(value) is str else value for key, value in members}

    return make


def _repeated(text: str) -> str:
    """Return which key an object of a valid JSON document has twice, and where."""
    objects: list[dict[str, int]] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            objects.append({})
        elif token[0] == "}":
            objects.pop()
        elif token["colon"]:
            key = json.loads(f'"{token["text"]}"', strict=False)
            first = objects[-1].setdefault(key, token.start())
            if first != token.start():
                line, other = (text.count("\n", 0, place) + 1 for place in (first, token.start()))
                where = f"line {line}" if line == other else f"lines {line} and {other}"
                return f"the key {json.dumps(key, ensure_ascii=False)} is given twice ({where}); remove one of them"
    raise AssertionError("an object has a key twice")


def describe(error: Exception, kind: str = "JSON") -> str:
    """Return what a parser's exception says is wrong, without the place and without the document's text."""
    if isinstance(error, DocumentError):
        return str(error)
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 text: {error.reason}"
    if isinstance(error, RecursionError):
        return f"not valid {kind}: nested more than {MAX_DEPTH} levels deep"
    if isinstance(error, json.JSONDecodeError):
        return f"not valid {kind}: {_trailing_comma(error) or error.msg}"
    digits = getattr(sys, "get_int_max_str_digits", int)()
    return f"not valid {kind}: an integer of more than {digits:,} digits"


def _trailing_comma(error: json.JSONDecodeError) -> str | None:
    """Return that a comma is before the end of an array or an object; None if it is not. Python 3.13 says it itself."""
    before, after = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    kind = {"]": "array", "}": "object"}.get(after[:1])
    return f"a comma before the end of the {kind}" if kind is not None and before.endswith(",") else None


_TOO_DEEP: Final = describe(RecursionError())


#: Made once: the check of each value of a document takes a part of the time of reading it.
_CONTAINERS: Final = (dict, list)
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def nested_too_deep(value: Any) -> bool:
    """Return whether a JSON value has more levels than ``MAX_DEPTH``; level by level, without recursion."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        level = [
            part
            for container in level
            for part in (container.values() if isinstance(container, dict) else container)
            if type(part) not in _SCALARS and isinstance(part, _CONTAINERS)
        ]
        if not level:
            return False
    return True


def is_gzipped(path: Path) -> bool:
    """Return whether a file is gzipped, whatever its name.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


def unpacked(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file in pieces of limited size, decompressed if it is gzipped.

    Raises:
        DocumentError: The compressed data is damaged or cut off; what could be read of it was yielded before.
        UnfoldedError: It unfolds to an absurd size.
        OSError: The file cannot be read.
    """
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    size = 0
    for part in _inflated(file) if packed else iter(partial(file.read, _CHUNK), b""):
        size += len(part)
        if packed and size > MAX_UNFOLDED and size > MAX_RATIO * file.tell():
            raise UnfoldedError(f"gzip data that decompresses to more than {MAX_RATIO} times its size")
        yield part


def _inflated(file: IO[bytes]) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=31)
    while data := file.read(_CHUNK):
        while data:
            if inflate.eof:  # a file may be several gzip members, one after the other
                inflate = zlib.decompressobj(wbits=31)
            try:
                yield inflate.decompress(data, _CHUNK)
            except zlib.error as error:
                raise DocumentError(f"damaged gzip data: {error}") from None
            # Some programs fill up the end of a file with zeros.
            data = inflate.unused_data.lstrip(b"\0") if inflate.eof else inflate.unconsumed_tail
    while not inflate.eof:
        rest = inflate.decompress(b"", _CHUNK)
        if not rest:
            raise DocumentError("damaged gzip data: the file was cut off")
        yield rest


def _place(error: Exception, *, is_line: bool = False) -> str:
    if isinstance(error, json.JSONDecodeError):
        line, column = error.lineno, error.colno
    elif isinstance(error, UnicodeDecodeError):
        before = error.object[: error.start].decode().split("\n")
        line, column = len(before), len(before[-1]) + 1
    else:
        return ""
    return f" (column {column})" if is_line else f" (line {line}, column {column})"


def _whole(file: IO[bytes]) -> bytes:
    parts, size = [], 0
    for part in unpacked(file):
        parts.append(part)
        size += len(part)
        if size > MAX_BYTES:
            raise DocumentError(f"larger than {MAX_BYTES >> 20} MiB")
    return b"".join(parts)


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    return text.decode("utf-8-sig")
