"""Agents over HTTP and over MCP: the environment is that of ``tau serve``, and its verdict that of a test run."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from pytest_tau import load_domain, simulate
from pytest_tau.chat import TrialModels
from pytest_tau.models import ToolMessage
from pytest_tau.participants import load_source
from pytest_tau.runner import SimulationSettings, Trial, TrialRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.exhaustive

pytest.importorskip("aiohttp", reason="needs the extra endpoint")
DOMAIN = load_domain("telecom")
TASKS = [
    "service.airplane+sim-out.unsure",
    "data.2g+saver",
    "data.2g.relaxed",
]


@contextlib.contextmanager
def tau_serve(*arguments: str) -> Iterator[httpx.Client]:
    """Run the command on a free port; gives a client whose base is the server. Ctrl-C must end it."""
    code = "from pytest_tau.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", code, "serve", *arguments, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        base = process.stdout.readline().rpartition(" ")[2].strip()
        with httpx.Client(base_url=base, timeout=20, trust_env=False) as client:
            yield client
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with tau_serve("telecom", "--mcp", "--task", TASKS[0]) as client:
        yield client


class OverHTTP:
    """Calls of both sides by the routes of an environment."""

    def __init__(self, client: httpx.Client, path: str) -> None:
        self._client, self._path = client, path

    def call(self, name: str, arguments: dict[str, Any], requestor: str) -> tuple[str, bool]:
        folder = "tools" if requestor == "assistant" else "user_tools"
        answer = self._client.post(f"{self._path}/{folder}/{name}", json=arguments).json()
        return answer["content"], answer["error"]


class OverMCP:
    """Calls of the agent by the official client of MCP, in a session; the user's calls by that of its own tools."""

    def __init__(self, sessions: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        self._sessions, self._loop = sessions, loop

    def call(self, name: str, arguments: dict[str, Any], requestor: str) -> tuple[str, bool]:
        call = self._sessions[requestor].call_tool(name, arguments)
        result = asyncio.run_coroutine_threadsafe(call, self._loop).result(20)
        return result.content[0].text, result.is_error


@contextlib.contextmanager
def over_mcp(base: str, path: str) -> Iterator[OverMCP]:
    """Connect clients with the tools of both sides of an environment."""
    mcp = pytest.importorskip("mcp", reason="needs the extra mcp")
    from mcp.client.streamable_http import streamable_http_client

    loop, ready = asyncio.new_event_loop(), concurrent.futures.Future()

    async def hold() -> None:
        ended = asyncio.Event()
        async with contextlib.AsyncExitStack() as stack:
            sessions = {}
            for side, folder in (("assistant", "mcp"), ("user", "user_mcp")):
                streams = await stack.enter_async_context(streamable_http_client(f"{base}{path}/{folder}"))
                sessions[side] = await stack.enter_async_context(mcp.ClientSession(streams[0], streams[1]))
                await sessions[side].initialize()
                listed = [tool.name for tool in (await sessions[side].list_tools()).tools]
                assert listed == [tool.name for tool in DOMAIN.environment().tools(side)]
            ready.set_result((sessions, ended))
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(hold(),))
    thread.start()
    sessions, ended = ready.result(20)
    try:
        yield OverMCP(sessions, loop)
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def play(task: Any, tools: Any, client: httpx.Client, path: str) -> Any:
    """Let the rule-based agent and the scripted user converse; their tools are those of the server."""
    environment = DOMAIN.environment(task)

    def answer(call: Any) -> ToolMessage:
        content, error = tools.call(call.name, call.arguments, call.requestor)
        return ToolMessage(id=call.id, content=content, error=error, requestor=call.requestor)

    environment.answer = answer  # type: ignore[method-assign]

    def note(message: Any) -> None:
        if message.role in ("assistant", "user") and message.content and not message.tool_calls:
            said = {"role": message.role, "content": message.content}
            assert client.post(f"{path}/messages", json=said).status_code == 204

    trial = Trial(task, DOMAIN, environment, SimulationSettings(), TrialModels({}), seed=1, on_message=note)
    return asyncio.run(TrialRunner(trial, load_source("rules", "agent"), load_source("scripted", "user")).run())


@pytest.mark.parametrize("way", ["HTTP", "MCP"])
@pytest.mark.parametrize("number", TASKS)
def test_an_agent_solves_a_task_and_is_graded_as_in_a_test_run(client: httpx.Client, way: str, number: str) -> None:
    task = next(task for task in DOMAIN.tasks(None) if task.id == number)
    expected = simulate(task, domain=DOMAIN, agent="rules", user="scripted", seed=1)
    path = f"/environments/{client.post('/environments', json={'task': task.id}).json()['id']}"
    with contextlib.ExitStack() as stack:
        base = str(client.base_url).rstrip("/")
        tools = OverHTTP(client, path) if way == "HTTP" else stack.enter_context(over_mcp(base, path))
        there = play(task, tools, client, path)
    verdict = client.post(f"{path}/grade").json()
    trajectory = client.get(f"{path}/trajectory").json()["trajectory"]
    assert there.termination_reason == expected.termination_reason == "user_stop"
    assert (verdict["reward"], verdict["outcome"]) == (expected.reward, expected.outcome) == (1, "passed")
    assert verdict["simulation"]["reward_info"] == expected.reward_info.model_dump(mode="json")
    made = [(call.call.name, call.call.arguments, call.call.requestor) for call in expected.calls]
    served = [(c["name"], c["arguments"], c["requestor"]) for m in trajectory for c in m.get("tool_calls", [])]
    assert served == made
    assert len(made) >= 4
    results = [message.content for message in expected.messages if message.role == "tool"]
    assert [m["content"] for m in trajectory if m["role"] == "tool"] == results


def test_an_agent_that_knows_only_the_address_has_an_environment_of_its_own(client: httpx.Client) -> None:
    mcp = pytest.importorskip("mcp", reason="needs the extra mcp")
    from mcp.client.streamable_http import streamable_http_client

    async def work(url: str) -> str:
        async with streamable_http_client(url) as streams, mcp.ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            result = await session.call_tool("get_customer_by_phone", {"phone_number": "206-555-0177"})
            return result.content[0].text

    async def both(url: str) -> list[str]:
        return await asyncio.gather(work(f"{url}mcp"), work(f"{url}mcp?task=data.2g.relaxed"))

    before = client.get("/").json()["open"]
    answers = asyncio.run(both(f"{str(client.base_url).rstrip('/')}/"))
    assert [json.loads(answer)["customer_id"] for answer in answers] == ["C2015", "C2015"]
    assert client.get("/").json()["open"] == before + 2


@pytest.mark.parametrize("position", [0, 1])
def test_the_examples_of_the_docs_print_what_the_page_shows(
    client: httpx.Client, position: int, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    page = page.partition("\n## Serve environments\n")[2]
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(examples) == page.count("```python") == 2
    code, shown = examples[position]
    assert "http://127.0.0.1:8004" in code
    code = code.replace("http://127.0.0.1:8004", str(client.base_url).rstrip("/"))
    exec(compile(code, "docs/training.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == shown
