"""Models over litellm: every provider that it supports, with retries, limits and prices in one place."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

from ...chat import LLM, ChatReply, Usage
from ...chat.call_arguments import is_anthropic, thinks, with_defaults
from ...chat.faults import build_model_error
from ...chat.limited_model import LimitedModel
from ...chat.prices import OWN_PRICES, check_price
from ...chat.refusals import broken_off
from ...chat.requests import as_sent, filled_message, read_usage
from ...models import clone
from ...plain import json
from .client import LOOP, load, mcp_workaround_args
from .credentials import check, connection_arguments, provider_of, speaks_openai
from .errors import missing_package, to_model_error
from .prices import cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...background import BackgroundLoop
    from ...chat import ChatRequest
    from ...chat.prices import Price
    from ...errors import ConfigurationError, ModelError


#: Anthropic allows four marks: the tools, the system message and the last two messages that it answers have one each.
_MARK = {"cache_control": {"type": "ephemeral"}}
_MARKED_MESSAGES = 2


class LiteLLM(LimitedModel):
    """Answers chat requests through litellm; see ``LimitedModel`` for its arguments."""

    def _loop(self) -> BackgroundLoop:
        return LOOP

    def refuse_unpriced(self, request: ChatRequest) -> None:
        """Refuse a request to a model without a known price."""
        check_price(check, request, self._options.prices)

    async def _prepare(self, request: ChatRequest) -> dict[str, Any]:
        # In a thread: importing litellm takes seconds.
        return await asyncio.to_thread(connection_arguments, request.model, request.args)

    async def _send(self, request: ChatRequest, prepared: dict[str, Any], limit: float) -> Any:
        call = _call(request, limit)
        if self._options.prompt_cache and is_anthropic(request.model):
            _mark_for_cache(call)
        return await load().acompletion(**call, **prepared)

    def _provider(self, request: ChatRequest) -> str | None:
        return super()._provider(request) and provider_of(request.model, request.args)

    def _failure(self, error: Exception, request: ChatRequest, limit: float) -> ModelError | ConfigurationError:
        return missing_package(error, request) or to_model_error(error, request, limit)

    def _reply(self, response: Any, request: ChatRequest, seconds: float) -> ChatReply:
        return _chat_reply(response, request, seconds, self._options.prices)


def _call(request: ChatRequest, limit: float) -> dict[str, Any]:
    """Return the arguments for litellm. The messages are copies, since litellm changes them."""
    call: dict[str, Any] = {"model": request.model, "messages": clone(request.messages), "drop_params": True}
    if request.tools:
        call |= {"tools": clone(request.tools), **mcp_workaround_args()}
    if request.tool_choice is not None:
        call["tool_choice"] = request.tool_choice
    if request.response_format is not None:
        call["response_format"] = request.response_format
    # An argument that is null is not sent, so that ``{"seed": null}`` takes the run's own seed out.
    args = {name: value for name, value in request.args.items() if name not in OWN_PRICES and value is not None}
    if thinks(request.model, args) and args.get("temperature") != 1:
        args.pop("temperature", None)  # such as the default of a run, which Anthropic does not accept then
    return call | args | {"timeout": limit, "num_retries": 0, "max_retries": 0}


def _mark_for_cache(call: dict[str, Any]) -> None:
    """Mark the end of the tools, of the system message and of the last messages of a call, which is changed.

    Each mark ends a beginning of the request that Anthropic keeps for five minutes. The next call finds it, because
    a conversation grows at its end only.
    """
    if call.get("tools"):
        call["tools"][-1].update(_MARK)
    messages: list[dict[str, Any]] = call["messages"]
    markable = [message for message in messages if message.get("role") in ("user", "tool")]
    for message in [*(m for m in messages[:1] if m.get("role") == "system"), *markable[-_MARKED_MESSAGES:]]:
        _mark(message)


def _mark(message: dict[str, Any]) -> None:
    content = message.get("content")
    if message.get("role") == "tool":
        message.update(_MARK)
    elif isinstance(content, str) and content:
        message["content"] = [{"type": "text", "text": content, **_MARK}]
    elif isinstance(content, list) and content and isinstance(content[-1], dict):
        content[-1].update(_MARK)


def _chat_reply(response: Any, request: ChatRequest, seconds: float, prices: Mapping[str, Price]) -> ChatReply:
    """Convert a ``ModelResponse`` of litellm to a reply: plain JSON, priced if the price is known."""
    choices = getattr(response, "choices", None)
    dump = getattr(getattr(choices[0], "message", None), "model_dump", None) if choices else None
    if not choices or dump is None:
        raise build_model_error("bad_answer", request, message="an answer without a message")
    # Without warnings: some of litellm's fields have values that do not fit their types.
    message = filled_message(dump(mode="json", warnings=False))
    if speaks_openai(request.model, request.args):
        message = as_sent(message)
    finish_reason = choices[0].finish_reason
    # litellm calls a reason that it does not know "stop", keeps that of the provider, and drops the error.
    native = (getattr(choices[0], "provider_specific_fields", None) or {}).get("native_finish_reason")
    if (broken := broken_off({"finish_reason": native})) is not None:
        raise build_model_error("unavailable", request, message=broken.message)
    if finish_reason == "content_filter" and not message.get("content") and "tool_calls" not in message:
        raise build_model_error("refused", request, message="the answer was filtered")
    counts = getattr(response, "usage", None)
    usage = read_usage(counts.model_dump(warnings=False)) if counts is not None else None
    return ChatReply(
        message=message,
        usage=usage,
        cost=cost(response, request, usage, prices) if usage else None,
        seconds=seconds,
        finish_reason=finish_reason,
        model=getattr(response, "model", None) or None,
    )


@functools.cache
def shared() -> LiteLLM:
    """Return the chat model, and so the limit on calls in flight, of all calls outside of a run's own settings."""
    return LiteLLM()


def litellm_model(name: str, **args: Any) -> LLM:
    """Return a model for a trial's participants.

    Args:
        name: The name, with its provider as litellm spells it: ``openai/gpt-4.1``.
        args: Arguments of each call. The temperature is 0 unless given, as in τ²-bench's defaults; with thinking,
            Anthropic's models have none.
    """
    return LLM(name, shared(), with_defaults(name, args))


class LiteLLMEmbeddings(LiteLLM):
    """Answers a request with the embeddings of its messages: a JSON array with a list of numbers for each."""

    async def _send(self, request: ChatRequest, prepared: dict[str, Any], limit: float) -> Any:
        texts = [message["content"] for message in request.messages]
        args = {name: value for name, value in request.args.items() if name not in OWN_PRICES}
        # As numbers, not as base64: not every server has both.
        call = {"encoding_format": "float", **args, "timeout": limit, "num_retries": 0, "max_retries": 0}
        return await load().aembedding(model=request.model, input=texts, drop_params=True, **call, **prepared)

    def _reply(self, response: Any, request: ChatRequest, seconds: float) -> ChatReply:
        try:
            embeddings = sorted(response.data, key=lambda each: int(each["index"]))
            vectors = [[float(number) for number in embedding["embedding"]] for embedding in embeddings]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise build_model_error("bad_answer", request, message="an answer without embeddings") from error
        tokens = getattr(getattr(response, "usage", None), "prompt_tokens", None) or 0
        usage = Usage(prompt_tokens=tokens) if tokens else None
        return ChatReply(
            message={"role": "assistant", "content": json.dumps(vectors)},
            usage=usage,
            cost=cost(response, request, usage, self._options.prices) if usage else None,
            seconds=seconds,
            model=getattr(response, "model", None) or None,
        )
