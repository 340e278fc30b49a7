"""Answers of a script in the formats of OpenAI and Anthropic: whole, as events of a stream, as an error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..endpoint.formats import FORMATS, chat_completions
from ..endpoint.formats.common import CREATED, EVENT_STREAM, Tokens
from ..files import digest
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The path of the format in which scripts are asked and answer.
CHAT = "/v1/chat/completions"
#: Arguments that do not change the content of an answer.
_DELIVERY = frozenset({"stream", "stream_options"})


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


class _Answer(NamedTuple):
    """The first choice of a chat completion."""

    message: dict[str, Any]
    usage: Tokens | None
    finish_reason: str | None
    model: str | None


def written(path: str, body: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chat completion as an answer in the format of a path.

    Args:
        path: A path of ``FORMATS``.
        body: The body of the request.
        whole: The chat completion.
    """
    if path == CHAT:
        return dict(whole)
    [choice, *_], usage = whole["choices"], whole.get("usage")
    tokens = _tokens(usage) if usage else None
    answer: Any = _Answer(choice["message"], tokens, choice.get("finish_reason"), whole.get("model"))
    return FORMATS[path].write(answer, body, str(whole["id"]).removeprefix("chatcmpl-"))


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    sent, received = (usage.get(f"{name}_tokens_details") or {} for name in ("prompt", "completion"))
    return Tokens(
        usage["prompt_tokens"],
        usage["completion_tokens"],
        sent.get("cached_tokens") or 0,
        received.get("reasoning_tokens") or 0,
    )


def reply_of(path: str, body: Mapping[str, Any], written_answer: Mapping[str, Any]) -> Reply:
    """Return an answer, streamed if the request asks for that.

    Raises:
        TypeError: The answer is not JSON.
    """
    if body.get("stream"):
        return stream_reply(FORMATS[path].stream(written_answer, body))
    return Reply(200, [json.dumps(written_answer).encode()])


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


def stream_reply(pieces: list[bytes]) -> Reply:
    """Return an answer that is sent event by event."""
    return Reply(200, pieces, EVENT_STREAM)


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
    error = chat_completions.error(message, kind, code=code, param=param)
    return Reply(status, [json.dumps(error).encode()], headers=headers or {})
