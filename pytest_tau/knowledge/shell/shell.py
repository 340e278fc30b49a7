"""The shell over a folder of documents: its files, the commands that it refuses, and its answers."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from ..measure import file_name
from .sandbox import run_in_sandbox

if TYPE_CHECKING:
    from ..documents import Documents
    from .sandbox import Finished

_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_ABSOLUTE = re.compile(r"(?<=[\s=<>|&;(])/[^\s;|&<>()]*")
#: Rows of ``ls -l``: mode, links, owner, group, size, date.
_LISTED = re.compile(
    r"^(?P<mode>[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d+)\s+\S+\s+\S+(?P<size>\s+\d+)\s+[A-Z][a-z]{2}\s+\d{1,2}\s+[\d:]{4,5}",
    re.MULTILINE,
)


class Shell:
    """The shell of one environment, over files of its own.

    Args:
        documents: The knowledge base.
        writable: Whether commands may change the files, for later commands of the same environment.
    """

    def __init__(self, documents: Documents, *, writable: bool = False) -> None:
        self._writable = writable
        self._folder = Path(tempfile.mkdtemp(prefix="tau-kb-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        write_files(documents, self._folder)

    def run(self, command: str) -> str:
        """Return the answer to a command.

        Source: τ²-bench v1.0.1, answers of its sandbox.

        Raises:
            ToolServerError: The sandbox cannot be started.
        """
        blocked = refused(command)
        if blocked is not None:
            what = f"Command blocked - contains '{blocked}' which could escape the sandbox"
            return f"Error (exit code 1): Error: {what}"
        return answer(command, run_in_sandbox(command, self._folder, writable=self._writable))

    def close(self) -> None:
        """Remove the files."""
        self._remove()


def write_files(documents: Documents, folder: Path) -> None:
    """Write a Markdown file for each document, and an index of all.

    Source: τ²-bench v1.0.1, files of its sandbox.
    """
    rows = []
    for document in sorted(documents, key=lambda each: each.id):
        name = file_name(document.id)
        (folder / name).write_text(f"# {document.title}\n\n{document.content}", encoding="utf-8")
        rows.append(f"- **{name}** - {document.title}\n")
    head = f"# Knowledge Base Index\n\n**Total documents:** {len(rows)}\n\n## Documents\n\n"
    (folder / "INDEX.md").write_text(head + "".join(rows), encoding="utf-8")


def refused(command: str) -> str | None:
    """Return what a command is refused for; None if it may be run.

    The sandbox isolates whatever a command contains. The check is that of the reference, whose texts agents see.

    Source: τ²-bench v1.0.1.
    """
    plain = _QUOTED.sub(lambda found: " " * len(found[0]), command)
    if ".." in plain:
        return ".."
    if plain.lstrip().startswith("/"):
        return "absolute path at start"
    if found := _ABSOLUTE.search(plain):
        return f"absolute path: {found[0]}"
    return next((each for each in ("~", "$HOME") if each in plain), None)


def answer(command: str, done: Finished) -> str:
    """Return the answer to a command that has ended."""
    if done.code == 0:
        return _masked(done.stdout) or "(no output)"
    if done.code == 1 and "grep" in command and not done.stderr:
        return "No matches found."
    problem = done.stderr.strip()
    return f"Error (exit code {done.code}): {problem}" if problem else f"Command failed with exit code {done.code}"


def _masked(text: str) -> str:
    """Return output without owners, groups and dates of files, which differ from machine to machine."""
    return _LISTED.sub(r"\g<mode> kb_user kb_group\g<size> Jan  1 00:00", text)
