"""A chat model over aiohttp: calls servers that speak OpenAI's API."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

from ...background import BackgroundLoop
from ...chat import ChatReply
from ...chat.faults import build_model_error
from ...chat.limited_model import LimitedModel
from ...chat.prices import OWN_PRICES, check_price, cost_of_call, first_listed
from ...chat.refusals import broken_off, fault_of, read_refusal
from ...chat.requests import filled_message, read_usage
from ...documents import json_or_none
from ...errors import ConfigurationError
from ...plain import json
from ...proxies import proxy_of, with_proxy
from .route import WITHOUT_CLIENT, Route, check, describe_key, lacks_key, listed_price, route

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...chat import ChatRequest, Usage
    from ...errors import ModelError

#: Arguments about the connection, and of litellm's own, which are not sent.
_NOT_SENT = frozenset(
    {
        *("api_key", "api_base", "base_url", "api_version", "timeout", "num_retries", "max_retries", "organization"),
        *("extra_headers", "extra_body", "stream", "drop_params", "custom_llm_provider", "allowed_openai_params"),
        *OWN_PRICES,
    }
)
#: The statuses with which a proxy answers itself: a login is needed, the server cannot be reached.
_OF_PROXIES = frozenset({407, 502, 504})


class _Response(NamedTuple):
    """A server's answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class OpenAIServer(LimitedModel):
    """Answers chat requests through servers that speak OpenAI's API; its arguments are those of ``LimitedModel``.

    The address is ``base_url`` or ``api_base`` among the arguments of a request, ``OPENAI_BASE_URL``, or OpenAI's own;
    the key is ``api_key`` or ``OPENAI_API_KEY``. The price of a call is known if the server reports it, or if it is in
    a price list or among the arguments.

    Raises:
        ConfigurationError: A limit that cannot be one.
    """

    def _loop(self) -> BackgroundLoop:
        return _LOOP

    def refuse_unpriced(self, request: ChatRequest) -> None:
        """Refuse a request to a model without a known price."""
        check_price(check, request, self._options.prices)

    async def _prepare(self, request: ChatRequest) -> Route:
        load()
        found = route(request.model, request.args)
        if lacks_key(found, request.args):
            raise build_model_error("authentication", request, key=describe_key(request.args))
        return found

    async def _send(self, request: ChatRequest, prepared: Route, limit: float) -> _Response:
        body = json.dumps(_body(request, prepared.model)).encode()
        call = _client().post(
            prepared.url,
            data=body,
            headers=_headers(request, prepared),
            proxy=proxy_of(prepared.url),
            allow_redirects=False,
        )
        async with call as response:
            return _Response(response.status, response.headers, await response.read())

    def _failure(self, error: Exception, request: ChatRequest, limit: float) -> ModelError:
        timed_out = isinstance(error, TimeoutError)
        if isinstance(error, (TypeError, ValueError)):  # such as a malformed address
            return build_model_error("bad_request", request, message=str(error))
        message = "" if timed_out else str(error) or type(error).__name__
        message = with_proxy(message, route(request.model, request.args).url)
        return build_model_error("timeout" if timed_out else "unavailable", request, limit=limit, message=message)

    def _reply(self, response: _Response, request: ChatRequest, seconds: float) -> ChatReply:
        answer = json_or_none(response.body)
        if response.status != 200 or not isinstance(answer, dict) or answer.get("error"):
            raise _refusal(response, answer, request)
        message = _message(answer)
        if message is None:
            raise build_model_error("bad_answer", request, message="an answer without a message")
        choice = answer["choices"][0]
        if (broken := broken_off(choice)) is not None:
            kind = fault_of(broken.codes, broken.message, None) or "unavailable"
            raise build_model_error(kind, request, message=broken.message)
        reason = choice.get("finish_reason")
        if reason == "content_filter" and not message.get("content") and "tool_calls" not in message:
            raise build_model_error("refused", request, message="the answer was filtered")
        usage, answering = read_usage(answer.get("usage")), _text(answer.get("model"))
        return ChatReply(
            message=message,
            usage=usage,
            cost=self._cost(answer, request, usage, answering) if usage else None,
            seconds=seconds,
            finish_reason=reason if isinstance(reason, str) else None,
            model=answering,
        )

    def _cost(self, answer: Any, request: ChatRequest, usage: Usage, answering: str | None) -> float | None:
        def listed() -> float | None:
            price = (answering and listed_price(answering)) or listed_price(request.model)
            return price.cost(usage) if price else None

        price = first_listed(self._options.prices, f"openai/{answering}", answering, request.model)
        return cost_of_call(request.args, usage, answer["usage"].get("cost"), price, listed)


def _body(request: ChatRequest, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": [_filled(message) for message in request.messages]}
    optional = {
        "tools": request.tools or None,
        "tool_choice": request.tool_choice,
        "response_format": request.response_format,
    }
    body |= {name: value for name, value in optional.items() if value is not None}
    body |= {name: value for name, value in request.args.items() if name not in _NOT_SENT and value is not None}
    extra = request.args.get("extra_body")
    return body | (extra if isinstance(extra, dict) else {})


def _filled(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the fields that are null, such as the content of tool calls, as litellm sends it."""
    return {name: value for name, value in message.items() if value is not None}


def _headers(request: ChatRequest, found: Route) -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    if found.key:
        headers["Authorization"] = f"Bearer {found.key}"
    if request.args.get("organization"):
        headers["OpenAI-Organization"] = str(request.args["organization"])
    extra = request.args.get("extra_headers")
    return headers | ({str(name): str(value) for name, value in extra.items()} if isinstance(extra, dict) else {})


def _refusal(response: _Response, answer: Any, request: ChatRequest) -> ModelError:
    codes, message = read_refusal(answer)
    if not message and not isinstance(answer, dict):
        message = response.body[:1000].decode(errors="replace")
    kind = fault_of(codes, message, _status(response.status, codes)) or "bad_answer"
    if response.status in _OF_PROXIES:
        message = with_proxy(message, route(request.model, request.args).url)
    return build_model_error(
        kind,
        request,
        message=message,
        headers=response.headers,
        key=describe_key(request.args) if kind == "authentication" else "",
    )


def _status(status: int, codes: Collection[str]) -> int:
    """Return the status of a refusal; routers that have begun to answer with 200 have it as the code."""
    coded = (int(code) for code in codes if code.isdecimal() and 400 <= int(code) < 600)
    return next(coded, status) if status == 200 else status


def _message(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the message of a chat completion; None if it has none."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not all(isinstance(call, dict) for call in calls or []):
        return None
    return filled_message(message)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


#: The HTTP client, once it is used; on the background loop only, by loop.
_CLIENTS: dict[asyncio.AbstractEventLoop, Any] = {}


def _client() -> Any:
    loop = asyncio.get_running_loop()
    if loop not in _CLIENTS:
        aiohttp = load()
        # The calls in flight and their time are limited by the chat model.
        _CLIENTS[loop] = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
    return _CLIENTS[loop]


async def _close_client() -> None:
    client = _CLIENTS.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.close()


def load() -> Any:
    """Return aiohttp, imported if it was not yet.

    Raises:
        ConfigurationError: It is not installed, or does not work.
    """
    try:
        importlib.import_module("tenacity")
        return importlib.import_module("aiohttp")
    except ImportError as error:
        raise ConfigurationError(f"{WITHOUT_CLIENT} ({error})") from error


_LOOP = BackgroundLoop("tau-openai-calls", closing=_close_client)
