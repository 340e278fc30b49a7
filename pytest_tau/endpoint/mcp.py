"""Tools over MCP: streamable HTTP with plain JSON answers, without streams.

A client posts JSON-RPC messages; the state of the connection is that of the trial or the environment. The package
``mcp`` is not needed: its major versions differ, and agent frameworks pin different ones.
"""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import DocumentError, parse_json
from ..plain import json
from .session import mask_tokens
from .wire import WireReply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .session import ToolSession
    from .wire import WireRequest

__all__ = [
    "INVALID_REQUEST",
    "VERSIONS",
    "VERSION_HEADER",
    "McpReply",
    "error_answer",
    "id_of",
    "is_initialize",
    "respond",
]

#: Revisions of the protocol that begin with ``initialize``, newest first.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
#: The header with the revision of a request.
VERSION_HEADER = "mcp-protocol-version"

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022


class McpReply(NamedTuple):
    """The answer to a posted body.

    Attributes:
        status: The HTTP status.
        answer: The JSON-RPC message; None for an empty body.
    """

    status: int
    answer: dict[str, Any] | None = None

    def on_wire(self, **headers: str) -> WireReply:
        """Return it as an HTTP reply."""
        if self.answer is None:
            return WireReply(self.status, content_type="", headers=headers)
        return WireReply(self.status, json.dumps(self.answer).encode(), headers=headers)


class _ProtocolError(Exception):
    def __init__(self, code: int, problem: str) -> None:
        self.code = code
        super().__init__(problem)


async def serve(session: ToolSession, request: WireRequest) -> WireReply:
    """Answer a POST request."""
    return (await respond(session, request.body, request.headers)).on_wire()


async def respond(session: ToolSession, body: bytes, headers: Mapping[str, str]) -> McpReply:
    """Answer the body of a POST request.

    Args:
        session: The tools.
        body: A JSON-RPC message. Batches, which two old revisions allow and no client sends, are refused.
        headers: The request's headers, by lower-case name.
    """
    version = headers.get(VERSION_HEADER)
    try:
        message = parse_json(body)
    except DocumentError as error:
        return McpReply(400, error_answer(None, PARSE_ERROR, f"the body cannot be read: {error}"))
    if version is not None and version not in VERSIONS and not is_initialize(message):
        problem = f"protocol version {version!r} is not supported; supported: {', '.join(VERSIONS)}"
        data = {"supported": list(VERSIONS), "requested": version}
        return McpReply(400, error_answer(id_of(message), UNSUPPORTED_VERSION, problem, data))
    answer = await answer_message(session, message)
    return McpReply(202) if answer is None else McpReply(200 if id_of(answer) is not None else 400, answer)


async def answer_message(session: ToolSession, message: Any) -> dict[str, Any] | None:
    """Answer one JSON-RPC message.

    Args:
        session: The tools.
        message: The message, as parsed from JSON.

    Returns:
        The response; None to a notification and to a response.
    """
    try:
        request = _request(message)
        if request is None:
            return None
        result = await _result(session, *request)
    except _ProtocolError as error:
        return error_answer(id_of(message), error.code, str(error))
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _request(message: Any) -> tuple[str, dict[str, Any]] | None:
    """Return the method and the parameters of a request; None for a notification and a response."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise _ProtocolError(INVALID_REQUEST, 'expected a JSON-RPC message: an object with "jsonrpc": "2.0"')
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params = message.get("method"), message.get("params")
    if not isinstance(method, str):
        raise _ProtocolError(INVALID_REQUEST, "method: expected a string")
    if "id" not in message:
        return None
    if id_of(message) is None:
        raise _ProtocolError(INVALID_REQUEST, "id: expected a string or an integer")
    if params is not None and not isinstance(params, dict):
        raise _ProtocolError(INVALID_PARAMS, "params: expected an object")
    return method, params or {}


async def _result(session: ToolSession, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        return _initialize(params)
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [_description(tool) for tool in session.tools()]}
    if method == "tools/call":
        return await _call(session, params)
    known = "initialize, ping, tools/list, tools/call"
    raise _ProtocolError(METHOD_NOT_FOUND, f"unknown method {method!r} (known: {known})")


def _initialize(params: dict[str, Any]) -> dict[str, Any]:
    requested_version = params.get("protocolVersion")
    if not isinstance(requested_version, str):
        raise _ProtocolError(INVALID_PARAMS, "protocolVersion: expected a string")
    return {
        # A client that does not know the version that is offered instead of its own disconnects.
        "protocolVersion": requested_version if requested_version in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "pytest-tau", "version": importlib.metadata.version("pytest-tau")},
    }


def _description(tool: Any) -> dict[str, Any]:
    schema = {"type": "object", **tool.parameters}
    return {"name": tool.name, "description": tool.description, "inputSchema": schema}


async def _call(session: ToolSession, params: dict[str, Any]) -> dict[str, Any]:
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise _ProtocolError(INVALID_PARAMS, "name: expected a string")
    if arguments is not None and not isinstance(arguments, dict):
        raise _ProtocolError(INVALID_PARAMS, f"arguments: expected an object, got {type(arguments).__name__}")
    try:
        # Unknown names too: the environment refuses them, and the refused call is in the conversation.
        outcome = await session.call_tool(name, arguments or {})
    except Exception as error:
        # The call came too late, for example; what ends the trial is reported by the trial.
        raise _ProtocolError(INTERNAL_ERROR, mask_tokens(str(error))) from error
    return {"content": [{"type": "text", "text": outcome.text}], "isError": outcome.is_error}


def is_initialize(message: Any) -> bool:
    """Return whether a message begins a connection."""
    return isinstance(message, dict) and message.get("method") == "initialize"


def id_of(message: Any) -> str | int | None:
    """Return the id of a message; None if it has none that is valid."""
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, str | int) and not isinstance(number, bool) else None


def error_answer(number: str | int | None, code: int, problem: str, data: Any = None) -> dict[str, Any]:
    """Return the answer to a message that is refused."""
    error = {"code": code, "message": problem} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": number, "error": error}
