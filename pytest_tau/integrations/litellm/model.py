"""A chat model over litellm: every provider that litellm supports, with retries, limits and prices in one place."""

from __future__ import annotations

import asyncio
import copy
import functools
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...chat import LLM, ChatReply, Usage
from ...errors import ConfigurationError
from .client import load, submit
from .compat import mcp_workaround_args
from .credentials import connection_arguments, refuse_arguments
from .errors import build_model_error, to_model_error
from .prices import OWN_PRICES, cost
from .retry import RetryPolicy, call_with_retries

if TYPE_CHECKING:
    from ...chat import ChatRequest
    from ...errors import ModelError


class LiteLLM:
    """Answers chat requests through litellm.

    One instance serves every model and every trial of a run, on any event loop and from any thread: the calls run on
    a loop of their own. An argument ``timeout`` of a request overrides this one's, and ``num_retries`` or
    ``max_retries`` overrides ``attempts``.

    Args:
        timeout: The most seconds of each attempt, also if the server keeps sending.
        attempts: The most attempts of a call that meets temporary faults.
        max_in_flight: The most concurrent calls of one model; others wait.
        first_wait: Seconds before the second attempt; each further wait is up to twice as long, and not shorter
            than the server asks for.
        longest_wait: The longest wait in seconds.

    Raises:
        ConfigurationError: A limit that cannot be one.
    """

    def __init__(
        self,
        *,
        timeout: float = 120.0,
        attempts: int = 8,
        max_in_flight: int = 20,
        first_wait: float = 0.5,
        longest_wait: float = 60.0,
    ) -> None:
        if timeout <= 0 or attempts < 1 or max_in_flight < 1 or first_wait < 0 or longest_wait < 0:
            problem = (
                "a chat model needs a timeout above 0, at least one attempt, at least one concurrent call, and waits "
                "of at least 0"
            )
            raise ConfigurationError(problem)
        self._timeout, self._policy = timeout, RetryPolicy(attempts, first_wait, longest_wait)
        self._max_in_flight = max_in_flight
        # Used on the background loop only.
        self._semaphores: dict[str, asyncio.Semaphore] = {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's answer.

        Its message has the tool calls as the model sent them, arguments unparsed, and every field that the provider
        wants sent back; ``seconds`` is the time of the successful attempt, without waits.

        Raises:
            ModelError: The model or its provider failed, for good or in every attempt.
            ConfigurationError: litellm is not installed, or an argument cannot be one.
        """
        return await asyncio.wrap_future(submit(self._complete(request)))

    async def _complete(self, request: ChatRequest) -> ChatReply:
        refuse_arguments(request.model, request.args)
        # In a thread: this may import litellm, which takes seconds.
        connection_args = await asyncio.to_thread(connection_arguments, request.model, request.args)
        attempt = functools.partial(self._attempt, request, connection_args)
        return await call_with_retries(attempt, self._policy_for(request), request.model)

    async def _attempt(self, request: ChatRequest, connection_args: dict[str, Any]) -> ChatReply:
        """Make one call as soon as the limit on calls in flight allows it; a retry that waits is not in flight."""
        semaphore = self._semaphores.setdefault(request.model, asyncio.Semaphore(self._max_in_flight))
        limit = float(request.args.get("timeout", self._timeout))
        failure: ModelError
        async with semaphore:
            began = time.monotonic()
            try:
                response = await asyncio.wait_for(load().acompletion(**_call(request, limit), **connection_args), limit)
            except Exception as error:  # noqa: BLE001
                # Whatever litellm raises, the call has failed. The error is described, but not chained: its text and
                # its frames contain the request, keys included.
                failure = to_model_error(error, request, limit)
            else:
                return _chat_reply(response, request, time.monotonic() - began)
        raise failure

    def _policy_for(self, request: ChatRequest) -> RetryPolicy:
        retries = [request.args[name] for name in ("num_retries", "max_retries") if name in request.args]
        return replace(self._policy, attempts=retries[0] + 1) if retries else self._policy


def _call(request: ChatRequest, limit: float) -> dict[str, Any]:
    """Return the arguments for litellm. The messages are copies, since litellm changes them."""
    call: dict[str, Any] = {"model": request.model, "messages": copy.deepcopy(request.messages), "drop_params": True}
    if request.tools:
        call |= {"tools": copy.deepcopy(request.tools), **mcp_workaround_args()}
    if request.tool_choice is not None:
        call["tool_choice"] = request.tool_choice
    if request.response_format is not None:
        call["response_format"] = request.response_format
    args = {name: value for name, value in request.args.items() if name not in OWN_PRICES}
    return call | args | {"timeout": limit, "num_retries": 0, "max_retries": 0}


def _chat_reply(response: Any, request: ChatRequest, seconds: float) -> ChatReply:
    """Convert a ``ModelResponse`` of litellm to a reply: plain JSON, priced if the price is known.

    Raises:
        ModelError: It has no message, or the provider's filter has removed all of it.
    """
    choices = getattr(response, "choices", None)
    dump = getattr(getattr(choices[0], "message", None), "model_dump", None) if choices else None
    if not choices or dump is None:
        raise build_model_error("bad_answer", request, message="an answer without a message")
    # Without warnings: some of litellm's fields have values that do not fit their types.
    message = _message(dump(mode="json", warnings=False))
    finish_reason = choices[0].finish_reason
    if finish_reason == "content_filter" and not message.get("content") and "tool_calls" not in message:
        raise build_model_error("refused", request, message="the answer was filtered")
    usage = _usage(getattr(response, "usage", None))
    return ChatReply(
        message=message,
        usage=usage,
        cost=cost(response, request, usage) if usage else None,
        seconds=seconds,
        finish_reason=finish_reason,
        model=getattr(response, "model", None) or None,
    )


def _message(dumped: dict[str, Any]) -> dict[str, Any]:
    """Return a message in chat format without empty fields, except for the content."""
    message = {"role": "assistant", "content": None, **_filled_fields(dumped)}
    fields = _filled_fields(message.pop("provider_specific_fields", None) or {})
    if fields:
        message["provider_specific_fields"] = fields
    if "tool_calls" in message:
        message["tool_calls"] = [_filled_fields(call) for call in message["tool_calls"]]
    return message


def _filled_fields(fields: dict[str, Any]) -> dict[str, Any]:
    # An empty text may be meant: some models want their empty reasoning back.
    return {name: value for name, value in fields.items() if value is not None and value not in ([], {})}


def _usage(usage: Any) -> Usage | None:
    """Return the provider's token counts; None if litellm has put zeros because the provider gives none."""
    prompt, completion = (getattr(usage, name, None) or 0 for name in ("prompt_tokens", "completion_tokens"))
    if not prompt and not completion:
        return None
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None) or 0,
        reasoning_tokens=getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None) or 0,
    )


@functools.cache
def shared() -> LiteLLM:
    """Return the chat model, and so the limit on calls in flight, of all calls outside of a run's own settings."""
    return LiteLLM()


def litellm_model(name: str, **args: Any) -> LLM:
    """Return a model for a trial's participants.

    Args:
        name: The name, with its provider as litellm spells it: ``openai/gpt-4.1``.
        args: Arguments of each call. The temperature is 0 unless given, as in τ²-bench's defaults.
    """
    return LLM(name, shared(), {"temperature": 0.0, **args})
