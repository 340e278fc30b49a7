"""The model server over real HTTP: what a client sees, whichever client it is."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from inner_runs import quick_options

from pytest_tau.errors import ConfigurationError
from pytest_tau.testing import (
    ConnectionReset,
    ContentFiltered,
    ContextWindowExceeded,
    Fault,
    Faults,
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

ROOT = Path(__file__).parents[2]
HELLO = [{"role": "user", "content": "Hello there"}]
LOOK = {"function": {"name": "look", "arguments": {"item_id": "lamp", "why": "The customer wants to know."}}}
COUNT = {"id": "mine", "function": {"name": "count", "arguments": '{"no'}}
REFUSALS = [
    (RateLimited(), 429, "requests", "rate_limit_exceeded"),
    (QuotaExceeded(), 429, "insufficient_quota", "insufficient_quota"),
    (ServerError(), 500, "server_error", None),
    (ServerError(status=503), 503, "server_error", None),
    (Unauthorized(), 401, "invalid_request_error", "invalid_api_key"),
    (ContextWindowExceeded(), 400, "invalid_request_error", "context_length_exceeded"),
    (ContentFiltered(), 400, "invalid_request_error", "content_policy_violation"),
    (ContentFiltered("content_filter"), 400, "invalid_request_error", "content_filter"),
    (UnknownModel(), 404, "invalid_request_error", "model_not_found"),
]
BROKEN = [MalformedBody(), TruncatedJSON(), WrongSchema()]


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> Any:
        return self.json["choices"][0]["message"]

    @property
    def error(self) -> Any:
        return self.json["error"]


def connect(server: ModelServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=30)


def send(connection: http.client.HTTPConnection, body: Any = None, path: str = "", **headers: str) -> Answer:
    text = body if isinstance(body, bytes) else json.dumps(body)
    method = "GET" if body is None else "POST"
    connection.request(method, path or "/v1/chat/completions", None if body is None else text, headers)
    response = connection.getresponse()
    return Answer(response.status, dict(response.headers), response.read())


def post(server: ModelServer, body: Any = None, /, path: str = "", headers: Any = None, **fields: Any) -> Answer:
    connection = connect(server)
    try:
        sent = {"model": "any", "messages": HELLO, **fields} if body is None else body
        return send(connection, sent, path, **headers or {})
    finally:
        connection.close()


def get(server: ModelServer, path: str, **headers: str) -> Answer:
    connection = connect(server)
    try:
        return send(connection, None, path, **headers)
    finally:
        connection.close()


def says(answer: Any) -> Callable[[Any], Any]:
    return lambda request: answer


def raises(error: BaseException) -> Callable[[Any], Any]:
    def script(request: Any) -> Any:
        raise error

    return script


def until(condition: Callable[[], Any]) -> None:
    """Wait for what happens in another thread; the limit is for a test that fails."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.005)
    pytest.fail("it never happened")


def events(body: bytes) -> list[str]:
    assert body.endswith(b"\n\n")
    return [event.removeprefix("data: ") for event in body.decode().split("\n\n")[:-1]]


@pytest.fixture
def openai() -> Any:
    return pytest.importorskip("openai", reason="comes with the extra llm")


@pytest.fixture
def client_of(openai: Any) -> Iterator[Callable[..., Any]]:
    clients = []

    def make(server: ModelServer, **options: Any) -> Any:
        clients.append(openai.OpenAI(base_url=server.base_url, api_key="any", **{"max_retries": 0} | options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


# Answers


def test_a_text_is_a_chat_completion() -> None:
    with ModelServer(says("Good morning")) as server:
        answer = post(server)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json.pop("id").startswith("chatcmpl-")
    assert {key: value for key, value in answer.json.items() if key != "id"} == {
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "any",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Good morning"}, "finish_reason": "stop"}],
        # {"role": "user", "content": "Hello there"} are five words, as is the answer; [] of the tools is one.
        "usage": {"prompt_tokens": 6, "completion_tokens": 5, "total_tokens": 11},
    }


def test_a_message_may_carry_text_and_several_tool_calls() -> None:
    with ModelServer(says({"content": "I look.", "tool_calls": [LOOK, COUNT], "reasoning_content": "Hm"})) as server:
        answer = post(server)
    assert answer.json["choices"][0]["finish_reason"] == "tool_calls"
    assert answer.message["content"] == "I look."
    assert answer.message["reasoning_content"] == "Hm"
    look, count = answer.message["tool_calls"]
    assert look["type"] == count["type"] == "function"
    assert json.loads(look["function"].pop("arguments")) == LOOK["function"]["arguments"]
    assert look["function"] == {"name": "look"}
    assert re.fullmatch(r"call_[0-9a-f]{16}_0", look["id"])
    assert count["id"] == "mine"
    assert count["function"] == COUNT["function"]  # as it is, though malformed


def test_a_whole_completion_is_sent_as_it_is_and_completed() -> None:
    whole = {
        "id": "mine",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Cut"}, "finish_reason": "length"}],
        "usage": None,
    }
    with ModelServer(says(whole)) as server:
        answer = post(server).json
    assert answer == {"object": "chat.completion", "created": 1_700_000_000, "model": "any", **whole}


def test_the_same_request_has_the_same_answer_to_the_byte() -> None:
    with ModelServer(says({"tool_calls": [LOOK]})) as server:
        first, again, other = post(server), post(server), post(server, temperature=1)
    with ModelServer(says({"tool_calls": [LOOK]})) as server:
        elsewhere = post(server)
    assert first == again == elsewhere
    assert first.json["id"] != other.json["id"]
    assert first.message["tool_calls"][0]["id"] != other.message["tool_calls"][0]["id"]


def test_the_script_is_a_function_of_the_request() -> None:
    with ModelServer(lambda request: f"{request['model']} has {len(request['tools'])} tools") as server:
        assert post(server, model="m", tools=[LOOK]).message["content"] == "m has 1 tools"


def test_what_was_received_is_kept_whatever_the_script_does_to_it() -> None:
    def script(request: Any) -> str:
        return str(request["messages"].pop()["content"])

    with ModelServer(script) as server:
        assert post(server).message["content"] == "Hello there"
        post(server, n=2)
        seen = server.requests
        seen.clear()
        assert server.requests == [
            {"model": "any", "messages": HELLO},
            {"model": "any", "messages": HELLO, "n": 2},
        ]
    assert server.served == 2


def test_a_connection_serves_one_request_after_the_other() -> None:
    with ModelServer(says("Hi")) as server:
        connection = connect(server)
        connection.connect()
        first = connection.sock
        bodies = [{"model": "m", "messages": HELLO, "stream": stream} for stream in (False, True, False)]
        assert [send(connection, body).status for body in bodies] == [200, 200, 200]
        models = send(connection, None, "/v1/models?limit=3")
        assert [model["id"] for model in models.json["data"]] == ["scripted"]
        assert len(server.requests) == 3
        assert connection.sock is first
        connection.close()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{no", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"\xff", "not a JSON object"),
        ({"messages": HELLO}, "a model parameter"),
        ({"model": "m"}, "a messages parameter"),
        ({"model": "m", "messages": []}, "a messages parameter"),
        ({"model": "m", "messages": ["Hi"]}, "a messages parameter"),
    ],
)
def test_invalid_request_is_refused(body: Any, said: str) -> None:
    with ModelServer(says("Hi")) as server:
        answer = post(server, body)
        assert server.served == 0
    assert answer.status == 400
    assert said in answer.error["message"]


def test_unknown_path_is_reported() -> None:
    with ModelServer(says("Hi")) as server:
        answer = post(server, path="/chat/completions")
        assert answer.status == get(server, "/v1/chat/completions").status == 404
        assert "POST /chat/completions is not served: expected POST /v1/chat/comp" in answer.error["message"]


def test_a_body_without_a_length_is_refused() -> None:
    with ModelServer(says("Hi")) as server:
        connection = connect(server)
        connection.putrequest("POST", "/v1/chat/completions")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        assert connection.getresponse().status == 411
        connection.close()


# Streams


def test_a_stream_gives_text_in_pieces_and_then_the_reason() -> None:
    with ModelServer(says("Good morning to you all.")) as server:
        streamed, whole = post(server, stream=True), post(server)
    assert streamed.headers["Content-Type"] == "text/event-stream"
    *chunks, done = events(streamed.body)
    assert done == "[DONE]"
    parts = [json.loads(chunk) for chunk in chunks]
    assert {part["object"] for part in parts} == {"chat.completion.chunk"}
    assert {part["id"] for part in parts} == {whole.json["id"]}
    assert not [part for part in parts if "usage" in part]
    assert [part["choices"][0]["delta"] for part in parts] == [
        {"role": "assistant"},
        {"content": "Good morning"},
        {"content": " to you all."},
        {},
    ]
    assert [part["choices"][0]["finish_reason"] for part in parts] == [None, None, None, "stop"]


def test_usage_is_streamed_on_request() -> None:
    with ModelServer(says("Hi")) as server:
        *chunks, _ = events(post(server, stream=True, stream_options={"include_usage": True}).body)
        whole = post(server).json
    assert [json.loads(chunk)["usage"] for chunk in chunks[:-1]] == [None, None, None]
    assert json.loads(chunks[-1])["choices"] == []
    assert json.loads(chunks[-1])["usage"] == whole["usage"]


def test_the_openai_client_puts_a_stream_of_tool_calls_together(client_of: Any) -> None:
    text = "Ünïcode, “quoted”\u2028and broken"
    with ModelServer(says({"content": text, "tool_calls": [LOOK, COUNT]})) as server:
        client = client_of(server)
        asked = {"model": "m", "messages": HELLO}
        with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
            streamed = stream.get_final_completion()
        whole = client.chat.completions.create(**asked)
    assert len(server.requests) == 2
    assert server.requests[0]["stream"] is True
    message, expected = streamed.choices[0].message, whole.choices[0].message
    assert message.content == expected.content == text
    assert [call.id for call in message.tool_calls] == [call.id for call in expected.tool_calls]
    assert [call.function.name for call in message.tool_calls] == ["look", "count"]
    assert [call.function.arguments for call in message.tool_calls] == [
        json.dumps(LOOK["function"]["arguments"]),
        '{"no',
    ]
    assert streamed.choices[0].finish_reason == whole.choices[0].finish_reason == "tool_calls"
    assert streamed.usage.total_tokens == whole.usage.total_tokens


def test_an_empty_message_can_be_streamed() -> None:
    with ModelServer(says({})) as server:
        *chunks, _ = events(post(server, stream=True).body)
        assert post(server).message == {"role": "assistant", "content": None}
    assert [json.loads(chunk)["choices"][0]["delta"] for chunk in chunks] == [
        {"role": "assistant", "content": None},
        {},
    ]


def test_each_choice_of_a_completion_is_streamed() -> None:
    choices = [{"index": index, "message": {"content": word}} for index, word in enumerate(["one", "two"])]
    with ModelServer(says({"choices": choices})) as server:
        *chunks, _ = events(post(server, stream=True).body)
    parts = [json.loads(chunk)["choices"][0] for chunk in chunks]
    texts = [(part["index"], part["delta"]["content"]) for part in parts if "content" in part["delta"]]
    assert texts == [(0, "one"), (1, "two")]


# Scripts that fail


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (raises(KeyError("messages")), "KeyError: 'messages'"),
        (raises(pytest.fail.Exception("no such question")), "Failed: no such question"),
        (says(None), "TypeError: the script gave None: expected a string"),
        (says(ServerError), "TypeError: the script gave <class"),
        (says({"tool_calls": [{"name": "look"}]}), "TypeError: the tool call {'name': 'look'} has no function"),
        (says({"content": {1}}), "TypeError: Object of type set is not JSON serializable"),
    ],
)
def test_exception_of_a_script_is_reported_and_recorded(script: Any, said: str, openai: Any, client_of: Any) -> None:
    with ModelServer(script) as server:
        # The client does not retry, although it usually does after a 500.
        with pytest.raises(openai.InternalServerError, match=re.escape(said)):
            client_of(server, max_retries=3).chat.completions.create(model="m", messages=HELLO)
        assert len(server.errors) == 1
    assert type(server.errors[0]).__name__ in said
    assert server.served == 0
    assert len(server.requests) == 1


def test_exception_of_a_latency_is_reported() -> None:
    with ModelServer(says("Hi"), latency=lambda request: request["nothing"]) as server:
        assert post(server).status == 500
    assert [type(error) for error in server.errors] == [KeyError]


def test_a_fault_of_one_s_own_that_raises_is_remembered() -> None:
    class Own(Fault):
        def play(self, request: Any, wire: Any) -> None:
            raise ValueError("broken by itself")

    with ModelServer(says(Own())) as server, pytest.raises(http.client.RemoteDisconnected):
        post(server)
    assert [str(error) for error in server.errors] == ["broken by itself"]


# Faults


@pytest.mark.parametrize(("fault", "status", "kind", "code"), REFUSALS, ids=lambda value: str(value))
@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_has_openai_s_shape(fault: Fault, status: int, kind: str, code: str, stream: bool) -> None:
    with ModelServer(says(fault)) as server:
        answer = post(server, stream=stream)
        assert server.served == 0
        assert len(server.requests) == 1
        assert server.errors == []
    assert answer.status == status
    assert not isinstance(fault, UnknownModel) or "`any`" in answer.error["message"]
    assert set(answer.error) == {"message", "type", "param", "code"}
    assert (answer.error["type"], answer.error["code"]) == (kind, code)
    assert "Retry-After" not in answer.headers


@pytest.mark.parametrize("fault", [RateLimited(0.05), ServerError(503, retry_after=0.05)])
def test_the_server_says_when_to_come_back(fault: Fault) -> None:
    with ModelServer(says(fault)) as server:
        assert post(server).headers["Retry-After"] == "0.05"


@pytest.mark.parametrize("fault", BROKEN)
def test_malformed_answer_has_status_200(fault: Fault) -> None:
    with ModelServer(says(fault)) as server:
        answer = post(server)
    assert answer.status == 200
    assert int(answer.headers["Content-Length"]) == len(answer.body) > 10
    if isinstance(fault, WrongSchema):
        assert "choices" not in answer.json
    else:
        with pytest.raises(ValueError):
            _ = answer.json
    assert answer.body.startswith(b"{") is not isinstance(fault, MalformedBody)


def test_a_stream_breaks_off_within_an_event() -> None:
    with ModelServer(says(TruncatedJSON())) as server:
        *whole, last = post(server, stream=True).body.decode().split("\n\n")
    assert json.loads(whole[1].removeprefix("data: "))["choices"][0]["delta"]["content"] == "This answer "
    assert last.startswith("data: {")
    with pytest.raises(ValueError):
        json.loads(last.removeprefix("data: "))


def test_a_stream_carries_what_is_no_json_or_no_completion() -> None:
    with ModelServer(lambda request: MalformedBody() if request["model"] == "html" else WrongSchema()) as server:
        html, done = events(post(server, model="html", stream=True).body)
        first, _ = events(post(server, stream=True).body)
    assert done == "[DONE]"
    assert html.startswith("<html>")
    assert "choices" not in json.loads(first)


def test_a_reset_is_one() -> None:
    with ModelServer(says(ConnectionReset())) as server:
        with pytest.raises(ConnectionResetError):
            post(server)
        assert len(server.requests) == 1
        assert server.errors == []


def test_a_stall_may_end_by_itself() -> None:
    with ModelServer(says(Stall(seconds=0.05))) as server, pytest.raises(http.client.RemoteDisconnected):
        post(server)


def test_the_openai_client_sees_each_fault_as_what_it_is(openai: Any, client_of: Any) -> None:
    expected = [
        (RateLimited(), openai.RateLimitError),
        (ServerError(), openai.InternalServerError),
        (Unauthorized(), openai.AuthenticationError),
        (ContextWindowExceeded(), openai.BadRequestError),
        (UnknownModel(), openai.NotFoundError),
        (ConnectionReset(), openai.APIConnectionError),
        (Stall(), openai.APITimeoutError),
        (TruncatedJSON(), ValueError),
    ]
    faults = dict(enumerate((fault for fault, _ in expected), start=1))
    with ModelServer(says("Hi"), faults=faults) as server:
        client = client_of(server, timeout=30)
        for fault, error in expected:
            asking = client.with_options(timeout=0.1) if isinstance(fault, Stall) else client
            with pytest.raises(error):
                asking.chat.completions.create(model="m", messages=HELLO)
        assert client.chat.completions.create(model="m", messages=HELLO).choices[0].message.content == "Hi"
    assert server.served == 1


def test_faults_befall_the_requests_that_are_named() -> None:
    asked = []
    script = lambda request: asked.append(request) or "Hi"  # noqa: E731
    with ModelServer(script, faults={2: ServerError(), 3: RateLimited()}) as server:
        assert [post(server).status for _ in range(4)] == [200, 500, 429, 200]
        assert len(server.requests) == 4
        assert server.served == len(asked) == 2


def test_faults_at_random_are_the_same_for_the_same_seed() -> None:
    kinds = [ServerError(), RateLimited()]

    def statuses(seed: int) -> list[int]:
        with ModelServer(says("Hi"), faults=Faults(0.4, kinds, seed)) as server:
            connection = connect(server)
            found = [send(connection, {"model": "m", "messages": HELLO}).status for _ in range(60)]
            assert server.served == found.count(200)
            connection.close()
        return found

    assert statuses(0) == statuses(0) != statuses(1)
    assert set(statuses(0)) == {200, 429, 500}


def test_the_rate_of_faults_is_kept() -> None:
    befallen = [number for number in range(1, 2001) if Faults(0.2, [ServerError()], seed=3).get(number)]
    assert 340 < len(befallen) < 460
    assert not [number for number in range(100) if Faults(0, [ServerError()]).get(number)]
    assert all(Faults(1, [ServerError()]).get(number) for number in range(100))


@pytest.mark.parametrize(
    ("rate", "kinds", "said"),
    [
        (20, [ServerError()], "the rate of faults: expected a number from 0 to 1, got 20"),
        (0.2, [], r"the kinds of faults: expected faults such as"),
        (0.2, [ServerError], "the kinds of faults: expected faults such as"),
    ],
)
def test_invalid_schedule_of_faults_is_refused(rate: float, kinds: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Faults(rate, kinds)


# Keys


def test_without_the_key_nothing_is_served() -> None:
    with ModelServer(says("Hi"), api_key="k-1") as server:
        for headers in ({}, {"Authorization": "Bearer k-2"}, {"Authorization": "k-1"}):
            refused = post(server, headers=headers)
            assert refused.status == 401
            assert refused.error["code"] == "invalid_api_key"
            assert b"k-1" not in refused.body
            assert b"k-2" not in refused.body
            assert get(server, "/v1/models", **headers).status == 401
        assert server.served == 0
        assert post(server, headers={"Authorization": "Bearer k-1"}).status == 200
        assert get(server, "/v1/models", Authorization="Bearer k-1").status == 200
        assert "k-1" not in repr(server.requests) + repr(server)


# Many at once, late, and gone


def test_two_hundred_clients_are_served_at_once() -> None:
    """No script ends before all have begun: serving one after the other would never end."""
    everybody = threading.Barrier(200)

    def script(request: Any) -> str:
        everybody.wait(60)
        return str(request["messages"][0]["content"])

    def ask(number: int) -> str:
        return str(post(server, messages=[{"role": "user", "content": f"I am {number}"}]).message["content"])

    with ModelServer(script, latency=0.2) as server, ThreadPoolExecutor(200) as pool:
        assert list(pool.map(ask, range(200))) == [f"I am {number}" for number in range(200)]
        assert server.served == len(server.requests) == 200
    assert server.errors == []


def test_slow_answer_or_fault_does_not_delay_others_or_closing() -> None:
    def script(request: Any) -> Any:
        return ServerError() if request["model"] == "fault" else "Hi"

    with ThreadPoolExecutor(2) as pool:
        with ModelServer(script, latency=lambda request: 0 if request["model"] == "fast" else 600) as server:
            slow = [pool.submit(post, server, model=name) for name in ("slow", "fault")]
            until(lambda: len(server.requests) == 2)
            assert post(server, model="fast").status == 200
            assert not any(waiting.done() for waiting in slow)
        for waiting in slow:
            with pytest.raises(http.client.RemoteDisconnected):
                waiting.result()


def test_closing_does_not_wait_for_stalled_or_idle_clients() -> None:
    server = ModelServer(says(Stall()))
    server.start()
    idle = connect(server)
    idle.connect()
    with ThreadPoolExecutor(20) as pool:
        stalled = [pool.submit(post, server) for _ in range(20)]
        until(lambda: len(server.requests) == 20)
        server.close()
        for waiting in stalled:
            with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
                waiting.result()
    assert idle.sock.recv(1) == b""
    idle.close()
    assert not [thread for thread in threading.enumerate() if "model server" in thread.name]


def test_disconnected_clients_are_ignored(capfd: pytest.CaptureFixture[str]) -> None:
    with ModelServer(says("A long answer. " * 100_000), latency=0.01) as server:
        address = urlsplit(server.base_url)
        for _ in range(10):
            with socket.create_connection((address.hostname, address.port)) as client:
                body = json.dumps({"model": "m", "messages": HELLO}).encode()
                head = f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                client.sendall(head + body)
        with socket.create_connection((address.hostname, address.port)) as client:
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99\r\n\r\n{")
        assert post(server).status == 200
    assert server.errors == []
    assert capfd.readouterr() == ("", "")


def test_the_server_can_be_started_and_closed_by_hand() -> None:
    server = ModelServer(says("Hi"))
    with pytest.raises(RuntimeError, match="has no address before it is started"):
        _ = server.base_url
    server.close()
    server.start()
    with pytest.raises(RuntimeError, match="already running"):
        server.start()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", server.base_url)
    assert post(server).status == 200
    server.close()
    server.close()
    with pytest.raises(ConnectionRefusedError):
        post(server)
    server.start()
    assert post(server).status == 200
    server.close()
    assert server.served == 2


def test_an_event_loop_may_wait_for_many_answers(openai: Any) -> None:
    async def ask(server: ModelServer) -> list[str]:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key="any", max_retries=0) as client:
            asked = [
                client.chat.completions.create(model=str(number), messages=HELLO, timeout=60) for number in range(40)
            ]
            return [answer.choices[0].message.content for answer in await asyncio.gather(*asked)]

    everybody = threading.Barrier(40)

    def script(request: Any) -> str:
        everybody.wait(60)
        return str(request["model"])

    with ModelServer(script) as server:
        assert run(ask(server)) == [str(number) for number in range(40)]


# What it costs, and what the docs say


def test_importing_the_server_needs_the_standard_library_only() -> None:
    code = "import sys, pytest_tau.testing as t; t.ModelServer, t.Faults; print('pydantic' in sys.modules, dir(t)[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "False"


def test_an_unknown_name_is_an_attribute_error() -> None:
    from pytest_tau import testing

    with pytest.raises(AttributeError, match=r"module 'pytest_tau\.testing' has no attribute 'nowhere'"):
        _ = testing.nowhere
    assert set(testing.__all__) <= set(dir(testing))
    assert all(getattr(testing, name) for name in testing.__all__)


def test_every_snippet_of_the_docs_is_part_of_the_example() -> None:
    text = (ROOT / "docs" / "model_server.md").read_text(encoding="utf-8")
    example = (ROOT / "examples" / "test_my_client.py").read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(snippets) > 3
    for snippet in snippets:
        for part in snippet.split("\n\n\n"):
            assert part.strip() in example


def test_the_docs_name_every_fault() -> None:
    text = (ROOT / "docs" / "model_server.md").read_text(encoding="utf-8")
    names = [each.__name__ for each in (Faults, *Fault.__subclasses__()) if each.__module__ == Faults.__module__]
    assert len(names) > 10
    assert [name for name in names if f"`{name}" not in text] == []


@pytest.mark.exhaustive
def test_the_example_passes(openai: Any) -> None:
    flags = ["-q", "-p", "no:cacheprovider", *quick_options()]
    example = ROOT / "examples" / "test_my_client.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *flags, str(example)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


# Other formats


def test_one_script_answers_all_formats(client_of: Any) -> None:
    def script(request: dict[str, Any]) -> Any:
        assert request["messages"][0] == {"role": "system", "content": "Be kind."}
        last = request["messages"][-1]
        return f"Done: {last['content']}" if last["role"] == "tool" else {"content": "I look.", "tool_calls": [LOOK]}

    function = {"name": "look", "description": "d", "parameters": {"type": "object"}}
    with ModelServer(script) as server:
        responses = client_of(server).responses
        asked: dict[str, Any] = {"model": "m", "instructions": "Be kind.", "tools": [{"type": "function", **function}]}
        first = responses.create(input="Hello there", **asked)
        call = first.output[-1]
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "a lamp"}
        with responses.stream(input=[result], previous_response_id=first.id, **asked) as stream:
            last = stream.get_final_response()
        anthropic = {
            "model": "m",
            "max_tokens": 9,
            "system": "Be kind.",
            "messages": HELLO,
            "tools": [{"name": "look", "description": "d", "input_schema": {"type": "object"}}],
        }
        message = post(server, anthropic, path="/v1/messages").json
        streamed = post(server, {**anthropic, "stream": True}, path="/v1/messages")
        assert server.errors == []
    assert (call.name, json.loads(call.arguments)) == ("look", LOOK["function"]["arguments"])
    assert last.output_text == "Done: a lamp"
    assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
    assert message["stop_reason"] == "tool_use"
    assert b"event: message_stop" in streamed.body
    one, two, three, four = server.requests
    assert one["messages"][-1] == three["messages"][-1] == HELLO[0]
    assert one["tools"] == three["tools"] == [{"type": "function", "function": function}]
    assert [message["role"] for message in two["messages"]] == ["system", "user", "assistant", "tool"]
    assert four["stream"] is True


def test_a_request_of_another_format_that_cannot_be_translated() -> None:
    with ModelServer(says("Hi")) as server:
        body = {"model": "m", "input": "Hi", "tools": [{"type": "web_search"}]}
        answer = post(server, body, path="/v1/responses")
        assert server.served == 0
    assert answer.status == 400
    assert "tools[0].type: 'web_search' is a hosted tool" in answer.error["message"]


def test_the_key_may_be_in_anthropics_header() -> None:
    with ModelServer(says("Hi"), api_key="mine") as server:
        url = f"{server.base_url}/messages"
        body = json.dumps({"model": "m", "max_tokens": 9, "messages": HELLO}).encode()
        request = urllib.request.Request(url, body, {"X-Api-Key": "mine", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:
            assert json.load(response)["content"] == [{"type": "text", "text": "Hi"}]
