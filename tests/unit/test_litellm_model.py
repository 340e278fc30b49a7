from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import ChatReply, ChatRequest, Usage
from pytest_tau.errors import ConfigurationError, ContextWindowError, ModelError
from pytest_tau.integrations.litellm import LiteLLM, litellm_model
from pytest_tau.integrations.litellm.client import load
from pytest_tau.testing import (
    ConnectionReset,
    ContentFiltered,
    ContextWindowExceeded,
    MalformedBody,
    ModelServer,
    QuotaExceeded,
    RateLimited,
    ServerError,
    Stall,
    TruncatedJSON,
    Unauthorized,
    UnknownModel,
    WrongSchema,
)

from .tiny import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HELLO = [{"role": "user", "content": "Hello"}]
LOOK = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "LITELLM_LOG"):
        monkeypatch.delenv(name, raising=False)


def quick(**limits: Any) -> LiteLLM:
    """A model that does not wait long."""
    return LiteLLM(**{"first_wait": 0.001, "timeout": 10.0} | limits)


def asked(server: ModelServer, name: str = "openai/scripted", **fields: Any) -> ChatRequest:
    args = {"api_base": server.base_url, **fields.pop("args", {})}
    return ChatRequest(**{"model": name, "messages": HELLO} | fields, args=args)


def answer(script: Any, *, chat: LiteLLM | None = None, **fields: Any) -> ChatReply:
    """What the model answers where the server gives one answer to everything."""
    with ModelServer(lambda _: script) as server:
        return run((chat or quick()).complete(asked(server, **fields)))


def fault(script: Any, *, chat: LiteLLM | None = None, **fields: Any) -> tuple[ModelError, int]:
    """How a call fails, and how many requests that took."""
    with ModelServer(lambda _: script) as server, pytest.raises(ModelError) as caught:
        run((chat or quick(attempts=2)).complete(asked(server, **fields)))
    return caught.value, len(server.requests)


def calls(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(pairs)
    ]


async def until(condition: Callable[[], bool]) -> None:
    async def wait() -> None:
        while not condition():  # noqa: ASYNC110 - the server's threads know no events of the loop
            await asyncio.sleep(0.002)

    await asyncio.wait_for(wait(), 20)


# What is sent and what comes back


def test_a_text_comes_back_with_its_usage_and_the_time_it_took() -> None:
    reply = answer("Hi there")
    assert reply.message == {"role": "assistant", "content": "Hi there"}
    assert reply.text == "Hi there"
    assert (reply.finish_reason, reply.model) == ("stop", "scripted")
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens > 0
    assert 0 < reply.seconds < 10


def test_the_server_gets_the_request_and_nothing_about_the_connection() -> None:
    with ModelServer(lambda _: "Hi") as server:
        schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
        request = asked(server, tools=[LOOK], tool_choice="required", response_format=schema, args={"seed": 7})
        run(quick().complete(request))
    assert server.requests == [
        {
            "model": "scripted",
            "messages": HELLO,
            "tools": [LOOK],
            "tool_choice": "required",
            "response_format": schema,
            "seed": 7,
        }
    ]


def test_an_argument_given_for_all_calls_wins_over_the_choice_of_a_call() -> None:
    with ModelServer(lambda _: "Hi") as server:
        run(quick().complete(asked(server, tools=[LOOK], tool_choice="auto", args={"tool_choice": "none"})))
    assert server.requests[0]["tool_choice"] == "none"


def test_tool_calls_come_back_as_they_were_sent_malformed_ones_too() -> None:
    sent = calls(("look", '{"item_id": "lamp"}'), ("look", '{"item_id": '), ("nowhere", "[1, 2]"))
    reply = answer({"role": "assistant", "content": None, "tool_calls": sent}, tools=[LOOK], tool_choice="auto")
    assert reply.message == {"role": "assistant", "content": None, "tool_calls": sent}
    assert reply.finish_reason == "tool_calls"


def test_text_and_tool_calls_are_both_kept() -> None:
    sent = calls(("look", "{}"))
    reply = answer({"role": "assistant", "content": "One moment.", "tool_calls": sent})
    assert reply.message == {"role": "assistant", "content": "One moment.", "tool_calls": sent}


@pytest.mark.parametrize("content", [None, ""])
def test_an_empty_message_is_an_answer(content: str | None) -> None:
    assert answer({"role": "assistant", "content": content}).message == {"role": "assistant", "content": content}


def test_what_the_provider_wants_back_is_kept_and_sent() -> None:
    first = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "reasoning_content": "The lamp, I think.",
        "thinking_blocks": [{"type": "thinking", "thinking": "The lamp", "signature": "s1"}],
        "tool_calls": [calls(("look", "{}"))[0] | {"extra_content": {"google": {"thought_signature": "s2"}}}],
    }
    with ModelServer(lambda request: first if len(request["messages"]) == 1 else "Done") as server:
        reply = run(quick().complete(asked(server)))
        result = {"role": "tool", "tool_call_id": "call_0", "content": "a lamp"}
        run(quick().complete(asked(server, messages=[*HELLO, reply.message, result])))
    message = reply.message
    assert message["reasoning_content"] == "The lamp, I think."
    assert message["thinking_blocks"] == first["thinking_blocks"]
    assert message["tool_calls"] == first["tool_calls"]
    assert not {"refusal", "annotations", "function_call", "audio"} & set(message)
    assert json.loads(json.dumps(message)) == message
    sent = server.requests[1]["messages"][1:]
    # litellm omits a content that is null.
    assert [{"content": None, **sent[0]}, *sent[1:]] == [message, result]


def test_the_request_is_left_as_it_was() -> None:
    messages = [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, *HELLO]
    with ModelServer(lambda _: "Hi") as server:
        request = asked(server, messages=messages, tools=[LOOK], tool_choice="auto")
        before = request.model_dump_json()
        run(quick().complete(request))
        assert request.model_dump_json() == before


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


# Faults


PASSING = [
    (RateLimited(), "rate_limit", "too many calls"),
    (ServerError(), "unavailable", "the server failed or cannot be reached"),
    (ServerError(502), "unavailable", "the server failed or cannot be reached"),
    (ServerError(503), "overloaded", "the server is overloaded"),
    (ServerError(529), "overloaded", "the server is overloaded"),
    (ConnectionReset(), "unavailable", "the server failed or cannot be reached"),
    (MalformedBody(), "bad_answer", "the answer is not a chat completion"),
    (TruncatedJSON(), "bad_answer", "the answer is not a chat completion"),
    (WrongSchema(), "bad_answer", "the answer is not a chat completion"),
    ({"id": "x", "model": "m", "object": "chat.completion", "choices": []}, "bad_answer", "not a chat completion"),
    ({"id": "x", "model": "m", "choices": [{"index": 0, "message": None}]}, "bad_answer", "not a chat completion"),
]
PERMANENT = [
    (Unauthorized(), "authentication", "OPENAI_API_KEY not set"),
    (UnknownModel(), "unknown_model", "the server does not know the model"),
    (ContextWindowExceeded(), "context_window", "exceeds the context window of the model"),
    (ContentFiltered(), "refused", "the provider refuses the content"),
    (ContentFiltered("content_filter"), "refused", "the provider refuses the content"),
    (QuotaExceeded(), "quota", "no credit left"),
]


@pytest.mark.parametrize(("script", "kind", "words"), PASSING, ids=lambda value: None)
def test_transient_error_is_retried_and_reported_with_the_attempts(script: Any, kind: str, words: str) -> None:
    error, requests = fault(script, chat=quick(attempts=3))
    assert (error.kind, error.passing, requests) == (kind, True, 3)
    first = str(error).splitlines()[0]
    assert first.startswith("openai/scripted: ")
    assert words in first
    assert "(3 attempts over " in first


def test_refused_connection_is_recognised() -> None:
    with ModelServer(lambda _: "Hi") as server:
        pass
    with pytest.raises(ModelError, match="3 attempts") as caught:
        run(quick(attempts=5).complete(asked(server)))
    assert caught.value.no_server


@pytest.mark.parametrize(("script", "kind", "words"), PERMANENT, ids=lambda value: None)
def test_permanent_error_is_reported_at_once(script: Any, kind: str, words: str) -> None:
    error, requests = fault(script)
    assert (error.kind, error.passing, requests) == (kind, False, 1)
    assert isinstance(error, ContextWindowError) == (kind == "context_window")
    assert words in str(error).splitlines()[0]
    assert "attempt" not in str(error)
    assert len(str(error).splitlines()) == 2
    assert error.__cause__ is None


def test_an_answer_that_the_providers_filter_emptied_is_refused_content() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "content_filter"}
    error, requests = fault({"id": "x", "model": "m", "object": "chat.completion", "created": 1, "choices": [choice]})
    assert (error.kind, requests) == ("refused", 1)


def test_an_answer_that_the_provider_has_broken_off_is_retried() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "I will"}, "finish_reason": "error"}
    caught, requests = fault({"id": "x", "model": "m", "object": "chat.completion", "created": 1, "choices": [choice]})
    assert (caught.kind, caught.passing, requests) == ("unavailable", True, 2)
    assert str(caught).endswith("reported: the answer was broken off")


def test_a_server_that_is_not_there_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    request = ChatRequest(
        model="openai/scripted", messages=HELLO, args={"api_base": f"http://127.0.0.1:{port}/v1", "num_retries": 0}
    )
    with pytest.raises(ModelError, match=r"cannot be reached.*\(1 attempt over ") as caught:
        run(quick().complete(request))
    assert caught.value.kind == "unavailable"


@pytest.mark.exhaustive
def test_the_answer_comes_after_whatever_passed(caplog: pytest.LogCaptureFixture) -> None:
    befalls = {1: RateLimited(0.01), 2: ServerError(), 3: ConnectionReset(), 4: MalformedBody(), 5: Stall()}
    with caplog.at_level("INFO", "pytest_tau"), ModelServer(lambda _: "At last", faults=befalls) as server:
        # litellm is already imported; otherwise, the limit would include the import.
        load()
        reply = run(quick(timeout=2.0).complete(asked(server)))
    assert (reply.text, len(server.requests), server.served) == ("At last", 6, 1)
    told = [record.getMessage() for record in caplog.records]
    kinds = ["rate_limit", "unavailable", "unavailable", "bad_answer", "timeout"]
    assert [line.split("; attempt ")[0] for line in told] == [f"openai/scripted: {kind}" for kind in kinds]
    assert [line.split("; attempt ")[1].split(" in ")[0] for line in told] == [f"{n} of 8" for n in range(2, 7)]


def test_what_the_server_asks_for_is_known_afterwards() -> None:
    error, _ = fault(RateLimited(0.015))
    assert error.retry_after == 0.015


def test_a_request_may_have_retries_and_a_limit_of_its_own() -> None:
    assert fault(ServerError(), args={"num_retries": 3})[1] == 4
    assert fault(ServerError(), args={"max_retries": 0})[1] == 1
    error, requests = fault(Stall(), args={"timeout": 0.5, "num_retries": 1})
    assert (error.kind, requests) == ("timeout", 2)
    assert "no answer within 0.5 s" in str(error)


@contextlib.contextmanager
def trickling_server() -> Iterator[str]:
    """A server that sends a byte every now and then, and never a whole answer."""
    over = threading.Event()

    def trickle() -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as client:
            client.recv(65536)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n")
            while not over.wait(0.01):
                client.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            over.set()
            thread.join()


def test_limit_applies_to_a_server_that_answers_slowly() -> None:
    with trickling_server() as address, pytest.raises(ModelError, match=r"no answer within 0\.1 s") as caught:
        run(
            quick(timeout=0.1, attempts=1).complete(
                ChatRequest(model="openai/scripted", messages=HELLO, args={"api_base": address})
            )
        )
    assert caught.value.kind == "timeout"


KEY = "tau-very-secret-0123456789"


def test_keys_are_in_no_error() -> None:
    def leak(request: dict[str, Any]) -> str:
        raise RuntimeError(f"no entry with {KEY}, Bearer abc.def-ghi, sk-proj-abc***wxyz, https://me:pw@example.org")

    with ModelServer(leak, api_key=KEY) as server, pytest.raises(ModelError) as caught:
        run(quick(attempts=1).complete(asked(server, args={"api_key": KEY})))
    assert "no entry with ***" in str(caught.value)
    assert not [secret for secret in (KEY, "abc.def", "wxyz", "me:pw") if secret in str(caught.value)]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_wrong_key_is_named_by_where_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(lambda _: "Hi", api_key="another-key") as server:

        def refused(**args: Any) -> str:
            with pytest.raises(ModelError) as caught:
                run(quick().complete(asked(server, args=args)))
            return str(caught.value)

        assert "the key in the model's arguments was refused" in refused(api_key=KEY)
        assert "(OPENAI_API_KEY not set) was refused" in refused()
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert "the key in OPENAI_API_KEY was refused" in refused()
        monkeypatch.setenv("OPENAI_API_KEY", "another-key")
        assert run(quick().complete(asked(server))).text == "Hi"
        assert run(quick().complete(asked(server, args={"api_key": "another-key"}))).text == "Hi"


# Calls at once


def test_a_cancelled_call_ends_at_once_and_leaves_its_place() -> None:
    chat = quick(max_in_flight=1)

    async def cancel(server: ModelServer) -> ChatReply:
        call = asyncio.ensure_future(chat.complete(asked(server)))
        await until(lambda: len(server.requests) == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return await chat.complete(asked(server))

    with ModelServer(lambda _: "Next", faults={1: Stall()}) as server:
        assert run(cancel(server)).text == "Next"
    assert len(server.requests) == 2


def test_only_so_many_calls_of_one_model_are_in_flight() -> None:
    lock, now, most = threading.Lock(), {"a": 0, "b": 0}, {"a": 0, "b": 0}
    everyone = threading.Barrier(6, timeout=120)

    def script(request: dict[str, Any]) -> str:
        name = request["model"]
        with lock:
            now[name] += 1
            most[name] = max(most[name], now[name])
        # Three of each model have to be here at once for anyone to go on.
        everyone.wait()
        with lock:
            now[name] -= 1
        return "Hi"

    chat = quick(max_in_flight=3)

    async def many(server: ModelServer) -> list[ChatReply]:
        return await asyncio.gather(*(chat.complete(asked(server, f"openai/{name}")) for name in "ab" * 9))

    with ModelServer(script) as server:
        assert len(run(many(server))) == 18
        assert not server.errors
    assert most == {"a": 3, "b": 3}


def test_a_retry_does_not_keep_its_place_while_it_waits() -> None:
    chat = quick(max_in_flight=1)

    async def two(server: ModelServer) -> None:
        first = asyncio.ensure_future(chat.complete(asked(server, messages=[{"role": "user", "content": "first"}])))
        await until(lambda: len(server.requests) == 1)
        await chat.complete(asked(server, messages=[{"role": "user", "content": "second"}]))
        await first

    with ModelServer(lambda _: "Hi", faults={1: RateLimited(0.2)}) as server:
        run(two(server))
    assert [request["messages"][0]["content"] for request in server.requests] == ["first", "second", "first"]


def test_one_model_serves_loops_in_turn_and_threads_at_once() -> None:
    chat, texts = quick(max_in_flight=2), []
    with ModelServer(lambda request: request["messages"][0]["content"], latency=0.005) as server:

        async def several(name: str) -> list[str]:
            questions = [[{"role": "user", "content": f"{name}{n}"}] for n in range(5)]
            return [
                reply.text
                for reply in await asyncio.gather(*(chat.complete(asked(server, messages=m)) for m in questions))
            ]

        texts += run(several("a")) + run(several("b"))
        threads = [threading.Thread(target=lambda name=name: texts.extend(run(several(name)))) for name in "cdef"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(texts) == [f"{name}{n}" for name in "abcdef" for n in range(5)]


# Settings


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"stream": True}, "streaming is not supported"),
        ({"n": 2}, "only one answer is requested per call"),
        ({"messages": []}, "'messages' cannot be set"),
        ({"timeout": "long"}, "'timeout': expected a number of seconds above 0, got 'long'"),
        ({"num_retries": -1}, "'num_retries': expected an integer of at least 0, got -1"),
    ],
)
def test_arguments_that_cannot_be_are_refused_before_anything_is_sent(args: dict[str, Any], words: str) -> None:
    with ModelServer(lambda _: "Hi") as server, pytest.raises(ConfigurationError, match=words):
        run(quick().complete(asked(server, args=args)))
    assert not server.requests


@pytest.mark.parametrize("limits", [{"timeout": 0}, {"attempts": 0}, {"max_in_flight": 0}, {"first_wait": -1}])
def test_limits_that_cannot_be_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="a chat model needs a timeout above 0"):
        LiteLLM(**limits)


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
