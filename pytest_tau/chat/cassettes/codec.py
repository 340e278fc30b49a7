"""Recorded calls as JSON values, each without the messages that an earlier call of its role has already."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from ...models import json_copy
from ...plain import json
from ..requests import ChatReply, Role, public_arguments
from .json_stream import decode_multiline, encode_multiline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..requests import ChatRequest


class Unanswered(StrEnum):
    """Why a call has no answer; the values are those of the file.

    Attributes:
        CUT_OFF: The trial ended while the call was running.
        CANCELLED: Its caller cancelled it and went on without an answer.
    """

    CUT_OFF = "cut off"
    CANCELLED = "given up"


@dataclass(frozen=True)
class Json:
    """A JSON value with its canonical text. Values are equal if the texts are: 1, 1.0 and true are three."""

    text: str
    value: Any = field(compare=False)


@dataclass(frozen=True)
class NormalizedRequest:
    """A request in JSON values, without secrets and without the connection.

    Attributes:
        head: ``model``, ``args``, ``tool_choice`` and ``response_format``.
        tools: The list of tools.
        messages: Each message, oldest first.
    """

    head: Json
    tools: Json
    messages: tuple[Json, ...]

    @property
    def values(self) -> dict[str, Any]:
        """The whole request."""
        return {**self.head.value, "tools": self.tools.value, "messages": [message.value for message in self.messages]}


@dataclass(eq=False)
class Call:
    """A call of a model and its outcome: an answer, an error of the context window, or no answer.

    Attributes:
        number: Its place among the calls of the trial, by their starts.
        context_error: The model's error if the request was longer than its context window.
        unanswered: Why there is no answer.
    """

    number: int
    role: Role
    request: NormalizedRequest
    reply: ChatReply | None = None
    context_error: str | None = None
    unanswered: Unanswered | None = None

    @property
    def seconds(self) -> float | None:
        """The seconds that the answer took."""
        return self.reply.seconds if self.reply else None


def canonical(value: Any) -> str:
    """Return the text of a JSON value by which values are compared; the order of keys does not matter."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


class RequestInterner:
    """Normalizes requests; a message is kept in memory once, however many requests repeat it."""

    def __init__(self) -> None:
        self._known: dict[str, Json] = {}

    def normalize(self, request: ChatRequest) -> NormalizedRequest:
        """Return the request as it is compared and recorded.

        Raises:
            ValueError: A part of it is not valid JSON; the text names the part.
        """
        head = {
            "model": request.model,
            "args": request.public_args,
            "tool_choice": request.tool_choice,
            "response_format": request.response_format,
        }
        messages = [self.intern(message, f"messages[{place}]") for place, message in enumerate(request.messages)]
        tools = self.intern(request.tools, "the tools")
        return NormalizedRequest(self.intern(head, "the arguments"), tools, tuple(messages))

    def intern(self, value: Any, where: str) -> Json:
        """Return the one instance of a JSON value.

        Raises:
            ValueError: It is not valid JSON; the text begins with ``where``.
        """
        try:
            text = canonical(value)
            if text not in self._known:
                json_copy(value)  # raises beyond the bounds that every reader in this package keeps
                # A copy: participants may change what they sent.
                self._known[text] = Json(text, json.loads(json.dumps(value)))
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"{where}: {error}") from error
        return self._known[text]


class ReplyValue(BaseModel):
    """A reply in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: dict[str, Any]
    usage: dict[str, Any] | None
    cost: float | None
    finish_reason: str | None
    model: str | None


class CallValue(BaseModel):
    """A call in the file; ``docs/cassettes.md`` says what the fields mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    call: int
    role: Role
    model: str
    args: dict[str, Any]
    tool_choice: str | None = None
    response_format: dict[str, Any] | None = None
    of: int | None = None
    kept: int = Field(default=0, ge=0)
    dropped: int = Field(default=0, ge=0)
    context_error: InstanceOf[str] | None = Field(default=None, alias="too_long")
    unanswered: Unanswered | None = None
    seconds: float | None = None
    tools: list[dict[str, Any]] | None = None
    messages: list[dict[str, Any]]
    reply: ReplyValue | None = None


class Codec:
    """Encodes calls as values and decodes them. It depends on the calls before, so each file has its own codec."""

    def __init__(self) -> None:
        self._values = RequestInterner()
        self._earlier: dict[Role, list[Call]] = {}

    def encode(self, call: Call) -> dict[str, Any]:
        """Return the next call as a value, its fields in the file's order."""
        earlier = self._earlier.setdefault(call.role, [])
        source, kept, dropped = _shared(earlier, call.request.messages)
        new = call.request.messages[len(source.request.messages) - dropped if dropped and source else kept :]
        fields = {
            "call": call.number,
            "role": call.role,
            **{name: value for name, value in call.request.head.value.items() if value is not None},
            "of": source.number if source and source is not earlier[-1] else None,
            "kept": kept or None,
            "dropped": dropped or None,
            "too_long": call.context_error,
            "unanswered": call.unanswered and call.unanswered.value,
            "tools": None if call.request.tools.text == _tools_before(earlier).text else call.request.tools.value,
            "messages": [encode_multiline(message.value) for message in new],
            "reply": _reply_value(call.reply),
        }
        earlier.append(call)
        return {name: value for name, value in fields.items() if value is not None}

    def decode(self, value: CallValue) -> Call:
        """Return the call that the next value encodes.

        Raises:
            ValueError: It refers to an earlier call that does not exist, or has no outcome.
        """
        if [value.reply, value.context_error, value.unanswered].count(None) != 2:
            raise ValueError("expected one of reply, too_long, unanswered")
        earlier = self._earlier.setdefault(value.role, [])
        new = [self._values.intern(decode_multiline(message), "messages") for message in value.messages]
        head = {name: getattr(value, name) for name in ("model", "args", "tool_choice", "response_format")}
        head["args"] = public_arguments(value.args)  # older recordings have more
        tools = _tools_before(earlier) if value.tools is None else self._values.intern(value.tools, "tools")
        messages = (*_repeated(earlier, value), *new)
        request = NormalizedRequest(self._values.intern(head, "head"), tools, messages)
        reply = None
        if value.reply is not None:
            fields = value.reply.model_dump() | {"message": decode_multiline(value.reply.message)}
            reply = ChatReply.model_validate(fields | {"seconds": value.seconds or 0.0})
        call = Call(value.call, value.role, request, reply, value.context_error, value.unanswered)
        earlier.append(call)
        return call


_NO_TOOLS = Json("[]", [])


def _tools_before(earlier: Sequence[Call]) -> Json:
    return earlier[-1].request.tools if earlier else _NO_TOOLS


def _shared(earlier: Sequence[Call], messages: tuple[Json, ...]) -> tuple[Call | None, int, int]:
    """Find the earlier call that has most of the messages.

    Returns:
        The call; how many of its first messages are shared; how many are dropped after those, all of its rest being
        shared again. Without a shared message the call is None.
    """
    source, kept = None, 0
    for call in reversed(earlier):
        theirs = call.request.messages
        same = next((i for i, (a, b) in enumerate(zip(theirs, messages, strict=False)) if a != b), None)
        same = min(len(theirs), len(messages)) if same is None else same
        if source is None or same > kept:
            source, kept = call, same
        if same == len(theirs):
            break
    if source is None:
        return None, 0, 0
    theirs = source.request.messages
    for dropped in range(1, len(theirs) - kept):  # a context window that has moved on
        rest = theirs[kept + dropped :]
        if messages[kept : kept + len(rest)] == rest:
            return source, kept, dropped
    return (source, kept, 0) if kept else (None, 0, 0)


def _repeated(earlier: Sequence[Call], value: CallValue) -> tuple[Json, ...]:
    if not value.kept and not value.dropped:
        return ()
    sources = [call for call in earlier if value.of in (None, call.number)]
    if not sources:
        raise ValueError(f"keeps messages of call {value.of}, which is not an earlier call of its role")
    theirs, past = sources[-1].request.messages, value.kept + value.dropped
    if past > len(theirs):
        raise ValueError(f"keeps or drops {past} messages of call {sources[-1].number}, which has {len(theirs)}")
    return theirs[: value.kept] + (theirs[past:] if value.dropped else ())


def _reply_value(reply: ChatReply | None) -> dict[str, Any] | None:
    if reply is None:
        return None
    fields = reply.model_dump(exclude={"seconds"})
    return fields | {"message": encode_multiline(reply.message)}
