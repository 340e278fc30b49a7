"""The refusals of servers, in their own words: both clients must find the same fault in each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import ChatRequest
from pytest_tau.errors import ModelError
from pytest_tau.integrations.litellm import LiteLLM
from pytest_tau.integrations.openai_api import OpenAIServer
from pytest_tau.testing import Fault, ModelServer
from pytest_tau.testing.completions import Reply

from .tiny import run

if TYPE_CHECKING:
    from collections.abc import Mapping

HELLO = [{"role": "user", "content": "Hello"}]


@dataclass(frozen=True)
class Refused(Fault):
    """An HTTP status with a body of its own."""

    status: int
    body: Any
    headers: tuple[tuple[str, str], ...] = ()

    def play(self, request: Mapping[str, Any], wire: Any) -> None:
        body = self.body if isinstance(self.body, str) else json.dumps(self.body)
        wire.send(Reply(self.status, [body.encode()], headers=dict(self.headers)))


def openai(message: str, *, kind: str = "invalid_request_error", code: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def flat(message: str) -> dict[str, Any]:
    return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}


def router(raw: Any, *, code: int = 400) -> dict[str, Any]:
    return {"error": {"message": "Provider returned error", "code": code, "metadata": {"raw": raw}}}


ANTHROPIC = {"type": "invalid_request_error", "message": "prompt is too long: 219898 tokens > 200000 maximum"}
LLAMA_CPP = "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it"
XAI = "This model's maximum prompt length is 131072 but the request contains 136973 tokens."
#: The sentences by which servers with OpenAI's format say, with status 400, that a conversation is too long.
SENTENCES = {
    "OpenAI, Responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Azure": "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens.",
    "DeepSeek": "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in "
    "the messages, 8192 in the completion).",
    "SGLang": "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
    "SGLang, router": "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
    "SGLang, sum": "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a "
    "total of 135063 tokens: 126871 tokens from the input messages and 8192 tokens for the completion.",
    "vLLM, decoder": "The decoder prompt (length 21535) is longer than the maximum model length of 16384.",
    "vLLM, older": "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
    "vLLM, newer": "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and "
    "your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens.",
    "Together": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` "
    "tokens and 4096 `max_new_tokens`",
    "Fireworks": "The prompt is too long: 40177, model maximum context length: 32767",
    "Mistral": "Prompt contains 65673 tokens, too large for model with 32768 maximum context length",
    "Moonshot": "Invalid request: Your request exceeded model token limit: 262144 (requested: 287431)",
    "DashScope": "Range of input length should be [1, 30720]",
    "OpenRouter": "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens",
}
TOO_LONG: dict[str, tuple[int, Any]] = {
    **{name: (400, openai(message)) for name, message in SENTENCES.items()},
    "OpenAI": (400, openai("too long", code="context_length_exceeded")),
    "vLLM": (400, flat(SENTENCES["vLLM, decoder"])),
    "Xinference": (500, {"detail": f"[address=0.0.0.0:43769, pid=1065] {SENTENCES['vLLM, decoder']}"}),
    "llama.cpp": (400, {"error": {"code": 400, "message": LLAMA_CPP, "type": "exceed_context_size_error"}}),
    "llama.cpp, older": (500, openai("Context size has been exceeded.", kind="server_error", code=500)),
    "llama-cpp-python": (500, openai("Requested tokens (2285) exceed context window of 2048", code="internal")),
    "TGI": (422, {"error": SENTENCES["Together"], "error_type": "validation"}),
    "TGI, inputs": (422, {"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 1872"}),
    "Gemini": (
        400,
        [{"error": {"code": 400, "message": "The input token count (1200293) exceeds the maximum number of tokens"}}],
    ),
    "Vertex AI": (
        400,
        {"error": {"code": 400, "message": "the input token count is 1251952 but model only supports up to 1048576."}},
    ),
    "Anthropic": (400, {"type": "error", "error": ANTHROPIC}),
    "Anthropic, sum": (
        400,
        {"error": {"message": "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease"}},
    ),
    "Bedrock": (400, {"message": "Input is too long for requested model."}),
    "Bedrock, Llama": (400, {"message": "Too many input tokens. Max input tokens: 8192, request input token count: 9"}),
    "xAI": (400, {"code": "Client specified an invalid argument", "error": XAI}),
    "Cerebras": (400, {"message": "Please reduce the length of the messages or completion.", "param": "messages"}),
    "LM Studio": (
        400,
        {"error": "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded"},
    ),
    "LM Studio, newer": (
        400,
        {"error": "The number of tokens to keep from the initial prompt is greater than the context length"},
    ),
    "LM Studio, newest": (400, {"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}),
    "Cohere": (
        400,
        {"message": "too many tokens: size limit exceeded by 19296 tokens. The limit for this model is 132000 tokens."},
    ),
    "OpenRouter, Poolside": (
        400,
        router("Input length 131393 exceeds the maximum allowed input length of 131040 tokens."),
    ),
    "OpenRouter, Anthropic": (400, router(json.dumps({"type": "error", "error": ANTHROPIC}))),
    "OpenRouter, xAI": (502, router({"error": XAI})),
    "OpenRouter, late": (200, router(json.dumps(openai("too long", code="context_length_exceeded")))),
}
#: Sentences about a limit of the answer, which is an argument of the call.
ANSWERS = {
    "vLLM": "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 "
    "tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
    "vLLM, older": "'max_tokens' is too large: 8192. This model's maximum context length is 65536 tokens",
    "vLLM, newer": "This model's maximum context length is 131072 tokens. However, you requested 128000 output tokens "
    "and your prompt contains at least 3073 input tokens, for a total of at least 131073 tokens.",
    "OpenAI": "This model's maximum context length is 4096 tokens. However, you requested 4217 tokens (121 in the "
    "messages, 4096 in the completion). Please reduce the length of the messages or completion.",
    "OpenRouter": "This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens "
    "(7884 of text input, 131072 in the output).",
}
FLAGGED = "Your chosen model requires moderation and your input was flagged"
GEMINI_RATE = "Quota exceeded for generate_content_free_tier_input_token_count: exceeds the maximum"
CASES: dict[str, tuple[int, Any, str]] = {
    **{name: (*case, "context_window") for name, case in TOO_LONG.items()},
    **{f"{name}, a long answer": (400, openai(message), "bad_request") for name, message in ANSWERS.items()},
    "OpenRouter, moderation": (
        403,
        {"error": {"message": FLAGGED, "code": 403, "metadata": {"reasons": ["violence"], "flagged_input": "…"}}},
        "refused",
    ),
    "OpenRouter, a refused key": (401, {"error": {"message": "User not found.", "code": 401}}, "authentication"),
    "Bedrock, rate": (429, {"message": "Too many tokens, please wait before trying again."}, "rate_limit"),
    "Gemini, rate": (429, openai(GEMINI_RATE), "rate_limit"),
    "an argument": (400, flat("Unknown argument: top_k"), "bad_request"),
    "no credit": (400, openai("Your credit balance is too low to access the API."), "quota"),
}
CLIENTS = {"openai": OpenAIServer, "litellm": LiteLLM}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", CASES)
def test_both_clients_find_the_fault_that_the_server_names(name: str, client: str) -> None:
    if (name, client) == ("OpenRouter, late", "litellm"):
        pytest.skip("of an error with status 200, litellm keeps only the router's own message")
    status, body, kind = CASES[name]
    error, _ = refused(Refused(status, body), client)
    assert error.kind == kind, error


@pytest.mark.parametrize(
    ("provider", "case"), [("anthropic/claude-x", "Anthropic"), ("openrouter/a/b", "OpenRouter, xAI")]
)
def test_litellm_s_other_clients_find_it_too(provider: str, case: str) -> None:
    error, _ = refused(Refused(*TOO_LONG[case]), "litellm", provider)
    assert error.kind == "context_window", error


def test_the_message_of_the_provider_is_reported() -> None:
    error, _ = refused(Refused(*TOO_LONG["OpenRouter, Anthropic"]), "openai")
    assert str(error).endswith("reported: Provider returned error: prompt is too long: 219898 tokens > 200000 maximum")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_may_ask_for_no_retry(client: str) -> None:
    error, requests = refused(Refused(503, openai("never"), (("x-should-retry", "false"),)), client)
    assert (error.kind, requests) == ("overloaded", 1)
    assert "attempt" not in str(error)


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_script_raises_is_reported_and_not_retried(client: str) -> None:
    def script(request: Any) -> str:
        raise KeyError("no such order")

    with ModelServer(script) as server, pytest.raises(ModelError) as caught:
        run(model(client).complete(asked(server)))
    assert "KeyError: 'no such order'" in str(caught.value)
    assert len(server.requests) == 1


def model(client: str) -> OpenAIServer | LiteLLM:
    return CLIENTS[client](first_wait=0.001, timeout=60.0, attempts=2)


def asked(server: ModelServer, name: str = "openai/scripted") -> ChatRequest:
    base = server.base_url.removesuffix("/v1") if name.startswith("anthropic/") else server.base_url
    return ChatRequest(model=name, messages=HELLO, args={"api_base": base, "api_key": "any"})


def refused(fault: Fault, client: str, name: str = "openai/scripted") -> tuple[ModelError, int]:
    """How a call fails, and how many requests that took."""
    with ModelServer(lambda _: fault) as server, pytest.raises(ModelError) as caught:
        run(model(client).complete(asked(server, name)))
    return caught.value, len(server.requests)
