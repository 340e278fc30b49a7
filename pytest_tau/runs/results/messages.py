"""Messages and tool calls of result files from any source, in today's format."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...documents import parse_json, parse_literal
from ...models import json_copy, parse_messages, writable
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Requestor


class EntryError(Exception):
    """An entry that cannot be read; the text says why."""


def read_messages(messages: list[Any]) -> list[Any]:
    """Return the trajectory, with every call's id its own.

    Raises:
        EntryError: One of the messages has no known role or no readable content.
    """
    try:
        plain = [part for message in messages for part in _parts(message)]
        return with_unique_ids(parse_messages(plain))
    except ValidationError as error:
        raise EntryError(f"messages.{first_problem(error)}") from None
    except (TypeError, AttributeError, KeyError) as error:
        raise EntryError(f"messages that do not follow the format: {error}") from None


def with_unique_ids(messages: list[Any]) -> list[Any]:
    """Return the messages; if ids of calls repeat, they are numbered anew, results in the order of the calls."""
    calling = [message.tool_calls for message in messages if message.role in ("assistant", "user")]
    ids = [call.id for calls in calling for call in calls or ()]
    if len(set(ids)) == len(ids):
        return messages
    waiting: list[tuple[str, str]] = []
    for number, message in enumerate(messages):
        for position, call in enumerate(getattr(message, "tool_calls", None) or []):
            new_id = f"call_{number}_{position}"
            waiting.append((call.id, new_id))
            call.id = new_id
        if message.role == "tool" and waiting:
            match = next((i for i, (old, _) in enumerate(waiting) if old == message.id), 0)
            message.id = waiting.pop(match)[1]
    return messages


def _parts(message: Any) -> Iterator[dict[str, Any]]:
    """Yield a message's fields that matter; each result of a message with several is a message."""
    if isinstance(message.get("tool_messages"), list):
        for part in message["tool_messages"]:
            yield from _parts(part)
        return
    role = message["role"]
    plain: dict[str, Any] = {"role": role, "content": text_of(message.get("content"))}
    if role == "tool":
        plain |= {"id": message.get("id") or "", "error": bool(message.get("error"))}
        plain |= {"requestor": message.get("requestor") or "assistant"}
    elif role in ("assistant", "user") and message.get("tool_calls"):
        plain["tool_calls"] = [read_call(call, role) for call in message["tool_calls"]]
    if role in ("assistant", "user") and isinstance(message.get("usage"), dict):
        plain["usage"] = message["usage"]
    yield plain


def read_call(call: dict[str, Any], caller: Requestor) -> dict[str, Any]:
    """Return a tool call from our own format or OpenAI's."""
    body = call.get("function") or call
    arguments, malformed = body.get("arguments"), call.get("malformed")
    if isinstance(arguments, str):
        parsed = _read_arguments(arguments)
        malformed = malformed or (None if parsed is None or isinstance(parsed, dict) else arguments)
        arguments = parsed
    if arguments is not None and not isinstance(arguments, dict):
        malformed = malformed or json.dumps(arguments)
    return {
        "id": str(call.get("id") or ""),
        "name": body["name"],
        "arguments": arguments if isinstance(arguments, dict) and not malformed else {},
        "requestor": call.get("requestor") or caller,
        "malformed": malformed,
    }


def _read_arguments(text: str) -> Any:
    """Return the arguments that a text stands for: JSON, JSON in a JSON text, or a Python literal.

    Other programs store them in each of these forms. Any other text is returned as it is.
    """
    if not text.strip():
        return {}
    value: Any = text
    for _ in range(2):
        for parse in (partial(parse_json, strict=False), _literal):
            with suppress(ValueError, TypeError):
                value = parse(value)
                break
        if not isinstance(value, str):
            break
    return value


def _literal(text: str) -> Any:
    return json_copy(parse_literal(text))


def text_of(content: Any) -> str | None:
    """Return a message's text, also if it is in OpenAI's parts or was stored as JSON."""
    if content is None:
        return None
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):
        content = "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return writable(content) if isinstance(content, str) else json.dumps(content)


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects in an array; none if it is not an array."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def first_problem(error: ValidationError) -> str:
    """Return the first problem, with its place."""
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
