"""The page: one HTML file that holds everything, and asks nothing of any network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import tempfile
from importlib.resources import files
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .data import gather
from .json_text import document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...regrade.regrade import Domains
    from ...runs.reader import Run

#: Conversations that are packed together: texts of a task's trials repeat each other.
_BLOCK = 8
_SCRIPTS = ("dom", "model", "charts", "overview", "table", "conversation", "detail", "main")
_COPY = 1 << 20


class Written(NamedTuple):
    """A report: how many simulations it shows, and what of the runs could not be read."""

    simulations: int
    problems: list[str]


def write_report(file: Path, runs: Sequence[Run], domains: Domains) -> Written:
    """Write the report of a run, or of two beside each other.

    Args:
        file: Where to, with the folders above it; it appears once it is complete.
        runs: One or two.
        domains: Where domains come from.

    Raises:
        ConfigurationError: A run that cannot be read.
        OSError: A file cannot be opened or written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.draft")
    try:
        with tempfile.TemporaryFile() as spool:
            blocks = ConversationBlocks(spool)
            found = gather(runs, domains, blocks)
            spool.seek(0)
            with draft.open("wb") as page:
                _write(page, found, spool)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    problems = [problem for run in found["runs"] for problem in run["problems"]]
    return Written(sum(len(run["rows"]) for run in found["runs"]), problems)


class ConversationBlocks:
    """Packs conversations, several to a block, and writes each block as an element of the page.

    Args:
        file: Takes the elements.

    Attributes:
        size: Conversations in a block; the last of a run may have fewer.
    """

    size = _BLOCK

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._waiting: list[Any] = []
        self._written = 0

    def add(self, run: int, conversation: Mapping[str, Any]) -> None:
        """Take the next conversation of a run."""
        self._waiting.append(conversation)
        if len(self._waiting) == self.size:
            self._write(run)

    def end(self, run: int) -> None:
        """The run has no more."""
        if self._waiting:
            self._write(run)
        self._written = 0

    def _write(self, run: int) -> None:
        # Without a time in it, so that the same run gives the same page.
        packed = base64.b64encode(gzip.compress(document(self._waiting).encode(), compresslevel=6, mtime=0))
        head = f'<script type="application/octet-stream" id="c{run}-{self._written}">'.encode()
        self._file.write(head + packed + b"</script>\n")
        self._waiting = []
        self._written += 1


def _write(page: IO[bytes], found: Mapping[str, Any], conversations: IO[bytes]) -> None:
    folder = files(__package__) / "page"

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    style = read("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join(read(f"{name}.js") for name in _SCRIPTS) + "\n})();\n"
    parts = {
        "policy": _policy(style, script),
        "title": _escaped(" and ".join(run["name"] for run in found["runs"])),
        "style": style,
        "data": document(found),
        "script": script,
    }
    before, _, after = read("page.html").partition("{{conversations}}")
    page.write(_filled(before, parts))
    while piece := conversations.read(_COPY):
        page.write(piece)
    page.write(_filled(after, parts))


def _filled(template: str, parts: Mapping[str, str]) -> bytes:
    # In one go: what is put in may look like a place to be filled.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template).encode("utf-8", "backslashreplace")


def _policy(style: str, script: str) -> str:
    """What a browser lets the page do: its own style and script, and nothing else."""
    allowed = {"default-src": "'none'", "style-src": _hash(style), "script-src": _hash(script)}
    allowed |= {"base-uri": "'none'", "form-action": "'none'", "img-src": "data:"}
    allowed |= {"require-trusted-types-for": "'script'", "trusted-types": "'none'"}
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
