"""HTTP requests to model APIs as model calls: what is one, its request, its answer, its tokens."""

from __future__ import annotations

import asyncio
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ...chat import (
    ChatReply,
    ChatRequest,
    Usage,
    current_attribution,
    fault_of,
    price_of,
    read_refusal,
    refuse_unpriced,
    reported_cost,
    with_proxy,
)
from ...clock import run_steadily, steady_time
from ...documents import json_or_none
from ...endpoint import error_reply, is_of_trial
from ...errors import ModelError, TauError, UnwatchedModelError
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from ...chat import Price, Role, TrialModels

#: The ends of the paths of model APIs, after a version; Gemini's also have the model.
_PATHS = re.compile(
    r"/(?P<api>chat/completions|responses|messages|models/(?P<model>[^/:]+):(?:streamG|g)enerateContent)$"
)
#: The fields with the conversation, by API.
_CONVERSATIONS = ("messages", "input", "contents")
_EVENTS = "text/event-stream"
#: The hosts that report the cost of each call.
_REPORTING = frozenset({"openrouter.ai"})
_HTTP_ERROR = 400
#: Faults of a model or its provider, for which the agent is not to blame.
_NOT_OF_AGENT = frozenset({"bad_request", "context_window", "refused"})


#: The functions by which libraries say that they have replaced threads, by module, with their argument.
_PATCHING = {"gevent.monkey": ("is_module_patched", "threading"), "eventlet.patcher": ("is_monkey_patched", "thread")}
_PATCHED = (
    "{} has replaced the threads of Python, without which model calls of the agent's own client cannot be counted, "
    "recorded or replayed: add --tau-plain-clients off"
)


class Response(NamedTuple):
    """The response to an HTTP request.

    Attributes:
        status: The status.
        type: The content type.
        body: The body, decoded.
        headers: Further headers.
    """

    status: int
    type: str
    body: bytes
    headers: Mapping[str, str] = {}


class ModelAPIError(ModelError):
    """A response in which a model does not answer; its client decides whether it tries again."""

    def __init__(self, request: ChatRequest, response: Response) -> None:
        refusal = read_refusal(json_or_none(response.body))
        kind = fault_of(refusal.codes, refusal.message, response.status) or "bad_answer"
        super().__init__(f"{request.model}: HTTP {response.status}: {refusal.message}", kind=kind)
        self.response = response


class ModelUnreachableError(ModelError):
    """The API could not be reached; its client gets the exception that says why."""

    def __init__(self, request: ChatRequest, why: Exception, url: str) -> None:
        problem = with_proxy(f"{type(why).__name__}: {why}", url)
        super().__init__(f"{request.model}: {problem}", kind="unavailable")
        self.why = why


@dataclass
class Exchange:
    """A request of a client to a model API, made in a trial."""

    models: TrialModels
    role: Role
    request: ChatRequest
    url: str

    @classmethod
    def of(cls, method: str, url: str, read: Callable[[], bytes | str | None]) -> Exchange | None:
        """Return the exchange of a request; None outside of trials and for a request that is not to a model API."""
        trial, match = current_attribution(), model_path(method, url)
        if trial is None or match is None:
            return None
        value = json_or_none(read() or b"")
        if not isinstance(value, dict) or not (match["model"] or "model" in value):
            return None
        return cls(*trial, _request_of(match["api"], match["model"], value), url)

    async def answer(self, send: Callable[[], Awaitable[Response]]) -> Response:
        """Return the response to an asynchronous client, from the API or from a recording.

        Args:
            send: Sends the request to the API, and reads the response to its end.
        """
        if (library := patched_threads()) is not None:
            return self._refusal(UnwatchedModelError(_PATCHED.format(library), final=True))
        try:
            reply = await self.models.call(self.role, self.request, _Api(send, self.models.policy.prices, self.url))
        except TauError as error:
            return self._refusal(error)
        self.models.ledger.note_client(None)
        return _response_of(reply)

    def answer_sync(self, send: Callable[[], Response]) -> Response:
        """Return the response to a blocking client; as :meth:`answer`."""
        if (library := patched_threads()) is not None:
            return self._refusal(UnwatchedModelError(_PATCHED.format(library), final=True))

        async def in_thread() -> Response:
            return await asyncio.to_thread(send)

        if not _on_event_loop():
            return self.models.run_blocking(self.answer(in_thread))
        # A blocking client in asynchronous code stops its event loop anyway.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(run_steadily, self.answer(in_thread)).result()

    def _refusal(self, error: TauError) -> Response:
        if not isinstance(error, ModelError) or error.kind not in _NOT_OF_AGENT:
            self.models.ledger.note_client(error)
        if isinstance(error, ModelAPIError):
            return error.response
        if isinstance(error, ModelUnreachableError):
            raise error.why
        reply = error_reply(error)
        return Response(reply.status, reply.content_type or "application/json", reply.body, reply.headers)


class _Api:
    """A model API as the chat model of one request."""

    def __init__(self, send: Callable[[], Awaitable[Response]], prices: Mapping[str, Price], url: str) -> None:
        self._send, self._prices, self._url = send, prices, url

    def refuse_unpriced(self, request: ChatRequest) -> None:
        """Refuse a request to a model without a known price, unless its provider reports the cost of each call."""
        if urlsplit(self._url).hostname not in _REPORTING and price_of(self._prices, request.model) is None:
            refuse_unpriced(request.model, takes_arguments=False)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send the request.

        Raises:
            ModelError: The API answers with an error, or cannot be reached.
        """
        begun = steady_time()
        try:
            response = await self._send()
        except Exception as error:
            raise ModelUnreachableError(request, error, self._url) from error
        if response.status >= _HTTP_ERROR:
            raise ModelAPIError(request, response)
        reply = _reply_of(response, steady_time() - begun)
        # The price list may be imported only now.
        cost = await asyncio.to_thread(_cost, request, reply, self._prices)
        return reply.model_copy(update={"cost": cost})


def model_path(method: str, url: str) -> re.Match[str] | None:
    """Return the part of an address that names a model API; None outside of trials and for another address."""
    # The endpoint of the trial counts its requests itself.
    if current_attribution() is None or method != "POST" or is_of_trial(url):
        return None
    return _PATHS.search(urlsplit(url).path)


def _request_of(api: str, model: str | None, body: dict[str, Any]) -> ChatRequest:
    rest = dict(body)
    name = model or rest.pop("model", None)
    place = next((key for key in _CONVERSATIONS if key in rest), "messages")
    conversation = rest.pop(place, [])
    messages = (
        conversation
        if isinstance(conversation, list) and all(isinstance(element, dict) for element in conversation)
        else [{place: conversation}]
    )
    tools = rest.pop("tools", None) or []
    listed = isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools)
    args = {**rest, "api": api, **({} if listed else {"tools": tools})}
    return ChatRequest(model=str(name or "unknown"), messages=messages, tools=tools if listed else [], args=args)


def _reply_of(response: Response, seconds: float) -> ChatReply:
    """Return a response as an answer that can be recorded: JSON as it is, events as their text."""
    is_json = _EVENTS not in response.type and (value := json_or_none(response.body)) is not None
    body = value if is_json else response.body.decode("utf-8", "replace")
    values = [body] if is_json else list(_events(body))
    return ChatReply(
        message={"role": "assistant", "content": None, "response": {"type": response.type, "body": body}},
        usage=_usage(values),
        cost=_reported(values),
        seconds=seconds,
        finish_reason="length" if any(map(_is_cut, values)) else "stop",
        model=next((name for value in values if (name := _model(value))), None),
    )


def _cost(request: ChatRequest, reply: ChatReply, prices: Mapping[str, Price]) -> float | None:
    if reply.cost is not None or reply.usage is None:
        return reply.cost
    cost_of = price_of(prices, reply.model, request.model)
    return cost_of(reply.usage) if cost_of else None


def _reported(values: list[Any]) -> float | None:
    """Return the cost that the usage of an answer has, in USD: of events, the last one."""
    usages = [part.get("usage") for value in values if isinstance(value, dict) for part in _inside(value)]
    costs = [reported_cost(usage.get("cost")) for usage in usages if isinstance(usage, dict)]
    return next((cost for cost in reversed(costs) if cost is not None), None)


def _response_of(reply: ChatReply) -> Response:
    stored = reply.message["response"]
    body = stored["body"]
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return Response(200, stored["type"], text.encode())


def _events(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        if line.startswith("data:") and isinstance(value := json_or_none(line[5:]), dict):
            yield value


def _inside(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects in which an API has its usage, its model and why it stopped."""
    yield value
    for name in ("response", "message", "delta"):
        if isinstance(value.get(name), dict):
            yield value[name]
    for name in ("choices", "candidates"):
        choices = value.get(name)
        yield from (choice for choice in choices if isinstance(choice, dict)) if isinstance(choices, list) else ()


def _model(value: Any) -> str | None:
    names = (part.get("model") or part.get("modelVersion") for part in _inside(value) if isinstance(value, dict))
    return next((name for name in names if isinstance(name, str)), None)


def _is_cut(value: Any) -> bool:
    reasons = ("finish_reason", "stop_reason", "finishReason")
    reported = {str(part.get(name)).lower() for part in _inside(value) for name in reasons}
    return bool(reported & {"length", "max_tokens"})


def _usage(values: list[Any]) -> Usage | None:
    """Return the tokens: of events, the last count of each kind."""
    counts: dict[str, int] = {}
    for value in values:
        for part in _inside(value) if isinstance(value, dict) else ():
            usage = part.get("usage") or part.get("usageMetadata")
            counts |= {name: n for name, n in _flat(usage) if isinstance(n, int) and n >= 0}

    def first(*names: str) -> int:
        return next((counts[name] for name in names if name in counts), 0)

    # Anthropic counts what is read from its cache apart from the other tokens that are sent.
    apart = first("cache_read_input_tokens") + first("cache_creation_input_tokens")
    sent = first("prompt_tokens", "input_tokens", "promptTokenCount") + apart
    thought = first("reasoning_tokens", "thoughtsTokenCount")
    received = first("completion_tokens", "output_tokens") or first("candidatesTokenCount") + thought
    cached = first("cached_tokens", "cache_read_input_tokens", "cachedContentTokenCount")
    if not sent + received:
        return None
    return Usage(
        prompt_tokens=sent, completion_tokens=received, cached_tokens=min(cached, sent), reasoning_tokens=thought
    )


def _flat(value: Any) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield from _flat(inner) if isinstance(inner, dict) else [(name, inner)]


def patched_threads() -> str | None:
    """Return the library that has replaced the threads of Python, such as ``gevent``; None if none has."""
    for name, (function, argument) in _PATCHING.items():
        module: Any = sys.modules.get(name)
        if module is not None and getattr(module, function)(argument):
            return name.partition(".")[0]
    return None


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
