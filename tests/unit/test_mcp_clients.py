"""The tools of a trial as a client of MCP sees them: over HTTP, and over stdio with ``tau mcp``."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.cli import main
from pytest_tau.cli.mcp import Forwarder
from pytest_tau.endpoint import close_session, open_session

from .endpoint_session import Outcome, ScriptedSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.endpoint import Address

mcp = pytest.importorskip("mcp", reason="needs the extra mcp")
pytest.importorskip("aiohttp", reason="needs the extra endpoint")

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
SHIM = [sys.executable, "-c", "from pytest_tau.cli import main; raise SystemExit(main())", "mcp"]


class Session(ScriptedSession):
    """A trial with one tool. ``pair`` answers once it was called twice, as calls of one model answer are."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, Any]] = []
        self.pair = threading.Event()

    def tools(self) -> list[Any]:
        return [SimpleNamespace(name="add", description="Add a task.", parameters=SCHEMA)]

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Outcome:
        self.calls.append((name, arguments))
        if name == "late":
            raise RuntimeError("tool 'late' was called after run() had returned")
        if name == "pair":
            if [called for called, _ in self.calls].count("pair") == 2:
                self.pair.set()
            assert await asyncio.to_thread(self.pair.wait, 20)
        if name == "endless":
            await asyncio.sleep(60)
        return Outcome("Error: no title", is_error=True) if arguments == {} else Outcome("added ü", is_error=False)


@pytest.fixture
def session() -> Iterator[Session]:
    """The session of a trial."""
    session = Session()
    yield session
    session.stop()


@pytest.fixture
def address(session: Session) -> Iterator[Address]:
    """The address of the trial while it runs."""
    address = open_session(session)
    yield address
    close_session(address)


async def use(client: Any) -> None:
    """What a client does: list the tools, call one well, one badly, and one that does not exist."""
    assert client.server_info.name == "pytest-tau"
    [tool] = (await client.list_tools()).tools
    assert (tool.name, tool.description, tool.input_schema) == ("add", "Add a task.", SCHEMA)
    good = await client.call_tool("add", {"title": "Milk"})
    assert (good.is_error, [part.text for part in good.content]) == (False, ["added ü"])
    bad = await client.call_tool("add", {})
    assert (bad.is_error, bad.content[0].text) == (True, "Error: no title")
    with pytest.raises(mcp.MCPError, match="was called after run"):
        await client.call_tool("late", {})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_over_http(session: Session, address: Address, mode: Any) -> None:
    async def converse() -> None:
        async with mcp.Client(address.mcp_url, mode=mode) as client:
            assert client.protocol_version == "2025-11-25"
            await use(client)

    asyncio.run(converse())
    assert session.calls == [("add", {"title": "Milk"}), ("add", {}), ("late", {})]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_over_stdio(session: Session, address: Address, mode: Any) -> None:
    async def converse() -> None:
        # The SDK gives a server few variables of the environment, so this one is passed on.
        server = mcp.StdioServerParameters(
            command=SHIM[0], args=SHIM[1:], env={"TAU_MCP_URL": address.mcp_url, "PATH": os.environ["PATH"]}
        )
        async with mcp.Client(mcp.stdio_client(server), mode=mode) as client:
            await use(client)
            both = await asyncio.gather(*(client.call_tool("pair", {"number": number}) for number in (1, 2)))
            assert [result.is_error for result in both] == [False, False]

    asyncio.run(converse())


def test_other_methods_are_not_served(address: Address) -> None:
    import httpx

    for method in ("GET", "DELETE", "PUT"):
        answer = httpx.request(method, address.mcp_url)
        assert answer.status_code == 405
        assert "expected POST" in answer.json()["error"]["message"]


def test_a_notification_is_accepted_without_a_body(address: Address) -> None:
    import httpx

    answer = httpx.post(address.mcp_url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answer.status_code, answer.content) == (202, b"")


def shim(url: str | None, *messages: Any) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, answers and standard error of ``tau mcp``."""
    environment = {name: value for name, value in os.environ.items() if name != "TAU_MCP_URL"}
    environment |= {} if url is None else {"TAU_MCP_URL": url}
    # A proxy of the environment has no part in it.
    environment |= {"http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"}
    text = "".join(f"{message if isinstance(message, str) else json.dumps(message)}\n" for message in messages)
    done = subprocess.run(SHIM, input=text, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_the_shim_forwards_lines(address: Address) -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    initialize = request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={})
    status, answers, errors = shim(address.mcp_url, initialize, notice, "", request("tools/list", "two"), "{")
    assert (status, errors) == (0, "")
    assert {answer["id"] for answer in answers} == {1, "two", None}
    assert next(answer for answer in answers if answer["id"] is None)["error"]["code"] == -32700


def test_the_shim_needs_its_variable() -> None:
    status, answers, errors = shim(None, request("ping"))
    assert (status, answers) == (2, [])
    assert errors.startswith("tau mcp: TAU_MCP_URL is not set: this command is for programs that a run started")


def test_the_shim_needs_a_url(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TAU_MCP_URL", "file:///etc/passwd")
    assert main(["mcp"]) == 2
    assert capsys.readouterr().err == "tau mcp: expected the URL of a trial's tools, got 'file:///etc/passwd'\n"


def test_the_shim_after_the_trial(address: Address) -> None:
    close_session(address)
    status, answers, errors = shim(address.mcp_url, request("ping"), {"jsonrpc": "2.0", "method": "notifications/x"})
    assert status == 0
    assert answers == [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "tau mcp: the trial has ended"}}
    ]
    assert errors == "tau mcp: the trial has ended\n" * 2


def test_the_shim_after_the_run() -> None:
    _, [answer], _ = shim("http://127.0.0.1:9/t/x/mcp", request("ping"))
    assert answer["error"]["message"] == "tau mcp: the trial has ended, or its run has"


def test_a_trial_that_ends_during_a_call(session: Session, address: Address) -> None:
    lines = io.BytesIO(json.dumps(request("tools/call", name="endless", arguments={})).encode() + b"\n")
    output = io.BytesIO()
    thread = threading.Thread(target=Forwarder(address.mcp_url, output).forward, args=(lines,))
    thread.start()
    while not session.calls:
        thread.join(0.01)
    close_session(address)
    thread.join(20)
    assert json.loads(output.getvalue())["error"] == {"code": -32000, "message": "tau mcp: the trial has ended"}
