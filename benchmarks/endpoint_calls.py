"""The cost of a model call through the endpoint, compared with a direct call of the chat model."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_tau import load_domain
from pytest_tau.chat import LLM, ChatReply, ChatRequest, TrialModels, Usage
from pytest_tau.endpoint import close_session, open_session

from .figures import Figure
from .measuring import Timing, alternating, in_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_tau.chat import ChatModel
    from pytest_tau.endpoint import EndpointRequest, ToolOutcome

    from .figures import Options

_MESSAGES = 10


class _Model:
    """Answers at once."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        message = {"role": "assistant", "content": "Your order was delivered yesterday. Is there anything else?"}
        return ChatReply(message=message, usage=Usage(prompt_tokens=900, completion_tokens=12), finish_reason="stop")


class _Session:
    """A trial whose calls are counted, as those of a run."""

    def __init__(self, chat: ChatModel) -> None:
        self.loop = asyncio.new_event_loop()
        self._chat, self._models = chat, TrialModels({"agent": LLM("openai/any", chat)})
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    async def complete(self, request: EndpointRequest) -> ChatReply:
        asked = ChatRequest(model=request.model, messages=request.messages, tools=request.tools, args=request.args)
        return await self._models.call("agent", asked, self._chat)

    def tools(self) -> Sequence[Any]:
        return ()

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolOutcome:
        raise NotImplementedError


def endpoint(options: Options) -> Iterator[Figure]:
    """Measure a model call through the endpoint (chat completions, unstreamed, ten messages, the tools of retail).

    The model answers at once. A direct call and a call over HTTP, with a plain client on a connection that stays open,
    alternate. The cost of the endpoint is the difference in processor time, that of the plain client included; the
    clients of frameworks cost more, with and without the endpoint.
    """
    session = _Session(_Model())
    address = open_session(session)
    body = _body(options)
    parts = urlsplit(address.base_url)
    connection = http.client.HTTPConnection("127.0.0.1", parts.port)
    calls = options.count(200, 3)

    def direct() -> None:
        request = ChatRequest(model="tau", messages=body["messages"], tools=body["tools"])
        models = session._models  # noqa: SLF001 - of this module
        asyncio.run_coroutine_threadsafe(models.call("agent", request, session._chat), session.loop).result()  # noqa: SLF001

    def through() -> None:
        connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body))
        assert json.loads(connection.getresponse().read())["choices"]

    plain, served = alternating([_mean(direct, calls), _mean(through, calls)], options.count(15, 1))
    connection.close()
    close_session(address)
    session.loop.call_soon_threadsafe(session.loop.stop)
    difference = [Timing(b.wall - a.wall, b.cpu - a.cpu) for a, b in zip(plain, served, strict=True)]
    yield Figure("a direct call", "ms", *in_unit(plain, 1e3))
    yield Figure("a call through the endpoint", "ms", *in_unit(served, 1e3))
    yield Figure("the endpoint, processor time", "ms", in_unit(difference, 1e3)[1], target=2.0)


def _body(options: Options) -> dict[str, Any]:
    environment = load_domain("retail", options.data).environment()
    turns = [
        {"role": role, "content": "Could you tell me where my order #W2378156 is, please?"}
        for _ in range(_MESSAGES // 2)
        for role in ("user", "assistant")
    ]
    system = {"role": "system", "content": environment.policy}
    return {
        "model": "tau",
        "messages": [system, *turns[: _MESSAGES - 1]],
        "tools": [tool.openai_schema for tool in environment.tools("assistant")],
    }


def _mean(work: Callable[[], None], calls: int) -> Callable[[], Timing]:
    def run() -> Timing:
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(calls):
            work()
        return Timing((time.perf_counter() - wall) / calls, (time.process_time() - cpu) / calls)

    return run
