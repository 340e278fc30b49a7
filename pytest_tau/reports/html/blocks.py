"""Conversations of the page, packed: they are many, and only looked at one by one."""

from __future__ import annotations

import base64
import gzip
from typing import IO, TYPE_CHECKING, Any

from .json_text import document

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Conversations that are packed together: texts of a task's trials repeat each other.
_BLOCK = 8


class ConversationBlocks:
    """Packs conversations, several to a block, and writes each block as an element of the page.

    Args:
        file: The file that the elements are written to.

    Attributes:
        size: The number of conversations in a block; the last block of a run may have fewer.
    """

    size = _BLOCK

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._waiting: list[Any] = []
        self._written = 0

    def add(self, run: int, conversation: Mapping[str, Any]) -> None:
        """Add the next conversation of a run."""
        self._waiting.append(conversation)
        if len(self._waiting) == self.size:
            self._write(run)

    def end(self, run: int) -> None:
        """Write what is left of a run, which has no more conversations."""
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
