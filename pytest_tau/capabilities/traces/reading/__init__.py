"""Reading traces: files into spans, spans into conversations, conversations into a stored run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from .conversations import conversations_of
from .files import read_spans
from .logs import dialogue_of, is_dialogue
from .pairing import Conversation
from .spans import log_of, span_of
from .spool import Spool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["Conversation", "read_traces"]


def read_traces(files: Sequence[Path], folder: Path) -> Iterator[Conversation | str]:
    """Yield the conversations of files, in the order of their starts, and what cannot be read.

    Spans lie on disk in between; of a file, its text and one document are in memory.

    Args:
        files: Files of traces, and of log records; what they have is joined.
        folder: An empty folder for what lies on disk.

    Raises:
        OSError: A file cannot be read.
    """
    spool, empty = Spool(folder), True
    try:
        for file in files:
            spans = 0
            for record in read_spans(file):
                if record.problem:
                    yield f"{file}, line {record.line}: {record.problem}"
                    continue
                spans += 1
                if is_dialogue(record.value):
                    conversation = dialogue_of(record.value)
                    conversation.files = [str(file)]
                    yield conversation
                    empty = False
                    continue
                span = (log_of if record.is_log else span_of)(record.value, record.around)
                span.file = str(file)
                if span.trace and span.id:
                    spool.add(span, log=record.is_log)
            if not spans:
                yield f"{file}: no spans in a known format; docs/traces.md lists the formats"
        spool.sort()
        for group in spool.groups():
            conversations, problems = conversations_of(group)
            yield from conversations
            yield from problems
            empty = False
        if empty:
            file_names = ", ".join(map(str, files))
            yield f"{file_names}: no conversation: no span is a call of a model, an agent or a tool"
    finally:
        spool.close()


def digest_of(file: Path) -> str:
    """Return the first 16 hex digits of a file's SHA-256.

    Raises:
        OSError: The file cannot be read.
    """
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:16]
