"""litellm's answers as ours: plain JSON, with what the provider wants sent back, priced where the price is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...chat import ChatReply, Usage
from .faults import told
from .prices import cost

if TYPE_CHECKING:
    from ...chat import ChatRequest


def chat_reply(response: Any, request: ChatRequest, seconds: float) -> ChatReply:
    """A litellm ``ModelResponse`` as a reply.

    Raises:
        ModelError: It holds no message, or the provider's filter has left nothing of it.
    """
    choices = getattr(response, "choices", None)
    dump = getattr(getattr(choices[0], "message", None), "model_dump", None) if choices else None
    if not choices or dump is None:
        raise told("bad_answer", request, message="an answer without a message")
    # Some of litellm's fields hold more kinds of values than their types say; that is no reason to warn.
    message = _message(dump(mode="json", warnings=False))
    finish_reason = choices[0].finish_reason
    if finish_reason == "content_filter" and not message.get("content") and "tool_calls" not in message:
        raise told("refused", request, message="the answer was filtered")
    usage = _usage(getattr(response, "usage", None))
    return ChatReply(
        message=message,
        usage=usage,
        cost=cost(response, request, usage) if usage else None,
        seconds=seconds,
        finish_reason=finish_reason,
        model=getattr(response, "model", None) or None,
    )


def _message(dumped: dict[str, Any]) -> dict[str, Any]:
    """A message in chat format without the fields that say nothing; content is always there, null or not."""
    message = {"role": "assistant", "content": None, **_told_fields(dumped)}
    fields = _told_fields(message.pop("provider_specific_fields", None) or {})
    if fields:
        message["provider_specific_fields"] = fields
    if "tool_calls" in message:
        message["tool_calls"] = [_told_fields(call) for call in message["tool_calls"]]
    return message


def _told_fields(fields: dict[str, Any]) -> dict[str, Any]:
    # An empty text may be told on purpose: some models want their empty reasoning back.
    return {name: value for name, value in fields.items() if value is not None and value not in ([], {})}


def _usage(usage: Any) -> Usage | None:
    """The provider's count; litellm puts zeros where the provider gives none."""
    prompt, completion = (getattr(usage, name, None) or 0 for name in ("prompt_tokens", "completion_tokens"))
    if not prompt and not completion:
        return None
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None) or 0,
        reasoning_tokens=getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None) or 0,
    )
