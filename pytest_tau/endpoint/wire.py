"""HTTP requests and replies as the handlers of routes see them, and what is kept from one request to the next."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .formats import ResponseStore

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Iterator, Mapping


@dataclass(frozen=True)
class WireReply:
    """An HTTP reply.

    Attributes:
        status: The HTTP status.
        body: The body, whole.
        content_type: The type of the body; empty for a reply without a body.
        headers: Further headers.
        later: The reply, where it is a stream that is not known yet: meanwhile the connection is kept open with
            comments. The other fields are then ignored.
        closes: The connection is closed after the reply.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    later: Awaitable[WireReply] | None = None
    closes: bool = False


@dataclass(frozen=True)
class TrialState:
    """What the endpoint keeps of a trial.

    Attributes:
        numbers: The numbers of the model calls, from 1.
        responses: The answers to requests of the Responses format.
        unanswered: The answers that are being made, by route and body.
    """

    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    responses: ResponseStore = field(default_factory=ResponseStore)
    unanswered: dict[tuple[str, bytes], asyncio.Future[WireReply]] = field(default_factory=dict)


@dataclass(frozen=True)
class WireRequest:
    """An HTTP request.

    Attributes:
        body: The body, whole.
        headers: The headers; names in lower case.
        state: What is kept of the trial.
    """

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    state: TrialState = field(default_factory=TrialState)
