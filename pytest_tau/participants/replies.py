"""Conversion of replies of participants to messages."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from ..chat.requests import refusal_of, text_of_parts
from ..documents import DocumentError, parse_json
from ..errors import ParticipantError
from ..models import AssistantMessage, ToolCall, UserMessage, json_copy, not_json, writable
from ..plain import json
from ..text import shorten

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .context import Reply, Side


#: Says that a stream is over.
_END = object()
#: The word at the end of a text that may go on.
_LAST_WORD = re.compile(r"\S*\Z")
#: The most characters of a message: of its text and its calls. No model writes as many, and everything that reads a
#: conversation, such as the diagnosis of a failure, takes time that grows with them.
LONGEST_MESSAGE = 1_000_000


#: Replies that can be converted, for error messages.
ACCEPTED = "text, a stream of text, {message}, a dict, a pydantic model or a dataclass"
#: Fields of which one makes a dict, a model or a dataclass a message; without any, it is a structured answer.
_OF_A_MESSAGE = frozenset({"role", "content", "tool_calls"})
#: The roles of a message that a side may return. For the model of a user, its own messages are the assistant's.
_ROLES: dict[Side, tuple[str, ...]] = {"agent": ("assistant",), "user": ("user", "assistant")}
#: Keys of a call's arguments in other formats. Ignored, the call would have no arguments.
_NOT_ARGUMENTS = ("args", "input", "parameters", "kwargs", "params")
#: Types of content parts that are calls in the formats of other providers.
_CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call"})
#: Sets of fields of objects that contain messages or describe a call, with the reply that is probably meant.
_NO_ANSWERS = (
    ({"choices"}, "a whole completion; return its message: choices[0].message"),
    ({"messages"}, "a whole conversation; return its last message, or the text of it"),
    ({"function"}, "a tool call outside of a message; return {'tool_calls': [...]}"),
    ({"name", "arguments"}, "a tool call outside of a message; return {'tool_calls': [...]}"),
)


async def read_stream(reply: Any, side: Side, call: Callable[..., Awaitable[Any]]) -> Any:
    """Return the joined text of a reply that is an iterator of text pieces, sync or async; any other reply as it is.

    Args:
        reply: The reply.
        side: The side that replies.
        call: Calls a function of the participant where its code runs.

    Raises:
        ParticipantError: A piece is not a text, or the text is too long.
        Exception: Anything that the iterator raises.
    """
    if isinstance(reply, AsyncIterator):
        return await call(_join_async, reply, side)
    return await call(_join, reply, side) if isinstance(reply, Iterator) else reply


async def _join_async(stream: AsyncIterator[Any], side: Side) -> str:
    text = _Text(side)
    try:
        async for piece in stream:
            text.add(piece)
    finally:
        if hasattr(stream, "aclose"):
            await stream.aclose()
    return text.joined


def _join(stream: Iterator[Any], side: Side) -> str:
    text = _Text(side)
    try:
        for piece in stream:
            text.add(piece)
    finally:
        if hasattr(stream, "close"):
            stream.close()
    return text.joined


class TextStream:
    """A reply that is an iterator of text pieces, sync or async, and is read as far as it is wanted.

    Args:
        stream: The iterator.
        side: The side that replies.
        call: Calls a function of the participant where its code runs.

    Attributes:
        text: What was read of it, in whole words.
    """

    def __init__(self, stream: Any, side: Side, call: Callable[..., Awaitable[Any]]) -> None:
        self._stream, self._call, self._read = stream, call, _Text(side)
        self._next = _next_async if isinstance(stream, AsyncIterator) else next
        self.text = ""

    async def words(self) -> str:
        """Return the next words, each of them whole; nothing if it is over.

        Raises:
            ParticipantError: A piece is not a text, or the text is too long.
            Exception: Anything that the iterator raises.
        """
        while (piece := await self._call(self._next, self._stream, _END)) is not _END:
            self._read.add(piece)
            joined = self._read.joined
            complete = len(joined) - len(_LAST_WORD.search(joined).group())  # type: ignore[union-attr] # always found
            if joined[len(self.text) : complete].strip():
                return self._until(complete)
        return self._until(len(self._read.joined))

    def _until(self, end: int) -> str:
        before, self.text = len(self.text), self._read.joined[:end]
        return self.text[before:]

    async def close(self) -> None:
        """Close it, if it has a method for that."""
        own = getattr(self._stream, "aclose", None) or getattr(self._stream, "close", None)
        if own is not None:
            await self._call(own)


async def _next_async(stream: AsyncIterator[Any], default: Any) -> Any:
    return await anext(stream, default)


class _Text:
    """A text that arrives in pieces."""

    def __init__(self, side: Side) -> None:
        self._side, self._size = side, 0
        self._pieces: list[str] = []

    def add(self, piece: Any) -> None:
        if not isinstance(piece, str):
            problem = f"respond() returned a stream with {short_repr(piece)}; expected pieces of text"
            raise ParticipantError(problem, side=self._side)
        self._pieces.append(piece)
        self._size += len(piece) or 1  # a stream of empty pieces must end, too
        if self._size > LONGEST_MESSAGE:
            raise _too_long(self._side)

    @property
    def joined(self) -> str:
        return "".join(self._pieces)


def as_message(reply: Any, side: Side, *, may_be_empty: bool = False) -> Reply:
    """Convert a reply to a message of its side.

    Args:
        reply: A message, a string, a dict in OpenAI chat format or in ours, or a structured answer: another dict, a
            pydantic model or a dataclass, which becomes JSON text.
        side: The side that replies.
        may_be_empty: An empty text is a message.

    Raises:
        ParticipantError: The reply has another type or the role of another side, is empty or too long, or has a
            malformed tool call. Arguments that are not a JSON object are not such a fault: the call is answered with
            an error.
    """
    role = AssistantMessage if side == "agent" else UserMessage
    reply = _as_fields(reply, role.__name__, side)
    _check_role(reply.get("role"), side)
    if _size([reply.get("content"), reply.get("tool_calls")]) > LONGEST_MESSAGE:
        raise _too_long(side)
    calls = [_tool_call(call, side) for call in _list_of_calls(reply, side)]
    extras = ("cost", "usage", "raw_data", "generation_time_seconds", "finish_reason")
    fields: dict[str, Any] = {key: _extra(reply[key]) for key in extras if reply.get(key) is not None}
    if side == "agent" and (actor := _actor(reply)) is not None:
        fields["actor"] = actor
    try:
        message = role(content=_said(reply, side), tool_calls=calls or None, **fields)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ParticipantError(f"respond() returned a bad {problem['loc'][0]}: {problem['msg']}", side=side) from None
    if not message.tool_calls and not message.has_text_content() and not (may_be_empty and message.content is not None):
        raise ParticipantError("respond() returned an empty reply: no text and no tool calls", side=side)
    return message


def _actor(reply: dict[str, Any]) -> str | None:
    """Return who speaks, in our format or in OpenAI's chat format, where frameworks have the name of the agent."""
    names = (reply.get("actor"), reply.get("name"))
    return next((writable(" ".join(name.split())) for name in names if isinstance(name, str) and name.strip()), None)


def _check_role(role: Any, side: Side) -> None:
    """Refuse a message of somebody else, such as the last one that an agent has received."""
    name = role.value if isinstance(role, Enum) else role
    if isinstance(name, str) and name not in _ROLES[side]:
        expected = _ROLES[side][0]
        problem = f"respond() returned a message of the role {name[:80]!r}; expected {expected!r}"
        raise ParticipantError(problem, side=side)


def _said(reply: dict[str, Any], side: Side) -> str | None:
    """Return the text of a reply. A refusal of the agent's model is said to the user.

    One of the user's model is not what the simulated person says: the user cannot go on.
    """
    content, refusal = _text(reply.get("content"), side), refusal_of(reply)
    if refusal is None or (content and content != refusal):
        return content
    if side == "user":
        raise ParticipantError(f"respond() returned a refusal of its model: {shorten(refusal)!r}", side=side)
    return writable(refusal)


def _too_long(side: Side) -> ParticipantError:
    return ParticipantError(f"respond() returned a message of more than {LONGEST_MESSAGE:,} characters", side=side)


def _as_fields(reply: Any, message: str, side: Side) -> dict[str, Any]:
    """Return the fields of a message: those of the reply, or its text or JSON text as the content."""
    if isinstance(reply, str):
        return {"content": reply}
    is_record = dataclasses.is_dataclass(reply) and not isinstance(reply, type)
    if not (is_record or isinstance(reply, dict | BaseModel)):
        expected = ACCEPTED.format(message=message)
        raise ParticipantError(f"respond() returned {short_repr(reply)}; expected {expected}", side=side)
    names = set(reply) if isinstance(reply, dict) else _field_names(reply)
    if names & _OF_A_MESSAGE:
        return reply if isinstance(reply, dict) else _fields_of(reply, side)
    problem = next((problem for fields, problem in _NO_ANSWERS if fields <= names), None)
    if problem is not None:
        raise ParticipantError(f"respond() returned {short_repr(reply)}, {problem}", side=side)
    return {"content": _json_text(reply, message, side)} if names else {}


def _field_names(reply: Any) -> set[str]:
    if isinstance(reply, BaseModel):
        return {*type(reply).model_fields, *(reply.model_extra or {})}
    return {reply_field.name for reply_field in dataclasses.fields(reply)}


def _fields_of(reply: Any, side: Side) -> dict[str, Any]:
    if isinstance(reply, BaseModel):
        return reply.model_dump()
    try:
        fields = to_jsonable_python(reply, serialize_unknown=True)
    except (ValueError, RecursionError) as error:
        raise ParticipantError(f"respond() returned {short_repr(reply)}: {error}", side=side) from None
    return dict(fields)


def _json_text(reply: Any, message: str, side: Side) -> str:
    if _size(reply) > LONGEST_MESSAGE:
        raise _too_long(side)
    try:
        return to_json(reply, by_alias=False, inf_nan_mode="null").decode()
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        problem = f"respond() returned {short_repr(reply)}, which cannot be written as JSON: {error}"
        raise ParticipantError(f"{problem}; expected {ACCEPTED.format(message=message)}", side=side) from None


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
        elif isinstance(part, BaseModel) or dataclasses.is_dataclass(part):
            waiting += getattr(part, "__dict__", {}).values()
    return size


def _list_of_calls(reply: dict[str, Any], side: Side) -> list[Any]:
    calls = reply.get("tool_calls") or []
    if not isinstance(calls, list):
        raise ParticipantError(f"respond() returned tool_calls {short_repr(calls)}; expected a list", side=side)
    elsewhere = None if calls else _call_elsewhere(reply)
    if elsewhere:
        problem = f"a message whose call is in {elsewhere}, where it would not be made; return {{'tool_calls': [...]}}"
        raise ParticipantError(f"respond() returned {problem}", side=side)
    return calls


def _call_elsewhere(reply: dict[str, Any]) -> str | None:
    """Return where a message without ``tool_calls`` has a call in another format; None if it has none."""
    if isinstance(reply.get("function_call"), dict):
        return "'function_call'"
    content = reply.get("content")
    kinds = [part.get("type") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    call_kind = next((kind for kind in kinds if isinstance(kind, str) and kind in _CALL_PARTS), None)
    return call_kind and f"a content part of the type {call_kind!r}"


def _text(content: Any, side: Side) -> str | None:
    if isinstance(content, list):  # OpenAI content parts; LangChain's may be texts
        content = text_of_parts(content)
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
    misnamed = next((key for key in _NOT_ARGUMENTS if key in body), None) if "arguments" not in body else None
    if misnamed:
        wrong = f"respond() returned tool call {short_repr(call)}; the key {misnamed!r} must be 'arguments'"
        raise ParticipantError(wrong, side=side)
    raw_arguments = body.get("arguments")
    arguments, malformed = _arguments(raw_arguments)
    problem = None if malformed is None else _problem(raw_arguments)
    text = problem and f"arguments of '{body['name']}' must be a JSON object: {problem}"
    if isinstance(body.get("malformed"), str):
        arguments, malformed, text = {}, body["malformed"], body.get("problem") or text
    return ToolCall(
        id=writable(str(call.get("id") or "")),
        name=writable(body["name"]),
        arguments=arguments,
        requestor="assistant" if side == "agent" else "user",
        malformed=None if malformed is None else writable(malformed),
        problem=text and writable(str(text)),
    )


def _arguments(given: Any) -> tuple[dict[str, Any], str | None]:
    """Return the arguments as a JSON object; if they are not, an empty one and their text."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}, None
    try:
        parsed = json_copy(parse_json(given) if isinstance(given, str) else given)
    except (ValueError, TypeError, RecursionError):
        parsed = None
    if isinstance(parsed, dict) and not_json(parsed) is None:
        return parsed, None
    return {}, given if isinstance(given, str) else _as_json(given)


def _problem(arguments: Any) -> str | None:
    """Return which value of arguments is not JSON; None if that is not known."""
    try:
        return not_json(parse_json(arguments) if isinstance(arguments, str) else arguments)
    except (DocumentError, RecursionError):
        return None


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
    if value is None:
        return "None"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"
