"""OpenAI's chat completions: requests, whole answers, and answers as events of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .common import (
    CREATED,
    SAMPLING,
    EndpointRequest,
    Tokens,
    UnservableRequest,
    calls_of,
    cut,
    event,
    fields_to_send_back,
    function_tool,
    hosted_tool,
    list_of_objects,
    model_name,
    refuse_unknown,
    texts_of,
    tool_choice_of,
    tools_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...chat.requests import ChatReply

_OWN = frozenset({"model", "messages", "tools", "tool_choice", "response_format", "stream", "stream_options", "n"})
_ROLES = ("system", "developer", "user", "assistant", "tool")
_UNSERVABLE = {
    "functions": "functions are not supported: give them as 'tools'",
    "function_call": "function_call is not supported: give it as 'tool_choice'",
    "audio": "sound is not supported",
    "modalities": "only text is supported",
    "logprobs": "probabilities of tokens are not recorded",
    "top_logprobs": "probabilities of tokens are not recorded",
    "web_search_options": "the search of the provider is a hosted tool, which is not supported",
}
#: Values that say the same as a field that is not given.
_DEFAULTS = {"logprobs": False, "modalities": ["text"]}


def read(body: Mapping[str, Any]) -> EndpointRequest:
    """Return the request in the body of a chat completion.

    Raises:
        UnservableRequest: It is malformed, or asks for something that cannot be served.
    """
    set_fields = {name: value for name, value in body.items() if name not in _DEFAULTS or value != _DEFAULTS[name]}
    refuse_unknown(set_fields, SAMPLING | _OWN, _UNSERVABLE)
    if body.get("n") not in (None, 1):
        raise UnservableRequest("only one answer is given to a request", "n")
    messages = list_of_objects(body.get("messages"), "messages", empty=False)
    for place, message in enumerate(messages):
        _check_message(message, f"messages[{place}]")
    return EndpointRequest(
        model=model_name(body),
        messages=messages,
        tools=tools_of(body, _tool),
        tool_choice=tool_choice_of(body.get("tool_choice")),
        response_format=_response_format(body.get("response_format")),
        args={name: value for name, value in body.items() if name in SAMPLING and value is not None},
    )


def _check_message(message: Mapping[str, Any], where: str) -> None:
    if message.get("role") not in _ROLES:
        raise UnservableRequest(f"expected one of {', '.join(_ROLES)}", f"{where}.role")
    texts_of(message.get("content"), f"{where}.content", ("text", "refusal"))
    list_of_objects(message.get("tool_calls"), f"{where}.tool_calls")


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    if tool.get("type", "function") != "function":
        raise hosted_tool(tool.get("type"), where)
    function = tool.get("function")
    if not isinstance(function, dict):
        raise UnservableRequest("expected an object", f"{where}.function")
    fields = {name: value for name, value in function.items() if name != "name"}
    return function_tool(function.get("name"), f"{where}.function", fields)


def _response_format(wanted: Any) -> dict[str, Any] | None:
    if wanted is None or wanted == {"type": "text"}:
        return None
    if not isinstance(wanted, dict):
        raise UnservableRequest("expected an object", "response_format")
    return wanted


# Answers


def write(answer: ChatReply, model: str, mark: str) -> dict[str, Any]:
    """Return an answer as a ``chat.completion`` object.

    Args:
        answer: The answer.
        model: The requested name, in case the provider does not name the model that answered.
        mark: Distinguishes the answer; its id ends with it.
    """
    calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls_of(answer.message, mark)
    ]
    message = {"role": "assistant", "content": answer.message.get("content")}
    message |= {"refusal": answer.message["refusal"]} if answer.message.get("refusal") else {}
    message |= {"tool_calls": calls} if calls else {}
    message |= fields_to_send_back(answer.message)
    reason = answer.finish_reason or ("tool_calls" if calls else "stop")
    completion = {
        "id": f"chatcmpl-{mark}",
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.model or model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }
    return {**completion, "usage": _usage(answer)}


def _usage(answer: ChatReply) -> dict[str, Any]:
    usage = answer.usage or Tokens()
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def stream(completion: Mapping[str, Any], body: Mapping[str, Any]) -> list[bytes]:
    """Return the events of an answer, with the final ``[DONE]``.

    Args:
        completion: The answer as a ``chat.completion`` object.
        body: The request; with ``stream_options.include_usage`` one more event has the tokens.
    """
    options = body.get("stream_options")
    common = {name: value for name, value in completion.items() if name not in ("choices", "usage")}
    common["object"] = "chat.completion.chunk"
    chunks = [{**common, "choices": [part]} for choice in completion["choices"] for part in _parts(choice)]
    if isinstance(options, dict) and options.get("include_usage"):
        chunks = [{**chunk, "usage": None} for chunk in chunks]
        chunks.append({**common, "choices": [], "usage": completion.get("usage")})
    return [*map(event, chunks), event("[DONE]")]


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
    deltas = [rest, *({"content": piece} for piece in cut(text))]
    for index, call in enumerate(calls):
        function = call["function"]
        opening = {"index": index, **call, "function": {**function, "arguments": ""}}
        deltas.append({"tool_calls": [opening]})
        for piece in cut(function["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})  # noqa: PERF401
    return [*deltas, {}]


def error(message: str, kind: str, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """Return an error in OpenAI's format."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
