"""Prices: reported, given in a file, listed by the answering or the requested name, or unknown; never $0 for unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import ChatRequest, Usage
from pytest_tau.chat.limited_model import CallOptions
from pytest_tau.chat.prices import Price, read_prices
from pytest_tau.errors import ConfigurationError
from pytest_tau.integrations import openai_api
from pytest_tau.integrations.litellm import LiteLLM, check
from pytest_tau.testing import ModelServer

from .tiny import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("no_model_environment")
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 800}}
MODELS = [LiteLLM, openai_api.OpenAIServer]


def cost_of(name: str, answering: str, *, prices: Any = None, kind: Any = LiteLLM, usage: Any = USAGE, **args: Any):
    answer = {
        "model": answering,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
        "usage": usage,
    }
    with ModelServer(lambda _: answer) as server:
        base = server.base_url.removesuffix("/v1") if name.startswith("anthropic/") else server.base_url
        chat = kind(attempts=1, options=CallOptions(prices=prices or {}))
        asked = {"api_base": base, "api_key": "any", **args}
        reply = run(chat.complete(ChatRequest(model=name, messages=[{"role": "user", "content": "Hi"}], args=asked)))
    return reply.cost


# By name


@pytest.mark.parametrize(
    ("name", "answering", "cost"),
    [
        # The answering name is listed: it decides, whatever was requested.
        ("openai/gpt-4.1", "gpt-4.1-mini-2025-04-14", (200 * 0.4 + 800 * 0.1 + 100 * 1.6) / 1e6),
        ("azure/my-deployment", "gpt-4.1-2025-04-14", (200 * 2 + 800 * 0.5 + 100 * 8) / 1e6),
        # It is not: the requested one decides.
        ("openai/gpt-4.1", "gpt-4.1-2099-01-01", (200 * 2 + 800 * 0.5 + 100 * 8) / 1e6),
        ("openai/gpt-4.1", "whatever", (200 * 2 + 800 * 0.5 + 100 * 8) / 1e6),
        # Neither is listed.
        ("openai/scripted", "scripted", None),
        ("openai/gpt-9.9", "gpt-9.9-2099", None),
    ],
)
def test_the_answering_name_decides_then_the_requested_one(name: str, answering: str, cost: float | None) -> None:
    found = azure_cost(answering) if name.startswith("azure/") else cost_of(name, answering)
    assert found == (None if cost is None else pytest.approx(cost))


def azure_cost(answering: str) -> float | None:
    """The price of an answer of a deployment; the model server does not serve Azure's paths."""
    from litellm import ModelResponse
    from litellm.types.utils import Usage as LitellmUsage

    from pytest_tau.integrations.litellm.prices import cost

    response = ModelResponse(model=answering, usage=LitellmUsage(**USAGE))
    request = ChatRequest(model="azure/my-deployment", messages=[], args={"api_base": "https://example.com"})
    return cost(response, request, Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=800), {})


def test_a_version_of_a_model_of_anthropic_that_is_not_listed_has_the_price_of_the_requested_one() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    found = cost_of("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5-20261231", usage=usage)
    assert found == pytest.approx((1000 * 3 + 100 * 15) / 1e6)


# Reported


@pytest.mark.parametrize("kind", MODELS)
def test_the_cost_that_the_provider_reports_wins_over_a_list(kind: Any) -> None:
    reported = {**USAGE, "cost": 0.123}
    listed = {"openai/gpt-4.1": Price(1, 1)}
    assert cost_of("openai/gpt-4.1", "gpt-4.1", kind=kind, usage=reported, prices=listed) == 0.123
    assert cost_of("openai/scripted", "any", kind=kind, usage={**USAGE, "cost": 0}) == 0.0


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("cost", [None, "0.1", True, -1, float("inf")])
def test_a_reported_cost_that_is_none_is_ignored(kind: Any, cost: Any) -> None:
    usage = {**USAGE, "cost": cost} if cost != float("inf") else {**USAGE, "cost": 10**400}
    assert cost_of("openai/scripted", "any", kind=kind, usage=usage) is None


def test_the_prices_among_the_arguments_of_a_call_come_first() -> None:
    own = {"input_cost_per_token": 1.0, "output_cost_per_token": 0.0}
    assert cost_of("openai/gpt-4.1", "gpt-4.1", usage={**USAGE, "cost": 0.5}, **own) == 1000


# The user's price list


@pytest.mark.parametrize("kind", MODELS)
def test_a_price_list_has_the_models_that_no_other_list_has(kind: Any) -> None:
    prices = {"openai/ft:gpt-4.1:acme": Price(input=3, output=12, cached=0.75)}
    assert cost_of("openai/ft:gpt-4.1:acme", "other", kind=kind, prices=prices) == pytest.approx(
        (200 * 3 + 800 * 0.75 + 100 * 12) / 1e6
    )
    assert cost_of("openai/scripted", "other", kind=kind, prices=prices) is None


def test_a_price_list_wins_over_litellms_and_has_answering_names_too() -> None:
    prices = {"openai/gpt-4.1": Price(1, 1), "openai/gpt-4.1-special": Price(2, 2)}
    assert cost_of("openai/gpt-4.1", "gpt-4.1", prices=prices) == pytest.approx(1100 / 1e6)
    assert cost_of("openai/gpt-4.1", "gpt-4.1-special", prices=prices) == pytest.approx(2200 / 1e6)


def test_without_a_price_for_cached_tokens_they_cost_as_much_as_others() -> None:
    assert Price(2, 0).cost(Usage(prompt_tokens=1_000_000, cached_tokens=500_000)) == 2


def test_a_price_list_is_read(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('["azure/my-deployment"]\ninput = 2\noutput = 8.0\n\n[local]\ninput=0\noutput=0\ncached=0\n')
    assert read_prices(file) == {"azure/my-deployment": Price(2.0, 8.0), "local": Price(0.0, 0.0, 0.0)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("input = 2", "['input']: expected a table for each model"),
        ("[m]\ninput = 2", "['m']: 'output' is missing: USD per million tokens"),
        ("[m]\ninput = 2\noutput = -1", "['m']: output: expected USD per million tokens, at least 0, got -1"),
        ("[m]\ninput = true\noutput = 1", "['m']: input: expected USD per million tokens"),
        ("[m]\ninput = nan\noutput = 1", "['m']: input: expected USD per million tokens"),
        ("[m]\ninput = 1\noutput = 1\ncache = 1", "['m']: unknown key 'cache'; expected input, output, cached"),
        ("[m", "is not valid TOML"),
    ],
)
def test_what_is_no_price_list_is_refused_by_its_place(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        read_prices(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert words in str(caught.value)


def test_a_missing_price_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml: cannot be read: No such file"):
        read_prices(tmp_path / "none.toml")


def test_a_budget_accepts_a_listed_model_and_a_provider_that_reports_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "any")
    key = {"api_key": "any", "api_base": "http://127.0.0.1:1/v1"}
    with pytest.raises(ConfigurationError, match=r"no known price: .*--tau-prices FILE"):
        check("openai/scripted", key, priced=True)
    check("openai/scripted", key, priced=True, prices={"openai/scripted": Price(1, 1)})
    check("openrouter/some/new-model", {}, priced=True)
    openai_api.check("m", key, priced=True, prices={"m": Price(1, 1)})
