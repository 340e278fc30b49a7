"""Which client calls a model, and what its calls cost."""

from __future__ import annotations

import asyncio
import sys
import types

import pytest

from pytest_tau.chat import ChatRequest, Usage
from pytest_tau.chat.limited_model import CallOptions
from pytest_tau.chat.prices import Price
from pytest_tau.errors import ConfigurationError
from pytest_tau.integrations import default_model as clients
from pytest_tau.integrations.default_model import (
    check_model,
    default_model,
    is_called_directly,
    is_checked_without_litellm,
)
from pytest_tau.integrations.openai_api import route
from pytest_tau.testing import ModelServer

OWN = {"api_base": "http://127.0.0.1:1/v1"}


@pytest.fixture(autouse=True)
def plain_litellm(no_model_environment, monkeypatch):
    """Without settings of litellm's that an earlier test or the machine has set."""
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    for name in clients._VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "args", "direct"),
    [
        ("gpt-4.1", {"temperature": 0.0, "seed": 1}, True),
        ("openai/gpt-4o-mini", {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}, True),
        ("openai/qwen3", OWN, True),
        ("openai/qwen3", {"base_url": "http://127.0.0.1:1/v1", "api_key": "k"}, True),
        # litellm renames arguments, drops a temperature, or calls another API.
        ("openai/o3", {}, False),
        ("gpt-5.2", {}, False),
        ("openai/gpt-5-mini", OWN, False),
        ("openai/responses/gpt-4.1", {}, False),
        ("gpt-4o-audio-preview", {}, False),
        # Unknown to the lighter client, or of another provider.
        ("openai/unknown", {}, False),
        ("anthropic/claude-opus-4-5", {}, False),
        ("hosted_vllm/qwen3", OWN, False),
        ("qwen3", OWN, False),
        ("gpt-4.1", {"mock_response": "Hi"}, False),
        ("gpt-4.1", {"service_tier": "flex"}, False),
        ("gpt-4.1", {"custom_llm_provider": "azure"}, False),
    ],
)
def test_the_client_of_a_model(name, args, direct):
    assert is_called_directly(name, args) is direct


def test_an_address_in_the_environment_is_one_of_the_users(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert is_called_directly("openai/qwen3", {})


@pytest.mark.parametrize("name", ["callbacks", "success_callback", "api_base", "openai_key"])
def test_settings_of_litellm_are_followed(name, monkeypatch):
    settings = types.SimpleNamespace(callbacks=[], success_callback=[])
    monkeypatch.setitem(sys.modules, "litellm", settings)
    assert is_called_directly("gpt-4.1", {})
    setattr(settings, name, ["something"])
    assert not is_called_directly("gpt-4.1", {})


@pytest.mark.parametrize("name", clients._VARIABLES)
def test_variables_of_litellm_are_followed(name, monkeypatch):
    monkeypatch.setenv(name, "True")
    assert not is_called_directly("gpt-4.1", {})


def test_the_client_of_a_run(monkeypatch):
    names = [type(default_model(client, timeout=3)).__name__ for client in ("auto", "litellm")]
    assert names == ["ClientModel", "LiteLLM"]
    # Calls of one provider that are limited together have one client.
    limited = default_model(options=CallOptions(per_provider={"openai": 3}))
    assert type(limited).__name__ == "LiteLLM"
    monkeypatch.setattr(clients, "has_litellm", lambda: False)
    names = [type(default_model(client, timeout=3)).__name__ for client in ("auto", "litellm")]
    assert names == ["OpenAIServer", "OpenAIServer"]


@pytest.mark.parametrize("package", ["aiohttp", "tenacity"])
def test_without_the_packages_of_a_client_both_extras_are_named(package, monkeypatch):
    monkeypatch.setattr(clients, "has_litellm", lambda: False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigurationError, match=r"need litellm and tenacity .*\[llm\].* or aiohttp .*\[endpoint\]"):
        check_model("anthropic/claude", {})


@pytest.mark.parametrize(
    ("name", "args", "priced", "problem"),
    [
        ("gpt-4.1", {"api_key": "k"}, True, None),
        ("openai/gpt-4.1", {"api_key": "k", "temperature": 0.0}, False, None),
        ("openai/gpt-4.1", {}, False, "needs a key: set OPENAI_API_KEY"),
        ("openai/qwen3", OWN, False, None),
        ("openai/qwen3", OWN, True, "has no known price: add 'input_cost_per_token' and"),
        ("openai/qwen3", OWN | {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}, True, None),
        ("openai/listed", OWN, True, None),
    ],
)
def test_models_that_are_called_directly_are_checked_without_litellm(name, args, priced, problem):
    """With the same result as by litellm's check."""

    def result(check):
        try:
            check(name, args, priced=priced, prices={"openai/listed": Price(1.0, 2.0)})
        except ConfigurationError as error:
            return str(error)
        return ""

    assert is_checked_without_litellm(name, args)
    told = result(check_model)
    assert "litellm" not in sys.modules
    assert problem in told if problem else not told
    from pytest_tau.integrations.litellm import check

    assert result(check) == told


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("openai/gpt-4.1-mni", {"api_key": "k"}),
        ("anthropic/claude-opus-4-5", {"api_key": "k"}),
        ("gpt-5.2", {"api_key": "k"}),
    ],
)
def test_models_that_litellm_checks(name, args):
    assert not is_checked_without_litellm(name, args)


def complete(model, name, args):
    request = ChatRequest(model=name, messages=[{"role": "user", "content": "Hi"}], args=args)
    return asyncio.run(model.complete(request))


def test_a_call_without_litellm_has_its_price(monkeypatch):
    with ModelServer(lambda _: "Hi") as server:
        reply = complete(default_model(), "openai/gpt-4.1", {"base_url": server.base_url, "api_key": "k"})
    assert "litellm" not in sys.modules
    usage = reply.usage
    assert reply.message["content"] == "Hi"
    assert reply.cost == pytest.approx((usage.prompt_tokens * 2 + usage.completion_tokens * 8) / 1e6)


def test_the_users_prices_come_first():
    options = CallOptions(prices={"openai/gpt-4.1": Price(1000.0, 0.0)})
    with ModelServer(lambda _: "Hi") as server:
        reply = complete(default_model(options=options), "openai/gpt-4.1", {"base_url": server.base_url})
    assert reply.cost == pytest.approx(reply.usage.prompt_tokens / 1000)


def test_prices_equal_those_of_litellm():
    litellm = pytest.importorskip("litellm")
    compared = 0
    for name in list(litellm.model_cost):
        price = route.listed_price(name)
        if price is None or not is_called_directly(name, {}):
            continue
        usage = litellm.Usage(
            prompt_tokens=1000, completion_tokens=50, prompt_tokens_details={"cached_tokens": 400}, total_tokens=1050
        )
        expected = sum(litellm.cost_per_token(model=name, usage_object=usage))
        assert price.cost(Usage(prompt_tokens=1000, completion_tokens=50, cached_tokens=400)) == pytest.approx(
            expected
        ), name
        compared += 1
    assert compared > 10


def test_a_list_that_is_missing_gives_no_price(monkeypatch):
    monkeypatch.setattr(route, "_FILE", "none.json")
    route._list.cache_clear()
    try:
        assert route.listed_price("gpt-4.1") is None
    finally:
        route._list.cache_clear()
