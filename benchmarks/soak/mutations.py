"""Changes of files: bytes, and values of JSON."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

_DEEP = 100_000
#: Values as JSON text, as some of them cannot be written by Python's json.
_VALUES = (
    *("null", "true", "3", "-1", "0.5", "1e999", "NaN", '""', '"x"', "[]", "{}", "[null]", '{"x": 3}', '"\\ud800"'),
    *(
        '"\\u0000"',
        '"\\u001b[2J"',
        '"../../x"',
        "1" * 5000,
        "9" * 25,
        "[" * _DEEP + "]" * _DEEP,
        '{"a":' * _DEEP + "1" + "}" * _DEEP,
    ),
    *('["x", "x"]', '"' + "x" * 300_000 + '"', "[[[]]]", '{"": ""}', '"2026-99-99"', "-0", "1e-400"),
)
#: Where the text of a value is put; no file has this text.
_MARK = "@@soak@@"
BYTES = ("flipped byte", "truncated", "deleted part", "doubled part", "inserted bytes", "replaced by other content")
VALUES = ("other type of a value", "removed key", "renamed key", "doubled entry")
_OTHER_CONTENT = (
    *(b"", b"\0", b"null", b"3", b'"text"', b"[]", b"{}", b"[[]]", b"[3]", b'[{"id": 3}]', b"\xff\xfe[\0]\0"),
    *(
        b"\xef\xbb\xbf[]",
        b"[" * _DEEP,
        b'{"a":' * _DEEP,
        b"1" * 5000,
        b"a = " + b"[" * _DEEP,
        b"[[quarantine]]\ntask = 3",
    ),
    *(gzip.compress(b"[]"), b"\x1f\x8b", b"PK\x03\x04", b"\n" * 999, b"version https://git-lfs.github.com/spec/v1\n"),
)


def mutate(content: bytes, suffix: str, random: Random) -> tuple[str, bytes]:
    """Return a name of the kind of change, and the changed content.

    Args:
        content: A file.
        suffix: ``.json``, ``.jsonl`` or another one.
        random: The source of the choice.
    """
    if suffix in (".json", ".jsonl") and random.random() < 0.55:
        kind = random.choice(VALUES)
        return kind, _in_lines(content, kind, random) if suffix == ".jsonl" else _in_json(content, kind, random)
    kind = random.choice(BYTES)
    return kind, _in_bytes(content, kind, random)


def _in_bytes(content: bytes, kind: str, random: Random) -> bytes:
    start = random.randrange(len(content))
    end = min(len(content), start + random.choice((1, 10, 100, 1000)))
    if kind == "flipped byte":
        return content[:start] + bytes([content[start] ^ (1 << random.randrange(8))]) + content[start + 1 :]
    if kind == "truncated":
        return content[:start]
    if kind == "deleted part":
        return content[:start] + content[end:]
    if kind == "doubled part":
        return content[:end] + content[start:]
    if kind == "inserted bytes":
        return (
            content[:start]
            + random.choice((b"\0", b"\xff", b"\n", b'"', b"]", b"}", b"\xed\xa0\x80", b"[" * _DEEP))
            + content[start:]
        )
    return random.choice(_OTHER_CONTENT)


def _in_lines(content: bytes, kind: str, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    position = random.randrange(len(lines))
    lines[position] = _in_json(lines[position], kind, random) + b"\n"
    return b"".join(lines)


def _in_json(content: bytes, kind: str, random: Random) -> bytes:
    document = json.loads(content)
    places = list(_places(document))
    wanted = list if kind == "doubled entry" else dict if kind != "other type of a value" else object
    places = [place for place in places if isinstance(place[0], wanted)] or places
    holder, key = random.choice(places)
    if kind == "removed key":
        del holder[key]
    elif kind == "renamed key" and isinstance(holder, dict):
        holder[f"{key}_" if random.random() < 0.5 else key.swapcase()] = holder.pop(key)
    elif kind == "doubled entry" and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = _MARK
    return json.dumps(document).replace(f'"{_MARK}"', random.choice(_VALUES)).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return the places of a JSON value, each its list or object and its index or key; shallow ones several times."""
    found: list[tuple[Any, Any]] = []
    level = [value]
    while level:
        inner: list[tuple[Any, Any]] = []
        for holder in level:
            keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
            inner += [(holder, key) for key in keys]
        found += inner * (1 + len(found) // (len(inner) or 1)) if len(inner) < 50 else inner
        level = [holder[key] for holder, key in inner]
    return found
