"""From whatever ``respond`` returned to a message, or an error that says what it should have been."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from ..errors import ParticipantError
from ..models import AssistantMessage, ToolCall, UserMessage, writable

if TYPE_CHECKING:
    from .context import Reply, Side


def as_message(reply: Any, side: Side) -> Reply:
    """The reply as a message of its side.

    Args:
        reply: A message, a string, or a dict: OpenAI chat format or ours.
        side: Who replies.

    Raises:
        ParticipantError: The reply is none of these, is empty, or has a malformed tool call. Arguments that are
            not a JSON object are no such fault: the call is answered with an error.
    """
    role = AssistantMessage if side == "agent" else UserMessage
    if isinstance(reply, str):
        reply = {"content": reply}
    elif isinstance(reply, BaseModel):
        reply = reply.model_dump()
    if not isinstance(reply, dict):
        expected = f"{role.__name__}, str or dict"
        raise ParticipantError(f"respond() returned {_shown(reply)}; expected {expected}", side=side)
    calls = [_tool_call(call, side) for call in _list_of_calls(reply, side)]
    fields: dict[str, Any] = {key: reply.get(key) for key in ("cost", "usage", "raw_data", "generation_time_seconds")}
    try:
        message = role(content=_text(reply.get("content"), side), tool_calls=calls or None, **fields)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ParticipantError(f"respond() returned a bad {problem['loc'][0]}: {problem['msg']}", side=side) from None
    if not message.tool_calls and not message.has_text_content():
        raise ParticipantError("respond() returned an empty reply: no text and no tool calls", side=side)
    return message


def _list_of_calls(reply: dict[str, Any], side: Side) -> list[Any]:
    calls = reply.get("tool_calls") or []
    if not isinstance(calls, list):
        raise ParticipantError(f"respond() returned tool_calls {_shown(calls)}; expected a list", side=side)
    return calls


def _text(content: Any, side: Side) -> str | None:
    if isinstance(content, list):  # OpenAI content parts
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    if content is not None and not isinstance(content, str):
        raise ParticipantError(f"respond() returned content {_shown(content)}; expected text", side=side)
    return content if content is None else writable(content)


def _tool_call(call: Any, side: Side) -> ToolCall:
    if isinstance(call, BaseModel):
        call = call.model_dump()
    body = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        raise ParticipantError(f"respond() returned tool call {_shown(call)}; expected a name and arguments", side=side)
    arguments = body.get("arguments")
    malformed = body.get("malformed")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            malformed = arguments
    if arguments is None:
        arguments = {}
    if malformed is None and not isinstance(arguments, dict):
        malformed = json.dumps(arguments, default=repr)
    return ToolCall(
        id=str(call.get("id") or ""),
        name=body["name"],
        arguments=arguments if isinstance(arguments, dict) and malformed is None else {},
        requestor="assistant" if side == "agent" else "user",
        malformed=malformed,
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"
