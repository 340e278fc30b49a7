"""The endpoint's listener: tokens, bad input, errors, retries of clients, streams that wait, and the end of a trial."""

from __future__ import annotations

import http.client
import json
import logging
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import openai
import pytest

from pytest_tau.endpoint import close_session, listener, open_session
from pytest_tau.endpoint.session import mask_tokens
from pytest_tau.errors import ContextWindowError, ModelError, ReplayError, TauError

from .endpoint_session import ScriptedSession, serving, text_reply

USER = {"role": "user", "content": "hi"}
CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def post(address, path=CHAT, *, timeout=10, **fields):
    body = {"model": "tau", **({"input": "hi"} if path == RESPONSES else {"messages": [USER]}), **fields}
    return httpx.post(address.anthropic_base_url + path, json=body, timeout=timeout)


def message_of(answer):
    assert answer.headers["x-should-retry"] == "false"
    return answer.json()["error"]["message"]


# Bad input


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        (CHAT, {"messages": [USER, {"role": "user", "content": [IMAGE]}]}, "messages[1].content[0].type: 'image_url'"),
        (CHAT, {"messages": []}, "messages: expected a list of at least one"),
        (CHAT, {"messages": "hi"}, "messages: expected a list"),
        (CHAT, {"messages": ["hi"]}, "messages[0]: expected an object"),
        (CHAT, {"messages": [{"role": "robot"}]}, "messages[0].role: expected one of system"),
        (CHAT, {"messages": [{"role": "user", "content": 3}]}, "messages[0].content: expected a list"),
        (CHAT, {"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "content[0].text: expected a text"),
        (CHAT, {"model": None}, "model: expected the name of a model"),
        (CHAT, {"model": 3}, "model: expected the name of a model"),
        (CHAT, {"n": 2}, "n: only one answer"),
        (CHAT, {"logprobs": True}, "logprobs: probabilities of tokens are not recorded"),
        (CHAT, {"web_search_options": {}}, "web_search_options: the search of the provider is a hosted tool"),
        (CHAT, {"tools": [{"type": "web_search"}]}, "tools[0].type: 'web_search' is a hosted tool"),
        (CHAT, {"tools": [{"type": "function"}]}, "tools[0].function: expected an object"),
        (CHAT, {"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name: expected the name"),
        (CHAT, {"tool_choice": "get"}, "tool_choice: expected auto, none, required"),
        (CHAT, {"response_format": "json"}, "response_format: expected an object"),
        # Arguments by which libraries are sent elsewhere, with the key of the run.
        (CHAT, {"api_base": "http://evil.example"}, "api_base: the endpoint does not know this field"),
        (CHAT, {"api_key": "mine"}, "api_key: the endpoint does not know this field"),
        (RESPONSES, {"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content[0].type"),
        (RESPONSES, {"input": None}, "input: expected a text, or a list of at least one item"),
        (RESPONSES, {"input": [{"type": "web_search_call", "id": "x"}]}, "input[0].type: 'web_search_call' is not"),
        (RESPONSES, {"input": [{"type": "function_call", "name": "x"}]}, "input[0].call_id: expected a text"),
        (RESPONSES, {"input": [{"type": "function_call_output"}]}, "input[0].call_id: expected a text"),
        (
            RESPONSES,
            {"input": [{"type": "item_reference", "id": "x"}]},
            "input[0].id: 'x' is not an item of this trial",
        ),
        (RESPONSES, {"input": [{"role": "robot", "content": "hi"}]}, "input[0].role: expected one of user"),
        (RESPONSES, {"instructions": ["x"]}, "instructions: expected a text"),
        (RESPONSES, {"tools": [{"type": "file_search"}]}, "tools[0].type: 'file_search' is a hosted tool"),
        (RESPONSES, {"tools": [{"type": "custom", "name": "x"}]}, "tools[0].type: custom tools take free text"),
        (RESPONSES, {"background": True}, "background: True is not supported"),
        (RESPONSES, {"truncation": "auto"}, "truncation: 'auto' is not supported"),
        (RESPONSES, {"conversation": "x"}, "conversation: conversations are not stored"),
        (RESPONSES, {"prompt": {"id": "x"}}, "prompt: templates of prompts"),
        (RESPONSES, {"include": ["file_search_call.results"]}, "include: 'file_search_call.results' is not supported"),
        (RESPONSES, {"tool_choice": {"type": "web_search"}}, "tool_choice: expected auto, none, required"),
        (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages[0].content[0].type"),
        (MESSAGES, {"messages": [{"role": "assistant", "content": [{"type": "x"}]}]}, "messages[0].content[0].type"),
        (MESSAGES, {"messages": [{"role": "robot", "content": "hi"}]}, "messages[0].role: expected user or assistant"),
        (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "content[0].tool_use_id"),
        (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "s"}]}, "tools[0].type: 'web_search_20250305'"),
        (MESSAGES, {"container": "x"}, "container: the provider would run this container"),
        (MESSAGES, {"tool_choice": "auto"}, "tool_choice: expected the type auto, any, none or tool"),
        (MESSAGES, {"output_config": {"format": {"type": "xml"}}}, "output_config.format: expected the type"),
    ],
)
def test_what_cannot_be_served_names_the_field(path, fields, said):
    with serving(text_reply("hi")) as (session, address):
        answer = post(address, path, **fields)
        assert answer.status_code == 400
        assert said in message_of(answer)
        assert session.requests == []
        assert post(address, path).status_code == 200


def test_a_body_that_is_no_json_object():
    bodies = {
        b"{no": "the body of the request is not valid JSON",
        b"\xff\xfe": "the body of the request is not",
        b"": "the body of the request is not valid JSON",
        b"[]": "the body of the request is not a JSON object",
        b"[" * 100_000: "nested more than 200 levels deep",
    }
    with serving(text_reply("hi")) as (_, address):
        for path in (CHAT, RESPONSES, MESSAGES):
            for body, said in bodies.items():
                answer = httpx.post(address.anthropic_base_url + path, content=body)
                assert answer.status_code == 400
                assert said in message_of(answer)


@pytest.mark.exhaustive
def test_a_body_of_100_mb_is_refused_and_not_read():
    with serving(text_reply("hi")) as (session, address):
        answer = httpx.post(f"{address.base_url}/chat/completions", content=b" " * (100 << 20), timeout=30)
        assert answer.status_code == 413
        assert message_of(answer) == "the body of the request is larger than 32 MB"

        def pieces():
            for _ in range(100):
                yield b" " * (1 << 20)

        try:
            chunked = httpx.post(f"{address.base_url}/chat/completions", content=pieces(), timeout=30).status_code
        except httpx.TransportError:
            chunked = 413  # closed before the client had read the answer
        assert chunked == 413
        assert session.requests == []
        assert post(address).status_code == 200


def test_an_unknown_path_names_those_that_are_served():
    with serving(text_reply("hi")) as (_, address):
        answer = httpx.post(f"{address.base_url}/embeddings", json={})
        wrong = httpx.get(f"{address.base_url}/chat/completions")
        slashes = httpx.post(f"{address.base_url}//chat/completions", json={})
    assert (answer.status_code, slashes.status_code) == (404, 404)
    text = message_of(answer)
    assert "POST /v1/embeddings is not served; served are POST /v1/chat/completions, POST /v1/responses" in text
    assert wrong.status_code == 405
    assert message_of(wrong) == "GET /v1/chat/completions is not served: expected POST"


def test_a_path_without_a_token_is_refused():
    with serving(text_reply("hi")) as (session, address):
        for path in ("/", "/v1/chat/completions", "/t/", "/t/sk-tau-guess/v1/chat/completions"):
            answer = httpx.post(f"http://{urlsplit(address.base_url).netloc}{path}", json={})
            assert answer.status_code == 401
            assert "the address is not that of a running trial" in message_of(answer)
        assert session.requests == []


def test_the_token_of_another_trial_is_refused():
    with serving(text_reply("a")) as (one, first), serving(text_reply("b")) as (two, second):
        client = openai.OpenAI(base_url=first.base_url, api_key=second.api_key)
        with pytest.raises(openai.AuthenticationError, match="the token of another trial"), client:
            client.chat.completions.create(model="tau", messages=[USER])
        key = {"x-api-key": second.api_key}
        answer = httpx.post(f"{first.anthropic_base_url}{MESSAGES}", json={}, headers=key)
        assert answer.status_code == 401
        assert one.requests == two.requests == []
        # A key of the agent's own, which it sends out of habit, is ignored.
        with openai.OpenAI(base_url=first.base_url, api_key="sk-my-own") as client:
            answer = client.chat.completions.create(model="tau", messages=[USER])
        assert answer.choices[0].message.content == "a"


def test_malformed_http_does_not_stop_the_listener(caplog):
    with serving(text_reply("hi")) as (_, address), caplog.at_level(logging.DEBUG):
        parts = urlsplit(address.base_url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port)
        connection.putrequest("POST", f"/t/{address.api_key}/v1/chat/completions")
        connection.putheader("Content-Length", "many")
        connection.endheaders()
        assert connection.getresponse().status == 400
        connection.close()
        assert post(address).status_code == 200
    assert address.api_key not in caplog.text


# Security


def test_only_loopback_is_listened_on():
    with serving(text_reply("hi")) as (_, address):
        assert urlsplit(address.base_url).hostname == "127.0.0.1"
        assert address.base_url == f"{address.anthropic_base_url}/v1"
        assert address.mcp_url == f"{address.anthropic_base_url}/mcp"


def test_tokens_are_long_random_and_masked(caplog):
    caplog.set_level(logging.DEBUG, logger="httpx")  # litellm, if it was imported, has raised it
    with caplog.at_level(logging.DEBUG), serving(text_reply("a")) as (_, one), serving(text_reply("b")) as (_, two):
        assert one.api_key != two.api_key
        assert len(one.api_key) > 32
        assert one.api_key not in repr(one)
        post(one)
        with pytest.raises(httpx.HTTPStatusError) as caught:
            httpx.get(f"{one.base_url}/nowhere").raise_for_status()
        assert one.api_key not in mask_tokens(str(caught.value))
        assert "/t/sk-tau-***/v1/nowhere" in mask_tokens(str(caught.value))
    assert "/t/sk-tau-***/v1/chat/completions" in caplog.text  # by the client
    assert one.api_key not in caplog.text


# Errors that end the trial


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ReplayError("call 3 differs"), 424, None),
        (ModelError("down", kind="unavailable"), 424, "unavailable"),
        (ModelError("busy", kind="rate_limit"), 424, "rate_limit"),
        (ModelError("no key", kind="authentication"), 401, "invalid_api_key"),
        (ModelError("no credit", kind="quota"), 403, "insufficient_quota"),
        (ContextWindowError("too long"), 400, "context_length_exceeded"),
        (TauError("the budget is spent"), 424, None),
        (ZeroDivisionError("a mistake"), 500, None),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_no_client_repeats_a_request_after_an_error(error, status, code, stream):
    with serving(error) as (session, address):
        with openai.OpenAI(base_url=address.base_url, api_key=address.api_key, max_retries=3) as client:
            with pytest.raises(openai.APIStatusError) as caught:
                client.chat.completions.create(model="tau", messages=[USER], stream=stream)
            with pytest.raises(openai.APIStatusError):
                client.responses.create(model="tau", input="hi", stream=stream)
        assert len(session.requests) == 2
        answer = post(address, MESSAGES)
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert str(error) in caught.value.message
    assert str(error) in message_of(answer)


def test_tokens_are_masked_in_errors():
    session = ScriptedSession(text_reply(""))
    address = open_session(session)
    session._replies = [ModelError(f"cannot reach {address.base_url}")]
    try:
        assert "/t/sk-tau-***/v1" in message_of(post(address))
    finally:
        close_session(address)
        session.stop()


# Requests that wait


def wait_for(condition):
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def test_an_equal_request_that_is_unanswered_counts_once():
    gate = threading.Event()
    with serving(text_reply("hi"), gate=gate) as (session, address), ThreadPoolExecutor() as pool:
        first, retry = pool.submit(post, address), pool.submit(post, address)
        other = pool.submit(post, address, temperature=1)
        wait_for(lambda: len(session.requests) == 2)
        time.sleep(0.1)
        gate.set()
        assert first.result().content == retry.result().content
        assert other.result().json()["id"] != first.result().json()["id"]
        assert len(session.requests) == 2
        post(address)  # answered, so this is another request
        assert len(session.requests) == 3


def test_a_client_that_gives_up_and_asks_again_gets_the_one_answer():
    gate = threading.Event()
    with serving(text_reply("hi"), gate=gate) as (session, address):
        with pytest.raises(httpx.ReadTimeout):
            post(address, timeout=0.2)
        timer = threading.Timer(0.5, gate.set)  # a busy machine takes long to make the second client
        timer.start()
        assert post(address).json()["id"] == "chatcmpl-0001"
        timer.join()
        assert (len(session.requests), session.cancelled) == (1, 0)


class OpensLater:
    """A gate that opens some seconds after a request has come to it."""

    def __init__(self, seconds):
        self._seconds, self._time = seconds, None

    def clear(self):
        self._time = None

    def is_set(self):
        self._time = self._time or time.monotonic() + self._seconds
        return time.monotonic() >= self._time


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_a_stream_is_kept_open_with_comments(monkeypatch, path):
    monkeypatch.setattr(listener, "KEEP_ALIVE", 0.03)
    gate = OpensLater(0.15)
    with serving(text_reply("hello there, all of you"), gate=gate) as (_, address):
        slow = post(address, path, stream=True).text
        quick = post(address, path, stream=True).text
        if path != MESSAGES:
            gate.clear()
            with openai.OpenAI(base_url=address.base_url, api_key="x") as client:
                if path == CHAT:
                    chunks = client.chat.completions.create(model="tau", messages=[USER], stream=True)
                    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks]
                else:
                    events = client.responses.create(model="tau", input="hi", stream=True)
                    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
            assert "".join(pieces) == "hello there, all of you"
    comment = ": the model has not answered yet\n\n"
    assert slow.startswith(comment * 2)
    assert slow.replace(comment, "").replace("0001", "0002") == quick


def test_an_error_after_comments_is_an_event(monkeypatch):
    monkeypatch.setattr(listener, "KEEP_ALIVE", 0.03)
    gate = OpensLater(0.15)
    with serving(ModelError("the server is down"), gate=gate) as (session, address):
        with openai.OpenAI(base_url=address.base_url, api_key="x") as client:
            for ask in (
                lambda: client.chat.completions.create(model="tau", messages=[USER], stream=True),
                lambda: client.responses.create(model="tau", input="hi", stream=True),
            ):
                gate.clear()
                with pytest.raises(openai.APIError, match="the server is down"):
                    list(ask())
        gate.clear()
        last = post(address, MESSAGES, stream=True).text.strip().split("\n\n")[-1]
        assert len(session.requests) == 3
    name, data = last.split("\n")
    assert name == "event: error"
    assert json.loads(data.removeprefix("data: "))["error"]["message"] == "the server is down"


def test_a_client_that_leaves_a_stream(monkeypatch):
    monkeypatch.setattr(listener, "KEEP_ALIVE", 0.02)
    gate = threading.Event()
    with serving(text_reply("hi"), gate=gate) as (session, address):
        body = {"model": "tau", "messages": [USER], "stream": True}
        with httpx.stream("POST", f"{address.base_url}/chat/completions", json=body) as answer:
            next(answer.iter_raw())
        time.sleep(0.1)
        gate.set()
        assert post(address, temperature=0.5).status_code == 200
        assert (len(session.requests), session.cancelled) == (2, 0)


# The end of a trial


@pytest.mark.parametrize("stream", [False, True])
def test_open_requests_are_answered_when_the_trial_ends(stream):
    session = ScriptedSession(text_reply("hi"), gate=threading.Event())
    address = open_session(session)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(post, address, stream=stream)
        wait_for(lambda: session.requests)
        close_session(address)
        answer = waiting.result()
    assert answer.status_code == 424
    assert message_of(answer) == "the trial of this address has ended"
    wait_for(lambda: session.cancelled == 1)
    assert post(address).status_code == 401
    close_session(address)  # a second time does nothing
    session.stop()


def test_a_trial_whose_loop_is_closed():
    session = ScriptedSession(text_reply("hi"))
    address = open_session(session)
    session.stop()
    assert message_of(post(address)) == "the trial of this address has ended"
    close_session(address)


def test_a_trial_that_cannot_answer_now_says_why():
    class Early:
        @property
        def loop(self):
            raise RuntimeError("the conversation has not begun")

        async def complete(self, request):
            raise AssertionError

    address = open_session(Early())
    answer = post(address)
    close_session(address)
    assert (answer.status_code, message_of(answer)) == (424, "the conversation has not begun")


@pytest.mark.exhaustive
def test_a_hundred_trials_at_once():
    sessions = [ScriptedSession(text_reply(str(number))) for number in range(100)]
    addresses = [open_session(session) for session in sessions]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(post, addresses))
    texts = [answer.json()["choices"][0]["message"]["content"] for answer in answers]
    assert texts == [str(number) for number in range(100)]
    assert len({urlsplit(address.base_url).port for address in addresses}) == 1
    for address, session in zip(addresses, sessions, strict=True):
        close_session(address)
        session.stop()


def test_a_replay_gives_equal_bytes():
    def conversation():
        with serving(text_reply("one"), text_reply("two")) as (_, address):
            paths = (CHAT, RESPONSES, MESSAGES, RESPONSES)
            return [post(address, path, stream=stream).content for path in paths for stream in (False, True)]

    assert conversation() == conversation()


# Processes


def python(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_importing_is_light_and_the_extra_is_named():
    out = python("""
        import sys
        from pytest_tau.endpoint import open_session
        from pytest_tau.errors import ConfigurationError
        print({"aiohttp", "pydantic"} & set(sys.modules))
        sys.modules["aiohttp"] = None
        try:
            open_session(None)
        except ConfigurationError as error:
            print(error)
    """)
    assert out.startswith("set()\n")
    assert "the endpoint for models needs aiohttp: pip install './pytest-tau[endpoint]'" in out


#: A request whose answer does not come.
WAITING = """
        import asyncio, http.client, threading
        from urllib.parse import urlsplit
        from pytest_tau.endpoint import open_session

        class Session:
            loop = asyncio.new_event_loop()
            started = threading.Event()
            async def complete(self, request):
                self.started.set()
                await asyncio.sleep(60)

        session = Session()
        threading.Thread(target=session.loop.run_forever, daemon=True).start()
        parts = urlsplit(open_session(session).base_url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port)
        body = '{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
        connection.request("POST", parts.path + "/chat/completions", body)
        assert session.started.wait(10)
"""


def test_a_process_ends_cleanly_with_requests_open():
    out = python(f"""
        {WAITING}
        print("end")
        connection.close()
    """)
    assert out == "end\n"


def test_a_client_that_waits_for_its_answer_does_not_delay_the_end_of_a_process():
    out = python(f"""
        import asyncio, atexit, http.client, threading, time
        from pytest_tau.endpoint import open_session

        def end():
            print("slow" if time.monotonic() - began > 0.9 else "quick")
            print(connection.getresponse().read().decode())
            connection.close()

        atexit.register(end)  # the last of those that are registered
        {WAITING}
        began = time.monotonic()
    """)
    assert out.startswith("quick\n")
    assert "the trial of this address has ended" in out
