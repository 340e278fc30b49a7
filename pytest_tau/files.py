"""Files: names that exist on every system, names that are safe in ids of tests, atomic writing, digests of contents."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import unicodedata
from collections import Counter
from fnmatch import fnmatchcase
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = [
    "ambiguous_names",
    "atomic_write",
    "digest",
    "file_name_of",
    "id_matches",
    "item_id",
]

_UNSAFE = re.compile(r"[^A-Za-z0-9_.+\-\[\]]")
#: Windows opens a device for these, whatever follows the first dot.
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(\.|$)", re.IGNORECASE)
#: Characters of a name; file systems allow 255 bytes with a suffix.
_LONGEST = 180
#: Characters of the id of a task in that of a test, and those that may not be safe there.
_LONGEST_ID, _NOT_PLAIN = 60, re.compile(r"[^A-Za-z0-9_.+-]")


@contextlib.contextmanager
def atomic_open(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears, whole, once the block has ended without an exception.

    Two processes may write the same file at the same time; the last one wins. The folder must exist.

    Raises:
        OSError: The file cannot be written.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as file:
            yield file
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write a file, whole or not at all; text as UTF-8, lone surrogates as escapes.

    Raises:
        OSError: The file cannot be written.
    """
    with atomic_open(path) as file:
        file.write(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)


def file_name_of(name: str, *, ambiguous: bool = False) -> str:
    """Return the name of a file or a folder for the name of something else, such as a task or a domain.

    A plain name is returned as it is: letters, digits and ``_.+-[]`` of ASCII, not too long. Any other name is made
    safe, with digits of its hash to keep it unique: ``../x``, ``CON`` and ``aux.txt``, which Windows takes for devices,
    and names that begin or end with a dot. A suffix such as ``.cassette`` may follow.

    Args:
        name: The name.
        ambiguous: Whether another name differs only by case: it gets digits although it is plain.
    """
    safe = _UNSAFE.sub("_", name)
    device, dotted = _DEVICE.match(safe), safe.startswith(".") or safe.endswith(".")
    if name and safe == name and len(name) <= _LONGEST and not (ambiguous or device or dotted):
        return name
    readable = safe.strip(".").replace(".", "_", 1 if device else 0)[:_LONGEST]
    return f"{readable}-{digest(name)[:8]}" if readable else digest(name)[:8]


def item_id(task_id: str) -> str:
    """Return the task's id if it is short and safe in shells and ``-k``; else a slug and a hash of it.

    Letters and digits of every script are safe.
    """
    safe = _NOT_PLAIN.sub(lambda found: found[0] if _is_safe(found[0]) else "\0", task_id)
    if task_id and "\0" not in safe and len(task_id) <= _LONGEST_ID and task_id[0] not in ".-":
        return task_id
    short = digest(task_id)[:8]
    slug = re.sub("\0+", "-", safe).strip("-.")[: _LONGEST_ID - 9].rstrip("-.")
    return f"{slug}-{short}" if slug else short


def id_matches(task_id: str, pattern: str) -> bool:
    """Return whether a pattern names a task, as that of ``--tau-task``: by its id, its item id, or as a glob."""
    if pattern in (task_id, item_id(task_id)):
        return True
    # Ids of generated tasks are full of brackets, which are meant literally far more often than as a set.
    literal_brackets = pattern.replace("[", "[[]")
    return fnmatchcase(task_id, literal_brackets) or fnmatchcase(item_id(task_id), literal_brackets)


def _is_safe(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def ambiguous_names(names: Iterable[str]) -> frozenset[str]:
    """Return the names that differ from another one only by case, without the one that is in lower case.

    The order does not matter. The name in lower case keeps its file when another task is added.
    """
    unique = set(names)
    alike = Counter(name.lower() for name in unique)
    return frozenset(name for name in unique if alike[name.lower()] > 1 and name != name.lower())


def digest(content: str | bytes) -> str:
    """Return the first 16 hex digits of the content's SHA-256; text as UTF-8."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:16]
