"""Conversations of the page, packed: they are many, and only looked at one by one."""

from __future__ import annotations

import base64
import zlib
from typing import IO, TYPE_CHECKING, Any

from .json_text import packed_document

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Conversations that are packed together: texts of a task's trials repeat each other. The last block may have fewer.
BLOCK = 32
#: Blocks of twice the size are as small at this level as others were at zlib's default, in three quarters of the time.
_LEVEL = 5
#: The format of gzip, which browsers unpack. It has no time in it, so that the same run gives the same page.
_GZIP = zlib.MAX_WBITS | 16


class ConversationBlocks:
    """Packs the conversations of a run, several to a block, and writes each block as an element of the page.

    Only the packed text of the present block is kept in memory.
    """

    def __init__(self, file: IO[bytes], run: int) -> None:
        self._file, self._run = file, run
        self._block = _Block()
        self._written = 0

    def add(self, conversation: Mapping[str, Any]) -> None:
        """Add the next conversation."""
        self._block.add(packed_document(conversation))
        if self._block.conversations == BLOCK:
            self._write()

    def end(self) -> None:
        """Write what is left; there are no more conversations."""
        if self._block.conversations:
            self._write()

    def _write(self) -> None:
        head = f'<script type="application/octet-stream" id="c{self._run}-{self._written}">'.encode()
        self._file.write(head + base64.b64encode(self._block.end()) + b"</script>\n")
        self._block = _Block()
        self._written += 1


class _Block:
    """A list of documents as JSON, packed as they come."""

    def __init__(self) -> None:
        self.conversations = 0
        self._packer = zlib.compressobj(level=_LEVEL, wbits=_GZIP)
        self._packed = bytearray()

    def add(self, text: bytes) -> None:
        self._packed += self._packer.compress(b"," if self.conversations else b"[")
        self._packed += self._packer.compress(text)
        self.conversations += 1

    def end(self) -> bytes:
        """Return the packed list."""
        return bytes(self._packed + self._packer.compress(b"]") + self._packer.flush())
