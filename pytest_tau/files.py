"""Writing files so that nobody ever reads a half of one, and digests of their content."""

from __future__ import annotations

import contextlib
import hashlib
import os
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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


def digest(content: str | bytes) -> str:
    """Return the first 16 hex digits of the content's SHA-256; text as UTF-8."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:16]
