from __future__ import annotations

from typing import Any

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.integrations.litellm import check

pytestmark = pytest.mark.usefixtures("no_model_environment")
ELSEWHERE = {"api_base": "http://127.0.0.1:9/v1"}
KEY = {"api_key": "tau-very-secret-0123456789"}


def problem(name: str, args: dict[str, Any] | None = None, **options: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        check(name, args or {}, **options)
    return str(caught.value)


def test_a_known_model_with_a_key_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    check("openai/gpt-4.1-mini", KEY)
    check("gpt-4.1-mini", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    check("openai/gpt-4.1-mini", {"temperature": 0.0})


@pytest.mark.parametrize("args", [{}, {"timeout": 5, "max_tokens": 100}, {"api_base": "https://api.openai.com/v1"}])
def test_a_missing_key_is_named_by_its_variable(args: dict[str, Any]) -> None:
    expected = "model 'openai/gpt-4.1' needs a key: set OPENAI_API_KEY, or add 'api_key' to its arguments"
    assert problem("openai/gpt-4.1", args) == expected


def test_any_of_several_variables_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "set GOOGLE_API_KEY or GEMINI_API_KEY, or" in problem("gemini/gemini-2.5-flash")
    monkeypatch.setenv("GEMINI_API_KEY", "x")
    check("gemini/gemini-2.5-flash", {})


@pytest.mark.parametrize(
    "name", ["ollama/llama3", "hosted_vllm/mine", "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0"]
)
def test_key_is_not_required_if_given_elsewhere_or_not_needed(name: str) -> None:
    check(name, {})


@pytest.mark.parametrize("args", [{"azure_ad_token": "x"}, {"extra_headers": {"api-key": "x"}}])
def test_another_credential_is_a_key(args: dict[str, Any]) -> None:
    check("azure/mine", args)
    assert "set AZURE_API_KEY" in problem("azure/mine", {"temperature": 0})


def test_a_server_of_ones_own_needs_no_key_and_may_call_its_models_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    check("openai/scripted", ELSEWHERE)
    check("openai/gpt-4.1-minii", ELSEWHERE)
    check("deepseek/scripted", ELSEWHERE)
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, ELSEWHERE["api_base"])
            check("openai/scripted", {})
    assert "OPENAI_API_KEY" in problem("openai/scripted")
    assert "ANTHROPIC_API_KEY" in problem("anthropic/scripted", ELSEWHERE)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("openai/gpt-4.1-minii", "openai/gpt-4.1-mini"),
        ("openai/gpt4.1-mini", "openai/gpt-4.1-mini"),
        ("openai/gtp-4.1", "openai/gpt-4.1"),
        ("openai/GPT-4.1", "openai/gpt-4.1"),
        ("openai/gpt-40", "openai/gpt-4"),
        ("anthropic/claude-soonet-4-5", "anthropic/claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"),
        ("claude-soonet-4-5", "claude-sonnet-4-5"),
        ("gemini/gemini-2.5-flsh", "gemini/gemini-2.5-flash"),
    ],
)
def test_a_misspelt_name_is_refused_with_the_right_one(name: str, meant: str) -> None:
    assert problem(name, KEY).startswith(f"unknown model {name!r}; did you mean {meant!r}")


@pytest.mark.parametrize(
    "name",
    [
        "openai/gpt-4.2-mini",
        "openai/gpt-7-ultra",
        "openai/o9-mini",
        "anthropic/claude-sonnet-4-9",
        "gemini/gemini-9.5-flash",
        "openai/ft:gpt-4.1-minii:org",
        "azure/gpt-41-minii",
        "openrouter/opnai/gpt-4.1",
    ],
)
def test_a_name_that_may_be_new_or_ones_own_is_not_refused(name: str) -> None:
    check(name, KEY)


def test_an_address_vouches_for_a_name() -> None:
    check("openai/gpt-4.1-minii", {**KEY, "api_base": "https://api.openai.com/v1"})


def test_an_unknown_provider_is_refused_with_close_ones() -> None:
    text = problem("opnai/gpt-4.1", KEY)
    assert text.startswith("model 'opnai/gpt-4.1': unknown provider 'opnai'; did you mean 'openai'")
    text = problem("gpt-4.1-minii", KEY)
    assert text.startswith("model 'gpt-4.1-minii' has no known provider; did you mean 'gpt-4.1-mini'")
    assert problem("openai", KEY) == "'openai' is a provider without a model: expected openai/MODEL"
    assert "for an OpenAI-compatible server, write openai/mine" in problem("mine", ELSEWHERE)


@pytest.mark.parametrize("name", ["", " ", "openai/", "/gpt-4.1", "openai/gpt 4.1"])
def test_what_is_no_name_is_refused(name: str) -> None:
    assert problem(name, KEY) == f"{name!r} is not a model name: expected provider and model, such as openai/gpt-4.1"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"model": "x"}, "'model' cannot be set"),
        ({"messages": []}, "'messages' cannot be set"),
        ({"stream": True}, "streaming is not supported"),
        ({"n": 2}, "only one answer is requested per call"),
        ({"timeout": "long"}, "'timeout': expected a number of seconds above 0, got 'long'"),
        ({"timeout": True}, "'timeout': expected a number of seconds above 0, got True"),
        ({"timeout": 0}, "'timeout': expected a number of seconds above 0, got 0"),
        ({"num_retries": -1}, "'num_retries': expected an integer of at least 0, got -1"),
        ({"max_retries": 1.5}, "'max_retries': expected an integer of at least 0, got 1.5"),
        ({"api_base": "localhost:8000/v1"}, "'api_base': expected a URL that begins with http:// or https://"),
        ({"base_url": 8000}, "'base_url': expected a URL that begins with http:// or https://"),
    ],
)
def test_arguments_that_cannot_be_are_refused(args: dict[str, Any], words: str) -> None:
    text = problem("openai/gpt-4.1", {**KEY, **args})
    assert words in text
    assert KEY["api_key"] not in text


def test_a_price_is_needed_where_there_is_a_budget() -> None:
    check("openai/gpt-4.1", KEY, priced=True)
    expected = "model 'openai/scripted' has no known price: add 'input_cost_per_token' and 'output_cost_per_token'"
    assert problem("openai/scripted", ELSEWHERE, priced=True).startswith(expected)
    check("openai/scripted", {**ELSEWHERE, "input_cost_per_token": 0.0, "output_cost_per_token": 0.0}, priced=True)


def test_no_key_is_ever_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY["api_key"])
    for name in ("opnai/x", "mine", "openai/gpt-4.1-minii", ""):
        assert KEY["api_key"] not in problem(name, KEY)
