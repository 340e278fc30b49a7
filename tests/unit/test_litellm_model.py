"""What litellm adds to a chat model; test_chat_models.py has the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from pytest_tau.chat import ChatReply, ChatRequest, Usage
from pytest_tau.integrations.litellm import LiteLLM, litellm_model
from pytest_tau.integrations.litellm.client import load
from pytest_tau.testing import ModelServer

from .tiny import run

pytestmark = pytest.mark.usefixtures("no_model_environment")
HELLO = [{"role": "user", "content": "Hello"}]
LOOK = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
}

CALL = {"id": "call_0", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def asked(server: ModelServer, name: str = "openai/scripted", **fields: Any) -> ChatRequest:
    args = {"api_base": server.base_url, **fields.pop("args", {})}
    return ChatRequest(**{"model": name, "messages": HELLO} | fields, args=args)


def answer(script: Any, **fields: Any) -> ChatReply:
    """What the model answers where the server gives one answer to everything."""
    with ModelServer(lambda _: script) as server:
        return run(LiteLLM().complete(asked(server, **fields)))


def test_an_argument_given_for_all_calls_wins_over_the_choice_of_a_call() -> None:
    with ModelServer(lambda _: "Hi") as server:
        run(LiteLLM().complete(asked(server, tools=[LOOK], tool_choice="auto", args={"tool_choice": "none"})))
    assert server.requests[0]["tool_choice"] == "none"


def test_what_the_provider_wants_back_is_kept_and_sent() -> None:
    first = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "reasoning_content": "The lamp, I think.",
        "thinking_blocks": [{"type": "thinking", "thinking": "The lamp", "signature": "s1"}],
        "tool_calls": [CALL | {"extra_content": {"google": {"thought_signature": "s2"}}}],
    }
    with ModelServer(lambda request: first if len(request["messages"]) == 1 else "Done") as server:
        reply = run(LiteLLM().complete(asked(server)))
        result = {"role": "tool", "tool_call_id": "call_0", "content": "a lamp"}
        run(LiteLLM().complete(asked(server, messages=[*HELLO, reply.message, result])))
    message = reply.message
    assert message["reasoning_content"] == "The lamp, I think."
    assert message["thinking_blocks"] == first["thinking_blocks"]
    assert message["tool_calls"] == first["tool_calls"]
    assert not {"refusal", "annotations", "function_call", "audio"} & set(message)
    assert json.loads(json.dumps(message)) == message
    sent = server.requests[1]["messages"][1:]
    # litellm omits a content that is null.
    assert [{"content": None, **sent[0]}, *sent[1:]] == [message, result]


def test_all_tokens_of_the_provider_are_counted_and_priced() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "total_tokens": 1100,
        "prompt_tokens_details": {"cached_tokens": 600},
        "completion_tokens_details": {"reasoning_tokens": 40},
    }
    completion = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4.1-mini-2025-04-14",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
        "usage": usage,
    }
    reply = answer(completion, name="openai/gpt-4.1-mini")
    assert reply.usage == Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=600, reasoning_tokens=40)
    assert reply.cost == pytest.approx((400 * 0.4 + 600 * 0.1 + 100 * 1.6) / 1e6)
    assert reply.model == "gpt-4.1-mini-2025-04-14"
    unpriced = answer(completion | {"model": "scripted"})
    assert (unpriced.usage, unpriced.cost) == (reply.usage, None)
    too_many = {"prompt_tokens_details": {"cached_tokens": 9000}}
    for wrong in (None, usage | {"completion_tokens": -5}, usage | too_many):
        uncounted = answer(completion | {"usage": wrong}, name="openai/gpt-4.1-mini")
        assert (uncounted.usage, uncounted.cost) == (None, None)


def test_an_unknown_price_is_unknown_and_a_price_of_nothing_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
    monkeypatch.setitem(load().model_cost, "tau-free-of-charge", entry)
    monkeypatch.setitem(load().model_cost, "tau-priceless", {"litellm_provider": "openai", "mode": "chat"})
    assert answer("Hi", name="openai/tau-free-of-charge").cost == 0.0
    assert answer("Hi", name="openai/tau-priceless").cost is None
    own = {"input_cost_per_token": 1.0, "output_cost_per_token": 0.0}
    reply = answer("Hi", name="openai/tau-own-price", args=own)
    assert reply.cost == (reply.usage or Usage()).prompt_tokens > 0
    # litellm's own answer is 0 for a name that looks like one of a family that it knows.
    assert answer("Hi", name="openai/gpt-9.9").cost is None


def test_a_model_by_name_has_temperature_zero_unless_another_is_given() -> None:
    assert litellm_model("openai/gpt-4.1", max_tokens=5).args == {"temperature": 0.0, "max_tokens": 5}
    assert litellm_model("openai/gpt-4.1", temperature=1).args == {"temperature": 1}
    assert litellm_model("openai/gpt-4.1").chat is litellm_model("openai/o3").chat


# What a process sees of it


def python(code: str) -> str:
    """What a fresh interpreter prints, to either stream."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    return done.stdout + done.stderr


def test_importing_the_package_imports_no_library_of_the_extra() -> None:
    heavy = "{'litellm', 'tenacity', 'openai', 'httpx', 'aiohttp', 'tiktoken'}"
    assert python(f"import sys, pytest_tau.integrations.litellm; print({heavy} & set(sys.modules))") == "set()\n"


def test_missing_extra_is_reported_with_its_install_command() -> None:
    code = """
import asyncio, sys
sys.modules["litellm"] = None
from pytest_tau.chat import ChatRequest
from pytest_tau.errors import ConfigurationError
from pytest_tau.integrations.litellm import LiteLLM, check
for attempt in (lambda: check("openai/gpt-4.1", {}), lambda: asyncio.run(LiteLLM().complete(ChatRequest(model="m", messages=[])))):
    try:
        attempt()
    except ConfigurationError as error:
        print(error)
"""
    lines = python(code).splitlines()
    assert len(lines) == 2
    assert all("pip install './pytest-tau[llm]'" in line for line in lines)


@pytest.mark.exhaustive
def test_a_process_hears_of_litellm_only_through_us_and_ends_cleanly() -> None:
    """No price list is downloaded, nothing is printed or logged, and nothing is left open at the end."""
    code = """
import asyncio, logging, os, socket
logging.basicConfig(level=logging.WARNING)
reached = []
connect = socket.socket.connect
socket.socket.connect = lambda self, address: (reached.append(address), connect(self, address))[1]
def environment():
    # litellm below 1.106 sets this variable while it is imported.
    return {name: value for name, value in os.environ.items() if name != "TIKTOKEN_CACHE_DIR"}
before = environment()
from pytest_tau.chat import ChatRequest
from pytest_tau.errors import ModelError
from pytest_tau.integrations.litellm import LiteLLM
from pytest_tau.testing import ModelServer, ServerError, Stall
chat = LiteLLM(attempts=2, first_wait=0.001)
async def main(server):
    request = ChatRequest(model="openai/scripted", messages=[{"role": "user", "content": "Hi"}], args={"api_base": server.base_url})
    for _ in range(2):
        try:
            print((await chat.complete(request)).text)
        except ModelError as error:
            print(error.kind)
    stalled = asyncio.ensure_future(chat.complete(request))
    while len(server.requests) < 4:
        await asyncio.sleep(0.01)
with ModelServer(lambda _: "Hello", faults={2: ServerError(), 3: ServerError(), 4: Stall()}) as server:
    asyncio.run(main(server))
    asyncio.run(asyncio.sleep(0))
print({address[0] for address in reached} - {"127.0.0.1"}, environment() == before)
"""
    assert python(code).splitlines() == ["Hello", "unavailable", "set() True"]
