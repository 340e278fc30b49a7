"""The faults of model calls: how they are recognised, and the errors that report them."""

from __future__ import annotations

import email.utils
import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ContextWindowError, ModelError
from .masking import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ..errors import ModelFault
    from .requests import ChatRequest

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
    "context_window": _Text(
        "the conversation exceeds the context window of the model",
        "use a model with a larger one, or limit the requests of the agent (--tau-agent-context)",
    ),
    "refused": _Text("the provider refuses the content", "check which message it objects to"),
    "bad_request": _Text("the provider refuses the call", "check that the model accepts these arguments"),
    "quota": _Text("the account has no credit left", "top it up, or use another key"),
}


def fault_of(names: Collection[str], message: str, status: int | None) -> ModelFault | None:
    """Return the fault of an answer: by the codes, types and classes, the message, or else the status.

    Args:
        names: The codes and types in the answer, and the names of an exception's classes.
        message: The message of the server.
        status: The HTTP status; None if there was no answer.

    Returns:
        The fault; None without a status, if nothing names it.
    """
    found = [kind for name, kind in _BY_NAME.items() if name in names]
    found += [kind for words, kind in _BY_WORDS.items() if words in message.lower()]
    if found:
        return found[0]
    return None if status is None else _fault_of_status(status)


def _fault_of_status(status: int) -> ModelFault:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status < 400:
        return "bad_answer"
    return "bad_request" if status < 500 else "unavailable"


def broken_off(choice: Mapping[str, Any]) -> str | None:
    """Return why the provider has broken an answer off; None if it has not.

    OpenRouter and others answer with status 200 if the model fails after it has begun: the choice has the finish reason
    ``error``, and the error or nothing. What was written until then is not the answer of the model.
    """
    error = choice.get("error")
    if choice.get("finish_reason") != "error" and not error:
        return None
    message = error.get("message") if isinstance(error, dict) else error
    return str(message or "the answer was broken off")


def build_model_error(
    kind: ModelFault,
    request: ChatRequest,
    *,
    limit: float = 0.0,
    message: str = "",
    retry_after: float | None = None,
    key: str = "the key",
) -> ModelError:
    """Return a model error: the model, the problem and an advice in the first line, then the reported message.

    Args:
        kind: The fault.
        request: The request.
        limit: The call's time limit in seconds.
        message: The message of the server or the network; keys in it are masked.
        retry_after: Seconds after which the server asks for a retry.
        key: A description of the key that the call was made with.
    """
    problem, advice = _TEXTS[kind]
    text = f"{request.model}: {problem.format(limit=limit, key=key)}; {advice}"
    reported = _shorten(mask_secrets(message, request.args))
    text += f"\nreported: {reported}" if reported else ""
    if kind == "context_window":
        return ContextWindowError(text)
    return ModelError(text, kind=kind, retry_after=retry_after)


def retry_after_of(headers: Mapping[str, str]) -> float | None:
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


def _shorten(text: str, length: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]} …"


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes; chains are short, but may be circular."""
    current: BaseException | None = error
    for _ in range(10):
        if current is None:
            return
        yield current
        current = current.__cause__ or current.__context__
