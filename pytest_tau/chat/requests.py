"""Requests to chat models, their replies, and the arguments that may be recorded."""

from __future__ import annotations

import re
from typing import Any, Literal, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

#: The part of a trial that a model is called for.
Role: TypeAlias = Literal["agent", "user", "judge"]

_PRIVATE = re.compile(
    r"(^|_)(key|apikey|(?<!per_)token|secret|passwd|password|cookies?|credentials?|headers?|auth|authorization)($|_)"
)
_LOGIN = re.compile(r"://[^/@\s]+@")
#: Arguments that say how a model is reached, not what it is asked: a request to another server is the same.
_CONNECTION = frozenset({"api_base", "base_url", "api_version", "timeout", "max_retries", "num_retries"})


class ChatRequest(BaseModel):
    """One call of a model.

    Attributes:
        model: The model's name, with its provider as litellm spells it: ``openai/gpt-4.1``.
        messages: The conversation in OpenAI chat format, oldest first, the system message among them.
        tools: The tools that the model may call, as OpenAI tool schemas.
        tool_choice: ``auto`` or ``required``; None without tools.
        response_format: A JSON schema that the answer must follow, as OpenAI's ``response_format``.
        args: Further arguments of the call: ``temperature``, ``seed``, ``max_tokens`` …
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = []
    tool_choice: str | None = None
    response_format: dict[str, Any] | None = None
    #: Not in the repr: tracebacks show requests, and the arguments may contain a key.
    args: dict[str, Any] = Field(default={}, repr=False)

    @property
    def public_args(self) -> dict[str, Any]:
        """The arguments that may be recorded: no keys, no headers, nothing about the connection."""
        return {name: without_secrets(self.args[name]) for name in sorted(self.args) if is_public(name)}


def is_public(argument: str) -> bool:
    """Return whether a model argument of this name is part of the request, and may be recorded."""
    return argument not in _CONNECTION and not _is_secret(argument)


def without_secrets(value: Any) -> Any:
    """Return arguments without keys, tokens and headers at any depth, so that they can be recorded or shown."""
    if isinstance(value, dict):
        return {name: without_secrets(value[name]) for name in value if not _is_secret(str(name))}
    return [without_secrets(one) for one in value] if isinstance(value, list | tuple) else value


def without_login(text: str) -> str:
    """Return a text without the credentials of URLs in it."""
    return _LOGIN.sub("://***@", text)


class ModelArguments(dict[str, Any]):
    """Arguments of model calls whose repr, as in a traceback, has no secrets."""

    def __repr__(self) -> str:
        return repr(without_secrets(dict(self)))


def _is_secret(name: str) -> bool:
    """Return whether an argument of this name is a secret, such as ``api_key``, ``apiKey`` and ``X-Api-Key``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_")
    return _PRIVATE.search(words.lower()) is not None


class Usage(BaseModel):
    """Tokens of one call, as the provider counted them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class ChatReply(BaseModel):
    """A model's answer.

    Attributes:
        message: The assistant's message in OpenAI chat format, with all fields that the provider wants sent back.
        usage: Tokens; None if the provider does not count them.
        cost: USD; None if the price is unknown.
        seconds: The duration of the call.
        finish_reason: The reason why the model stopped: ``stop``, ``tool_calls``, ``length`` …
        model: The model that has answered, as the provider names it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    message: dict[str, Any]
    usage: Usage | None = None
    cost: float | None = None
    seconds: float = Field(default=0.0, ge=0)
    finish_reason: str | None = None
    model: str | None = None

    @property
    def text(self) -> str:
        """The message's text; empty if it has none."""
        content = self.message.get("content")
        return content if isinstance(content, str) else ""


class ChatModel(Protocol):
    """Protocol of chat models; retries, time limits and prices are up to the implementation."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's answer.

        Raises:
            ModelError: The model or its provider failed, for good or after every retry.
        """
        ...
