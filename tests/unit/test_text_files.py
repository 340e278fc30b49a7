"""Text files that users write are UTF-8, with or without a byte order mark; another encoding is named with its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_tau.documents import DocumentError, file_text, read_json, read_text, read_toml
from pytest_tau.errors import TauError
from pytest_tau.knowledge import Knowledge, read_documents
from pytest_tau.models import load_task_file
from pytest_tau.participants.agents.examples import read_examples
from pytest_tau.participants.prompts import load_prompt

from . import tiny

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Reader(NamedTuple):
    """A file, its content, and what a function reads from the folder that it is in; all have an ü in their second line."""

    file: str
    content: str
    read: Callable[[Path], Any]
    value: Any


def environment(folder: Path, policy: str = "short", **changes: Any) -> Any:
    (folder / "documents" / "empty.txt").touch()
    if (folder / "user_db.toml").is_file():
        (folder / "user_db.json").unlink()
    return tiny.spec(folder, **changes).load().environment(policy=policy)


NOTES = tiny.USER_DATA | {"notes": {"n": {"text": "ü"}}}
TASK = {"id": "ü", "user_scenario": {"instructions": "x"}}
READERS = {
    "policy": Reader("short.md", "Be\nbrüsk.", lambda folder: environment(folder).policy, "Be\nbrüsk.\nThe policy."),
    "database": Reader(
        "user_db.json",
        "\n" + json.dumps(NOTES, ensure_ascii=False),
        lambda folder: environment(folder).dump()["user"],
        NOTES,
    ),
    "TOML database": Reader(
        "user_db.toml",
        'notes.n.text = """\nü"""',
        lambda folder: environment(folder).dump()["user"],
        NOTES,
    ),
    "tasks": Reader(
        "t.json",
        "\n" + json.dumps(TASK, ensure_ascii=False),
        lambda folder: [task.id for task in load_task_file(folder / "t.json").tasks],
        ["ü"],
    ),
    "document": Reader(
        "documents/d.json",
        '\n{"id": "d", "title": "ü", "content": ""}',
        lambda folder: [each.title for each in read_documents(folder / "documents")],
        ["ü"],
    ),
    "text document": Reader(
        "documents/d.md", "\n# ü", lambda folder: [each.title for each in read_documents(folder / "documents")], ["ü"]
    ),
    "template": Reader(
        "prompts/full_kb.md",
        "The\nü {{full_knowledge_base}}",
        lambda folder: environment(folder, "full_kb", knowledge=Knowledge(prompts="prompts")).policy[:6],
        "The\nü ",
    ),
    "prompt": Reader(
        "agent.md", "The\nü {{policy}}", lambda folder: load_prompt(folder / "agent.md", "agent"), "The\nü {{policy}}"
    ),
    "examples": Reader(
        "e.jsonl",
        '\n{"messages_display": "ü"}',
        lambda folder: read_examples(folder / "e.jsonl")[0].text,
        "ü",
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a domain."""
    tiny.write(tmp_path)
    for name in ("documents", "prompts"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("name", READERS)
def test_utf8_is_read(folder: Path, name: str, encoding: str) -> None:
    reader = READERS[name]
    (folder / reader.file).write_text(reader.content, encoding=encoding)
    assert reader.read(folder) == reader.value


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("encoding", "problem"),
    [
        ("latin-1", r" \(line 2, column \d+\); save it as UTF-8"),
        *((f"utf-16{order}", r"UTF-16 \(line 1, column 1\); save it as UTF-8") for order in ("", "-le", "-be")),
    ],
)
def test_another_encoding_is_named(folder: Path, name: str, encoding: str, problem: str) -> None:
    reader = READERS[name]
    (folder / reader.file).write_text(reader.content, encoding=encoding)
    with pytest.raises(TauError, match=rf"not UTF-8 text: .*{problem}") as caught:
        reader.read(folder)
    assert str(folder / reader.file) in str(caught.value)


def test_lines_of_a_text_end_in_a_line_feed(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert read_text(file) == "a\nb\nc\n"


@pytest.mark.parametrize("read", [read_text, read_json, read_toml])
def test_every_reader_says_what_to_do(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"\n\xff")
    with pytest.raises(DocumentError) as caught:
        read(file)
    assert str(caught.value) == "not UTF-8 text: invalid start byte (line 2, column 1); save it as UTF-8"


def test_a_short_text_is_no_other_encoding() -> None:
    assert [file_text(text.encode()) for text in ("", "a", "ab\0")] == ["", "a", "ab\0"]
