"""Server-sent events, and the pieces that texts are sent in."""

from __future__ import annotations

import json
from typing import Any

#: Characters in one event of a stream: few, so that words and JSON are split, as models do.
_PIECE = 12
#: A fixed time, in seconds since 1970, so that the same conversation has the same answers, to the byte.
CREATED = 1_700_000_000
#: The type of the body of a stream.
EVENT_STREAM = "text/event-stream"
#: Keeps a connection open on which nothing is sent yet; clients ignore it.
COMMENT = b": the model has not answered yet\n\n"


def event(data: Any, name: str | None = None) -> bytes:
    """Return a server-sent event; data that is not a text is sent as JSON."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n").encode()


def cut(text: str) -> list[str]:
    """Return a text in the pieces in which it is streamed; none for an empty text."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
