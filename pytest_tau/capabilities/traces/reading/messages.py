"""Messages as model providers, frameworks and conventions write them, in one form.

A message is recognised by its shape, not by who wrote it: products store what the provider or the framework had.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ....documents import DocumentError, parse_json, parse_literal
from ....plain import json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Roles under all names.
ROLES: Final = {
    **dict.fromkeys(("system", "developer", "systemmessage"), "system"),
    **dict.fromkeys(("user", "human", "humanmessage"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "aimessage", "aimessagechunk", "agent", "tool-call"), "assistant"),
    **dict.fromkeys(("tool", "function", "toolmessage", "tool-response", "functionmessage"), "tool"),
}
#: Parts of a message by their type: a text, a call, a result, or something that is not said.
PARTS: Final = {
    **dict.fromkeys(("text", "input_text", "output_text", "refusal", "user-prompt", "system-prompt"), "text"),
    **dict.fromkeys(
        ("tool_call", "tool_use", "function_call", "functionCall", "tool-call", "toolUse", "custom_tool_call"), "call"
    ),
    **dict.fromkeys(
        ("tool_call_response", "tool_result", "function_call_output", "functionResponse", "function_response"), "result"
    ),
    **dict.fromkeys(("tool-result", "tool-return", "toolResult", "custom_tool_call_output", "retry-prompt"), "result"),
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "reasoningContent", "cachePoint"), "none"),
    **dict.fromkeys(("server_tool_call", "server_tool_call_response", "server_tool_use", "web_search_call"), "none"),
    "compaction": "compaction",
}
#: The members of a part without a type, at the most, and those of which an object is around messages, and no part.
_MOST_OF_PART: Final = 2
_INSIDE: Final = ("message", "messages", "toolCalls", "tool_calls", "choices", "candidates", "generations", "kwargs")
#: The role of parts that have one of their own.
_PART_ROLES: Final = {"system-prompt": "system", "user-prompt": "user"}
#: Where parts have the id of their call, the name of the tool, arguments, results.
_CALL_IDS: Final = ("tool_call_id", "call_id", "tool_use_id", "toolCallId", "toolUseId", "id")
_NAMES: Final = ("name", "tool_name", "toolName")
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters")
_RESULTS: Final = ("response", "result", "output", "content")
#: Where objects have instructions, and messages, in the order in which they are looked for.
_SYSTEM: Final = ("system", "instructions", "system_instruction", "systemInstruction", "system_instructions")
_WRAPPERS: Final = (
    *("messages", "message", "choices", "generations", "candidates", "contents", "update", "output", "input"),
    *("prompt", "response", "outputs", "inputs", "task", "question", "query", "user_input", "content", "text"),
    "answer",
)
#: What frameworks write around the output of a tool.
_AROUND_OUTPUT: Final = {"output", "kwargs", "tags", "metadata", "run_id", "parent_run_id", "name"}
#: Texts that stand for one that was taken out.
REDACTED: Final = ("__REDACTED__", "[REDACTED]", "<REDACTED>")
#: A text of one of these lengths that ends in an ellipsis was cut.
_ROUND: Final = {size + extra for size in (256, 500, 512, 1000, 1024, 2000, 2048, 4096, 8192) for extra in (0, 1, 3)}
#: How smolagents writes calls, results and tasks as texts, and its tool that ends a turn.
_CALLING, _OBSERVED, _TASK, _FINAL = "Calling tools:\n", "Observation:\n", "New task:\n", "final_answer"


@dataclass(slots=True)
class Call:
    """A tool call; ``malformed`` is the text that was sent instead of an object of arguments."""

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    malformed: str | None = None


@dataclass(slots=True)
class Said:
    """A message.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        text: The text; None for none.
        calls: The tool calls.
        call_id: The call that it is the result of.
        name: The name of the tool, or of the agent.
        error: The result is an error.
        missing: What is known to be missing: ``hidden``, ``redacted``, ``cut``, ``compaction``, or the type of a part.
        span: The span that has made it; empty if it is known from a history only.
        time: When it was made, in nanoseconds; 0 if that is not known.
        by_user: It is the result of a call of the user.
    """

    role: str
    text: str | None = None
    calls: list[Call] = field(default_factory=list)
    call_id: str = ""
    name: str = ""
    error: bool = False
    missing: str = ""
    span: str = ""
    time: int = 0
    by_user: bool = False


def read_messages(value: Any, role: str = "user") -> list[Said]:
    """Return the messages of a value, whatever its form; none if there are none in it.

    Args:
        value: JSON, or a text with JSON.
        role: The role of a text.
    """
    value = decoded(value)
    if isinstance(value, str):
        return [Said(role, value, missing=_flaw(value))] if value else []
    if isinstance(value, list):
        if _are_parts(value):
            return _of_parts(role, value)
        return joined(message for element in value for message in read_messages(element, role))
    return _of_object(value, role) if isinstance(value, dict) else []


def alternatives(value: Any, *, several: bool) -> list[list[Said]]:
    """Return the answers of a model: one, or each of several that it was asked for."""
    response = decoded(value)
    choices = response.get("choices") if isinstance(response, dict) else response
    if isinstance(choices, list) and len(choices) > 1 and (several or choices is not response):
        return [answer for choice in choices if (answer := read_messages(choice, "assistant"))]
    answer = read_messages(response, "assistant")
    return [answer] if answer else []


def decoded(value: Any) -> Any:
    """Return the value of a text that is a JSON object or array, else the value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return parse_json(value, strict=False)
        except DocumentError:
            return value
    return value


def is_cut(value: Any) -> bool:
    """Return whether a value that was decoded is a text that begins like JSON: a limit on its length has cut it."""
    return isinstance(value, str) and value[:2] in ("[{", '{"') and isinstance(decoded(value), str)


def joined(messages: Iterable[Said]) -> list[Said]:
    """Return messages with the parts of one answer in one message: APIs give its text and each call as an item."""
    merged: list[Said] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last and last.role == message.role == "assistant" and message.calls and (last.calls or not message.text):
            last.text = "\n".join(filter(None, (last.text, message.text))) or last.text
            last.calls += message.calls
        else:
            merged.append(message)
    return merged


def arguments_of(value: Any) -> tuple[dict[str, Any], str | None]:
    """Return arguments as an object, or the text that was sent instead of one."""
    arguments = decoded(value)
    if isinstance(arguments, dict):
        return arguments, None
    return ({}, None) if arguments in (None, "", []) else ({}, text_of(arguments))


def text_of(value: Any) -> str | None:
    """Return a result as a text: what a model reads of it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict) and value.get("type") == "text" and isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value):
        return "\n".join(str(part["text"]) for part in value)
    return json.dumps(value, ensure_ascii=False)


def unwrapped(value: Any) -> tuple[Any, str, bool]:
    """Return the result in the output of a tool's span, the id of its call if it says so, and whether it is an error.

    Frameworks write the message that they make of the result.
    """
    output = decoded(value)
    if isinstance(output, dict):
        if "output" in output and output.keys() <= _AROUND_OUTPUT:
            return unwrapped(output["output"])
        inner = output.get("data") if isinstance(output.get("data"), dict) else output.get("kwargs")
        message = {**output, **inner} if isinstance(inner, dict) else output
        if "tool_call_id" in message and "content" in message:
            return message["content"], str(message["tool_call_id"] or ""), message.get("status") == "error"
    return value, "", False


def _of_object(value: Mapping[str, Any], role: str) -> list[Said]:
    inner = next((value[key] for key in ("kwargs", "data") if isinstance(value.get(key), dict)), None)
    if inner is not None and (value.get("lc") or str(value.get("type")).lower() in ROLES):
        path = value.get("id")
        type_name = path[-1] if value.get("lc") and isinstance(path, list) and path else value.get("type")
        return _message({**inner, "type": type_name})
    if isinstance(value.get("parts"), list) and value.get("kind") in ("request", "response"):
        return _of_parts("assistant" if value["kind"] == "response" else "user", value["parts"])
    if _role_of(value):
        return _message(value)
    if value.get("toolCalls") or value.get("tool_calls"):
        return _message({"role": role, "content": value.get("text"), **value})
    return _of_parts(role, [value]) if _are_parts([value]) else _of_members(value, role)


def _of_members(value: Mapping[str, Any], role: str) -> list[Said]:
    """Return the messages in a request or an answer: its instructions, and those of the first member that has some."""
    system = [message for key in _SYSTEM if value.get(key) for message in read_messages(value[key], "system")][:1]
    for key in _WRAPPERS:
        if value.get(key) and (messages := read_messages(value[key], role)):
            return [*system, *messages]
    positional = value.get("args")
    return system + (read_messages(positional[0], role) if isinstance(positional, list) and positional else [])


def _role_of(value: Any) -> str:
    """Return the role that a message says it has; empty for other objects."""
    if not isinstance(value, dict):
        return ""
    event = str(value.get("event.name") or "")
    role_name = value.get("role") or (event.split(".")[1] if event.startswith("gen_ai.") else None)
    if role_name is None and value.get("type") in ("human", "ai", "tool", "system", "function") and "content" in value:
        role_name = value["type"]
    if not isinstance(role_name, str) or not role_name:
        return ""
    return ROLES.get(role_name.lower().rpartition(".")[2], "user")


def _message(value: Mapping[str, Any]) -> list[Said]:
    role = _role_of(value) or ROLES.get(str(value.get("type")).lower(), "user")
    inner = value.get("message")
    if isinstance(inner, dict) and "content" not in value:
        return read_messages({"role": role, **inner}, role)
    content = next((value[key] for key in ("content", "parts", "contents") if value.get(key) is not None), None)
    if isinstance(content, str) and content.startswith("[{"):
        parts = decoded(content)
        kinds = [_part_kind(part) for part in parts] if isinstance(parts, list) else [""]
        content = parts if all(kinds) and (role != "tool" or "result" in kinds) else content
    if role == "tool" and not (isinstance(content, list) and any(_part_kind(part) == "result" for part in content)):
        return [_result(value, content)]
    if isinstance(content, dict):
        content = [content]
    extra = value["additional_kwargs"] if isinstance(value.get("additional_kwargs"), dict) else {}
    calls: Any = next(
        (
            tool_calls
            for tool_calls in (value.get("tool_calls"), value.get("toolCalls"), extra.get("tool_calls"))
            if tool_calls
        ),
        [],
    )
    calls = decoded(calls)
    legacy = value.get("function_call") or extra.get("function_call")
    if "function_call_name" in value:
        legacy = {"name": value["function_call_name"], "arguments": value.get("function_call_arguments_json")}
    calls = [*(calls if isinstance(calls, list) else []), *([legacy] if isinstance(legacy, dict) else [])]
    parts = [*(content if isinstance(content, list) else [{"type": "text", "text": content}] if content else [])]
    parts += [{**_call_fields(call), "type": "tool_call"} for call in calls]
    messages = _of_parts(role, parts) or [Said(role)]
    for message in messages:
        message.name = message.name or str(value.get("name") or "")
    return [_plain(message, str(value.get("role") or "").lower().rpartition(".")[2]) for message in messages]


def _call_fields(value: Any) -> dict[str, Any]:
    fields = value.get("tool_call", value) if isinstance(value, dict) else {}
    inner = fields.get("function")
    return {**fields, **inner, "id": fields.get("id")} if isinstance(inner, dict) else {**fields}


def _are_parts(values: list[Any]) -> bool:
    kinds = [_part_kind(value) for value in values]
    return all(kinds) and any(kind != "other" for kind in kinds) and not any(map(_role_of, values))


def _part_kind(part: Any) -> str:
    """Return what a part of a message is; empty if it is not one."""
    return _typed(part)[0] if isinstance(part, dict) else ""


def _typed(part: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any]]:
    """Return the kind of a part, its type, and the object with its fields."""
    part = part["message_content"] if isinstance(part.get("message_content"), dict) else part
    type_name = part.get("type") or part.get("part_kind")
    if isinstance(type_name, str) and type_name:
        kind = PARTS.get(type_name) or (
            "" if type_name in ("message", "function") or type_name.lower() in ROLES else "other"
        )
        return kind, type_name, part
    keys = [key for key, value in part.items() if key in PARTS and isinstance(value, dict | str)]
    if not keys or len(part) > _MOST_OF_PART or any(isinstance(part.get(key), dict | list) for key in _INSIDE):
        return "", "", part
    key = max(keys, key=lambda name: PARTS[name] != "text")  # a call counts before a text, which is empty then
    value = part[key]
    return PARTS[key], key, value if isinstance(value, dict) else {"text": value}


def _of_parts(role: str, parts: Iterable[Any]) -> list[Said]:
    """Return the messages that the parts of one are: results are messages of their own, and come first."""
    results: list[Said] = []
    others: dict[str, Said] = {}
    for part in parts:
        kind, type_name, fields = _typed(part) if isinstance(part, dict) else ("text", "text", {"text": part})
        if kind == "none":
            continue
        if kind == "result" and (type_name != "retry-prompt" or fields.get("tool_name")):
            results.append(_result(fields, _first(fields, _RESULTS)))
            continue
        message = others.setdefault(_PART_ROLES.get(type_name, role), Said(_PART_ROLES.get(type_name, role)))
        if kind == "call":
            call = _call(fields)
            # LangChain has the calls of some providers twice: as parts, and in a list of its own.
            message.calls += [] if call.id and any(other.id == call.id for other in message.calls) else [call]
            message.role = message.role if fields.get("requestor") == "user" else "assistant"
        elif kind in ("text", "result"):
            _add_text(message, _first(fields, ("content", "text", "refusal")))
        elif kind == "compaction":
            _add_text(message, fields.get("content"))
            message.missing = "compaction"
        elif isinstance(transcript := fields.get("transcript"), str):
            _add_text(message, transcript)
        else:
            message.missing = message.missing or f"part {type_name or 'without a type'}"
    return [*results, *others.values()]


def _add_text(message: Said, text: Any) -> None:
    if text is None:
        message.missing = message.missing or "hidden"
        return
    added = text if isinstance(text, str) else text_of(text) or ""
    message.text = added if message.text is None else f"{message.text}\n{added}"
    message.missing = message.missing or _flaw(added)


def _flaw(text: str) -> str:
    if any(mark in text for mark in REDACTED):
        return "redacted"
    return "cut" if len(text) in _ROUND and text.endswith(("…", "...")) else ""


def _call(fields: Mapping[str, Any]) -> Call:
    fields = _call_fields(fields)
    arguments, malformed = arguments_of(_first(fields, _ARGUMENTS))
    call_id = next(
        (fields[key] for key in ("toolCallId", "toolUseId", "call_id", "tool_call_id", "id") if key in fields), ""
    )
    return Call(str(call_id or ""), str(_first(fields, _NAMES) or ""), arguments, malformed)


def _result(fields: Mapping[str, Any], value: Any) -> Said:
    text = text_of(value)
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        if all("json" in part for part in value):
            text = "\n".join(text_of(part["json"]) or "" for part in value)
        elif all(_part_kind(part) == "text" for part in value):
            text = next((part.text for part in _of_parts("tool", value)), None)
    failed = bool(fields.get("is_error") or fields.get("isError")) or fields.get("status") == "error"
    message = Said("tool", text, call_id=str(_first(fields, _CALL_IDS) or ""), name=str(_first(fields, _NAMES) or ""))
    message.error = failed or is_error_text(text)
    message.missing = "hidden" if text is None else _flaw(text)
    return _plain(message, str(fields.get("role") or ""))


def is_error_text(text: str | None) -> bool:
    """Return whether a result says that it is an error."""
    return (text or "").lstrip().startswith("Error")


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _plain(message: Said, role: str) -> Said:
    """Return a message of smolagents without the words that it writes around calls and results."""
    text = message.text or ""
    if role == "tool-call" and text.startswith(_CALLING):
        try:
            calls = parse_literal(text.removeprefix(_CALLING))
        except DocumentError:
            return message
        message.calls = [_call(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        message.text = None
    elif role == "tool-response":
        message.text = text.removeprefix(_OBSERVED)
        message.error = is_error_text(message.text)
        message.call_id = message.name = ""
    return message


def without_framework(messages: list[Said]) -> list[Said]:
    """Return messages of smolagents as the agent and the user have written them.

    A turn ends with a call of ``final_answer``, whose argument is the answer; its result repeats it. The results of
    several calls are one text, which nothing can divide: those of the tools' spans are taken.
    """
    written: list[Said] = []
    for message in messages:
        if message.role == "user":
            message.text = (message.text or "").removeprefix(_TASK)
        final = next((call for call in message.calls if call.name == _FINAL), None)
        if final is not None:
            written.append(Said("assistant", text_of(final.arguments.get("answer")), name=message.name))
        elif message.role != "tool" or not written or written[-1].role != "assistant" or len(written[-1].calls) == 1:
            written.append(message)
    return written
