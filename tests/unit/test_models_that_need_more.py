"""Models whose calls need more than a plain chat completion: Responses, reasoning, refusals, thinking, prompt caches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import ChatReply, ChatRequest, TrialModels
from pytest_tau.chat.limited_model import CallOptions
from pytest_tau.errors import ConfigurationError, ModelError
from pytest_tau.integrations.litellm import LiteLLM, check, litellm_model
from pytest_tau.integrations.litellm.errors import missing_package
from pytest_tau.testing import ModelServer

from .tiny import run

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("no_model_environment")
HELLO = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
LOOK = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "a lamp"}
THINKING = {"type": "enabled", "budget_tokens": 1024}


def ask(
    server: ModelServer, name: str, messages: Any = HELLO, *, kind: Any = LiteLLM, options: Any = None, **args: Any
) -> ChatReply:
    """One call of a model, with a tool."""
    base = server.base_url.removesuffix("/v1") if name.startswith("anthropic/") else server.base_url
    asked = {"api_base": base, "api_key": "any", **args}
    request = ChatRequest(model=name, messages=messages, tools=[LOOK], tool_choice="auto", args=asked)
    chat = kind(attempts=3, first_wait=0.001, timeout=20, options=options or CallOptions())
    reply: ChatReply = run(chat.complete(request))
    return reply


def answering(message: dict[str, Any], reason: str = "stop", **fields: Any) -> Callable[[Any], dict[str, Any]]:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 1000, "completion_tokens": 10}
    return lambda _: {"model": "scripted", "choices": [choice], "usage": usage, **fields}


# Models with the Responses API only


RESPONSES = [
    ("openai/gpt-5-codex", {}),
    ("openai/o3-pro", {}),
    ("openai/responses/some-model", {}),
    ("openai/gpt-5.4", {"reasoning_effort": "high"}),
]


@pytest.mark.parametrize(("name", "args"), RESPONSES)
def test_a_model_with_the_responses_api_only_is_called_there_with_its_tools(name: str, args: dict[str, Any]) -> None:
    with ModelServer(lambda request: "A lamp." if len(request["messages"]) > 2 else {"tool_calls": [CALL]}) as server:
        first = ask(server, name, **args)
        assert first.message["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}
        last = ask(
            server, name, [*HELLO, first.message, RESULT | {"tool_call_id": first.message["tool_calls"][0]["id"]}]
        )
    assert last.text == "A lamp."
    assert server.bodies[0][0] == "/v1/responses"
    assert server.requests[0]["tools"][0]["function"]["name"] == "look"
    assert first.usage is not None
    assert first.usage.prompt_tokens > 0


def test_an_import_error_of_any_provider_names_its_package() -> None:
    class Raising(LiteLLM):
        calls = 0

        async def _send(self, request: ChatRequest, prepared: Any, limit: float) -> Any:
            Raising.calls += 1
            raise RuntimeError("connection") from ModuleNotFoundError("No module named 'boto3'", name="boto3")

    request = ChatRequest(model="bedrock/any", messages=HELLO, args={"api_key": "sk-very-secret-key"})
    with pytest.raises(ConfigurationError, match="the package 'boto3', which is not installed: pip install boto3"):
        run(Raising(first_wait=0.0).complete(request))
    assert Raising.calls == 1
    assert missing_package(ValueError("x"), request) is None
    assert "sk-very" not in str(missing_package(ImportError("sk-very-secret-key"), request))


def test_in_a_trial_it_is_an_error_that_is_not_blamed_on_the_provider() -> None:
    class Broken(LiteLLM):
        async def _send(self, request: ChatRequest, prepared: Any, limit: float) -> Any:
            raise ImportError("No module named 'mcp'", name="mcp")

    models = TrialModels({}, seed=1)
    with pytest.raises(ModelError) as caught:
        run(
            models.call(
                "agent",
                ChatRequest(model="openai/any", messages=HELLO, args={"api_base": "http://127.0.0.1:1"}),
                Broken(),
            )
        )
    assert caught.value.kind == "bad_request"
    assert "pip install './pytest-tau[llm]'" in str(caught.value)


# What goes back to a server


DETAILS = [{"type": "reasoning.encrypted", "data": "abc", "id": "r1"}]


@pytest.mark.parametrize("name", ["openrouter/openai/gpt-5", "openai/some-proxy", "hosted_vllm/local", "deepseek/any"])
def test_reasoning_goes_back_to_where_the_server_had_it(name: str) -> None:
    sent = {"content": None, "reasoning": "Hm.", "reasoning_details": DETAILS, "refusal": None, "tool_calls": [CALL]}
    with ModelServer(answering(sent, "tool_calls")) as server:
        reply = ask(server, name)
        ask(server, name, [*HELLO, reply.message, RESULT])
    back = server.bodies[1][1]["messages"][2]
    assert {key: value for key, value in back.items() if key != "content"} == {
        "role": "assistant",
        "reasoning": "Hm.",
        "reasoning_details": DETAILS,
        "tool_calls": [CALL],
    }


@pytest.mark.parametrize("name", ["openai/gpt-4.1", "hosted_vllm/local", "mistral/any", "openrouter/any/model"])
def test_a_server_gets_no_field_that_it_has_not_sent(name: str) -> None:
    fields = {"refusal": None, "annotations": [], "audio": None}
    with ModelServer(answering({"content": None, "tool_calls": [CALL], **fields}, "tool_calls")) as server:
        reply = ask(server, name)
        ask(server, name, [*HELLO, reply.message, RESULT])
    allowed = {"role", "content", "tool_calls"}
    assert set(server.bodies[1][1]["messages"][2]) <= allowed
    assert set(server.bodies[1][1]["messages"][2]["tool_calls"][0]) <= {"id", "type", "function"}


# Refusals and finish reasons


# Arguments


THINKS = [{"thinking": THINKING}, {"thinking": {"type": "adaptive"}}, {"reasoning_effort": "high"}]


@pytest.mark.parametrize("args", THINKS)
def test_thinking_excludes_the_default_temperature(args: dict[str, Any]) -> None:
    assert litellm_model("anthropic/claude-sonnet-4-5", **args).args == args
    assert litellm_model("openai/gpt-5", **args).args == {"temperature": 0.0, **args}
    assert litellm_model("anthropic/claude-sonnet-4-5").args == {"temperature": 0.0}
    assert litellm_model("openai/gpt-5", temperature=None, seed=None).args == {"seed": None}


@pytest.mark.parametrize("args", THINKS)
def test_a_call_with_thinking_has_no_other_temperature(args: dict[str, Any]) -> None:
    with ModelServer(lambda _: "Hi") as server:
        ask(server, "anthropic/claude-sonnet-4-5", temperature=0.0, **args)
        ask(server, "anthropic/claude-sonnet-4-5", temperature=1, **args)
        ask(server, "anthropic/claude-sonnet-4-5", temperature=0.0, thinking={"type": "disabled"})
    sent = [body.get("temperature") for _, body in server.bodies]
    assert sent == [None, 1, 0.0]
    assert "thinking" in server.bodies[0][1]


@pytest.mark.parametrize("args", THINKS)
@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-4-5", "bedrock/anthropic.claude-sonnet-4-5-v1:0"])
def test_a_temperature_with_thinking_is_refused_before_the_run(name: str, args: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"'temperature' is 0.0, but with thinking Anthropic accepts 1 only"):
        check(name, {"api_key": "any", "temperature": 0.0, **args})
    check(name, {"api_key": "any", "temperature": 1, **args})
    check(name, {"api_key": "any", **args})


# The prompt cache of Anthropic


def marked(value: Any) -> int:
    """The number of marks in a request."""
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(marked, value.values()))
    return sum(map(marked, value)) if isinstance(value, list) else 0


LONG = [
    *HELLO,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    RESULT,
    {"role": "assistant", "content": "A lamp."},
    {"role": "user", "content": "And now?"},
]


def test_the_ends_of_tools_system_message_and_last_messages_are_marked() -> None:
    before = json.dumps(LONG)
    with ModelServer(lambda _: "Hi") as server:
        ask(server, "anthropic/claude-sonnet-4-5", LONG, options=CallOptions(prompt_cache=True))
    assert json.dumps(LONG) == before
    assert "cache_control" not in LOOK
    path, body = server.bodies[0]
    assert path == "/v1/messages"
    assert body["tools"][-1]["cache_control"] == {"type": "ephemeral"}
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    results = [part for message in body["messages"] for part in message["content"] if part.get("type") == "tool_result"]
    assert [part["cache_control"] for part in results] == [{"type": "ephemeral"}]
    assert marked(body) == 4  # Anthropic allows no more


def test_nothing_is_marked_unless_asked_for_and_for_other_models() -> None:
    with ModelServer(lambda _: "Hi") as server:
        ask(server, "anthropic/claude-sonnet-4-5", LONG)
        ask(server, "openai/gpt-4.1", LONG, options=CallOptions(prompt_cache=True))
    assert [marked(body) for _, body in server.bodies] == [0, 0]


def test_cached_tokens_are_counted() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 900}}
    with ModelServer(answering({"content": "Hi"}, usage=usage)) as server:
        reply = ask(server, "anthropic/claude-sonnet-4-5")
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.cached_tokens) == (1000, 900)
    assert reply.cost == pytest.approx((100 * 3 + 900 * 0.3 + 10 * 15) / 1e6)


# Limits of providers


def test_the_calls_of_a_provider_are_limited_together() -> None:
    chat = LiteLLM(options=CallOptions(per_provider={"openai": 3}), max_in_flight=2)
    names = ["openai/a", "openai/b", "gpt-4.1", "anthropic/c"]
    limits = [[each._value for each in chat._semaphores_for(ChatRequest(model=name, messages=[]))] for name in names]
    assert limits == [[2, 3], [2, 3], [2, 3], [2]]
    shared = {id(chat._semaphores_for(ChatRequest(model=name, messages=[]))[1]) for name in names[:3]}
    assert len(shared) == 1
    # A server of the user's own is not the provider.
    own = ChatRequest(model="openai/a", messages=[], args={"api_base": "http://127.0.0.1:1"})
    assert len(chat._semaphores_for(own)) == 1
