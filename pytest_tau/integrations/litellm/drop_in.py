"""litellm's two functions, for an agent of the user's own: in a trial its calls are tallied, recorded and replayed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ...chat import ChatRequest, current_attribution
from ...errors import ConfigurationError
from .background import submit
from .completions import Completion, completion_of
from .keys import refuse_arguments
from .model import shared

if TYPE_CHECKING:
    from ...chat import ChatModel, TrialModels


async def acompletion(model: str, messages: list[Any], **kwargs: Any) -> Completion:
    """Like ``litellm.acompletion``, which it replaces in the agent's code.

    In a trial the call belongs to it: it counts among the agent's, and is recorded and replayed with the others; on
    replay neither litellm nor a key is needed. Elsewhere it is a plain call. Retries and time limits are ours.

    Args:
        model: The model's name, with its provider.
        messages: In OpenAI chat format, oldest first; a message of an earlier answer may be passed as it is.
        kwargs: The other arguments of litellm's function.

    Returns:
        Completion: Read like litellm's ``ModelResponse``, by attribute or by item. It is the same class whether
            litellm is installed or not, so that a replay gives what was recorded, to the byte.

    Raises:
        ModelError: The model or its provider failed.
        ReplayError: A replayed trial asks what was not recorded.
        ConfigurationError: ``stream`` or several answers, which cannot be recorded; an argument that is no JSON value.
    """
    request = _request(model, messages, kwargs)
    trial = current_attribution()
    if trial is None:
        reply = await shared().complete(request)
    else:
        models, role = trial
        reply = await models.call(role, request, _chat(models))
    return completion_of(reply, model)


def completion(model: str, messages: list[Any], **kwargs: Any) -> Completion:
    """Like ``litellm.completion``, which it replaces in the agent's code; see ``acompletion``.

    Raises:
        RuntimeError: Called on the event loop of the trial, which it would stop; await ``acompletion`` there.
    """
    request = _request(model, messages, kwargs)
    trial = current_attribution()
    if trial is None:
        return completion_of(submit(shared().complete(request)).result(), model)
    models, role = trial
    return completion_of(models.run_blocking(models.call(role, request, _chat(models))), model)


def _chat(models: TrialModels) -> ChatModel:
    """What makes the calls of a trial: with the run's own limits, where it has some."""
    return models.chat() if models.chat else shared()


def _request(model: str, messages: list[Any], kwargs: dict[str, Any]) -> ChatRequest:
    """The call as a request; what is None was not given, as for litellm."""
    given = {name: value for name, value in kwargs.items() if value is not None}
    tools, response_format = given.pop("tools", []), given.pop("response_format", None)
    if isinstance(response_format, type):
        problem = f"model {model!r}: give response_format as a JSON schema in OpenAI's format, not as a class"
        raise ConfigurationError(problem)
    # Only the plain choices are a field of the request; that of one function is an argument like others.
    choice = given.pop("tool_choice") if isinstance(given.get("tool_choice"), str) else None
    refuse_arguments(model, given)
    if current_attribution() is not None:
        _refuse_objects(model, given)
    return ChatRequest(
        model=model,
        messages=_plain(messages),
        tools=_plain(tools),
        tool_choice=choice,
        response_format=response_format,
        args={name: value for name, value in given.items() if name not in ("stream", "n")},
    )


def _refuse_objects(model: str, args: dict[str, Any]) -> None:
    for name, value in args.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            problem = f"model {model!r}: argument {name!r} ({type(value).__name__}) cannot be recorded"
            raise ConfigurationError(f"{problem}; in a trial the arguments of a call are JSON values") from None


def _plain(value: Any) -> Any:
    """A value in plain JSON, messages and tool calls of earlier answers included, whoever's classes they are."""
    if isinstance(value, BaseModel):
        return _plain(value.model_dump(mode="json", exclude_none=True, warnings=False))
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
