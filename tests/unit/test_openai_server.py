"""What only the chat model for servers with OpenAI's API does; test_chat_models.py has the rest."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap

import pytest

from pytest_tau.chat import ChatRequest
from pytest_tau.errors import ConfigurationError, ModelError
from pytest_tau.integrations.openai_api import OpenAIServer, check
from pytest_tau.testing import ModelServer

pytestmark = pytest.mark.usefixtures("no_model_environment")
HELLO = [{"role": "user", "content": "Hello there"}]


def ask(server, *, args):
    request = ChatRequest(model="openai/gpt-x", messages=HELLO, args={"base_url": server.base_url, **args})
    return asyncio.run(OpenAIServer(first_wait=0.001).complete(request))


@pytest.mark.parametrize("error", [{"code": 502, "message": "upstream"}, "upstream"])
def test_what_the_provider_says_of_an_answer_that_it_has_broken_off_is_reported(error):
    message = {"role": "assistant", "content": "I will now"}
    broken = {"choices": [{"index": 0, "finish_reason": "error", "message": message, "error": error}]}
    with ModelServer(lambda _: broken) as server, pytest.raises(ModelError) as caught:
        ask(server, args={"num_retries": 1})
    assert caught.value.kind == "unavailable"
    assert str(caught.value).endswith("reported: upstream")


PRICES = {"input_cost_per_token": 0.5, "output_cost_per_token": 1.0}


@pytest.mark.parametrize("prompt", [10, 10.0])
def test_counts_of_tokens_may_be_floats(prompt):
    usage = {"prompt_tokens": prompt, "completion_tokens": 2.0, "prompt_tokens_details": {"cached_tokens": 4.0}}
    with ModelServer(lambda _: completion(usage)) as server:
        reply = ask(server, args=PRICES)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cached_tokens) == (10, 2, 4)
    assert reply.cost == 7.0


@pytest.mark.parametrize(
    "usage",
    [
        *({"prompt_tokens": prompt} for prompt in (-10, "10", 1.5, [10])),
        *({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": cached}} for cached in (11, -1, "4")),
    ],
)
def test_a_count_of_tokens_that_cannot_be_one_makes_the_cost_unknown(usage):
    with ModelServer(lambda _: completion({"completion_tokens": 2, **usage})) as server:
        reply = ask(server, args=PRICES)
    assert (reply.text, reply.usage, reply.cost) == ("Hi", None, None)


def completion(usage):
    message = {"role": "assistant", "content": "Hi"}
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}


# Checks


def test_a_server_with_an_address_needs_no_key():
    check("any-name", {"base_url": "http://127.0.0.1:1/v1"})
    check("openai/gpt-x", {"api_key": "k"})


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


# Processes


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
        assert [asyncio.run(OpenAIServer().complete(request)).text for _ in range(2)] == ["Hi", "Hi"]
    assert proxy.served == 2
