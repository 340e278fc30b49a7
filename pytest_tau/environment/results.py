"""Tool results as text, in the reference's format, and the stored results of calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ..documents import DocumentError, parse_json
from ..errors import UnwritableResultError
from ..models import AssistantMessage, UserMessage
from ..plain import json
from .records import json_default, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models import Message, ToolCall, ToolMessage

#: The messages that an agent or a user says.
_SPOKEN = (AssistantMessage, UserMessage)


def result_text(result: Any) -> str:
    """Return the text of a tool's result.

    A string stays as it is. Records keep their numbers; bare numbers and booleans, also directly inside a list or
    a dict, become strings; dates inside a record are written by ``str``, others in ISO format. A member of an ``Enum``
    is written as its value, which is what a call passes.

    Source: τ²-bench v1.0.1, environment responses.
    """
    result = _value(result)
    return result if isinstance(result, str) else json.dumps(_stringified(result), default=json_default)


def _stringified(value: Any) -> Any:
    value = _value(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, BaseModel):
        return plain(value)
    if isinstance(value, set | frozenset):
        value = json_default(value)
    if isinstance(value, list | tuple):
        return [_stringified(item) for item in value]
    if isinstance(value, dict):
        return {_value(key): _stringified(item) for key, item in value.items()}
    if isinstance(value, date):  # a datetime is one, too
        return value.isoformat()
    return object_text(value)


#: How Python writes an object of a class that does not say how.
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+>")


def object_text(value: Any) -> str:
    """Return the text of an object that is not data.

    Raises:
        UnwritableResultError: It has none: its class does not define ``__str__``.
    """
    text = str(value)
    if _ADDRESS.search(text):
        kind = type(value).__qualname__
        raise UnwritableResultError(f"returned an object of the class {kind}, which has no text: return its data")
    return text


def _value(result: Any) -> Any:
    return result.value if isinstance(result, Enum) else result


@dataclass(slots=True)
class StoredCall:
    """A tool call of a recorded conversation.

    Attributes:
        message_idx: The position of its message.
        position: Its position among the calls of that message.
        result: Its stored result; None if there is none.
    """

    message_idx: int
    position: int
    call: ToolCall
    result: ToolMessage | None = None


def stored_calls(messages: Iterable[Message]) -> list[StoredCall]:
    """Return the calls of a conversation, in order, with their results.

    A result belongs to the call with its id among the latest ones, as ids may repeat later; else to the next of them.
    """
    calls: list[StoredCall] = []
    waiting: list[StoredCall] = []
    for number, message in enumerate(messages):
        if message.role == "tool":
            if waiting:
                ids = [each.call.id for each in waiting]
                waiting.pop(ids.index(message.id) if message.id in ids else 0).result = message
        elif message.role != "system":
            waiting = [StoredCall(number, position, call) for position, call in enumerate(message.tool_calls or ())]
            calls += waiting
    return calls


def is_error(result: ToolMessage) -> bool:
    """Return whether a result is an error; a tool may also refuse in a text, without the flag."""
    return result.error or (result.content or "").startswith("Error")


def same_result(recorded: str | None, replayed: str | None) -> bool:
    """Return whether two results are equal as JSON, or as text if they are not JSON."""
    if recorded == replayed and "NaN" not in (recorded or ""):  # which is not equal to itself
        return True
    try:
        return bool(parse_json(recorded or "") == parse_json(replayed or ""))
    except DocumentError:
        return recorded == replayed


def same_reply(stored: Message, reply: Message) -> bool:
    """Return whether a message of an agent or a user is the stored one: the same calls, and the same text."""
    if not isinstance(stored, _SPOKEN) or not isinstance(reply, _SPOKEN):
        return False
    calls = [[(call.name, call.arguments) for call in message.tool_calls or []] for message in (stored, reply)]
    return calls[0] == calls[1] and same_result(stored.text, reply.text)
