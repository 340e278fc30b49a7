"""Replacements for litellm's two functions: in a trial the calls are counted, recorded and replayed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

from ...chat import ChatRequest, current_attribution
from ...chat.call_arguments import refuse_arguments
from ...errors import ConfigurationError
from ...plain import json
from .client import submit
from .model import shared

if TYPE_CHECKING:
    from ...chat import ChatModel, ChatReply, TrialModels


class _Node(BaseModel):
    """Base of objects that are read by attribute or by item, like litellm's."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and hasattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or the default if there is none."""
        return getattr(self, name, default)


class CompletionFunction(_Node):
    """The name and the arguments of a tool call; the arguments are text, as the model sent them."""

    name: str | None = None
    arguments: str = ""


class CompletionToolCall(_Node):
    """One tool call."""

    id: str | None = None
    type: str = "function"
    function: CompletionFunction = CompletionFunction()


class CompletionMessage(_Node):
    """The assistant's message, with further fields of the provider, such as ``reasoning_content``."""

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
    """Token counts; zeros if the provider gives none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    prompt_tokens_details: dict[str, int] = {}
    completion_tokens_details: dict[str, int] = {}


class Completion(_Node):
    """A chat completion in the shape of litellm's and OpenAI's.

    Its id is made from the reply and it has no time of creation, so that a replay gives the same.

    As with litellm, ``_hidden_params["response_cost"]`` is the cost in USD; None if the price is unknown.
    """

    id: str
    object: str = "chat.completion"
    created: int = 0
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage = CompletionUsage()
    _hidden_params: dict[str, Any] = PrivateAttr(default_factory=dict)


def completion_of(reply: ChatReply, model: str) -> Completion:
    """Convert a reply to a chat completion.

    Args:
        reply: The model's answer.
        model: The requested name, in case the provider does not name the model that answered.
    """
    digest = hashlib.sha256(reply.model_dump_json().encode()).hexdigest()
    usage = reply.usage
    completion_made = Completion(
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
    completion_made._hidden_params["response_cost"] = reply.cost  # noqa: SLF001 - an attribute of this module's class, named as in litellm
    return completion_made


async def acompletion(model: str, messages: list[Any], **kwargs: Any) -> Completion:
    """Call a model like ``litellm.acompletion``, which this replaces in the agent's code.

    In a trial the call is one of the agent's, and is recorded and replayed with the others; a replay needs neither
    litellm nor a key. Outside of trials it is a plain call. Retries and time limits are those of ``LiteLLM``.

    Args:
        model: The model's name, with its provider.
        messages: In OpenAI chat format, oldest first; a message of an earlier answer may be passed as it is.
        kwargs: The other arguments of litellm's function.

    Returns:
        Completion: Read like litellm's ``ModelResponse``, by attribute or by item. It is the same class whether
            litellm is installed or not, so that a replay gives what was recorded, to the byte.

    Raises:
        ModelError: The model or its provider failed.
        ReplayError: A replayed trial makes a request that was not recorded.
        ConfigurationError: ``stream`` or several answers, which cannot be recorded; an argument that is not JSON.
    """
    request = _request(model, messages, kwargs)
    trial = current_attribution()
    if trial is None:
        return completion_of(await shared().complete(request), model)
    models, role = trial
    return completion_of(await models.call(role, request, _chat(models)), model)


def completion(model: str, messages: list[Any], **kwargs: Any) -> Completion:
    """Call a model like ``litellm.completion``, which this replaces in the agent's code; see ``acompletion``.

    Raises:
        RuntimeError: Called on the event loop of the trial, which it would block; await ``acompletion`` there.
    """
    request = _request(model, messages, kwargs)
    trial = current_attribution()
    if trial is None:
        return completion_of(submit(shared().complete(request)).result(), model)
    models, role = trial
    return completion_of(models.run_blocking(models.call(role, request, _chat(models))), model)


def _chat(models: TrialModels) -> ChatModel:
    """Return the chat model of a trial: with the run's own limits, if it has some."""
    return models.policy.chat() if models.policy.chat else shared()


def _request(model: str, messages: list[Any], kwargs: dict[str, Any]) -> ChatRequest:
    """Convert the arguments of a call to a request; None means not given, as for litellm."""
    arguments = {name: value for name, value in kwargs.items() if value is not None}
    tools, response_format = arguments.pop("tools", []), arguments.pop("response_format", None)
    if isinstance(response_format, type):
        problem = f"model {model!r}: response_format: expected a JSON schema in OpenAI's format, got a class"
        raise ConfigurationError(problem)
    # The choice of one function is not a field of the request, but an argument like others.
    choice = arguments.pop("tool_choice") if isinstance(arguments.get("tool_choice"), str) else None
    refuse_arguments(model, arguments)
    if current_attribution() is not None:
        _refuse_objects(model, arguments)
    return ChatRequest(
        model=model,
        messages=_plain(messages),
        tools=_plain(tools),
        tool_choice=choice,
        response_format=response_format,
        args={name: value for name, value in arguments.items() if name not in ("stream", "n")},
    )


def _refuse_objects(model: str, args: dict[str, Any]) -> None:
    for name, value in args.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            problem = f"model {model!r}: argument {name!r} ({type(value).__name__}) cannot be recorded"
            raise ConfigurationError(f"{problem}; in a trial, the arguments of a call must be JSON values") from None


def _plain(value: Any) -> Any:
    """Return a value as plain JSON; messages and tool calls of earlier answers may be objects of any class."""
    if isinstance(value, BaseModel):
        return _plain(value.model_dump(mode="json", exclude_none=True, warnings=False))
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
