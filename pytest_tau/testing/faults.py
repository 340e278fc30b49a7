"""Faults between a client and a model server, each a value that a script returns or a schedule plays."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..endpoint.formats.chat_completions import stream
from ..endpoint.formats.common import event
from ..errors import ConfigurationError
from ..plain import json
from .completions import Reply, completion, refusal, stream_reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Wire(Protocol):
    """The connection to a client that waits for its answer."""

    def send(self, reply: Reply) -> None:
        """Send a reply."""
        ...

    def stall(self, seconds: float | None) -> None:
        """Send nothing until the client disconnects, the time is over, or the server is closed; then disconnect."""
        ...

    def reset(self) -> None:
        """Reset the connection without an answer."""
        ...


class Fault:
    """A fault that replaces an answer."""

    def play(self, request: Mapping[str, Any], wire: Wire) -> None:
        """Play the fault for one request."""
        wire.send(self._reply(request))

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        """Return the fault as an answer; faults that have one need no ``play`` of their own."""
        raise NotImplementedError


# Refusals: an HTTP error in OpenAI's shape, whether a stream was wanted or not


@dataclass(frozen=True)
class RateLimited(Fault):
    """429, too many requests.

    Attributes:
        retry_after: Seconds, possibly a fraction, of ``Retry-After``; None for no such header.
    """

    retry_after: float | None = None

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        text = f"Rate limit reached for {_model(request)} on requests per min. Please try again later."
        headers = _retry_after(self.retry_after)
        return refusal(429, text, kind="requests", code="rate_limit_exceeded", headers=headers)


@dataclass(frozen=True)
class QuotaExceeded(Fault):
    """429 that does not pass: the account has no credit left."""

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        text = "You exceeded your current quota, please check your plan and billing details."
        return refusal(429, text, kind="insufficient_quota", code="insufficient_quota")


@dataclass(frozen=True)
class ServerError(Fault):
    """A failure of the server.

    Attributes:
        status: 500, or another of its kind, such as 503 for a server that is overloaded.
        retry_after: Seconds of ``Retry-After``; None for no such header.
    """

    status: int = 500
    retry_after: float | None = None

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        text = "The server had an error while processing your request."
        return refusal(self.status, text, kind="server_error", headers=_retry_after(self.retry_after))


@dataclass(frozen=True)
class Unauthorized(Fault):
    """401, a missing or wrong key."""

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        return refusal(401, "Incorrect API key provided.", code="invalid_api_key")


@dataclass(frozen=True)
class ContextWindowExceeded(Fault):
    """400, more than the model can read."""

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        text = (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in more. "
            "Please reduce the length of the messages."
        )
        return refusal(400, text, code="context_length_exceeded", param="messages")


@dataclass(frozen=True)
class ContentFiltered(Fault):
    """400, content that the provider refuses.

    Attributes:
        code: OpenAI's is ``content_policy_violation``, Azure's ``content_filter``.
    """

    code: Literal["content_policy_violation", "content_filter"] = "content_policy_violation"

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        text = "Your request was rejected as a result of our safety system."
        if self.code == "content_filter":
            text = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
        return refusal(400, text, code=self.code, param="prompt")


@dataclass(frozen=True)
class UnknownModel(Fault):
    """404, no such model."""

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        text = f"The model `{_model(request)}` does not exist or you do not have access to it."
        return refusal(404, text, code="model_not_found")


# Connections


@dataclass(frozen=True)
class ConnectionReset(Fault):
    """The connection is reset without an answer (TCP RST)."""

    def play(self, request: Mapping[str, Any], wire: Wire) -> None:
        """Play the fault for one request."""
        wire.reset()


@dataclass(frozen=True)
class Stall(Fault):
    """Nothing is sent until the client disconnects, the seconds have passed, or the server is closed.

    Attributes:
        seconds: Seconds until the server disconnects; None waits for the client.
    """

    seconds: float | None = None

    def play(self, request: Mapping[str, Any], wire: Wire) -> None:
        """Play the fault for one request."""
        wire.stall(self.seconds)


# Invalid answers


@dataclass(frozen=True)
class MalformedBody(Fault):
    """200 with a body that is not valid JSON; in a stream, an event that is not valid JSON."""

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        return _as_answer(request, "<html><body>Bad gateway</body></html>")


@dataclass(frozen=True)
class TruncatedJSON(Fault):
    """200 with the first half of an answer, and a Content-Length that fits it; a stream ends within an event."""

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        whole = completion(request, "This answer breaks off before its end.")
        if request.get("stream"):
            pieces = stream(whole, request)
            return stream_reply([*pieces[:2], _half(pieces[2])])
        return Reply(200, [_half(json.dumps(whole).encode())])


@dataclass(frozen=True)
class WrongSchema(Fault):
    """200 with JSON that is not a chat completion: it has no ``choices``."""

    def _reply(self, request: Mapping[str, Any]) -> Reply:
        return _as_answer(request, json.dumps({"status": "ok", "output": [{"text": "This is not a chat completion."}]}))


def _as_answer(request: Mapping[str, Any], text: str) -> Reply:
    """Return a text where a chat completion, or the events of one, should be."""
    return stream_reply([event(text), event("[DONE]")]) if request.get("stream") else Reply(200, [text.encode()])


def _half(text: bytes) -> bytes:
    return text[: len(text) // 2]


def _model(request: Mapping[str, Any]) -> Any:
    return request.get("model")


def _retry_after(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"Retry-After": f"{seconds:g}"}


# Schedule


@dataclass(frozen=True)
class Faults:
    """Random faults, the same ones for the same seed.

    Attributes:
        rate: The share of requests that get a fault, from 0 to 1.
        kinds: The faults, each as likely as the others.
        seed: The seed of the random choice.

    Raises:
        ConfigurationError: A rate outside of 0 to 1, or kinds that are not faults.
    """

    rate: float
    kinds: Sequence[Fault]
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ConfigurationError(f"the rate of faults: expected a number from 0 to 1, got {self.rate!r}")
        if not self.kinds or not all(isinstance(kind, Fault) for kind in self.kinds):
            raise ConfigurationError(
                f"the kinds of faults: expected faults such as [ServerError()], got {self.kinds!r}"
            )

    def get(self, number: int) -> Fault | None:
        """Return the fault of the request of this number, or None."""
        generator = random.Random(f"{self.seed}:{number}")  # noqa: S311 - repeatability is wanted, not secrecy
        return generator.choice(self.kinds) if generator.random() < self.rate else None
