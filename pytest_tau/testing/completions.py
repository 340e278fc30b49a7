"""Answers of a script in the formats of OpenAI's chat completions: whole, as events of a stream, as an error."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..files import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A fixed time, in seconds since 1970, so that the same request has the same answer.
CREATED = 1_700_000_000
#: Arguments that do not change the content of an answer.
_DELIVERY = frozenset({"stream", "stream_options"})
#: Characters in one event of a stream: few, so that words and JSON are split.
_PIECE = 12


@dataclass(frozen=True)
class Reply:
    """An HTTP answer.

    Attributes:
        status: The HTTP status.
        pieces: The body; each piece is sent by itself.
        content_type: The type of the body.
        headers: Further headers.
    """

    status: int
    pieces: list[bytes]
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def chat_reply(request: Mapping[str, Any], answer: Any) -> Reply:
    """Return an answer, streamed if the request asks for that.

    Raises:
        TypeError: The answer is not a string, an assistant message or a chat completion, or it is not JSON.
    """
    whole = completion(request, answer)
    if request.get("stream"):
        return stream_reply(stream_pieces(request, whole))
    return Reply(200, [json.dumps(whole).encode()])


def completion(request: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    """Return a ``chat.completion`` object; fields of the answer are kept.

    The ids are made from a hash of the request. Tokens are whitespace-separated words of JSON: those of the request's
    messages and tools for the prompt, those of the message for the completion.

    Raises:
        TypeError: The answer is not a string, an assistant message or a chat completion.
    """
    asked = {name: value for name, value in request.items() if name not in _DELIVERY}
    fingerprint = digest(json.dumps(asked, sort_keys=True))
    head = {
        "id": f"chatcmpl-{fingerprint}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.get("model"),
    }
    if isinstance(answer, dict) and "choices" in answer:
        return {**head, "usage": _usage(request, answer["choices"]), **answer}
    message = _message(answer, fingerprint)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
    return {**head, "choices": [choice], "usage": _usage(request, message)}


def _message(answer: Any, fingerprint: str) -> dict[str, Any]:
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}
    if not isinstance(answer, dict):
        raise TypeError(
            f"the script gave {answer!r}: expected a string, an assistant message, a chat completion or a Fault"
        )
    message = {"role": "assistant", "content": None, **answer}
    if message.get("tool_calls"):
        calls = enumerate(message["tool_calls"])
        message["tool_calls"] = [_tool_call(call, f"call_{fingerprint}_{position}") for position, call in calls]
    return message


def _tool_call(call: Any, default_id: str) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or "name" not in function:
        raise TypeError(
            f"the tool call {call!r} has no function: expected {{'function': {{'name': …, 'arguments': …}}}}"
        )
    arguments = function.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return {"id": default_id, "type": "function", **call, "function": {**function, "arguments": arguments}}


def _usage(request: Mapping[str, Any], message: Any) -> dict[str, int]:
    prompt = _words(request.get("messages")) + _words(request.get("tools") or [])
    completion_words = _words(message)
    return {"prompt_tokens": prompt, "completion_tokens": completion_words, "total_tokens": prompt + completion_words}


def _words(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).split())


# Streams


def stream_pieces(request: Mapping[str, Any], whole: Mapping[str, Any]) -> list[bytes]:
    """Return the server-sent events of a completion, with the final ``[DONE]``."""
    with_usage = (request.get("stream_options") or {}).get("include_usage")
    common = {name: value for name, value in whole.items() if name not in ("choices", "usage")}
    common["object"] = "chat.completion.chunk"
    chunks = [{**common, "choices": [part]} for choice in whole["choices"] for part in _parts(choice)]
    if with_usage:
        chunks = [{**chunk, "usage": None} for chunk in chunks]
        chunks.append({**common, "choices": [], "usage": whole.get("usage")})
    return [event(json.dumps(chunk)) for chunk in chunks] + [event("[DONE]")]


def stream_reply(pieces: list[bytes]) -> Reply:
    """Return an answer that is sent event by event."""
    return Reply(200, pieces, "text/event-stream")


def event(data: str) -> bytes:
    """Return a server-sent event."""
    return f"data: {data}\n\n".encode()


def _parts(choice: Mapping[str, Any]) -> list[dict[str, Any]]:
    deltas = _deltas(choice["message"])
    reasons = [None] * (len(deltas) - 1) + [choice.get("finish_reason")]
    index = choice.get("index", 0)
    return [
        {"index": index, "delta": delta, "finish_reason": reason} for delta, reason in zip(deltas, reasons, strict=True)
    ]


def _deltas(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the deltas of a message: fields in one piece, then text and arguments in pieces, last an empty one."""
    rest = dict(message)
    text = rest.pop("content") if isinstance(rest.get("content"), str) else ""
    calls = rest.pop("tool_calls", None) or []
    deltas = [rest, *({"content": piece} for piece in _cut(text))]
    for index, call in enumerate(calls):
        function = call["function"]
        opening = {"index": index, **call, "function": {**function, "arguments": ""}}
        deltas.append({"tool_calls": [opening]})
        for piece in _cut(function["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})  # noqa: PERF401
    return [*deltas, {}]


def _cut(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


# Errors


def refusal(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Return an error in OpenAI's format."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Reply(status, [json.dumps({"error": error}).encode()], headers=headers or {})
