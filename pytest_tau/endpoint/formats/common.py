"""What the wire formats share: requests, the refusal of what cannot be served, tool calls, and events of a stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping


#: Characters in one event of a stream: few, so that words and JSON are split, as models do.
_PIECE = 12
#: A fixed time, in seconds since 1970, so that the same conversation has the same answers, to the byte.
CREATED = 1_700_000_000
#: The type of the body of a stream.
EVENT_STREAM = "text/event-stream"
#: Keeps a connection open on which nothing is sent yet; clients ignore it.
COMMENT = b": the model has not answered yet\n\n"


class Tokens(NamedTuple):
    """The tokens of an answer; zeros if the provider does not count them, as the formats require numbers."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True)
class EndpointRequest:
    """A request of an agent to its model, in the terms of OpenAI's chat completions.

    Attributes:
        model: The model's name as the agent asks for it; ``tau`` is the model of the run.
        messages: The conversation in OpenAI chat format, oldest first, the system message among them.
        tools: The tools that the model may call, as OpenAI tool schemas.
        tool_choice: ``auto``, ``none``, ``required``, or the choice of one function; None if it is not given.
        response_format: A JSON schema that the answer must follow, as OpenAI's ``response_format``.
        args: The other arguments of the call: ``temperature``, ``max_completion_tokens`` … Never an address or a key.
    """

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: str | dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None
    args: dict[str, Any] = field(default_factory=dict)

    def as_chat(self) -> dict[str, Any]:
        """Return the request as the body of a chat completion."""
        body: dict[str, Any] = {"model": self.model, "messages": self.messages}
        optional = {"tools": self.tools, "tool_choice": self.tool_choice, "response_format": self.response_format}
        return body | {name: value for name, value in optional.items() if value} | self.args


class UnservableRequest(Exception):  # noqa: N818 - not a fault of this program, but an answer to its client
    """A request that is malformed, or asks for something that the endpoint cannot serve.

    Attributes:
        field: The dotted path of the field, such as ``messages[2].content[0]``; None for the request as a whole.
    """

    def __init__(self, problem: str, field: str | None = None) -> None:
        self.field = field
        super().__init__(f"{field}: {problem}" if field else problem)


#: Arguments of models that pass through unchanged, in every format. Others are refused: an argument that nothing
#: serves would be ignored without notice, and one that libraries take for an address or a key must not arrive there.
SAMPLING = frozenset(
    {
        *("temperature", "top_p", "top_k", "min_p", "seed", "stop", "frequency_penalty", "presence_penalty"),
        *("repetition_penalty", "logit_bias", "max_tokens", "max_completion_tokens", "parallel_tool_calls"),
        *("reasoning_effort", "verbosity", "thinking", "service_tier", "user", "safety_identifier"),
        *("prompt_cache_key", "prompt_cache_retention", "metadata", "store", "prediction", "chat_template_kwargs"),
    }
)


def refuse_unknown(body: Mapping[str, Any], known: Collection[str], unservable: Mapping[str, str]) -> None:
    """Refuse fields that are not served. A field that is null counts as not given.

    Args:
        body: The request.
        known: The fields that are served.
        unservable: Known fields that are not served, with the reason.

    Raises:
        UnservableRequest: There is such a field.
    """
    for name, value in body.items():
        if value is None or name in known:
            continue
        reason = unservable.get(name, "the endpoint does not know this field")
        raise UnservableRequest(f"{reason}; remove it from the request", name)


def model_name(body: Mapping[str, Any]) -> str:
    """Return the name of the model.

    Raises:
        UnservableRequest: It is missing.
    """
    name = body.get("model")
    if not isinstance(name, str) or not name:
        raise UnservableRequest("expected the name of a model", "model")
    return name


def list_of_objects(value: Any, where: str, *, empty: bool = True) -> list[dict[str, Any]]:
    """Return a list of JSON objects; null is an empty list.

    Raises:
        UnservableRequest: It is something else, or empty if it must not be.
    """
    objects = [] if value is None else value
    if not isinstance(objects, list) or not (objects or empty):
        raise UnservableRequest(f"expected a list of {'' if empty else 'at least one of '}objects", where)
    for place, element in enumerate(objects):
        if not isinstance(element, dict):
            raise UnservableRequest("expected an object", f"{where}[{place}]")
    return objects


def texts_of(content: Any, where: str, types: Collection[str]) -> list[str]:
    """Return the texts of a message's content: a text, or a list of parts of text.

    Raises:
        UnservableRequest: A part is an image, a sound, a file or anything else that is not text.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    texts = []
    for place, part in enumerate(list_of_objects(content, where)):
        if part.get("type") not in types:
            raise not_text(part, f"{where}[{place}]")
        text = part.get("refusal" if part["type"] == "refusal" else "text")
        if not isinstance(text, str):
            raise UnservableRequest("expected a text", f"{where}[{place}].text")
        texts.append(text)
    return texts


def not_text(part: Mapping[str, Any], where: str) -> UnservableRequest:
    """Return the refusal of a part of a message that is not text."""
    return UnservableRequest(f"{part.get('type')!r} is not supported: conversations consist of text", f"{where}.type")


def content_of(texts: list[str]) -> str | list[dict[str, Any]]:
    """Return the content of a chat message: a text, or parts if there are several."""
    if len(texts) == 1:
        return texts[0]
    return [{"type": "text", "text": text} for text in texts]


def function_tool(name: Any, where: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as an OpenAI tool schema, without fields that are null.

    Raises:
        UnservableRequest: It has no name.
    """
    if not isinstance(name, str) or not name:
        raise UnservableRequest("expected the name of a function", f"{where}.name")
    set_fields = {field: value for field, value in fields.items() if value is not None}
    return {"type": "function", "function": {"name": name, **set_fields}}


def tools_of(
    body: Mapping[str, Any], read_tool: Callable[[Mapping[str, Any], str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the tools of a request as OpenAI tool schemas.

    Args:
        body: The request.
        read_tool: From a tool, and the path of its field, to its schema.

    Raises:
        UnservableRequest: They are not a list of objects, or one of them cannot be served.
    """
    return [
        read_tool(tool, f"tools[{place}]") for place, tool in enumerate(list_of_objects(body.get("tools"), "tools"))
    ]


def tool_choice_of(choice: Any) -> str | dict[str, Any] | None:
    """Return the choice of tools of OpenAI's formats, whose two ways to name one function become one.

    Raises:
        UnservableRequest: It is something else.
    """
    if choice is None or (isinstance(choice, str) and choice in ("auto", "none", "required")):
        return choice
    if isinstance(choice, dict) and choice.get("type") == "function":
        return {"type": "function", "function": choice.get("function") or {"name": choice.get("name")}}
    raise UnservableRequest("expected auto, none, required, or one function", "tool_choice")


def hosted_tool(kind: Any, where: str) -> UnservableRequest:
    """Return the refusal of a tool that a provider would carry out."""
    if kind == "custom":
        return UnservableRequest("custom tools take free text: only function tools are supported", f"{where}.type")
    return UnservableRequest(
        f"{kind!r} is a hosted tool, which the provider would carry out: only function tools are supported",
        f"{where}.type",
    )


def fields_to_send_back(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an assistant's message other than its text and calls, such as its reasoning."""
    known_fields = ("role", "content", "tool_calls", "refusal", "function_call")
    return {name: value for name, value in message.items() if name not in known_fields and value is not None}


def calls_of(message: Mapping[str, Any], mark: str) -> list[tuple[str, str, str]]:
    """Return the id, name and arguments of each tool call of an assistant's message, also of a malformed one.

    Args:
        message: The message in OpenAI chat format.
        mark: Distinguishes the answer; part of ids that the model did not give.
    """
    triples = []
    calls: Iterable[Any] = message.get("tool_calls") or []
    for place, call in enumerate(calls):
        call = call if isinstance(call, dict) else {}  # noqa: PLW2901
        function: Any = call.get("function") if isinstance(call.get("function"), dict) else {}
        name, arguments = str(function.get("name") or ""), function.get("arguments")
        triples.append((str(call.get("id") or f"call_{mark}_{place}"), name, arguments_text(arguments)))
    return triples


def arguments_text(arguments: Any) -> str:
    """Return the arguments of a tool call as text: JSON unless they are a text already."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps({} if arguments is None else arguments)


def event(data: Any, name: str | None = None) -> bytes:
    """Return a server-sent event; data that is not a text is sent as JSON."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n").encode()


def cut(text: str) -> list[str]:
    """Return a text in the pieces in which it is streamed; none for an empty text."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
