"""The tools of a trial over MCP, answered by a function of the trial and a message."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_tau.endpoint.mcp import VERSIONS, McpReply, respond

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


class Session:
    """A trial with one tool, which fails for an empty title."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def tools(self) -> list[Any]:
        return [SimpleNamespace(name="add", description="Add a task.", parameters=SCHEMA)]

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        self.calls.append((name, arguments))
        failed = not arguments.get("title")
        return SimpleNamespace(text="Error: no title" if failed else "added", is_error=failed)


def post(message: Any, session: Session | None = None, **headers: str) -> McpReply:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return asyncio.run(respond(session or Session(), body, names))


def request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def result(reply: McpReply) -> Any:
    assert reply.status == 200
    assert reply.answer is not None
    assert (reply.answer["jsonrpc"], reply.answer["id"]) == ("2.0", 1)
    return reply.answer["result"]


def error(reply: McpReply) -> tuple[int, int, str]:
    assert reply.answer is not None
    return reply.status, reply.answer["error"]["code"], reply.answer["error"]["message"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_known_version_is_accepted(version: str) -> None:
    found = result(post(request("initialize", protocolVersion=version, capabilities={}, clientInfo={})))
    assert found["protocolVersion"] == version
    assert found["capabilities"] == {"tools": {}}
    assert found["serverInfo"]["name"] == "pytest-tau"


def test_an_unknown_version_is_answered_with_the_newest() -> None:
    assert result(post(request("initialize", protocolVersion="2099-01-01")))["protocolVersion"] == VERSIONS[0]


def test_tools_are_listed_with_their_schemas() -> None:
    assert result(post(request("tools/list"))) == {
        "tools": [{"name": "add", "description": "Add a task.", "inputSchema": SCHEMA}]
    }


def test_a_ping_is_answered() -> None:
    assert result(post({"jsonrpc": "2.0", "id": 1, "method": "ping"})) == {}


def test_a_call_gives_the_text_of_its_result() -> None:
    session = Session()
    found = result(post(request("tools/call", name="add", arguments={"title": "Milk"}), session))
    assert found == {"content": [{"type": "text", "text": "added"}], "isError": False}
    assert session.calls == [("add", {"title": "Milk"})]


def test_a_failed_call_is_a_result_with_an_error() -> None:
    found = result(post(request("tools/call", name="add")))
    assert found == {"content": [{"type": "text", "text": "Error: no title"}], "isError": True}


def test_an_unknown_tool_is_refused_by_the_environment() -> None:
    session = Session()
    result(post(request("tools/call", name="ad", arguments={}), session))
    assert session.calls == [("ad", {})]


@pytest.mark.parametrize(
    ("method", "params", "code", "text"),
    [
        ("tools/call", {"name": 3}, -32602, "name: expected a string"),
        ("tools/call", {"name": "add", "arguments": ["Milk"]}, -32602, "arguments: expected an object, got list"),
        ("tools/call", {"name": "add", "arguments": "{}"}, -32602, "arguments: expected an object, got str"),
        ("initialize", {}, -32602, "protocolVersion: expected a string"),
        ("resources/list", {}, -32601, "unknown method 'resources/list'"),
        ("server/discover", {}, -32601, "unknown method 'server/discover'"),
    ],
)
def test_a_request_that_cannot_be_served(method: str, params: dict[str, Any], code: int, text: str) -> None:
    session = Session()
    status, found, message = error(post(request(method, **params), session))
    assert (status, found) == (200, code)
    assert text in message
    assert session.calls == []


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        (b"{", -32700, "cannot be read"),
        (b"\xff", -32700, "cannot be read"),
        (b"[" * 5000, -32700, "cannot be read"),
        (b"3", -32600, "expected a JSON-RPC message"),
        (b'{"id": 1, "method": "ping"}', -32600, "expected a JSON-RPC message"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 3}', -32600, "method: expected a string"),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, "id: expected a string or an integer"),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, "id: expected a string or an integer"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602, "params: expected an object"),
        (b"[]", -32600, "expected a JSON-RPC message"),
    ],
)
def test_a_body_that_is_no_request(body: bytes, code: int, text: str) -> None:
    _, found, message = error(post(body))
    assert found == code
    assert text in message


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_what_needs_no_answer_is_accepted(message: Any) -> None:
    assert post(message) == McpReply(202)


def test_an_unsupported_version_in_the_header_is_refused() -> None:
    reply = post(request("tools/list"), mcp_protocol_version="2099-01-01")
    status, code, message = error(reply)
    assert (status, code) == (400, -32022)
    assert "'2099-01-01' is not supported" in message
    assert reply.answer is not None
    assert reply.answer["error"]["data"]["supported"] == list(VERSIONS)
