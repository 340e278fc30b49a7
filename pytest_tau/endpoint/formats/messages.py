"""Anthropic's messages: requests, whole answers, and answers as events of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...documents import json_or_none
from ...plain import json
from .common import (
    EndpointRequest,
    Tokens,
    UnservableRequest,
    calls_of,
    content_of,
    cut,
    event,
    fields_to_send_back,
    function_tool,
    hosted_tool,
    list_of_objects,
    model_name,
    not_text,
    refuse_unknown,
    texts_of,
    tools_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...chat.requests import ChatReply

_PASSED = ("temperature", "top_p", "top_k", "service_tier")
_KNOWN = frozenset(
    {
        *("model", "messages", "system", "max_tokens", "stop_sequences", "tools", "tool_choice", "thinking"),
        *("metadata", "stream", "output_config", "output_format", "cache_control", *_PASSED),
    }
)
_UNSERVABLE = {
    "mcp_servers": "the provider would call these servers",
    "container": "the provider would run this container",
    "context_management": "the provider would change the conversation",
}
_REASONS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def read(body: Mapping[str, Any]) -> EndpointRequest:
    """Return the request in the body of a message request, as a chat completion.

    Raises:
        UnservableRequest: It is malformed, or asks for something that cannot be served.
    """
    refuse_unknown(body, _KNOWN, _UNSERVABLE)
    system = texts_of(body.get("system"), "system", ("text",))
    messages: list[dict[str, Any]] = [{"role": "system", "content": content_of(system)}] if system else []
    for place, message in enumerate(list_of_objects(body.get("messages"), "messages", empty=False)):
        messages += _messages(message, f"messages[{place}]")
    return EndpointRequest(
        model=model_name(body),
        messages=messages,
        tools=tools_of(body, _tool),
        tool_choice=_tool_choice(body.get("tool_choice")),
        response_format=_response_format(body),
        args=_args(body),
    )


def _messages(message: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """Return a message as chat messages: the results of tools are messages of their own."""
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant", "system"):
        raise UnservableRequest("expected user or assistant", f"{where}.role")
    if isinstance(content, str):
        return [{"role": role, "content": content}]
    blocks = list_of_objects(content, f"{where}.content")
    if role == "assistant":
        return [_assistant(blocks, f"{where}.content")]
    results, texts = [], []
    for place, block in enumerate(blocks):
        here = f"{where}.content[{place}]"
        if block.get("type") == "tool_result":
            results.append(_tool_message(block, here))
        else:
            texts += texts_of([block], f"{where}.content", ("text",))
    return results + ([{"role": role, "content": content_of(texts)}] if texts else [])


def _assistant(blocks: list[dict[str, Any]], where: str) -> dict[str, Any]:
    texts, calls, thinking = [], [], []
    for place, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "text":
            texts += texts_of([block], where, ("text",))
        elif kind == "tool_use":
            function = {"name": block.get("name"), "arguments": json.dumps(block.get("input") or {})}
            calls.append({"id": block.get("id"), "type": "function", "function": function})
        elif kind in ("thinking", "redacted_thinking"):
            thinking.append(block)
        else:
            raise not_text(block, f"{where}[{place}]")
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None}
    return message | ({"tool_calls": calls} if calls else {}) | _thinking_fields(thinking)


def _thinking_fields(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the reasoning as the chat model gave it: signed blocks, or text only."""
    text = "".join(str(block.get("thinking") or "") for block in blocks)
    signed = any(block.get("signature") or block.get("data") for block in blocks)
    return ({"reasoning_content": text} if text else {}) | ({"thinking_blocks": blocks} if signed else {})


def _tool_message(block: Mapping[str, Any], where: str) -> dict[str, Any]:
    texts = texts_of(block.get("content"), f"{where}.content", ("text",))
    if not isinstance(block.get("tool_use_id"), str):
        raise UnservableRequest("expected the id of a tool_use block", f"{where}.tool_use_id")
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": "\n".join(texts)}


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    if tool.get("type") not in (None, "custom"):
        raise hosted_tool(tool.get("type"), where)
    fields = {"description": tool.get("description"), "parameters": tool.get("input_schema")}
    return function_tool(tool.get("name"), where, fields | {"strict": tool.get("strict")})


def _tool_choice(choice: Any) -> str | dict[str, Any] | None:
    if choice is None:
        return None
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind == "tool":
        return {"type": "function", "function": {"name": choice.get("name")}}
    if kind not in _CHOICES:
        raise UnservableRequest("expected the type auto, any, none or tool", "tool_choice")
    return _CHOICES[kind]


def _response_format(body: Mapping[str, Any]) -> dict[str, Any] | None:
    config = body.get("output_config")
    output_format = (config.get("format") if isinstance(config, dict) else None) or body.get("output_format")
    if output_format is None:
        return None
    if not isinstance(output_format, dict) or output_format.get("type") != "json_schema":
        raise UnservableRequest("expected the type json_schema", "output_config.format")
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": output_format.get("schema"), "strict": True},
    }


def _args(body: Mapping[str, Any]) -> dict[str, Any]:
    choice, config, thinking = body.get("tool_choice"), body.get("output_config"), body.get("thinking")
    one_call = isinstance(choice, dict) and choice.get("disable_parallel_tool_use")
    args = {name: body.get(name) for name in _PASSED}
    args |= {
        "max_completion_tokens": body.get("max_tokens"),
        "stop": body.get("stop_sequences") or None,
        "parallel_tool_calls": False if one_call else None,
        "thinking": None if thinking == {"type": "disabled"} else thinking,
        "reasoning_effort": config.get("effort") if isinstance(config, dict) else None,
    }
    return {name: value for name, value in args.items() if value is not None}


# Answers


def write(answer: ChatReply, model: str, mark: str) -> dict[str, Any]:
    """Return an answer as a ``message`` object; ``mark`` distinguishes it, and its id ends with it."""
    message = answer.message
    blocks = _thinking_blocks(message)
    text = message.get("content") or message.get("refusal")
    blocks += [{"type": "text", "text": text}] if isinstance(text, str) else []
    calls = calls_of(message, mark)
    blocks += [
        {"type": "tool_use", "id": call_id, "name": name, "input": _input(text)} for call_id, name, text in calls
    ]
    return {
        "id": f"msg_{mark}",
        "type": "message",
        "role": "assistant",
        "model": answer.model or model,
        "content": blocks,
        "stop_reason": _REASONS.get(answer.finish_reason or "", "tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": _usage(answer),
    }


def _thinking_blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    fields = fields_to_send_back(message)
    blocks = fields.get("thinking_blocks")
    if isinstance(blocks, list) and all(isinstance(block, dict) for block in blocks):
        return list(blocks)
    text = fields.get("reasoning_content")
    return [{"type": "thinking", "thinking": text, "signature": ""}] if isinstance(text, str) and text else []


def _input(arguments: str) -> dict[str, Any]:
    """Return the arguments of a call as an object. The format has no place for a text that is not one."""
    value = json_or_none(arguments or "{}")
    return value if isinstance(value, dict) else {"INVALID_JSON": arguments}


def _usage(answer: ChatReply) -> dict[str, int]:
    usage = answer.usage or Tokens()
    return {
        "input_tokens": max(usage.prompt_tokens - usage.cached_tokens, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.completion_tokens,
    }


def stream(answer: Mapping[str, Any]) -> list[bytes]:
    """Return the events of an answer, which is given as a ``message`` object."""
    usage = answer["usage"]
    start = {**answer, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 0}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(answer["content"]):
        empty, deltas = _deltas(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": answer["stop_sequence"]}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": usage["output_tokens"]}})
    events.append({"type": "message_stop"})
    return [event(payload, payload["type"]) for payload in events]


def _deltas(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a block as it begins, and what is added to it."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in cut(block["text"])]
    if block["type"] == "tool_use":
        pieces = cut(json.dumps(block["input"]))
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    if block["type"] == "thinking":
        text = str(block.get("thinking") or "")
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in cut(text)]
        deltas.append({"type": "signature_delta", "signature": block.get("signature") or ""})
        return {**block, "thinking": "", "signature": ""}, deltas
    return dict(block), []


def error(message: str, kind: str, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """Return an error in Anthropic's format, which has no fields for the code and the parameter."""
    del code, param
    return {"type": "error", "error": {"type": kind, "message": message}}
