"""Recorded calls as JSON values, each without what an earlier call of its role says already."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from ..models import json_copy
from .json_stream import packed, unpacked
from .requests import ChatReply, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .requests import ChatRequest

#: Why a call has no answer: the conversation ended over it, or whoever asked went on without.
Unanswered: TypeAlias = Literal["cut off", "given up"]


@dataclass(frozen=True)
class Json:
    """A JSON value with its canonical text. Values are equal where the texts are: 1, 1.0 and true are three."""

    text: str
    value: Any = field(compare=False)


@dataclass(frozen=True)
class Asked:
    """A request in JSON values, without what must not be written down.

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
        """All of it."""
        return {**self.head.value, "tools": self.tools.value, "messages": [message.value for message in self.messages]}


@dataclass(eq=False)
class Call:
    """A call of a model and what came of it: an answer, or one of the two other outcomes.

    Attributes:
        number: Its place among the calls of the trial, by their starts.
        too_long: What the model said where it was sent more than it can read.
        unanswered: Why there is no answer.
    """

    number: int
    role: Role
    asked: Asked
    reply: ChatReply | None = None
    too_long: str | None = None
    unanswered: Unanswered | None = None

    @property
    def seconds(self) -> float | None:
        """How long the answer took."""
        return self.reply.seconds if self.reply else None


def canonical(value: Any) -> str:
    """The text that tells a JSON value from others, whatever the order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


class Values:
    """Makes JSON values of requests: a message is held once, however many requests repeat it."""

    def __init__(self) -> None:
        self._known: dict[str, Json] = {}

    def asked(self, request: ChatRequest) -> Asked:
        """The request as it is compared and written down.

        Raises:
            ValueError: Something in it is no JSON; the text says where.
        """
        head = {
            "model": request.model,
            "args": request.public_args,
            "tool_choice": request.tool_choice,
            "response_format": request.response_format,
        }
        messages = [self.of(message, f"messages[{place}]") for place, message in enumerate(request.messages)]
        return Asked(self.of(head, "the arguments"), self.of(request.tools, "the tools"), tuple(messages))

    def of(self, value: Any, where: str) -> Json:
        """One value.

        Raises:
            ValueError: It is no JSON.
        """
        try:
            text = canonical(value)
            if text not in self._known:
                json_copy(value)  # the bounds that every reader of ours keeps
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
    too_long: InstanceOf[str] | None = None
    unanswered: Unanswered | None = None
    seconds: float | None = None
    tools: list[dict[str, Any]] | None = None
    messages: list[dict[str, Any]]
    reply: ReplyValue | None = None


class Codec:
    """Turns calls into values and back. It remembers the calls before, so that each file has one of its own."""

    def __init__(self) -> None:
        self._values = Values()
        self._earlier: dict[Role, list[Call]] = {}

    def encode(self, call: Call) -> dict[str, Any]:
        """The next call as a value, its fields in the file's order."""
        earlier = self._earlier.setdefault(call.role, [])
        source, kept, dropped = _shared(earlier, call.asked.messages)
        new = call.asked.messages[len(source.asked.messages) - dropped if dropped and source else kept :]
        fields = {
            "call": call.number,
            "role": call.role,
            **{name: value for name, value in call.asked.head.value.items() if value is not None},
            "of": source.number if source and source is not earlier[-1] else None,
            "kept": kept or None,
            "dropped": dropped or None,
            "too_long": call.too_long,
            "unanswered": call.unanswered,
            "tools": None if call.asked.tools.text == _tools_before(earlier).text else call.asked.tools.value,
            "messages": [packed(message.value) for message in new],
            "reply": _reply_value(call.reply),
        }
        earlier.append(call)
        return {name: value for name, value in fields.items() if value is not None}

    def decode(self, value: CallValue) -> Call:
        """The call that the next value means.

        Raises:
            ValueError: It refers to what there is not, or has no outcome.
        """
        if [value.reply, value.too_long, value.unanswered].count(None) != 2:
            raise ValueError("has not one of reply, too_long, unanswered")
        earlier = self._earlier.setdefault(value.role, [])
        new = [self._values.of(unpacked(message), "messages") for message in value.messages]
        head = {name: getattr(value, name) for name in ("model", "args", "tool_choice", "response_format")}
        tools = _tools_before(earlier) if value.tools is None else self._values.of(value.tools, "tools")
        asked = Asked(self._values.of(head, "head"), tools, (*_old(earlier, value), *new))
        reply = None
        if value.reply is not None:
            fields = value.reply.model_dump() | {"message": unpacked(value.reply.message)}
            reply = ChatReply.model_validate(fields | {"seconds": value.seconds or 0.0})
        call = Call(value.call, value.role, asked, reply, value.too_long, value.unanswered)
        earlier.append(call)
        return call


_NO_TOOLS = Json("[]", [])


def _tools_before(earlier: Sequence[Call]) -> Json:
    return earlier[-1].asked.tools if earlier else _NO_TOOLS


def _shared(earlier: Sequence[Call], messages: tuple[Json, ...]) -> tuple[Call | None, int, int]:
    """Which earlier call says most of the messages: so many from the first, and all of its rest after so many more."""
    source, kept = None, 0
    for call in reversed(earlier):
        theirs = call.asked.messages
        same = next((i for i, (a, b) in enumerate(zip(theirs, messages, strict=False)) if a != b), None)
        same = min(len(theirs), len(messages)) if same is None else same
        if source is None or same > kept:
            source, kept = call, same
        if same == len(theirs):
            break
    if source is None:
        return None, 0, 0
    theirs = source.asked.messages
    for dropped in range(1, len(theirs) - kept):  # a window that has slid on
        rest = theirs[kept + dropped :]
        if messages[kept : kept + len(rest)] == rest:
            return source, kept, dropped
    return (source, kept, 0) if kept else (None, 0, 0)


def _old(earlier: Sequence[Call], value: CallValue) -> tuple[Json, ...]:
    if not value.kept and not value.dropped:
        return ()
    sources = [call for call in earlier if value.of in (None, call.number)]
    if not sources:
        raise ValueError(f"keeps messages of call {value.of}, which is no earlier one of its role")
    theirs, past = sources[-1].asked.messages, value.kept + value.dropped
    if past > len(theirs):
        raise ValueError(f"keeps or drops {past} messages of call {sources[-1].number}, which has {len(theirs)}")
    return theirs[: value.kept] + (theirs[past:] if value.dropped else ())


def _reply_value(reply: ChatReply | None) -> dict[str, Any] | None:
    if reply is None:
        return None
    fields = reply.model_dump(exclude={"seconds"})
    return fields | {"message": packed(reply.message)}
