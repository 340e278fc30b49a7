"""The paths that the endpoint serves, and the handlers of the formats of models."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

from ..documents import DocumentError, parse_json
from ..plain import json
from . import mcp
from .formats import FORMATS, UnservableRequest
from .formats.common import CREATED, EVENT_STREAM
from .wire import Problem, WireReply, problem_of, reply_to

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeAlias

    from .session import TrialSession
    from .wire import TrialState, WireRequest

    Handler: TypeAlias = Callable[[TrialSession, WireRequest], Awaitable[WireReply]]


async def _serve_model(suffix: str, session: TrialSession, request: WireRequest) -> WireReply:
    """Answer a request to the model. An equal one that is unanswered is the client's own retry: both get one answer."""
    wire, unanswered, key = FORMATS[suffix], request.state.unanswered, (suffix, request.body)
    try:
        body = read_body(request.body)
    except UnservableRequest as error:
        return reply_to(_malformed(error), wire.error)
    answer = unanswered.get(key)
    if answer is None:
        answer = unanswered[key] = asyncio.ensure_future(_answer(suffix, session, body, request.state))
        answer.add_done_callback(lambda _answer: unanswered.pop(key))
    # The call goes on if its client disconnects, which may be because of a time limit before a retry.
    if body.get("stream"):
        return WireReply(later=asyncio.shield(answer))
    return await asyncio.shield(answer)


async def _answer(suffix: str, session: TrialSession, body: Mapping[str, Any], state: TrialState) -> WireReply:
    wire = FORMATS[suffix]
    try:
        request = wire.read(body, state.responses)
        mark = f"{next(state.numbers):04d}"
        document = wire.write(await session.complete(request), body, mark)
        if document.get("object") == "response":
            state.responses.add(body, document)
        if body.get("stream"):
            return WireReply(200, b"".join(wire.stream(document, body)), EVENT_STREAM)
        return WireReply(200, json.dumps(document).encode())
    except UnservableRequest as error:
        return reply_to(_malformed(error), wire.error)
    except Exception as error:  # noqa: BLE001 - a client must get an answer, whatever the session raises
        return reply_to(problem_of(error), wire.error)


def read_body(body: bytes) -> dict[str, Any]:
    """Return the JSON object in the body of a request.

    Raises:
        UnservableRequest: It is something else.
    """
    try:
        value = parse_json(body)
    except DocumentError as error:
        raise UnservableRequest(f"the body of the request is {error}") from None
    if not isinstance(value, dict):
        raise UnservableRequest("the body of the request is not a JSON object")
    return value


def _malformed(error: UnservableRequest) -> Problem:
    return Problem(400, str(error), param=error.field)


async def _list_models(session: TrialSession, request: WireRequest) -> WireReply:
    """Name the one model that is always there, in OpenAI's and in Anthropic's format at once."""
    del session, request
    model = {"id": "tau", "object": "model", "created": CREATED, "owned_by": "pytest-tau"}
    model |= {"type": "model", "display_name": "tau", "created_at": "2023-11-14T22:13:20Z"}
    models = {"object": "list", "data": [model], "has_more": False, "first_id": "tau", "last_id": "tau"}
    return WireReply(200, json.dumps(models).encode())


#: The handlers, by method and by the end of the path, after ``/t/TOKEN``.
ROUTES: dict[tuple[str, str], Handler] = {
    **{("POST", suffix): functools.partial(_serve_model, suffix) for suffix in FORMATS},
    ("GET", "/v1/models"): _list_models,
    ("POST", "/mcp"): mcp.serve,
}


def not_served(method: str, suffix: str) -> Problem:
    """Return the problem of a path, or a method, that is not served."""
    methods = [known for known, path in ROUTES if path == suffix]
    if methods:
        return Problem(405, f"{method} {suffix} is not served: expected {' or '.join(methods)}")
    known = ", ".join(f"{known} {path}" for known, path in ROUTES)
    return Problem(404, f"{method} {suffix} is not served; served are {known}", code="unknown_url")
