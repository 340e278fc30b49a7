"""OpenAI's Responses: requests, whole answers, and answers as events of a stream."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from ...documents import DocumentError, parse_json
from ...plain import json
from .common import (
    CREATED,
    EndpointRequest,
    Tokens,
    UnservableRequest,
    arguments_text,
    calls_of,
    content_of,
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
    from collections.abc import Iterator, Mapping

    from ...chat.requests import ChatReply


_PASSED = (
    *("temperature", "top_p", "parallel_tool_calls", "service_tier", "user", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention"),
)
_KNOWN = frozenset(
    {
        *("model", "input", "instructions", "tools", "tool_choice", "text", "reasoning", "max_output_tokens"),
        *("previous_response_id", "stream", "stream_options", "store", "include", "metadata", "truncation"),
        *("max_tool_calls", "background", "top_logprobs", *_PASSED),
    }
)
_UNSERVABLE = {
    "conversation": "conversations are not stored: use 'previous_response_id'",
    "prompt": "templates of prompts are stored by the provider",
    "context_management": "the provider would change the conversation",
}
#: The values of fields that change nothing.
_ONLY: dict[str, tuple[Any, ...]] = {
    "truncation": (None, "disabled"),
    "background": (None, False),
    "top_logprobs": (None, 0),
}
_ENCRYPTED = "reasoning.encrypted_content"
_TEXTS = ("input_text", "output_text", "text", "refusal")
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class ResponseStore:
    """The responses of one trial, to which later requests refer by their ids."""

    def __init__(self) -> None:
        self._conversations: dict[str, list[dict[str, Any]]] = {}
        self._items: dict[str, dict[str, Any]] = {}

    def add(self, body: Mapping[str, Any], response: Mapping[str, Any]) -> None:
        """Store a response."""
        self._conversations[response["id"]] = [*self.items(body), *response["output"]]
        self._items |= {item["id"]: item for item in response["output"]}

    def items(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return all items of a request: those of the previous response and its own.

        Raises:
            UnservableRequest: It refers to a response or an item that is not one of this trial.
        """
        own_input = body.get("input")
        items = (
            [{"role": "user", "content": own_input}]
            if isinstance(own_input, str)
            else list_of_objects(own_input, "input")
        )
        items = [self._resolve(item, f"input[{place}]") for place, item in enumerate(items)]
        previous = body.get("previous_response_id")
        if previous is None:
            return items
        if previous not in self._conversations:
            problem = f"{previous!r} is not a response of this trial"
            raise UnservableRequest(problem, "previous_response_id")
        return [*self._conversations[previous], *items]

    def _resolve(self, item: dict[str, Any], where: str) -> dict[str, Any]:
        """Return the item that a reference names; and reasoning with what the client did not send back."""
        known = self._items.get(str(item.get("id")))
        if item.get("type") == "item_reference":
            if known is None:
                raise UnservableRequest(f"{item.get('id')!r} is not an item of this trial", f"{where}.id")
            return known
        return known if known is not None and item.get("type") == "reasoning" else item


def read(body: Mapping[str, Any], store: ResponseStore) -> EndpointRequest:
    """Return the request in the body of a request for a response, as a chat completion.

    Raises:
        UnservableRequest: It is malformed, or asks for something that cannot be served.
    """
    refuse_unknown(body, _KNOWN, _UNSERVABLE)
    for name, allowed in _ONLY.items():
        if body.get(name) not in allowed:
            raise UnservableRequest(f"{body[name]!r} is not supported; remove it from the request", name)
    _check_include(body.get("include"))
    items = store.items(body)
    if not items:
        raise UnservableRequest("expected a text, or a list of at least one item", "input")
    instructions = body.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise UnservableRequest("expected a text", "instructions")
    messages = [{"role": "system", "content": instructions}] if instructions else []
    return EndpointRequest(
        model=model_name(body),
        messages=messages + _messages(items),
        tools=tools_of(body, _tool),
        tool_choice=tool_choice_of(body.get("tool_choice")),
        response_format=_response_format(body.get("text")),
        args=_args(body),
    )


def _check_include(include: Any) -> None:
    for included in include or []:
        if included != _ENCRYPTED:
            raise UnservableRequest(f"{included!r} is not supported: only {_ENCRYPTED!r} is", "include")


def _messages(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return items as chat messages: the reasoning, the text and the calls of one answer are one message."""
    messages: list[dict[str, Any]] = []
    reasoning: dict[str, Any] = {}
    for place, item in enumerate(items):
        where, kind = f"input[{place}]", item.get("type") or "message"
        if kind == "reasoning":
            reasoning |= _reasoning_fields(item)
            continue
        if kind == "function_call":
            _add_to_answer(messages, {"content": None, "tool_calls": [_call(item, where)]})
        elif kind == "function_call_output":
            messages.append(_tool_message(item, where))
        elif kind == "message":
            _add_message(messages, item, where)
        else:
            raise UnservableRequest(f"{kind!r} is not supported: it belongs to a hosted tool", f"{where}.type")
        if reasoning and messages[-1]["role"] == "assistant":
            messages[-1] |= reasoning
            reasoning = {}
    return messages


def _add_message(messages: list[dict[str, Any]], item: Mapping[str, Any], where: str) -> None:
    role = _ROLES.get(str(item.get("role")))
    if role is None:
        raise UnservableRequest(f"expected one of {', '.join(_ROLES)}", f"{where}.role")
    texts = texts_of(item.get("content"), f"{where}.content", _TEXTS)
    if role == "assistant":
        _add_to_answer(messages, {"content": "".join(texts)})
    else:
        messages.append({"role": role, "content": content_of(texts)})


def _add_to_answer(messages: list[dict[str, Any]], part: dict[str, Any]) -> None:
    """Add a text or a call to the assistant's message at the end; a second text begins another message."""
    last = messages[-1] if messages else {}
    if last.get("role") != "assistant" or (part["content"] is not None and last["content"] is not None):
        messages.append({"role": "assistant", **part})
        return
    if part["content"] is not None:
        last["content"] = part["content"]
    if "tool_calls" in part:
        last["tool_calls"] = [*last.get("tool_calls", []), *part["tool_calls"]]


def _call(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    for name in ("call_id", "name"):
        if not isinstance(item.get(name), str):
            raise UnservableRequest("expected a text", f"{where}.{name}")
    function = {"name": item["name"], "arguments": arguments_text(item.get("arguments"))}
    return {"id": item["call_id"], "type": "function", "function": function}


def _tool_message(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    if not isinstance(item.get("call_id"), str):
        raise UnservableRequest("expected a text", f"{where}.call_id")
    texts = texts_of(item.get("output"), f"{where}.output", _TEXTS)
    return {"role": "tool", "tool_call_id": item["call_id"], "content": "\n".join(texts)}


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    if tool.get("type") != "function":
        raise hosted_tool(tool.get("type"), where)
    fields = {name: tool.get(name) for name in ("description", "parameters", "strict")}
    return function_tool(tool.get("name"), where, fields)


def _response_format(text: Any) -> dict[str, Any] | None:
    text_format = text.get("format") if isinstance(text, dict) else None
    if text_format is None or text_format == {"type": "text"}:
        return None
    if not isinstance(text_format, dict):
        raise UnservableRequest("expected an object", "text.format")
    if text_format.get("type") != "json_schema":
        return text_format
    return {"type": "json_schema", "json_schema": {name: text_format[name] for name in text_format if name != "type"}}


def _args(body: Mapping[str, Any]) -> dict[str, Any]:
    text, reasoning = body.get("text"), body.get("reasoning")
    args = {name: body.get(name) for name in _PASSED}
    args |= {
        "max_completion_tokens": body.get("max_output_tokens"),
        "reasoning_effort": reasoning.get("effort") if isinstance(reasoning, dict) else None,
        "verbosity": text.get("verbosity") if isinstance(text, dict) else None,
    }
    return {name: value for name, value in args.items() if value is not None}


# Reasoning: whatever the model wants back is inside of the encrypted content, which clients send back as it is


def _reasoning_item(message: Mapping[str, Any], mark: str) -> list[dict[str, Any]]:
    fields = fields_to_send_back(message)
    if not fields:
        return []
    text = fields.get("reasoning_content")
    return [
        {
            "id": f"rs_{mark}",
            "type": "reasoning",
            "status": "completed",
            "summary": [{"type": "summary_text", "text": text}] if isinstance(text, str) and text else [],
            "encrypted_content": base64.b64encode(json.dumps(fields).encode()).decode(),
        }
    ]


def _reasoning_fields(item: Mapping[str, Any]) -> dict[str, Any]:
    try:
        fields = parse_json(base64.b64decode(str(item.get("encrypted_content") or ""), validate=True))
    except (DocumentError, binascii.Error, ValueError):
        fields = None  # of another server, or not sent back
    if isinstance(fields, dict):
        return fields_to_send_back(fields)
    summary = item.get("summary")
    parts = summary if isinstance(summary, list) else []
    text = "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
    return {"reasoning_content": text} if text else {}


# Answers


def write(answer: ChatReply, body: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """Return an answer as a ``response`` object.

    Args:
        answer: The answer.
        body: The request.
        mark: Distinguishes the answer; its id and those of its items have it.
    """
    message = answer.message
    output = _reasoning_item(message, mark)
    parts = _parts(message)
    calls = calls_of(message, mark)
    if parts or not calls:
        output.append(
            {"id": f"msg_{mark}", "type": "message", "role": "assistant", "status": "completed", "content": parts}
        )
    for place, (call_id, name, arguments) in enumerate(calls):
        item = {"id": f"fc_{mark}_{place}", "type": "function_call", "status": "completed"}
        output.append(item | {"call_id": call_id, "name": name, "arguments": arguments})
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.finish_reason or "")
    return {
        "id": f"resp_{mark}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": answer.model or model_name(body),
        "output": output,
        "usage": _usage(answer),
        **_echo(body),
    }


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content, refusal = message.get("content"), message.get("refusal")
    text: dict[str, Any] = {"type": "output_text", "text": content, "annotations": [], "logprobs": []}
    parts = [text] if isinstance(content, str) and content else []
    return parts + ([{"type": "refusal", "refusal": refusal}] if isinstance(refusal, str) and refusal else [])


def _usage(answer: ChatReply) -> dict[str, Any]:
    usage = answer.usage or Tokens()
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


def _echo(body: Mapping[str, Any]) -> dict[str, Any]:
    optional = ("instructions", "max_output_tokens", "previous_response_id", "temperature", "top_p", "user")
    return {name: body.get(name) for name in optional} | {
        "metadata": body.get("metadata") or {},
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
        "store": body.get("store") is not False,
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": [{"strict": None, "parameters": None, **tool} for tool in body.get("tools") or []],
        "truncation": "disabled",
    }


def stream(response: Mapping[str, Any]) -> list[bytes]:
    """Return the events of an answer, which is given as a ``response`` object."""
    started = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": started},
        {"type": "response.in_progress", "response": started},
    ]
    for index, item in enumerate(response["output"]):
        events += [{**payload, "output_index": index} for payload in _item_events(item)]
    events.append({"type": f"response.{response['status']}", "response": response})
    return [event({**payload, "sequence_number": number}, payload["type"]) for number, payload in enumerate(events)]


def _item_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kind = item["type"]
    inside = {"message": _message_events, "function_call": _call_events, "reasoning": _reasoning_events}[kind]
    empty: dict[str, Any] = {"content": []} if kind == "message" else {"summary": []}
    if kind == "function_call":
        empty = {"arguments": ""}
    yield {"type": "response.output_item.added", "item": {**item, "status": "in_progress", **empty}}
    for payload in inside(item):
        yield {**payload, "item_id": item["id"]}
    yield {"type": "response.output_item.done", "item": item}


def _message_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for index, part in enumerate(item["content"]):
        name = "text" if part["type"] == "output_text" else "refusal"
        kind, place = f"response.{part['type']}", {"content_index": index}
        probabilities: dict[str, Any] = {"logprobs": []} if name == "text" else {}
        yield {"type": "response.content_part.added", "part": {**part, name: ""}, **place}
        for piece in cut(part[name]):
            yield {"type": f"{kind}.delta", "delta": piece, **probabilities, **place}
        yield {"type": f"{kind}.done", name: part[name], **probabilities, **place}
        yield {"type": "response.content_part.done", "part": part, **place}


def _call_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for piece in cut(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", "delta": piece}
    final = {"arguments": item["arguments"], "name": item["name"]}
    yield {"type": "response.function_call_arguments.done", **final}


def _reasoning_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for index, part in enumerate(item["summary"]):
        place = {"summary_index": index}
        yield {"type": "response.reasoning_summary_part.added", "part": {**part, "text": ""}, **place}
        for piece in cut(part["text"]):
            yield {"type": "response.reasoning_summary_text.delta", "delta": piece, **place}
        yield {"type": "response.reasoning_summary_text.done", "text": part["text"], **place}
        yield {"type": "response.reasoning_summary_part.done", "part": part, **place}
