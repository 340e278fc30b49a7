"""The chat model for servers with OpenAI's API, against a model server over HTTP."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
import traceback

import pytest

from pytest_tau import testing
from pytest_tau.chat import ChatRequest
from pytest_tau.errors import ConfigurationError, ContextWindowError, ModelError
from pytest_tau.integrations import default_model
from pytest_tau.integrations.openai_api import OpenAIServer, check
from pytest_tau.testing import ModelServer

KEY = "sk-very-secret-key-0123456789"
HELLO = [{"role": "user", "content": "Hello there"}]
TOOL = {"type": "function", "function": {"name": "look", "description": "d", "parameters": {"type": "object"}}}


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def model(**limits):
    return OpenAIServer(**{"first_wait": 0.001, "timeout": 10.0} | limits)


def ask(server, *, name="openai/gpt-x", chat=None, args=None, **fields):
    request = ChatRequest(model=name, messages=HELLO, args={"base_url": server.base_url, **(args or {})}, **fields)
    return asyncio.run((chat or model()).complete(request))


def test_an_answer_is_a_reply_with_its_tokens():
    message = {"content": "I look.", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{bad"}}]}
    with ModelServer(lambda _: {**message, "reasoning_content": "Hm", "audio": None}) as server:
        reply = ask(server, tools=[TOOL], tool_choice="auto", args={"temperature": 0.0, "seed": 7})
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{bad"}}
    assert reply.message == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [call],
        "reasoning_content": "Hm",
    }
    assert (reply.finish_reason, reply.model, reply.cost) == ("tool_calls", "gpt-x", None)
    assert reply.usage.prompt_tokens > 0
    assert reply.seconds > 0
    assert server.requests == [
        {
            "model": "gpt-x",
            "messages": HELLO,
            "tools": [TOOL],
            "tool_choice": "auto",
            "temperature": 0.0,
            "seed": 7,
        }
    ]


def test_the_connection_and_the_prices_are_not_sent():
    args = {
        "api_key": KEY,
        "timeout": 5,
        "num_retries": 1,
        "extra_headers": {"X-Team": "a"},
        "extra_body": {"top_k": 3},
    }
    args |= {"input_cost_per_token": 0.5, "output_cost_per_token": 1.0, "drop_params": True}
    with ModelServer(lambda _: "Hi", api_key=KEY) as server:
        reply = ask(server, args=args)
    assert server.requests == [{"model": "gpt-x", "messages": HELLO, "top_k": 3}]
    assert reply.cost == reply.usage.prompt_tokens * 0.5 + reply.usage.completion_tokens


def test_the_environment_has_address_and_key(monkeypatch):
    with ModelServer(lambda _: "Hi", api_key=KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        request = ChatRequest(model="openai/gpt-x", messages=HELLO)
        assert asyncio.run(model().complete(request)).text == "Hi"


PERMANENT = [
    (testing.Unauthorized(), "authentication"),
    (testing.QuotaExceeded(), "quota"),
    (testing.UnknownModel(), "unknown_model"),
    (testing.ContentFiltered(), "refused"),
]
PASSING = [
    (testing.RateLimited(), "rate_limit"),
    (testing.ServerError(), "unavailable"),
    (testing.ServerError(status=503), "overloaded"),
    (testing.ConnectionReset(), "unavailable"),
    (testing.MalformedBody(), "bad_answer"),
    (testing.TruncatedJSON(), "bad_answer"),
    (testing.WrongSchema(), "bad_answer"),
]


@pytest.mark.parametrize(("fault", "kind"), PERMANENT, ids=lambda value: str(value))
def test_a_permanent_fault_is_not_retried(fault, kind):
    with ModelServer(lambda _: fault) as server, pytest.raises(ModelError) as caught:
        ask(server, args={"api_key": KEY})
    assert caught.value.kind == kind
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(("fault", "kind"), PASSING, ids=lambda value: str(value))
def test_a_passing_fault_is_retried(fault, kind):
    with ModelServer(lambda _: "Hi", faults={1: fault}) as server:
        assert ask(server).text == "Hi"
    with ModelServer(lambda _: fault) as server, pytest.raises(ModelError, match="2 attempts") as caught:
        ask(server, args={"num_retries": 1})
    assert caught.value.kind == kind


def test_the_advice_about_a_context_window_is_not_only_for_agents():
    with ModelServer(lambda _: testing.ContextWindowExceeded()) as server, pytest.raises(ModelError) as caught:
        ask(server)
    assert "use a model with a larger one, or limit the requests of the agent (--tau-agent-context)" in str(
        caught.value
    )


@pytest.mark.parametrize("content", ["", "I will now"])
@pytest.mark.parametrize("error", [{}, {"error": {"code": 502, "message": "upstream"}}, {"error": "upstream"}])
def test_an_answer_that_the_provider_has_broken_off_is_retried(content, error):
    message = {"role": "assistant", "content": content}
    broken = {"choices": [{"index": 0, "finish_reason": "error", "message": message, **error}]}
    script = iter([broken, "Hi"])
    with ModelServer(lambda _: next(script)) as server:
        assert ask(server).text == "Hi"
    with ModelServer(lambda _: broken) as server, pytest.raises(ModelError) as caught:
        ask(server, args={"num_retries": 1})
    assert caught.value.kind == "unavailable"
    assert str(caught.value).endswith("reported: " + ("upstream" if error else "the answer was broken off"))


PRICES = {"input_cost_per_token": 0.5, "output_cost_per_token": 1.0}


@pytest.mark.parametrize("prompt", [10, 10.0])
def test_counts_of_tokens_may_be_floats(prompt):
    usage = {"prompt_tokens": prompt, "completion_tokens": 2.0, "prompt_tokens_details": {"cached_tokens": 4.0}}
    with ModelServer(lambda _: completion(usage)) as server:
        reply = ask(server, args=PRICES)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cached_tokens) == (10, 2, 4)
    assert reply.cost == 7.0


@pytest.mark.parametrize("prompt", [-10, "10", 1.5, [10]])
def test_a_count_of_tokens_that_cannot_be_one_makes_the_cost_unknown(prompt):
    with ModelServer(lambda _: completion({"prompt_tokens": prompt, "completion_tokens": 2})) as server:
        reply = ask(server, args=PRICES)
    assert (reply.text, reply.usage, reply.cost) == ("Hi", None, None)


@pytest.mark.parametrize("cached", [11, -1, "4"])
def test_more_tokens_from_the_cache_than_were_sent_make_the_cost_unknown(cached):
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": cached}}
    with ModelServer(lambda _: completion(usage)) as server:
        reply = ask(server, args=PRICES)
    assert (reply.text, reply.usage, reply.cost) == ("Hi", None, None)


def completion(usage):
    message = {"role": "assistant", "content": "Hi"}
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}


def test_a_refused_connection_is_retried_twice_unless_the_server_has_answered_before():
    chat = model(attempts=5)
    with ModelServer(lambda _: "Hi") as server:
        assert ask(server, chat=chat).text == "Hi"
    with pytest.raises(ModelError, match="5 attempts"):
        ask(server, chat=chat)
    for attempts, made in ((5, "3 attempts"), (2, "2 attempts")):
        with pytest.raises(ModelError, match=made) as caught:
            ask(server, chat=model(attempts=attempts))
        assert (caught.value.kind, caught.value.no_server) == ("unavailable", True)


def test_a_server_with_faults_has_answered():
    chat = model(attempts=4)
    with ModelServer(lambda _: testing.ServerError()) as server, pytest.raises(ModelError, match="4 attempts"):
        ask(server, chat=chat)
    with pytest.raises(ModelError, match="4 attempts") as caught:
        ask(server, chat=chat)
    assert not caught.value.no_server


def test_the_context_window_has_an_error_of_its_own():
    with ModelServer(lambda _: testing.ContextWindowExceeded()) as server, pytest.raises(ContextWindowError):
        ask(server)


def test_a_server_that_does_not_answer():
    with (
        ModelServer(lambda _: testing.Stall()) as server,
        pytest.raises(ModelError, match=r"no answer within 0\.1 s") as caught,
    ):
        ask(server, args={"timeout": 0.1, "num_retries": 0})
    assert caught.value.kind == "timeout"


def test_a_server_that_is_not_there():
    with ModelServer(lambda _: "Hi") as server:
        pass
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        ask(server, args={"num_retries": 0})
    assert caught.value.kind == "unavailable"


def test_a_refused_key_is_named_but_not_shown():
    with ModelServer(lambda _: "Hi", api_key="another") as server:
        with pytest.raises(ModelError, match="the key in the model's arguments was refused") as caught:
            ask(server, args={"api_key": KEY})
        with pytest.raises(ModelError, match=r"a call without a key \(OPENAI_API_KEY not set\) was refused"):
            ask(server)
    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    inside = [frame for frame in trace.stack if "pytest_tau" in frame.filename]
    assert len(inside) > 3
    assert KEY not in str(caught.value) + "".join(traceback.StackSummary.from_list(inside).format())


def test_the_limit_of_calls_in_flight():
    lock, running, most = threading.Lock(), [0], [0]

    def script(_):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        threading.Event().wait(0.05)
        with lock:
            running[0] -= 1
        return "Hi"

    async def many(server):
        chat = model(max_in_flight=2)
        request = ChatRequest(model="openai/m", messages=HELLO, args={"base_url": server.base_url})
        return await asyncio.gather(*(chat.complete(request) for _ in range(6)))

    with ModelServer(script) as server:
        assert len(asyncio.run(many(server))) == 6
    assert most[0] == 2


# Checks


def test_a_server_with_an_address_needs_no_key():
    check("any-name", {"base_url": "http://127.0.0.1:1/v1"})
    check("openai/gpt-x", {"api_key": KEY})


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("openai/gpt-x", {}, "needs a key: set OPENAI_API_KEY"),
        ("anthropic/claude", {}, r"needs litellm: pip install '\./pytest-tau\[llm\]'"),
        ("gpt-x", {}, "needs litellm"),
        ("  ", {}, "is not a model name"),
        ("openai/m", {"base_url": "nowhere"}, "expected a URL that begins with http"),
        ("openai/m", {"stream": True}, "streaming is not supported"),
    ],
)
def test_what_cannot_be_called_is_reported_before_the_run(name, args, said):
    with pytest.raises(ConfigurationError, match=said):
        check(name, args)


def test_a_budget_needs_prices():
    args = {"base_url": "http://127.0.0.1:1/v1"}
    with pytest.raises(ConfigurationError, match="has no known price: add 'input_cost_per_token' and"):
        check("m", args, priced=True)
    check("m", args | {"input_cost_per_token": 1, "output_cost_per_token": 1}, priced=True)


# Choice


def test_litellm_is_preferred(monkeypatch):
    monkeypatch.setattr(default_model, "has_litellm", lambda: True)
    assert type(default_model.default_model(timeout=3)).__name__ == "ClientModel"
    assert type(default_model.default_model("litellm", timeout=3)).__name__ == "LiteLLM"
    monkeypatch.setattr(default_model, "has_aiohttp", lambda: False)
    assert type(default_model.default_model(timeout=3)).__name__ == "LiteLLM"
    monkeypatch.setattr(default_model, "has_litellm", lambda: False)
    assert type(default_model.default_model(timeout=3)).__name__ == "OpenAIServer"
    with pytest.raises(ConfigurationError, match="needs litellm"):
        default_model.check_model("anthropic/claude", {})


def python(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_process_ends_cleanly_and_imports_no_litellm():
    with ModelServer(lambda _: "Hi") as server:
        out = python(f"""
            import asyncio, sys
            sys.modules["litellm"] = None
            from pytest_tau.chat import ChatRequest
            from pytest_tau.integrations.default_model import default_model
            request = ChatRequest(model="m", messages=[], args={{"base_url": {server.base_url!r}}})
            chat = default_model()
            try:
                asyncio.run(chat.complete(request))
            except Exception as error:
                print(error)
            request = ChatRequest(model="m", messages=[{{"role": "user", "content": "?"}}], args=request.args)
            print(asyncio.run(chat.complete(request)).text)
        """)
    assert "the provider refuses the call" in out
    assert out.endswith("Hi\n")


def test_without_aiohttp_the_extras_are_named():
    out = python("""
        import asyncio, sys
        sys.modules["litellm"] = sys.modules["aiohttp"] = None
        from pytest_tau.chat import ChatRequest
        from pytest_tau.errors import ConfigurationError
        from pytest_tau.integrations.default_model import default_model
        try:
            asyncio.run(default_model().complete(ChatRequest(model="openai/m", messages=[])))
        except ConfigurationError as error:
            print(error)
    """)
    assert "pip install './pytest-tau[llm]'" in out
    assert "pip install './pytest-tau[endpoint]'" in out


def test_calls_go_through_the_proxy_of_the_environment(monkeypatch):
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    request = ChatRequest(model="openai/m", messages=HELLO, args={"base_url": "http://models.invalid/v1"})
    with ModelServer(lambda _: "Hi") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        assert [asyncio.run(model().complete(request)).text for _ in range(2)] == ["Hi", "Hi"]
    assert proxy.served == 2
