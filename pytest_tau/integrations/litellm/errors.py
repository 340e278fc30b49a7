"""Conversion of exceptions of litellm and the libraries below it to model errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...chat.faults import build_model_error, chain_of
from ...chat.refusals import fault_of, read_refusal
from ...errors import ConfigurationError, install_extra
from ...masking import mask_secrets
from ...proxies import with_proxy
from .credentials import describe_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...chat import ChatRequest
    from ...errors import ModelError, ModelFault

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
#: Packages that litellm imports for some models only; the extra ``llm`` has them.
_OF_EXTRA = ("mcp", "tiktoken")
#: The arguments of the error of a look at the environment from which pytest has just removed its variable.
_CURRENT_TEST = ("PYTEST_CURRENT_TEST",)
_NETWORK = ("httpx", "httpcore", "aiohttp")


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
    kind = fault_of(facts.names, facts.message, facts.status) or _kind_without_answer(facts)
    unreached = kind in ("unavailable", "timeout")
    return build_model_error(
        kind,
        request,
        limit=limit,
        message=with_proxy(facts.message, _address(request.args)) if unreached else facts.message,
        headers=facts.headers,
        key=describe_key(request.model, request.args) if kind == "authentication" else "",
    )


def _address(args: Mapping[str, Any]) -> str:
    """Return the address of a call; litellm knows that of each provider, and all of them have TLS."""
    return str(args.get("api_base") or args.get("base_url") or "https://provider")


def missing_package(error: BaseException, request: ChatRequest) -> ConfigurationError | None:
    """Return the error of a call for which a package is not installed; None if another error has ended it.

    Nothing was sent then, although litellm reports a fault of the connection.
    """
    missing = next((cause for cause in chain_of(error) if isinstance(cause, ImportError)), None)
    if missing is None:
        return None
    package = (missing.name or "").partition(".")[0]
    needed = f"the package {package!r}, which is" if package else "a package that is"
    remedy = install_extra("llm") if package in ("", *_OF_EXTRA) else f"pip install {package}"
    reported = mask_secrets(" ".join(str(missing).split()), request.args)
    return ConfigurationError(f"{request.model}: litellm needs {needed} not installed: {remedy} ({reported})")


def _facts(error: BaseException) -> _Facts:
    errors = list(chain_of(error))
    attached: list[Any] = [getattr(cause, "response", None) for cause in errors]
    # litellm makes up responses for faults without an answer of a server; those have no headers.
    responses = [
        response for response in attached if getattr(response, "headers", None) and hasattr(response, "status_code")
    ]
    refusals = [read_refusal(body) for cause in errors if (body := getattr(cause, "body", None))]
    names = {base.__name__ for cause in errors for base in type(cause).__mro__}
    names = names.union(*(refusal.codes for refusal in refusals))
    # The server's message, or else that of the network, which litellm reduces to a connection error.
    messages = [refusal.message for refusal in refusals if refusal.message]
    messages += [str(cause) for cause in reversed(errors) if isinstance(cause, OSError)]
    return _Facts(
        errors=errors,
        names=names,
        status=int(responses[0].status_code) if responses else None,
        headers=responses[0].headers if responses else {},
        message=messages[0] if messages else _without_classes(str(error)),
    )


def _kind_without_answer(facts: _Facts) -> ModelFault:
    if facts.names & {"APITimeoutError", "Timeout", "TimeoutError"} or any(
        isinstance(cause, TimeoutError) for cause in facts.errors
    ):
        return "timeout"
    # litellm also uses its class of connection errors for anything unexpected.
    if any(isinstance(cause, OSError) or type(cause).__module__.startswith(_NETWORK) for cause in facts.errors):
        return "unavailable"
    if any(isinstance(cause, KeyError) and cause.args == _CURRENT_TEST for cause in facts.errors):
        return "unavailable"  # a library has read the environment while pytest changed it
    if any(isinstance(cause, Warning) for cause in facts.errors):
        return "unavailable"  # pytest has just replaced the filters that a call sets; the next call sets them again
    if "OpenAIError" not in facts.names:
        # Raised before anything was sent, for example because a package of the provider is not installed.
        return "bad_request"
    first = [_BY_CLASS[base.__name__] for base in type(facts.errors[0]).__mro__ if base.__name__ in _BY_CLASS]
    return first[0] if first else "bad_answer"


def _without_classes(text: str) -> str:
    """Return an exception's text without the class names that litellm prepends, and without a traceback."""
    text = text.partition("Traceback (most recent call last)")[0]
    return re.sub(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\b\s*[:-]*\s*)+", "", text)
