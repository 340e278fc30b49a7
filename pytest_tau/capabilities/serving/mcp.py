"""MCP for environments: one of its own for each session, or one that was made before."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ...documents import json_or_none
from ...endpoint import ToolOutcome, WireReply
from ...endpoint.mcp import (
    INVALID_REQUEST,
    VERSION_HEADER,
    VERSIONS,
    McpReply,
    error_answer,
    id_of,
    is_initialize,
    respond,
)
from .wire import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...models import Requestor
    from .served import ServedEnvironment
    from .store import EnvironmentStore
    from .wire import Request

SESSION_HEADER = "mcp-session-id"
_NOT_FOUND = -32001


class _SideOfEnvironment:
    """The tools of one side of an environment, as a session of MCP calls them."""

    def __init__(self, store: EnvironmentStore, entry: ServedEnvironment, side: Requestor) -> None:
        self._store, self._entry, self._side = store, entry, side

    def tools(self) -> Sequence[Any]:
        return self._entry.tools(self._side)

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolOutcome:
        call = functools.partial(self._entry.call, name, arguments, self._side)
        result = await self._store.use(self._entry, call)
        return ToolOutcome(result.content, result.error)


async def serve_environment(store: EnvironmentStore, request: Request, side: Requestor) -> WireReply:
    """Answer a message to the tools of an environment that the path names."""
    return await _within(await store.find(request.parts["id"]), store, request, side)


async def _within(entry: ServedEnvironment, store: EnvironmentStore, request: Request, side: Requestor) -> WireReply:
    return (await respond(_SideOfEnvironment(store, entry, side), request.body, request.headers)).on_wire()


async def serve_session(store: EnvironmentStore, request: Request) -> WireReply:
    """Answer a message of a session; the session's id is that of its environment, which ``initialize`` makes."""
    number, message = request.headers.get(SESSION_HEADER), json_or_none(request.body)
    if number is not None:
        try:
            entry = await store.find(number)
        except RequestError as error:
            # The protocol: a client that gets this status begins a new session.
            return McpReply(404, error_answer(id_of(message), _NOT_FOUND, str(error))).on_wire()
        return await _within(entry, store, request, "assistant")
    known = request.headers.get(VERSION_HEADER) in {None, *VERSIONS}
    if known and message is not None and not is_initialize(message):
        problem = "the header Mcp-Session-Id is missing: begin a session with 'initialize'"
        return McpReply(400, error_answer(id_of(message), INVALID_REQUEST, problem)).on_wire()
    # What is answered without an environment: broken JSON, unsupported versions, and a bad 'initialize'.
    reply = await respond(_SideOfEnvironment(store, store.sample, "assistant"), request.body, request.headers)
    if not (isinstance(reply.answer, dict) and "result" in reply.answer):
        return reply.on_wire()
    task = request.query.get("task")
    try:
        entry = await store.make(task, request.client, default_task=task is None)
    except RequestError as error:
        return McpReply(error.status, error_answer(id_of(message), INVALID_REQUEST, str(error))).on_wire()
    return reply.on_wire(**{"Mcp-Session-Id": entry.id})


async def end_session(store: EnvironmentStore, request: Request) -> WireReply:
    """Say that a session has ended. Its environment stays, for grading, until it is deleted or forgotten."""
    number = request.headers.get(SESSION_HEADER)
    if number is None:
        raise RequestError(400, "the header Mcp-Session-Id is missing")
    await store.find(number)
    return WireReply(204, content_type="")
