"""What the drop-in functions answer: a chat completion in the shape of litellm's and OpenAI's."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

if TYPE_CHECKING:
    from ...chat import ChatReply


class _Node(BaseModel):
    """Read by attribute or by item, as litellm's objects are."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and hasattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or the default where there is none."""
        return getattr(self, name, default)


class CompletionFunction(_Node):
    """Which tool is called; the arguments are text, as the model sent them."""

    name: str | None = None
    arguments: str = ""


class CompletionToolCall(_Node):
    """One tool call."""

    id: str | None = None
    type: str = "function"
    function: CompletionFunction = CompletionFunction()


class CompletionMessage(_Node):
    """The assistant's message, with whatever further fields the provider gave it, such as ``reasoning_content``."""

    role: str = "assistant"
    content: Any = None
    tool_calls: list[CompletionToolCall] | None = None
    function_call: Any = None


class CompletionChoice(_Node):
    """The one answer."""

    index: int = 0
    finish_reason: str = "stop"
    message: CompletionMessage


class CompletionUsage(_Node):
    """Tokens; zeros where the provider does not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    prompt_tokens_details: dict[str, int] = {}
    completion_tokens_details: dict[str, int] = {}


class Completion(_Node):
    """A chat completion; its id is made from the reply and it has no time of creation, so that a replay gives the same.

    As with litellm, ``_hidden_params["response_cost"]`` is the cost in USD; None where the price is unknown.
    """

    id: str
    object: str = "chat.completion"
    created: int = 0
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage = CompletionUsage()
    _hidden_params: dict[str, Any] = PrivateAttr(default_factory=dict)


def completion_of(reply: ChatReply, model: str) -> Completion:
    """A reply as a chat completion.

    Args:
        reply: The model's answer.
        model: The name that was asked for, should the provider not say which model answered.
    """
    digest = hashlib.sha256(reply.model_dump_json().encode()).hexdigest()
    usage = reply.usage
    made = Completion(
        id=f"chatcmpl-{digest[:24]}",
        model=reply.model or model,
        choices=[
            CompletionChoice(
                message=CompletionMessage.model_validate(reply.message), finish_reason=reply.finish_reason or "stop"
            )
        ],
        usage=CompletionUsage(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            total_tokens=usage.prompt_tokens + usage.completion_tokens,
            prompt_tokens_details={"cached_tokens": usage.cached_tokens},
            completion_tokens_details={"reasoning_tokens": usage.reasoning_tokens},
        )
        if usage
        else CompletionUsage(),
    )
    made._hidden_params["response_cost"] = reply.cost  # noqa: SLF001 - litellm's name for it
    return made
