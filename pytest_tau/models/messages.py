"""Messages of a conversation, in the JSON format of τ²-bench.

Unknown fields are dropped: other producers add audio, streaming and provider fields that grading never reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    model_validator,
)

from ..plain import json
from .json_values import not_json, writable

if TYPE_CHECKING:
    from collections.abc import Iterator

Requestor: TypeAlias = Literal["assistant", "user"]

#: Texts by which a user ends a conversation.
STOP_TOKENS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")


#: Made once, for the many arguments of calls that are shown.
_JSON = json.JSONEncoder(ensure_ascii=False)
#: Fields that a representation omits: facts about a model call.
_NOT_SHOWN = frozenset({"role", "cost", "usage", "raw_data", "generation_time_seconds"})
#: Fields that it has last.
_SHOWN_LAST = ("id", "turn_idx", "timestamp")


def _is_none(value: object) -> bool:
    """Return whether a field is not written: messages without what came later are stored as they always were."""
    return value is None


class _ShortRepr(BaseModel):
    """Base of what failed assertions show: a representation without the fields that have their default."""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield the fields that are shown, first those that say what was said or called."""
        fields, values = type(self).model_fields, dict(super().__repr_args__())
        names = [name for name in fields if name in values and name not in _NOT_SHOWN]
        for name in sorted(names, key=lambda name: name in _SHOWN_LAST):
            if values[name] != fields[name].get_default(call_default_factory=True):
                yield name, values[name]


class ToolCall(_ShortRepr):
    """A request to run one tool.

    Attributes:
        id: Links the call to its result; unique within a conversation.
        name: The tool's name.
        arguments: Keyword arguments, as decoded JSON.
        requestor: The side that makes the call.
        malformed: The text that was sent instead of a JSON object of arguments. The result of such a call is an error;
            it is never executed, and matches no reference action.
        problem: What the result of a malformed call says, instead of the default text; not stored.
    """

    model_config = ConfigDict(extra="ignore")

    id: str = ""
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    requestor: Requestor = "assistant"
    malformed: str | None = None
    problem: str | None = Field(default=None, exclude=True)

    @model_validator(mode="after")
    def _without_values_that_json_lacks(self) -> ToolCall:
        """Take arguments that cannot be stored as they are, such as NaN, for malformed ones."""
        if self.arguments and self.malformed is None and (problem := not_json(self.arguments)):
            self.malformed = writable(json.dumps(self.arguments, default=repr, skipkeys=True))
            self.problem = self.problem or f"arguments of '{self.name}' must be a JSON object: {problem}"
            self.arguments = {}
        return self


class _WithRole(_ShortRepr):
    """Base of everything that is recognised by its role."""

    def model_post_init(self, context: Any) -> None:
        """Count the role as set, also by default: a dump without unset fields can be read back."""
        self.__pydantic_fields_set__.add("role")


class _Message(_WithRole):
    model_config = ConfigDict(extra="ignore")

    turn_idx: int | None = None
    timestamp: str | None = None


class SystemMessage(_Message):
    """Instructions to a participant; not part of a trajectory."""

    role: Literal["system"] = "system"
    content: str | None = None


#: The agent's first message, unless the task has a message history. Source: τ²-bench v1.0.1.
GREETING = "Hi! How can I help you today?"

#: Why an answer of a model is incomplete, by the finish reason.
CUT_OFF = {"length": "cut off at the limit of its length", "content_filter": "cut off by a content filter"}


class _ParticipantMessage(_Message):
    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    cost: float | None = None
    usage: dict[str, Any] | None = None
    raw_data: dict[str, Any] | None = None
    generation_time_seconds: float | None = None
    finish_reason: str | None = None

    @property
    def cut_off(self) -> str | None:
        """The reason why the answer of the model was cut off; None if it was not."""
        return CUT_OFF.get(self.finish_reason or "")

    def is_tool_call(self) -> bool:
        """Return whether the message goes to the environment."""
        return bool(self.tool_calls)

    def has_text_content(self) -> bool:
        """Return whether the message has text for the other side."""
        return bool(self.content and self.content.strip())

    @property
    def text(self) -> str:
        """The message's text, empty if it has none."""
        return self.content or ""


class AssistantMessage(_ParticipantMessage):
    """A message of the agent: text or calls. ``cost`` is in USD, ``generation_time_seconds`` in seconds.

    ``finish_reason`` is why the model stopped: ``stop``, ``tool_calls``, ``length``, ``content_filter`` … ``actor`` is
    who speaks, if the agent consists of several; None if that is not known.
    """

    role: Literal["assistant"] = "assistant"
    actor: str | None = Field(default=None, exclude_if=_is_none)


#: How a scripted user has failed to understand the agent's text before a reply of its own.
Misunderstanding: TypeAlias = Literal["not understood", "yes or no to which", "gave up"]


class UserMessage(_ParticipantMessage):
    """A message of the user: text or calls.

    ``misunderstanding`` is set by the scripted user on each reply that shows that it has not understood the agent:
    ``not understood`` (it says so), ``yes or no to which`` (it answers a question for one of several things by yes or
    no), ``gave up`` (it ends the conversation as its patience is exhausted). None if it has understood, and for every
    other user. The agent never gets it.
    """

    role: Literal["user"] = "user"
    misunderstanding: Misunderstanding | None = Field(default=None, exclude_if=_is_none)

    @property
    def stop_token(self) -> str | None:
        """The token by which this message ends the conversation; None if it does not. A message with calls never does.

        Source: τ²-bench v1.0.1, user simulator.
        """
        if self.tool_calls:
            return None
        return next((token for token in STOP_TOKENS if token in self.text), None)


#: Faults that come before the tool, which is not executed.
_BEFORE_THE_TOOL = frozenset({"error", "timeout"})


class ToolMessage(_Message):
    """The result of one tool call, for the side that made it.

    ``fault`` is the kind of the fault that was put into the result on purpose: ``error``, ``timeout``, ``delay``,
    ``stale`` or ``partial``; None for none. Participants never get it.
    """

    role: Literal["tool"] = "tool"
    id: str = ""
    content: str | None = None
    requestor: Requestor = "assistant"
    error: bool = False
    fault: str | None = Field(default=None, exclude_if=_is_none)

    @property
    def executed(self) -> bool:
        """Return whether the tool was executed; a fault may have come before it."""
        return self.fault not in _BEFORE_THE_TOOL

    @property
    def tool_messages(self) -> list[ToolMessage]:
        """A list of this result, so that the results of one call and of several are read in the same way."""
        return [self]


class MultiToolMessage(_WithRole):
    """The results of a message with several calls, in the order of the calls; never part of a trajectory."""

    role: Literal["tool"] = "tool"
    tool_messages: list[ToolMessage]

    @property
    def content(self) -> str:
        """The texts of all results, one after the other."""
        return "\n".join(message.content or "" for message in self.tool_messages)


Message: TypeAlias = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]

_MESSAGES: TypeAdapter[list[Message]] = TypeAdapter(list[Message])


def parse_messages(messages: list[Any]) -> list[Message]:
    """Parse messages from models, JSON objects or a mix of both.

    Raises:
        pydantic.ValidationError: A message does not follow the format.
    """
    if all(isinstance(message, _Message) for message in messages):
        return messages
    plain = [m.model_dump() if isinstance(m, BaseModel) else m for m in messages]
    return _MESSAGES.validate_python([part for message in plain for part in _parts(message)])


def _parts(message: Any) -> list[Any]:
    """Return the results of a message with several of them, else the message."""
    parts = message.get("tool_messages") if isinstance(message, dict) else None
    return parts if isinstance(parts, list) else [message]


def call_as_text(name: str, arguments: dict[str, Any]) -> str:
    """Return a call as text for people: ``refuel_data(line_id='L1002', gb_amount=2.0)``."""
    inside = ", ".join([f"{key}={_JSON.encode(value)}" for key, value in arguments.items()])
    return f"{name}({inside})"
