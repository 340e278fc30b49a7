"""What both chat models do, litellm's and that of servers with OpenAI's API, against a model server over HTTP."""

from __future__ import annotations

import asyncio
import socket
import threading
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import LLM, ChatReply, ChatRequest, TrialModels
from pytest_tau.errors import ConfigurationError, ContextWindowError, ModelError
from pytest_tau.integrations.litellm import LiteLLM, litellm_model
from pytest_tau.integrations.openai_api import OpenAIServer
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
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("no_model_environment")
KEY = "sk-very-secret-key-0123456789"
HELLO = [{"role": "user", "content": "Hello there"}]
TOOL = {"type": "function", "function": {"name": "look", "description": "d", "parameters": {"type": "object"}}}


@pytest.fixture(params=[OpenAIServer, LiteLLM], ids=["aiohttp", "litellm"])
def kind(request: pytest.FixtureRequest) -> Any:
    """The class of the chat model."""
    return request.param


@pytest.fixture
def model(kind: Any) -> Callable[..., Any]:
    """Makes a chat model that does not wait long."""
    return lambda **limits: kind(**{"first_wait": 0.001, "timeout": 30.0} | limits)


def asked(server: ModelServer | str, **fields: Any) -> ChatRequest:
    address = server if isinstance(server, str) else server.base_url
    args = {"base_url": address, **fields.pop("args", {})}
    return ChatRequest(**{"model": "openai/gpt-x", "messages": HELLO} | fields, args=args)


def answer(chat: Any, script: Any, **fields: Any) -> ChatReply:
    """What the model answers where the server gives one answer to everything."""
    with ModelServer(lambda _: script) as server:
        return run(chat.complete(asked(server, **fields)))


def fault(chat: Any, script: Any, **fields: Any) -> tuple[ModelError, int]:
    """How a call fails, and how many requests that took."""
    with ModelServer(lambda _: script) as server, pytest.raises(ModelError) as caught:
        run(chat.complete(asked(server, **fields)))
    return caught.value, len(server.requests)


def choice(message: Any, reason: str = "stop", **fields: Any) -> dict[str, Any]:
    """A whole completion."""
    whole = {"index": 0, "message": message, "finish_reason": reason, **fields}
    return {"id": "x", "model": "m", "object": "chat.completion", "created": 1, "choices": [whole]}


async def until(condition: Callable[[], bool]) -> None:
    async def wait() -> None:
        while not condition():  # noqa: ASYNC110 - the server's threads know no events of the loop
            await asyncio.sleep(0.002)

    await asyncio.wait_for(wait(), 20)


# What is sent and what comes back


def test_an_answer_is_a_reply_with_its_tokens(model: Any) -> None:
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate([("look", '{"id": "lamp"}'), ("look", "{bad"), ("no", "[1]")])
    ]
    message = {"content": "I look.", "tool_calls": calls, "reasoning_content": "Hm", "audio": None, "annotations": []}
    reply = answer(model(), message, tools=[TOOL], tool_choice="auto")
    assert reply.message == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": calls,
        "reasoning_content": "Hm",
    }
    assert (reply.finish_reason, reply.model, reply.cost) == ("tool_calls", "gpt-x", None)
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens > 0
    assert 0 < reply.seconds < 30


@pytest.mark.parametrize("content", [None, "", "Hi"])
def test_a_text_is_an_answer(model: Any, content: str | None) -> None:
    assert answer(model(), {"content": content}).message == {"role": "assistant", "content": content}


def test_the_server_gets_the_request_and_nothing_about_the_connection(model: Any) -> None:
    args = {"api_key": KEY, "timeout": 30, "num_retries": 1, "extra_headers": {"X-Team": "a"}, "seed": 7}
    args |= {"extra_body": {"top_k": 3}, "input_cost_per_token": 0.5, "output_cost_per_token": 1.0}
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    with ModelServer(lambda _: "Hi", api_key=KEY) as server:
        request = asked(server, tools=[TOOL], tool_choice="required", response_format=schema, args=args)
        before = request.model_dump_json()
        reply = run(model().complete(request))
        assert request.model_dump_json() == before
    wanted = {"tools": [TOOL], "tool_choice": "required", "response_format": schema, "seed": 7, "top_k": 3}
    assert server.requests == [{"model": "gpt-x", "messages": HELLO, **wanted}]
    assert reply.cost == reply.usage.prompt_tokens * 0.5 + reply.usage.completion_tokens


def test_an_argument_that_is_null_is_not_sent(kind: Any) -> None:
    with ModelServer(lambda _: "Hi") as server:
        for given in ({"seed": None, "temperature": None}, {}):
            llm = litellm_model("openai/any", api_base=server.base_url, api_key="any", **given)
            trial = TrialModels({"agent": LLM(llm.name, kind(), llm.args)}, seed=7)
            run(trial.get("agent").complete(HELLO))  # type: ignore[union-attr]
    null, plain = server.requests
    assert not {"seed", "temperature"} & set(null)
    assert (plain["seed"], plain["temperature"]) == (7, 0.0)


def test_the_environment_has_address_and_key(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(lambda _: "Hi", api_key=KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert run(model().complete(ChatRequest(model="openai/gpt-x", messages=HELLO))).text == "Hi"


def test_a_refusal_is_text_that_was_said(model: Any) -> None:
    reply = answer(model(), choice({"role": "assistant", "content": None, "refusal": "I cannot help with that."}))
    assert reply.text == reply.message["refusal"] == "I cannot help with that."


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
def test_the_finish_reason_is_kept(model: Any, reason: str) -> None:
    assert answer(model(), choice({"role": "assistant", "content": "The beginning"}, reason)).finish_reason == reason


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
    (
        ContextWindowExceeded(),
        "context_window",
        "use a model with a larger one, or limit the requests of the agent (--tau-agent-context)",
    ),
    (ContentFiltered(), "refused", "the provider refuses the content"),
    (ContentFiltered("content_filter"), "refused", "the provider refuses the content"),
    (QuotaExceeded(), "quota", "no credit left"),
]


@pytest.mark.parametrize(("script", "name", "words"), PASSING, ids=lambda value: None)
def test_transient_error_is_retried_and_reported_with_the_attempts(
    model: Any, script: Any, name: str, words: str
) -> None:
    error, requests = fault(model(attempts=2), script)
    assert (error.kind, error.passing, requests) == (name, True, 2)
    first = str(error).splitlines()[0]
    assert first.startswith("openai/gpt-x: ")
    assert words in first
    assert "(2 attempts over " in first


@pytest.mark.parametrize(("script", "name", "words"), PERMANENT, ids=lambda value: None)
def test_permanent_error_is_reported_at_once(model: Any, script: Any, name: str, words: str) -> None:
    error, requests = fault(model(attempts=2), script)
    assert (error.kind, error.passing, requests) == (name, False, 1)
    assert isinstance(error, ContextWindowError) == (name == "context_window")
    assert words in str(error).splitlines()[0]
    assert "attempt" not in str(error)
    assert len(str(error).splitlines()) == 2
    assert error.__cause__ is None


def test_an_answer_that_the_providers_filter_emptied_is_refused_content(model: Any) -> None:
    error, requests = fault(model(), choice({"role": "assistant", "content": ""}, "content_filter"))
    assert (error.kind, requests) == ("refused", 1)


def test_an_answer_that_the_provider_has_broken_off_is_retried(model: Any) -> None:
    for content in ("", "I will now"):
        error, requests = fault(model(attempts=2), choice({"role": "assistant", "content": content}, "error"))
        assert (error.kind, error.passing, requests) == ("unavailable", True, 2)
        assert str(error).endswith("reported: the answer was broken off")


def test_the_answer_comes_after_whatever_passed(model: Any, caplog: pytest.LogCaptureFixture) -> None:
    befalls = {1: RateLimited(0.01), 2: ServerError(), 3: ConnectionReset(), 4: MalformedBody()}
    with caplog.at_level("INFO", "pytest_tau"), ModelServer(lambda _: "At last", faults=befalls) as server:
        reply = run(model().complete(asked(server)))
    assert (reply.text, len(server.requests), server.served) == ("At last", 5, 1)
    told = [record.getMessage().partition(" in ")[0] for record in caplog.records if record.name == "pytest_tau"]
    kinds = ["rate_limit", "unavailable", "unavailable", "bad_answer"]
    assert told == [f"openai/gpt-x: {name}; attempt {number} of 8" for number, name in enumerate(kinds, start=2)]


def test_what_the_server_asks_for_is_known_afterwards(model: Any) -> None:
    assert fault(model(attempts=2), RateLimited(0.015))[0].retry_after == 0.015


def test_a_refused_connection_is_retried_twice_unless_the_server_has_answered_before(model: Any) -> None:
    chats = [model(attempts=5), model(attempts=5)]
    with ModelServer(lambda _: "Hi", faults={2: ServerError()}) as server:
        assert run(chats[0].complete(asked(server))).text == "Hi"
        with pytest.raises(ModelError):
            run(chats[1].complete(asked(server, args={"num_retries": 0})))  # a fault is an answer, too
    for chat in chats:
        with pytest.raises(ModelError, match="5 attempts") as caught:
            run(chat.complete(asked(server)))
        assert not caught.value.no_server
    for attempts, made in ((5, "3 attempts"), (2, "2 attempts")):
        with pytest.raises(ModelError, match=rf"cannot be reached.*\({made} over ") as caught:
            run(model(attempts=attempts).complete(asked(server)))
        assert (caught.value.kind, caught.value.no_server) == ("unavailable", True)


def test_a_request_may_have_retries_and_a_limit_of_its_own(model: Any) -> None:
    assert fault(model(), ServerError(), args={"num_retries": 3})[1] == 4
    assert fault(model(), ServerError(), args={"max_retries": 0})[1] == 1
    error, requests = fault(model(), Stall(), args={"timeout": 0.2, "num_retries": 1})
    assert (error.kind, requests) == ("timeout", 2)
    assert "no answer within 0.2 s" in str(error)


def test_limit_applies_to_a_server_that_answers_slowly(model: Any) -> None:
    """It sends a byte every now and then, and never a whole answer."""
    over = threading.Event()

    def trickle() -> None:
        with listener.accept()[0] as client:
            client.recv(65536)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n")
            while not over.wait(0.01):
                try:
                    client.sendall(b" ")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            request = asked(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
            with pytest.raises(ModelError, match=r"no answer within 0\.2 s"):
                run(model(timeout=0.2, attempts=1).complete(request))
        finally:
            over.set()
            thread.join()


# Keys


def test_keys_are_in_no_error(model: Any) -> None:
    def leak(request: dict[str, Any]) -> str:
        raise RuntimeError(f"no entry with {KEY}, Bearer abc.def-ghi, sk-proj-abc***wxyz, https://me:pw@example.org")

    with ModelServer(leak, api_key=KEY) as server, pytest.raises(ModelError) as caught:
        run(model(attempts=1).complete(asked(server, args={"api_key": KEY})))
    assert "no entry with ***" in str(caught.value)
    assert not [secret for secret in (KEY, "abc.def", "wxyz", "me:pw") if secret in str(caught.value)]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_wrong_key_is_named_by_where_it_came_from(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(lambda _: "Hi", api_key="another-key") as server:

        def refused(**args: Any) -> str:
            with pytest.raises(ModelError) as caught:
                run(model().complete(asked(server, args=args)))
            trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
            frames = [frame for frame in trace.stack if "/pytest_tau/" in frame.filename]
            assert len(frames) > 3
            assert KEY not in str(caught.value) + "".join(traceback.StackSummary.from_list(frames).format())
            return str(caught.value)

        assert "the key in the model's arguments was refused" in refused(api_key=KEY)
        assert "a call without a key (OPENAI_API_KEY not set) was refused" in refused()
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert "the key in OPENAI_API_KEY was refused" in refused()
        assert run(model().complete(asked(server, args={"api_key": "another-key"}))).text == "Hi"


# Calls at once


def test_a_cancelled_call_ends_at_once_and_leaves_its_place(model: Any) -> None:
    chat = model(max_in_flight=1)

    async def cancel(server: ModelServer) -> ChatReply:
        call = asyncio.ensure_future(chat.complete(asked(server)))
        await until(lambda: len(server.requests) == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        reply: ChatReply = await chat.complete(asked(server))
        return reply

    with ModelServer(lambda _: "Next", faults={1: Stall()}) as server:
        assert run(cancel(server)).text == "Next"
    assert len(server.requests) == 2


def test_only_so_many_calls_of_one_model_are_in_flight(model: Any) -> None:
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

    chat = model(max_in_flight=3, timeout=120.0)

    async def many(server: ModelServer) -> list[ChatReply]:
        return await asyncio.gather(*(chat.complete(asked(server, model=f"openai/{name}")) for name in "ab" * 9))

    with ModelServer(script) as server:
        assert len(run(many(server))) == 18
        assert not server.errors
    assert most == {"a": 3, "b": 3}


def test_a_retry_does_not_keep_its_place_while_it_waits(model: Any) -> None:
    chat = model(max_in_flight=1)

    async def two(server: ModelServer) -> None:
        first = asyncio.ensure_future(chat.complete(asked(server, messages=[{"role": "user", "content": "first"}])))
        await until(lambda: len(server.requests) == 1)
        await chat.complete(asked(server, messages=[{"role": "user", "content": "second"}]))
        await first

    with ModelServer(lambda _: "Hi", faults={1: RateLimited(0.2)}) as server:
        run(two(server))
    assert [request["messages"][0]["content"] for request in server.requests] == ["first", "second", "first"]


def test_one_model_serves_loops_in_turn_and_threads_at_once(model: Any) -> None:
    chat, texts = model(max_in_flight=2), []
    with ModelServer(lambda request: request["messages"][0]["content"], latency=0.005) as server:

        async def several(name: str) -> list[str]:
            questions = [[{"role": "user", "content": f"{name}{n}"}] for n in range(5)]
            replies = await asyncio.gather(*(chat.complete(asked(server, messages=m)) for m in questions))
            return [reply.text for reply in replies]

        texts += run(several("a")) + run(several("b"))
        threads = [threading.Thread(target=lambda name=name: texts.extend(run(several(name)))) for name in "cd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(texts) == [f"{name}{n}" for name in "abcd" for n in range(5)]


# Settings


def test_arguments_that_cannot_be_are_refused_before_anything_is_sent(model: Any) -> None:
    with ModelServer(lambda _: "Hi") as server, pytest.raises(ConfigurationError, match="streaming is not supported"):
        run(model().complete(asked(server, args={"stream": True})))
    assert not server.requests


@pytest.mark.parametrize("limits", [{"timeout": 0}, {"attempts": 0}, {"max_in_flight": 0}, {"first_wait": -1}])
def test_limits_that_cannot_be_are_refused(model: Any, limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="a chat model needs a timeout above 0"):
        model(**limits)
