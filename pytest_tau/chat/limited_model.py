"""The limits of a chat model: time, attempts, and calls in flight."""

from __future__ import annotations

import asyncio
import functools
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..clock import steady_time
from ..errors import ConfigurationError, ModelError
from .call_arguments import refuse_arguments
from .faults import chain_of
from .retries import RetryPolicy, call_with_retries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..background import BackgroundLoop
    from .prices import Price
    from .requests import ChatReply, ChatRequest


@dataclass(frozen=True)
class CallOptions:
    """Further settings of a chat model's calls.

    Attributes:
        prices: The user's price list.
        per_provider: The most concurrent calls of all models of a provider, by the provider's name.
        prompt_cache: Mark what Anthropic's models are to keep in their prompt cache.
    """

    prices: Mapping[str, Price] = field(default_factory=dict)
    per_provider: Mapping[str, int] = field(default_factory=dict)
    prompt_cache: bool = False


class LimitedModel:
    """Base of chat models that call a provider.

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
        options: Prices, limits of providers, and the prompt cache.

    Raises:
        ConfigurationError: A limit that cannot be one.
    """

    def __init__(
        self,
        *,
        timeout: float = 600.0,
        attempts: int = 8,
        max_in_flight: int = 20,
        first_wait: float = 0.5,
        longest_wait: float = 60.0,
        options: CallOptions = CallOptions(),
    ) -> None:
        if timeout <= 0 or attempts < 1 or max_in_flight < 1 or first_wait < 0 or longest_wait < 0:
            problem = (
                "a chat model needs a timeout above 0, at least one attempt, at least one concurrent call, and waits "
                "of at least 0"
            )
            raise ConfigurationError(problem)
        self._timeout, self._policy = timeout, RetryPolicy(attempts, first_wait, longest_wait)
        self._max_in_flight, self._options = max_in_flight, options
        # Used on the background loop only.
        self._semaphores: dict[str, asyncio.Semaphore] = {}
        #: The addresses at which a call has ended otherwise than by a refused connection.
        self._reached: set[str] = set()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's answer.

        Its message has the tool calls as the model sent them, arguments unparsed, and every field that the provider
        wants sent back; ``seconds`` is the time of the successful attempt, without waits.

        Raises:
            ModelError: The model or its provider failed, for good or in every attempt.
            ConfigurationError: A library is not installed, or an argument cannot be one.
        """
        return await asyncio.wrap_future(self._loop().submit(self._complete(request)))

    async def _complete(self, request: ChatRequest) -> ChatReply:
        refuse_arguments(request.model, request.args)
        prepared = await self._prepare(request)
        attempt = functools.partial(self._attempt, request, prepared)
        return await call_with_retries(attempt, self._policy_for(request), request.model)

    async def _attempt(self, request: ChatRequest, prepared: Any) -> ChatReply:
        """Make one call as soon as the limit on calls in flight allows it; a retry that waits is not in flight."""
        limit = float(request.args.get("timeout", self._timeout))
        failure: ModelError | ConfigurationError
        async with AsyncExitStack() as held:
            for semaphore in self._semaphores_for(request):
                await held.enter_async_context(semaphore)
            began = steady_time()
            try:
                response = await asyncio.wait_for(self._send(request, prepared, limit), limit)
            except Exception as error:  # noqa: BLE001
                # Whatever was raised, the call has failed. The error is described, but not chained: its text and
                # its frames contain the request, keys included.
                failure = self._failure(error, request, limit)
                is_refused = any(isinstance(each, ConnectionRefusedError) for each in chain_of(error))
                self._note_answer(request, failure, refused=is_refused)
            else:
                self._reached.add(_address(request))
                return self._reply(response, request, steady_time() - began)
        raise failure

    def _note_answer(self, request: ChatRequest, failure: ModelError | ConfigurationError, *, refused: bool) -> None:
        """Note that an address is in use, or that it is not: it has refused each connection so far."""
        if not refused:
            self._reached.add(_address(request))
        elif isinstance(failure, ModelError):
            failure.no_server = _address(request) not in self._reached

    def _semaphores_for(self, request: ChatRequest) -> list[asyncio.Semaphore]:
        """Return the limits on calls in flight: that of the model, then that of its provider, if there is one."""
        limits = {f"model {request.model}": self._max_in_flight}
        provider = self._provider(request) if self._options.per_provider else None
        if provider and provider in self._options.per_provider:
            limits[f"provider {provider}"] = self._options.per_provider[provider]
        return [self._semaphores.setdefault(name, asyncio.Semaphore(limit)) for name, limit in limits.items()]

    def _policy_for(self, request: ChatRequest) -> RetryPolicy:
        retries = [request.args[name] for name in ("num_retries", "max_retries") if name in request.args]
        return replace(self._policy, attempts=retries[0] + 1) if retries else self._policy

    # For the subclasses

    def _provider(self, request: ChatRequest) -> str | None:
        """Return the name of the provider that answers; None for a server of the user's own."""
        if request.args.get("api_base") or request.args.get("base_url"):
            return None
        return request.model.partition("/")[0]

    def _loop(self) -> BackgroundLoop:
        """Return the loop that the calls run on."""
        raise NotImplementedError

    async def _prepare(self, request: ChatRequest) -> Any:
        """Return what all attempts of a call need.

        Raises:
            ConfigurationError: The call cannot be made.
        """
        raise NotImplementedError

    async def _send(self, request: ChatRequest, prepared: Any, limit: float) -> Any:
        """Make one call; whatever it raises is described by ``_failure``."""
        raise NotImplementedError

    def _failure(self, error: Exception, request: ChatRequest, limit: float) -> ModelError | ConfigurationError:
        """Return the error of a call that has raised an exception: of the provider, or of this installation."""
        raise NotImplementedError

    def _reply(self, response: Any, request: ChatRequest, seconds: float) -> ChatReply:
        """Return the reply in a response.

        Raises:
            ModelError: It has none.
        """
        raise NotImplementedError


def _address(request: ChatRequest) -> str:
    """Return the name of the server that is called: the address in the arguments, or else the provider."""
    given = request.args.get("api_base") or request.args.get("base_url")
    return str(given or request.model.partition("/")[0])
