"""Conversion of replies of participants to messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from ..documents import parse_json
from ..errors import ParticipantError
from ..models import AssistantMessage, ToolCall, UserMessage, json_copy, writable

if TYPE_CHECKING:
    from .context import Reply, Side


#: The most characters of a message: of its text and its calls. No model writes as many, and everything that reads a
#: conversation, such as the diagnosis of a failure, takes time that grows with them.
LONGEST_MESSAGE = 1_000_000


def as_message(reply: Any, side: Side) -> Reply:
    """Convert a reply to a message of its side.

    Args:
        reply: A message, a string, or a dict: OpenAI chat format or ours.
        side: The side that replies.

    Raises:
        ParticipantError: The reply has another type, is empty or too long, or has a malformed tool call. Arguments
            that are not a JSON object are not such a fault: the call is answered with an error.
    """
    role = AssistantMessage if side == "agent" else UserMessage
    if isinstance(reply, str):
        reply = {"content": reply}
    elif isinstance(reply, BaseModel):
        reply = reply.model_dump()
    if not isinstance(reply, dict):
        expected = f"{role.__name__}, str or dict"
        raise ParticipantError(f"respond() returned {short_repr(reply)}; expected {expected}", side=side)
    if _size([reply.get("content"), reply.get("tool_calls")]) > LONGEST_MESSAGE:
        too_long = f"respond() returned a message of more than {LONGEST_MESSAGE:,} characters"
        raise ParticipantError(too_long, side=side)
    calls = [_tool_call(call, side) for call in _list_of_calls(reply, side)]
    extras = ("cost", "usage", "raw_data", "generation_time_seconds")
    fields: dict[str, Any] = {key: _extra(reply[key]) for key in extras if reply.get(key) is not None}
    try:
        message = role(content=_text(reply.get("content"), side), tool_calls=calls or None, **fields)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ParticipantError(f"respond() returned a bad {problem['loc'][0]}: {problem['msg']}", side=side) from None
    if not message.tool_calls and not message.has_text_content():
        raise ParticipantError("respond() returned an empty reply: no text and no tool calls", side=side)
    return message


def _size(value: Any) -> int:
    """Return the number of characters and parts of a value, counted up to the limit, so that circles end too."""
    size = 0
    waiting: list[Any] = [value]
    while waiting and size <= LONGEST_MESSAGE:
        part = waiting.pop()
        size += len(part) if isinstance(part, str | bytes) else 1
        if isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, BaseModel):
            waiting += part.__dict__.values()
    return size


def _list_of_calls(reply: dict[str, Any], side: Side) -> list[Any]:
    calls = reply.get("tool_calls") or []
    if not isinstance(calls, list):
        raise ParticipantError(f"respond() returned tool_calls {short_repr(calls)}; expected a list", side=side)
    return calls


def _text(content: Any, side: Side) -> str | None:
    if isinstance(content, list):  # OpenAI content parts
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    if content is not None and not isinstance(content, str):
        raise ParticipantError(f"respond() returned content {short_repr(content)}; expected a string", side=side)
    return content if content is None else writable(content)


def _tool_call(call: Any, side: Side) -> ToolCall:
    if isinstance(call, BaseModel):
        call = call.model_dump()
    body = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        raise ParticipantError(
            f"respond() returned tool call {short_repr(call)}; expected a name and arguments", side=side
        )
    arguments, malformed = _arguments(body.get("arguments"))
    if isinstance(body.get("malformed"), str):
        arguments, malformed = {}, body["malformed"]
    return ToolCall(
        id=writable(str(call.get("id") or "")),
        name=writable(body["name"]),
        arguments=arguments,
        requestor="assistant" if side == "agent" else "user",
        malformed=None if malformed is None else writable(malformed),
    )


def _arguments(given: Any) -> tuple[dict[str, Any], str | None]:
    """Return the arguments as a JSON object; if they are not, an empty one and their text."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}, None
    try:
        found = json_copy(parse_json(given) if isinstance(given, str) else given)
    except (ValueError, TypeError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found, None
    return {}, given if isinstance(given, str) else _as_json(given)


def _extra(value: Any) -> Any:
    """Return a further field of a reply, or its text if it is not valid JSON."""
    try:
        return json_copy(value)
    except (ValueError, TypeError, RecursionError):
        return {"text": writable(_as_json(value))} if isinstance(value, dict) else writable(_as_json(value))


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, default=repr)
    except (ValueError, TypeError, RecursionError):
        return short_repr(value)


def short_repr(value: Any) -> str:
    """Return the class of a value and the beginning of its text."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"
