"""The errors that report the faults of model calls."""

from __future__ import annotations

import email.utils
import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..clock import utc_now
from ..errors import ContextWindowError, ModelError
from ..masking import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..errors import ModelFault
    from .requests import ChatRequest


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


def build_model_error(
    kind: ModelFault,
    request: ChatRequest,
    *,
    limit: float = 0.0,
    message: str = "",
    headers: Mapping[str, str] = MappingProxyType({}),
    key: str = "the key",
) -> ModelError:
    """Return a model error: the model, the problem and an advice in the first line, then the reported message.

    Args:
        kind: The fault.
        request: The request.
        limit: The call's time limit in seconds.
        message: The message of the server or the network; keys in it are masked.
        headers: The headers of the server's answer, which may ask for a retry after some seconds, or for none.
        key: A description of the key that the call was made with.
    """
    problem, advice = _TEXTS[kind]
    text = f"{request.model}: {problem.format(limit=limit, key=key)}; {advice}"
    reported = _shorten(mask_secrets(message, request.args))
    text += f"\nreported: {reported}" if reported else ""
    if kind == "context_window":
        return ContextWindowError(text)
    final = headers.get("x-should-retry") == "false"
    return ModelError(text, kind=kind, retry_after=_retry_after(headers), final=final)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a ``Retry-After`` header: given in seconds, in milliseconds, or as a date."""
    seconds = _number(headers.get("retry-after-ms"), 1000.0)
    if seconds is None:
        seconds = _number(headers.get("retry-after"), 1.0)
    if seconds is None and headers.get("retry-after"):
        try:
            seconds = email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp() - utc_now().timestamp()
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
