"""Documents of a knowledge base: read from a folder, checked, in a fixed order."""

from __future__ import annotations

import functools
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from ..documents import DocumentError, file_text, parse_json
from ..errors import ConfigurationError
from ..files import digest
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_FIELDS = ("id", "title", "content")
_FRONT_MATTER = re.compile(r"---\n(?P<fields>.*?\n)?---\n", re.DOTALL)
#: Names of files that are not read, in a folder that people keep under version control.
_NO_DOCUMENTS = {"readme.md", "license.md", "license.txt"}


class Document(NamedTuple):
    """A document of a knowledge base.

    Attributes:
        id: The name by which tasks and searches refer to it.
        title: Its heading; several documents may have the same.
        content: Its text.
    """

    id: str
    title: str
    content: str


class Documents:
    """The documents of a knowledge base, in order of their files' names."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        self._by_id = {document.id: document for document in self._documents}
        # The first of several documents with the same title.
        self._by_title = {document.title: document for document in reversed(self._documents)}

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, document_id: object) -> bool:
        return document_id in self._by_id

    def __getitem__(self, place: int) -> Document:
        return self._documents[place]

    def get(self, document_id: str) -> Document | None:
        """Return a document by its id; None if there is none."""
        return self._by_id.get(document_id)

    def find(self, name: str) -> Document | None:
        """Return a document by its title, else by its id; None if there is none."""
        return self._by_title.get(name) or self._by_id.get(name)

    @functools.cached_property
    def digest(self) -> str:
        """The fingerprint of all documents and their order."""
        return digest(json.dumps(self._documents))


def read_documents(folder: Path) -> Documents:
    """Read the documents of a folder and of the folders in it.

    A JSON file is an object with the texts ``id``, ``title`` and ``content``; other fields are ignored. A file that
    ends in ``.md`` or ``.txt`` is the content itself: its id is its path without the ending, its title is the first
    heading of a Markdown file, else the id. A Markdown file may begin with front matter, lines between two ``---``:
    its ``title`` is the title then, and the content is what follows. A README and a LICENSE are not read.

    Returns:
        The documents by path, in the order of code points.

    Raises:
        ConfigurationError: There is no document, a file cannot be read, or two documents have the same id.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"{folder}: expected the folder of a knowledge base, with documents in it")
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if _is_document(path)}
    if not paths:
        raise ConfigurationError(f"{folder}: no documents: expected files that end in .json, .md or .txt")
    documents: dict[str, Document] = {}
    origin: dict[str, Path] = {}
    for name in sorted(paths):
        document = _read(paths[name], name)
        if document.id in documents:
            problem = f"{origin[document.id]} has a document with the id {document.id!r}, too: make the ids different"
            raise ConfigurationError(f"{paths[name]}: {problem}")
        documents[document.id], origin[document.id] = document, paths[name]
    return Documents(documents.values())


def _is_document(path: Path) -> bool:
    hidden = path.name.startswith(".") or path.name.lower() in _NO_DOCUMENTS
    return path.suffix in (".json", ".md", ".txt") and not hidden and path.is_file()


def _read(path: Path, name: str) -> Document:
    try:
        text = file_text(path.read_bytes())
        if path.suffix == ".json":
            return _from_json(parse_json(text, unique_keys=True))
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    document_id = PurePosixPath(name).with_suffix("").as_posix()
    title = ""
    if path.suffix == ".md":
        title, text = _titled(text)
    return Document(document_id, title or document_id, text)


def _from_json(value: object) -> Document:
    """Return the document of a JSON value."""
    if not isinstance(value, dict):
        raise DocumentError(f"expected an object with id, title and content, got {type(value).__name__}")
    for field in _FIELDS:
        if field not in value:
            raise DocumentError(f"{field}: missing; a document has id, title and content")
        if not isinstance(value[field], str):
            raise DocumentError(f"{field}: expected a text, got {type(value[field]).__name__}")
    if not value["id"].strip():
        raise DocumentError("id: expected a text that is not blank")
    return Document(*(value[field] for field in _FIELDS))


def _titled(text: str) -> tuple[str, str]:
    """Return the title and the content of a Markdown file; without front matter that has a title, all is content."""
    front = _FRONT_MATTER.match(text)
    title = re.search(r"(?m)^title: *(\S.*)$", front["fields"] or "") if front else None
    return (title[1], text[front.end() :].strip()) if front and title else (_heading(text), text)


def _heading(text: str) -> str:
    """Return the text of the first heading of a Markdown document; an empty text if there is none."""
    headings = (line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#"))
    return next((heading for heading in headings if heading), "")
