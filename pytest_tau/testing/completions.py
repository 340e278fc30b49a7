"""What a script answers, in the formats of OpenAI's chat completions: whole, as the events of a stream, as an error."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A fixed time, in seconds since 1970, so that the same request has the same answer.
CREATED = 1_700_000_000
#: Whether an answer is streamed does not change what it says.
_DELIVERY = frozenset({"stream", "stream_options"})
#: Characters in one event of a stream: few, so that words and JSON arrive in halves.
_PIECE = 12


@dataclass(frozen=True)
class Reply:
    """An HTTP answer.

    Attributes:
        status: The HTTP status.
        pieces: The body; each piece is sent by itself.
        content_type: What the body is.
        headers: Further headers.
    """

    status: int
    pieces: list[bytes]
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def chat_reply(request: Mapping[str, Any], answer: Any) -> Reply:
    """The answer as the request wants it delivered.

    Raises:
        TypeError: The answer is no text, no assistant message and no chat completion, or it is not JSON.
    """
    whole = completion(request, answer)
    if request.get("stream"):
        return stream_reply(stream_pieces(request, whole))
    return Reply(200, [json.dumps(whole).encode()])


def completion(request: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    """A ``chat.completion`` object; what the answer already says stands.

    The ids are made from a hash of the request. Tokens are whitespace-separated words of JSON: those of the request's
    messages and tools for the prompt, those of the message for the completion.

    Raises:
        TypeError: The answer is no text, no assistant message and no chat completion.
    """
    asked = {name: value for name, value in request.items() if name not in _DELIVERY}
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
    head = {
        "id": f"chatcmpl-{digest}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.get("model"),
    }
    if isinstance(answer, dict) and "choices" in answer:
        return {**head, "usage": _usage(request, answer["choices"]), **answer}
    message = _message(answer, digest)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
    return {**head, "choices": [choice], "usage": _usage(request, message)}


def _message(answer: Any, digest: str) -> dict[str, Any]:
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}
    if not isinstance(answer, dict):
        raise TypeError(
            f"the script gave {answer!r}: expected a text, an assistant message, a chat completion or a Fault"
        )
    message = {"role": "assistant", "content": None, **answer}
    if message.get("tool_calls"):
        calls = enumerate(message["tool_calls"])
        message["tool_calls"] = [_tool_call(call, f"call_{digest}_{position}") for position, call in calls]
    return message


def _tool_call(call: Any, made_up_id: str) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or "name" not in function:
        raise TypeError(
            f"the tool call {call!r} has no function: expected {{'function': {{'name': …, 'arguments': …}}}}"
        )
    arguments = function.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return {"id": made_up_id, "type": "function", **call, "function": {**function, "arguments": arguments}}


def _usage(request: Mapping[str, Any], said: Any) -> dict[str, int]:
    prompt = _words(request.get("messages")) + _words(request.get("tools") or [])
    said_words = _words(said)
    return {"prompt_tokens": prompt, "completion_tokens": said_words, "total_tokens": prompt + said_words}


def _words(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).split())


# Streams


def stream_pieces(request: Mapping[str, Any], whole: Mapping[str, Any]) -> list[bytes]:
    """The server-sent events of a completion, the closing ``[DONE]`` among them."""
    with_usage = (request.get("stream_options") or {}).get("include_usage")
    common = {name: value for name, value in whole.items() if name not in ("choices", "usage")}
    common["object"] = "chat.completion.chunk"
    chunks = [{**common, "choices": [part]} for choice in whole["choices"] for part in _parts(choice)]
    if with_usage:
        chunks = [{**chunk, "usage": None} for chunk in chunks]
        chunks.append({**common, "choices": [], "usage": whole.get("usage")})
    return [event(json.dumps(chunk)) for chunk in chunks] + [event("[DONE]")]


def stream_reply(pieces: list[bytes]) -> Reply:
    """An answer that arrives event by event."""
    return Reply(200, pieces, "text/event-stream")


def event(data: str) -> bytes:
    """One server-sent event."""
    return f"data: {data}\n\n".encode()


def _parts(choice: Mapping[str, Any]) -> list[dict[str, Any]]:
    deltas = _deltas(choice["message"])
    reasons = [None] * (len(deltas) - 1) + [choice.get("finish_reason")]
    index = choice.get("index", 0)
    return [
        {"index": index, "delta": delta, "finish_reason": reason} for delta, reason in zip(deltas, reasons, strict=True)
    ]


def _deltas(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """First whatever comes in one piece, then text and arguments bit by bit, at last nothing, beside the reason."""
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
    """An error in OpenAI's shape."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Reply(status, [json.dumps({"error": error}).encode()], headers=headers or {})
