"""Requests to chat models, their replies, and the arguments that may be recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from ..masking import identifies_account, is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: The part of a trial that a model is called for; ``retrieval``: embeddings and ratings of documents; ``reviewer``: a
#: review of the conversation after its verdict.
Role: TypeAlias = Literal["agent", "user", "judge", "retrieval", "reviewer", "approver"]

#: Arguments that describe data, in which such names mean something else.
_SCHEMAS = frozenset({"response_format", "tools", "functions"})
_MODEL_ARGUMENTS = "_llm_args"
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
        """The arguments that may be recorded: no keys, no headers, no account, nothing about the connection."""
        return public_arguments(self.args)


def public_arguments(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of model calls that are part of a request and may be recorded, by name."""
    shown = shown_arguments(args)
    return {name: shown[name] for name in sorted(shown) if name not in _CONNECTION}


def shown_arguments(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of model calls without secrets and without what identifies an account, at any depth."""
    found: dict[str, Any] = _without_account(without_secrets(dict(args)))
    return found


def without_secrets(value: Any) -> Any:
    """Return settings without keys, tokens and headers at any depth, so that they can be recorded or shown.

    The arguments of model calls among them, such as ``agent_llm_args``, also have nothing that identifies an account.
    """
    if isinstance(value, dict):
        shown = {name: without_secrets(value[name]) for name in value if not is_secret(str(name))}
        return {
            name: _without_account(one) if str(name).endswith(_MODEL_ARGUMENTS) else one for name, one in shown.items()
        }
    return [without_secrets(one) for one in value] if isinstance(value, list | tuple) else value


def _without_account(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: one if name in _SCHEMAS else _without_account(one)
            for name, one in value.items()
            if not identifies_account(str(name))
        }
    return [_without_account(one) for one in value] if isinstance(value, list | tuple) else value


class ModelArguments(dict[str, Any]):
    """Arguments of model calls whose repr, as in a traceback, has no secrets."""

    def __repr__(self) -> str:
        return repr(shown_arguments(dict(self)))


class Usage(BaseModel):
    """Tokens of one call, as the provider counted them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


def read_usage(usage: Any) -> Usage | None:
    """Return the token counts in a usage as OpenAI has it; None if it has none, or one that cannot be one.

    Such are negative counts, and more tokens from the cache than were sent: a cost would be too low.

    Args:
        usage: A JSON object.
    """
    sent, received = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if sent is None or received is None or not sent + received:
        return None
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    reasoning = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    if cached is None or cached > sent or reasoning is None:
        return None
    return Usage(prompt_tokens=sent, completion_tokens=received, cached_tokens=cached, reasoning_tokens=reasoning)


def _count(counts: Any, name: str) -> int | None:
    """Return a count, 0 if there is none; None for a value that cannot be one."""
    count = (counts.get(name) if isinstance(counts, dict) else None) or 0
    whole = isinstance(count, int) or (isinstance(count, float) and count.is_integer())
    return int(count) if whole and count >= 0 else None


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
        """The message's text, or else its refusal, which is text that was said too; empty if it has neither."""
        return text_of(self.message) or ""


#: Types of content parts that a model or an agent has thought, and not said.
_NOT_SAID = frozenset({"reasoning", "reasoning_text", "summary_text", "thinking"})


def text_of_parts(parts: Sequence[Any]) -> str:
    """Return what a list of content parts says: its texts, and those of its parts but for reasoning."""
    texts = [part.get("text") if isinstance(part, dict) and _is_said(part) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _is_said(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    return not (isinstance(kind, str) and kind in _NOT_SAID)


def text_of(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message in OpenAI chat format, or else its refusal; None if it has neither.

    The text may be a list of parts, as some servers send it; parts of another kind, such as thoughts, have no text.
    """
    content = message.get("content")
    if isinstance(content, list):
        content = text_of_parts(content)
    texts = [text for text in (content, refusal_of(message)) if isinstance(text, str)]
    return next((text for text in texts if text), texts[0] if texts else None)


def refusal_of(message: Mapping[str, Any]) -> str | None:
    """Return the text with which a model refuses to answer, if a message in OpenAI chat format marks it as such."""
    # litellm moves fields that it does not know.
    moved, content = message.get("provider_specific_fields"), message.get("content")
    places = [message.get("refusal"), moved.get("refusal") if isinstance(moved, dict) else None]
    places += [part.get("refusal") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return next((text for text in places if isinstance(text, str) and text), None)


class ChatModel(Protocol):
    """Protocol of chat models; retries, time limits and prices are up to the implementation."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's answer.

        Raises:
            ModelError: The model or its provider failed, for good or after every retry.
        """
        ...


def filled_message(dumped: dict[str, Any]) -> dict[str, Any]:
    """Return a message in chat format without empty fields, except for the content."""
    message = {"role": "assistant", "content": None, **_filled_fields(dumped)}
    fields = _filled_fields(message.pop("provider_specific_fields", None) or {})
    if fields:
        message["provider_specific_fields"] = fields
    if "tool_calls" in message:
        message["tool_calls"] = [_filled_fields(call) for call in message["tool_calls"]]
    return message


def as_sent(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of a server with OpenAI's API with its fields where the server had them.

    litellm moves fields that it does not know into ``provider_specific_fields``, which the server would not find, and
    a strict one refuses. It repeats ``reasoning`` as ``reasoning_content``, which the server has not sent.
    """
    rest = {name: value for name, value in message.items() if name != "provider_specific_fields"}
    moved = message.get("provider_specific_fields") or {}
    if "reasoning" in moved:
        rest.pop("reasoning_content", None)
    return rest | {name: value for name, value in moved.items() if name not in rest}


def _filled_fields(fields: dict[str, Any]) -> dict[str, Any]:
    # An empty text may be meant: some models want their empty reasoning back.
    return {name: value for name, value in fields.items() if value is not None and value not in ([], {})}
