"""HTTP requests and replies of the endpoint, and errors as statuses that no client retries."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ModelError, ReplayError, TauError
from ..plain import json
from .formats import ResponseStore, chat_completions
from .session import mask_tokens

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from typing import Any


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


#: Clients of OpenAI's and Anthropic's obey this header whatever the status is.
_HEADERS = {"x-should-retry": "false"}
#: The status of errors that the agent did not cause. Clients repeat a request after 408, 409, 429 and from 500 on;
#: the calls were repeated already, by the chat model.
_ENDS_TRIAL = 424
_BY_FAULT: dict[str, tuple[int, str | None]] = {
    "authentication": (401, "invalid_api_key"),
    "quota": (403, "insufficient_quota"),
    "unknown_model": (404, "model_not_found"),
    "context_window": (400, "context_length_exceeded"),
    "refused": (400, "content_filter"),
    "bad_request": (400, None),
}


class Problem(NamedTuple):
    """An error of a request.

    Attributes:
        status: The HTTP status.
        message: The problem, and what would be right.
        kind: The ``type`` of the error.
        code: A code that clients know, if there is one.
        param: The field of the request that is wrong, if it is one.
    """

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None


def problem_of(error: Exception) -> Problem:
    """Return the problem that an exception of a trial is to its client."""
    message = mask_tokens(str(error))
    if isinstance(error, ModelError):
        status, code = _BY_FAULT.get(error.kind, (_ENDS_TRIAL, error.kind))
        kind = "invalid_request_error" if error.kind == "context_window" else "model_error"
        return Problem(status, message, kind, code)
    if isinstance(error, ReplayError):
        return Problem(_ENDS_TRIAL, message, "replay_error")
    if isinstance(error, TauError):
        return Problem(_ENDS_TRIAL, message, "trial_error")
    text = f"the endpoint failed: {type(error).__name__}: {message}"
    return Problem(500, text, "internal_error")


#: The trial ended while the request waited, or before it came.
TRIAL_ENDED = Problem(_ENDS_TRIAL, "the trial of this address has ended", "trial_error", "trial_ended")


def error_reply(error: Exception) -> WireReply:
    """Return an exception of a trial as the HTTP reply to its client, in the format of OpenAI's chat API."""
    return reply_to(problem_of(error))


def reply_to(problem: Problem, write: Callable[..., dict[str, Any]] = chat_completions.error) -> WireReply:
    """Return a problem as an HTTP reply.

    Args:
        problem: The problem.
        write: Writes an error in the format of the wire.
    """
    body = write(problem.message, problem.kind, code=problem.code, param=problem.param)
    return WireReply(problem.status, json.dumps(body).encode(), headers=_HEADERS)
