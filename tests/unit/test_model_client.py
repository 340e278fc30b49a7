"""Which client calls a model, and what its calls cost."""

from __future__ import annotations

import asyncio
import sys
import types

import pytest

from pytest_tau.chat import ChatRequest, Usage
from pytest_tau.chat.limited_model import CallOptions
from pytest_tau.chat.prices import Price
from pytest_tau.integrations import default_model as clients
from pytest_tau.integrations.default_model import check_model, default_model, is_accepted, is_called_directly
from pytest_tau.integrations.openai_api import prices
from pytest_tau.testing import ModelServer

OWN = {"api_base": "http://127.0.0.1:1/v1"}


@pytest.fixture(autouse=True)
def plain_litellm(monkeypatch):
    """Without settings of litellm's, or an address, that an earlier test or the machine has set."""
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "LITELLM_LOG", "LITELLM_LOCAL_MODEL_COST_MAP"):
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


@pytest.mark.parametrize(
    ("name", "args", "priced", "accepted"),
    [
        ("gpt-4.1", {"api_key": "k"}, True, True),
        ("openai/gpt-4.1", {"api_key": "k", "temperature": 0.0}, False, True),
        ("openai/qwen3", OWN, False, True),
        ("openai/qwen3", OWN | {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}, True, True),
        ("openai/qwen3", {"api_base": "https://models.example/v1", "api_key": "k"}, False, True),
        # litellm's check decides.
        ("openai/gpt-4.1", {}, False, False),
        ("openai/gpt-4.1-mni", {"api_key": "k"}, False, False),
        ("gpt-4.1-mni", OWN, False, False),
        ("openai/qwen3", OWN, True, False),
        ("openai/qwen3", {"api_base": "https://models.example/v1"}, False, False),
        ("anthropic/claude-opus-4-5", {"api_key": "k"}, False, False),
    ],
)
def test_models_that_are_checked_without_litellm(name, args, priced, accepted, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert is_accepted(name, args, priced=priced, prices={}) is accepted
    if accepted:
        check_model(name, args, priced=priced)
        assert "litellm" not in sys.modules
        pytest.importorskip("litellm")
        from pytest_tau.integrations.litellm import check

        check(name, args, priced=priced)  # it finds nothing either


def test_a_model_in_a_price_list_is_checked_without_litellm():
    prices = {"openai/qwen3": Price(1.0, 2.0)}
    assert is_accepted("openai/qwen3", OWN, priced=True, prices=prices)


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


def test_a_limit_of_the_provider_has_one_client(monkeypatch):
    called = []

    class Fake:
        def __init__(self, name):
            self.name = name

        async def complete(self, request):
            called.append(self.name)

    for per_provider, args, expected in (
        ({}, {}, "direct"),
        ({"openai": 3}, {}, "litellm"),
        ({"openai": 3}, OWN, "direct"),
    ):
        model = default_model(options=CallOptions(per_provider=per_provider))
        model.__dict__ |= {"_direct": Fake("direct"), "_litellm": Fake("litellm")}
        complete(model, "openai/gpt-4.1", args)
        assert called.pop() == expected


def test_prices_equal_those_of_litellm():
    litellm = pytest.importorskip("litellm")
    compared = 0
    for name in list(litellm.model_cost):
        price = prices.listed_price(name)
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
    monkeypatch.setattr(prices, "_FILE", "none.json")
    prices._list.cache_clear()
    try:
        assert prices.listed_price("gpt-4.1") is None
    finally:
        prices._list.cache_clear()
