"""A chat model over litellm: every provider that litellm speaks to, with one owner of retries, limits and prices."""

from __future__ import annotations

import asyncio
import copy
import functools
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...chat import LLM, ChatReply
from ...errors import ConfigurationError
from .background import submit
from .faults import model_error
from .keys import connection, refuse_arguments
from .loading import load, past_the_gateway
from .prices import OWN_PRICES
from .replies import chat_reply
from .retries import Patience, answered

if TYPE_CHECKING:
    from ...chat import ChatRequest
    from ...errors import ModelError


class LiteLLM:
    """Answers chat requests through litellm.

    One instance serves every model and every trial of a run, on any event loop and from any thread: the calls run on
    a loop of their own. An argument ``timeout`` of a request takes the place of this one's, and ``num_retries`` or
    ``max_retries`` that of ``attempts``.

    Args:
        timeout: Seconds that each attempt may take, whether the server sends nothing or little by little.
        attempts: How often a call is made at the most, when faults that pass prevent an answer.
        max_in_flight: How many calls of one model may run at once; the others wait their turn.
        first_wait: Seconds before the second attempt; each further wait is up to twice as long, and never shorter
            than what the server asks for.
        longest_wait: Seconds that no wait exceeds.

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
                "a chat model needs a timeout above 0, at least one attempt and one call in flight, and waits from 0"
            )
            raise ConfigurationError(problem)
        self._timeout, self._patience = timeout, Patience(attempts, first_wait, longest_wait)
        self._max_in_flight = max_in_flight
        # Touched on the background loop alone.
        self._places: dict[str, asyncio.Semaphore] = {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The model's answer.

        Its message has the tool calls as the model sent them, arguments unparsed, and every field that the provider
        wants sent back; ``seconds`` is how long the answering attempt took, without waits.

        Raises:
            ModelError: The model or its provider failed, for good or in every attempt.
            ConfigurationError: litellm is not installed, or an argument cannot be one.
        """
        return await asyncio.wrap_future(submit(self._complete(request)))

    async def _complete(self, request: ChatRequest) -> ChatReply:
        refuse_arguments(request.model, request.args)
        # In a thread: litellm is imported and asked here first, which takes seconds.
        reached_by = await asyncio.to_thread(connection, request.model, request.args)
        attempt = functools.partial(self._attempt, request, reached_by)
        return await answered(attempt, self._patience_for(request), request.model)

    async def _attempt(self, request: ChatRequest, reached_by: dict[str, Any]) -> ChatReply:
        """One call, once there is a place for it; while a retry waits, others have the place."""
        place = self._places.setdefault(request.model, asyncio.Semaphore(self._max_in_flight))
        limit = float(request.args.get("timeout", self._timeout))
        failure: ModelError
        async with place:
            began = time.monotonic()
            try:
                response = await asyncio.wait_for(load().acompletion(**_call(request, limit), **reached_by), limit)
            except Exception as error:  # noqa: BLE001
                # Whatever litellm raises, the call has failed. The error is told, but not linked: its text and its
                # frames hold what was sent, keys included.
                failure = model_error(error, request, limit)
            else:
                return chat_reply(response, request, time.monotonic() - began)
        raise failure

    def _patience_for(self, request: ChatRequest) -> Patience:
        retries = [request.args[name] for name in ("num_retries", "max_retries") if name in request.args]
        return replace(self._patience, attempts=retries[0] + 1) if retries else self._patience


def _call(request: ChatRequest, limit: float) -> dict[str, Any]:
    """The arguments for litellm. The messages are copies: litellm edits what it is given."""
    call: dict[str, Any] = {"model": request.model, "messages": copy.deepcopy(request.messages), "drop_params": True}
    if request.tools:
        call |= {"tools": copy.deepcopy(request.tools), **past_the_gateway()}
    if request.tool_choice is not None:
        call["tool_choice"] = request.tool_choice
    if request.response_format is not None:
        call["response_format"] = request.response_format
    args = {name: value for name, value in request.args.items() if name not in OWN_PRICES}
    return call | args | {"timeout": limit, "num_retries": 0, "max_retries": 0}


@functools.cache
def shared() -> LiteLLM:
    """The model that all calls outside of a run's own settings share, and so its limit on calls in flight."""
    return LiteLLM()


def litellm_model(name: str, **args: Any) -> LLM:
    """A model by its name, for a trial's participants.

    Args:
        name: The name, with its provider as litellm spells it: ``openai/gpt-4.1``.
        args: Arguments of each call. The temperature is 0 unless given, as in τ²-bench's defaults.
    """
    return LLM(name, shared(), {"temperature": 0.0, **args})
