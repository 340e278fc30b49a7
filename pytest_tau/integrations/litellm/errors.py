"""Conversion of exceptions of litellm and the libraries below it to model errors."""

from __future__ import annotations

import asyncio
import email.utils
import math
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import ContextWindowError, ModelError
from .credentials import describe_key, mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...chat import ChatRequest
    from ...errors import ModelFault

#: Faults by codes, types and class names that are more specific than the HTTP status.
_BY_NAME: dict[str, ModelFault] = {
    "context_length_exceeded": "context_window",
    "ContextWindowExceededError": "context_window",
    "content_filter": "refused",
    "content_policy_violation": "refused",
    "ContentPolicyViolationError": "refused",
    "insufficient_quota": "quota",
    "model_not_found": "unknown_model",
}
#: Faults by phrases of messages, for providers and parts of litellm that give no code.
_BY_WORDS: dict[str, ModelFault] = {
    "maximum context length": "context_window",
    "prompt is too long": "context_window",
    "credit balance is too low": "quota",
    "llm provider not provided": "unknown_model",
    # Messages of openai's client before it sends anything.
    "missing credentials": "authentication",
    "client option must be set": "authentication",
}
_BY_STATUS: dict[int, ModelFault] = {
    401: "authentication",
    402: "quota",
    403: "authentication",
    404: "unknown_model",
    408: "timeout",
    409: "unavailable",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}
#: Faults by litellm's classes, for exceptions without an answer of a server.
_BY_CLASS: dict[str, ModelFault] = {
    "AuthenticationError": "authentication",
    "PermissionDeniedError": "authentication",
    "NotFoundError": "unknown_model",
    "RateLimitError": "rate_limit",
    "ServiceUnavailableError": "overloaded",
    "BadGatewayError": "unavailable",
    "BadRequestError": "bad_request",
    "UnprocessableEntityError": "bad_request",
}
_NETWORK = ("httpx", "httpcore", "aiohttp")


class _Text(NamedTuple):
    problem: str
    advice: str


_TEXTS: dict[ModelFault, _Text] = {
    "rate_limit": _Text("too many calls", "run fewer trials at once, or try again later"),
    "overloaded": _Text("the server is overloaded", "try again later"),
    "unavailable": _Text(
        "the server failed or cannot be reached", "check that it is running and that its address is right"
    ),
    "timeout": _Text("no answer within {limit:g} s", "check that the server answers, or set a longer 'timeout'"),
    "bad_answer": _Text("the answer is not a chat completion", "check that the address is that of a chat model"),
    "authentication": _Text("{key} was refused", "set a key that this model accepts"),
    "unknown_model": _Text(
        "the server does not know the model", "check the name of the model and the address of the server"
    ),
    "context_window": _Text("the conversation exceeds the context window of the model", "set a context budget"),
    "refused": _Text("the provider refuses the content", "check which message it objects to"),
    "bad_request": _Text("the provider refuses the call", "check that the model accepts these arguments"),
    "quota": _Text("the account has no credit left", "top it up, or use another key"),
}


@dataclass(frozen=True)
class _Facts:
    """The facts of a chain of exceptions, the one that was caught first.

    Attributes:
        names: The classes, with their bases, and the codes and types in the server's answers.
        status: The HTTP status, if a server gave one.
        headers: The headers of the server's answer.
        message: The message of the server, or the network, or litellm.
    """

    errors: list[BaseException]
    names: set[str]
    status: int | None
    headers: Mapping[str, str]
    message: str


def to_model_error(error: BaseException, request: ChatRequest, limit: float) -> ModelError:
    """Convert the exception of a call to a model error.

    Args:
        error: The exception.
        request: The request.
        limit: The call's time limit in seconds.
    """
    facts = _facts(error)
    retry_after = _retry_after(facts.headers)
    return build_model_error(_kind(facts), request, limit=limit, message=facts.message, retry_after=retry_after)


def build_model_error(
    kind: ModelFault,
    request: ChatRequest,
    *,
    limit: float = 0.0,
    message: str = "",
    retry_after: float | None = None,
) -> ModelError:
    """Return a model error: the model, the problem and an advice in the first line, then the reported message."""
    problem, advice = _TEXTS[kind]
    key = describe_key(request.model, request.args) if kind == "authentication" else ""
    text = f"{request.model}: {problem.format(limit=limit, key=key)}; {advice}"
    reported = _shorten(mask_secrets(message, request.args))
    text += f"\nreported: {reported}" if reported else ""
    if kind == "context_window":
        return ContextWindowError(text)
    return ModelError(text, kind=kind, retry_after=retry_after)


def _facts(error: BaseException) -> _Facts:
    errors = list(_chain(error))
    found: list[Any] = [getattr(one, "response", None) for one in errors]
    # litellm makes up responses for faults without an answer of a server; those have no headers.
    responses = [one for one in found if getattr(one, "headers", None) and hasattr(one, "status_code")]
    bodies = [body for one in errors if isinstance(body := getattr(one, "body", None), dict)]
    names = {base.__name__ for one in errors for base in type(one).__mro__}
    names |= {str(body[field]) for body in bodies for field in ("code", "type") if body.get(field)}
    # The server's message, or else that of the network, which litellm reduces to a connection error.
    messages = [body["message"] for body in bodies if isinstance(body.get("message"), str)]
    messages += [str(one) for one in reversed(errors) if isinstance(one, OSError)]
    return _Facts(
        errors=errors,
        names=names,
        status=int(responses[0].status_code) if responses else None,
        headers=responses[0].headers if responses else {},
        message=messages[0] if messages else _without_classes(str(error)),
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes; chains are short, but may be circular."""
    current: BaseException | None = error
    for _ in range(10):
        if current is None:
            return
        yield current
        current = current.__cause__ or current.__context__


def _kind(facts: _Facts) -> ModelFault:
    named = [kind for name, kind in _BY_NAME.items() if name in facts.names]
    message = facts.message.lower()
    named += [kind for words, kind in _BY_WORDS.items() if words in message]
    if named:
        return named[0]
    return _kind_without_answer(facts) if facts.status is None else _kind_of_status(facts.status)


def _kind_of_status(status: int) -> ModelFault:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status < 400:
        return "bad_answer"
    return "bad_request" if status < 500 else "unavailable"


def _kind_without_answer(facts: _Facts) -> ModelFault:
    if facts.names & {"APITimeoutError", "Timeout", "TimeoutError"} or any(map(_is_timeout, facts.errors)):
        return "timeout"
    # litellm also uses its class of connection errors for anything unexpected.
    if any(isinstance(one, OSError) or type(one).__module__.startswith(_NETWORK) for one in facts.errors):
        return "unavailable"
    if "OpenAIError" not in facts.names:
        # Raised before anything was sent, for example because a package of the provider is not installed.
        return "bad_request"
    first = [_BY_CLASS[base.__name__] for base in type(facts.errors[0]).__mro__ if base.__name__ in _BY_CLASS]
    return first[0] if first else "bad_answer"


def _is_timeout(error: BaseException) -> bool:
    return isinstance(error, (TimeoutError, asyncio.TimeoutError))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a ``Retry-After`` header: given in seconds, in milliseconds, or as a date."""
    seconds = _number(headers.get("retry-after-ms"), 1000.0)
    if seconds is None:
        seconds = _number(headers.get("retry-after"), 1.0)
    if seconds is None and headers.get("retry-after"):
        try:
            seconds = email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time()
        except ValueError:
            return None
    return None if seconds is None else max(seconds, 0.0)


def _number(text: Any, divisor: float) -> float | None:
    try:
        number = float(text) / divisor
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _without_classes(text: str) -> str:
    """Return an exception's text without the class names that litellm prepends, and without a traceback."""
    text = text.partition("Traceback (most recent call last)")[0]
    return re.sub(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\b\s*[:-]*\s*)+", "", text)


def _shorten(text: str, length: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]} …"
