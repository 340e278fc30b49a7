"""Documents that others wrote: limits, and one kind of error."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.documents import (
    MAX_DEPTH,
    DocumentError,
    nested_too_deep,
    parse_json,
    parse_toml,
    read_json,
    read_toml,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEEP = "[" * 100_000 + "]" * 100_000
DIGITS = "9" * 5_000


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not valid JSON: Expecting property name enclosed in double quotes (line 1, column 2)"),
        ("[\n1 2]", "not valid JSON: Expecting ',' delimiter (line 2, column 3)"),
        ("", "not valid JSON: Expecting value (line 1, column 1)"),
        (b'"\xff"', "not UTF-8 text: invalid start byte (line 1, column 2)"),
        ('["é",\n "ü\n'.encode() + b'\xfc"]', "not UTF-8 text: invalid start byte (line 3, column 1)"),
        ("[\n 'äö".encode() + b"\xfc']", "not UTF-8 text: invalid start byte (line 2, column 5)"),
        ('"x"'.encode("utf-16"), "not UTF-8 text: invalid start byte (line 1, column 1)"),
        (DEEP, "not valid JSON: nested more than 200 levels deep"),
        ('{"a":' * 100_000, "not valid JSON: nested more than 200 levels deep"),
        ("[" * 201 + "]" * 201, "not valid JSON: nested more than 200 levels deep"),
        (f'{{"n": {DIGITS}}}', "not valid JSON: an integer of more than 4,300 digits"),
    ],
)
def test_json_that_cannot_be_read(text: str | bytes, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_json(text)
    assert str(caught.value) == problem


def test_json_within_the_limits() -> None:
    assert nested_too_deep(parse_json("[" * 200 + "]" * 200)) is False
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert parse_json('"a\tb"', strict=False) == "a\tb"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1,\n "b": {"a": 2},\n "a": []}', 'the key "a" is given twice (lines 1 and 3); remove one of them'),
        ('[{}, {"x": "{", "\\u0061\\"": 1, "a\\"" : 2}]', 'the key "a\\"" is given twice (line 1); remove one of them'),
        (
            '[{"k": "k", "v": ["k"]},\n{"é": {"é": 1,\n\n"é": 2}}]',
            'the key "é" is given twice (lines 2 and 4); remove one',
        ),
    ],
)
def test_a_key_that_an_object_has_twice(text: str, problem: str) -> None:
    parse_json(text)  # of a foreign program: the last one counts
    with pytest.raises(DocumentError) as caught:
        parse_json(text, unique_keys=True)
    assert str(caught.value).startswith(problem)


def test_equal_keys_of_different_objects() -> None:
    value = {"a": [{"a": 1}, {"a": "a"}], "b": {"a": {"b": "}"}}}
    assert parse_json(json.dumps(value), unique_keys=True) == value


def test_depth_counts_objects_and_arrays() -> None:
    value: Any = 1
    for level in range(MAX_DEPTH):
        value = {"x": value, "y": 0} if level % 2 else [0, value]
    assert not nested_too_deep(value)
    assert nested_too_deep([value])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = ", "not valid TOML: Invalid value"),
        (b"a = '\xff'", "not UTF-8 text"),
        (f"a = {DEEP}", "not valid TOML: "),
        (f"a = {DIGITS}", "not valid TOML: an integer of more than 4,300 digits"),
        (".".join(["a"] * 300) + " = 1", "not valid TOML: nested more than 200 levels deep"),
    ],
)
def test_toml_that_cannot_be_read(text: str | bytes, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_toml(text)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(("read", "content"), [(read_json, b'{"a": 1}'), (read_toml, b"a = 1")])
def test_files_may_be_gzipped(tmp_path: Path, read: Callable[[Path], Any], content: bytes) -> None:
    file = tmp_path / "file"
    for data in (content, gzip.compress(content), gzip.compress(content[:3]) + gzip.compress(content[3:]) + b"\0\0"):
        file.write_bytes(data)
        assert read(file) == {"a": 1}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (gzip.compress(b"{}" * 1000, mtime=0)[:-15], "damaged gzip data: the file was cut off"),
        (b"\x1f\x8bnothing", "damaged gzip data: Error -3"),
        (gzip.compress(b" " * 3_000_000, mtime=0), "larger than 2 MiB"),
        (b" " * 3_000_000, "larger than 2 MiB"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, problem: str) -> None:
    monkeypatch.setattr("pytest_tau.documents.MAX_BYTES", 2 << 20)
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        read_json(tmp_path / "file")
    assert str(caught.value).startswith(problem)


def test_a_file_that_unfolds_to_hundreds_of_times_its_size(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(gzip.compress(b" " * (6 << 20)))
    with pytest.raises(DocumentError, match="decompresses to more than 200 times its size"):
        read_json(tmp_path / "file")
