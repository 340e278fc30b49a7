from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import enum
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from pytest_tau.errors import ParticipantError
from pytest_tau.models import AssistantMessage, ToolCall, UserMessage
from pytest_tau.participants import replies
from pytest_tau.participants.replies import as_message, read_stream

from .tiny import agent, call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class Theirs(BaseModel):
    """A message of another package, with fields of its own."""

    role: str = "assistant"
    content: str | None = None
    tool_calls: list[Any] | None = None
    audio: str = "…"


class TheirCall(BaseModel):
    id: str = "x"
    name: str = "f"
    arguments: dict[str, Any] = {"a": 1}
    requestor: str = "assistant"


class Answer(BaseModel):
    """A structured answer."""

    model_config = ConfigDict(populate_by_name=True)

    order: str = Field("#W1", alias="orderId")
    day: dt.date = dt.date(2026, 11, 22)


class Completion(BaseModel):
    choices: list[Any] = []


@dataclasses.dataclass
class Note:
    text: Any
    more: Any = None


@dataclasses.dataclass
class TheirRecord:
    """A message of another package that is a dataclass, with an object of the provider's."""

    role: Role
    content: Any = None
    tool_calls: Any = None
    raw: Any = dataclasses.field(default_factory=object)


class Role(enum.Enum):
    ASSISTANT = "assistant"


def made(name: str = "f", call_id: str = "", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


GOOD: list[tuple[str, Any, AssistantMessage]] = [
    ("text", "Hi", agent("Hi")),
    ("message", agent("Hi"), agent("Hi")),
    ("message-with-call", agent(call("f", a=1)), agent(call("f", a=1))),
    ("text-and-call", agent("Wait", call("f")), agent("Wait", call("f"))),
    ("no-role", {"role": None, "content": "Hi"}, agent("Hi")),
    ("foreign-message", Theirs(content="Hi"), agent("Hi")),
    ("foreign-call", Theirs(tool_calls=[TheirCall()]), agent(made(call_id="x", a=1))),
    ("dict", {"content": "Hi"}, agent("Hi")),
    ("openai", {"role": "assistant", "content": "Hi", "refusal": None, "tool_calls": None}, agent("Hi")),
    ("openai-no-calls", {"role": "assistant", "content": "Hi", "tool_calls": []}, agent("Hi")),
    ("content-parts", {"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]}, agent("Hi")),
    ("parts-of-other-types", {"content": [{"type": "image_url"}, 1, {"text": "Hi"}]}, agent("Hi")),
    ("langchain-parts", {"content": ["H", {"type": "text", "text": "i"}]}, agent("Hi")),
    (
        "reasoning-parts",
        {"content": [{"type": kind, "text": "42"} for kind in ("reasoning", "thinking")] + [{"text": "Hi"}]},
        agent("Hi"),
    ),
    (
        "call-in-both-places",
        {"content": ["W", {"type": "tool_use"}], "tool_calls": [{"name": "f"}]},
        agent("W", made()),
    ),
    ("openai-no-function-call", {"content": "Hi", "function_call": None}, agent("Hi")),
    (
        "openai-call",
        {
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
        },
        agent(made(call_id="c1", a=1)),
    ),
    ("arguments-as-object", {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, agent(made(a=1))),
    ("no-arguments", {"tool_calls": [{"name": "f"}]}, agent(made())),
    ("null-arguments", {"tool_calls": [{"name": "f", "arguments": None}]}, agent(made())),
    ("empty-arguments", {"tool_calls": [{"name": "f", "arguments": " "}]}, agent(made())),
    ("our-call", {"tool_calls": [call("f", a=1)]}, agent(call("f", a=1))),
    ("several-calls", {"tool_calls": [{"name": "f"}, {"name": "g"}]}, agent(None, made("f"), made("g"))),
    ("dict-of-its-own", {"answer": "é", "n": 1}, agent('{"answer":"é","n":1}')),
    ("model", Answer(), agent('{"order":"#W1","day":"2026-11-22"}')),
    ("dataclass", Note("Hi", [Answer()]), agent('{"text":"Hi","more":[{"order":"#W1","day":"2026-11-22"}]}')),
    ("foreign-record", TheirRecord(Role.ASSISTANT, "Hi"), agent("Hi")),
    ("foreign-record-with-call", TheirRecord(Role.ASSISTANT, None, [TheirCall()]), agent(made(call_id="x", a=1))),
    ("a-number-for-an-id", {"tool_calls": [{"id": 7, "name": "f"}]}, agent(made(call_id="7"))),
]


@pytest.mark.parametrize(("reply", "message"), [pytest.param(*row[1:], id=row[0]) for row in GOOD])
def test_good_replies(reply: Any, message: AssistantMessage) -> None:
    assert as_message(reply, "agent") == message


@pytest.mark.parametrize("side", ["agent", "user"])
@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system", "developer", Role.ASSISTANT])
def test_a_message_has_the_role_of_its_side(side: Any, role: Any) -> None:
    name = role.value if isinstance(role, Role) else role
    reply = {"role": role, "content": "call 555-0100"}
    expected = "assistant" if side == "agent" else "user"
    if name in ("assistant", expected):  # a user's model sees its own messages as the assistant's
        assert as_message(reply, side).role == expected
    else:
        problem = f"respond() returned a message of the role '{name}'; expected '{expected}'"
        with pytest.raises(ParticipantError, match=re.escape(problem)):
            as_message(reply, side)


def test_costs_come_along() -> None:
    reply = {
        "content": "Hi",
        "cost": 0.25,
        "usage": {"total_tokens": 7},
        "raw_data": {"x": 1},
        "generation_time_seconds": 1.5,
    }
    message = as_message(reply, "agent")
    assert (message.cost, message.usage, message.raw_data, message.generation_time_seconds) == (
        0.25,
        {"total_tokens": 7},
        {"x": 1},
        1.5,
    )


def test_a_user_s_replies_and_calls_are_the_user_s() -> None:
    assert as_message("Hi", "user") == UserMessage(content="Hi")
    (only,) = as_message({"tool_calls": [{"name": "f", "requestor": "assistant"}]}, "user").tool_calls or []
    assert only.requestor == "user"
    (only,) = as_message({"tool_calls": [{"name": "f", "requestor": "user"}]}, "agent").tool_calls or []
    assert only.requestor == "assistant"


@pytest.mark.parametrize(
    ("arguments", "malformed"),
    [
        ("{a: 1}", "{a: 1}"),
        ('{"a": 1', '{"a": 1'),
        ("[" * 100_000, "[" * 100_000),
        ("[1, 2]", "[1, 2]"),
        ('"text"', '"text"'),
        ("5", "5"),
        ([1, 2], "[1, 2]"),
        (5, "5"),
        (True, "true"),
        ('{"a": 1e999}', '{"a": 1e999}'),
        ('{"a": [NaN]}', '{"a": [NaN]}'),
        ({"a": float("-inf")}, '{"a": -Infinity}'),
    ],
    ids=lambda value: str(value)[:12],
)
def test_arguments_that_are_no_json_object_are_kept_for_an_error(arguments: Any, malformed: str) -> None:
    """They are no fault of the reply: the agent reads a tool error and may try again."""
    (only,) = as_message({"tool_calls": [{"id": "c", "name": "f", "arguments": arguments}]}, "agent").tool_calls or []
    assert only.model_dump() == ToolCall(id="c", name="f", arguments={}, malformed=malformed).model_dump()
    assert (only.problem is not None) is ('a":' in malformed and malformed.endswith("}"))


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            None,
            "returned None; expected text, a stream of text, AssistantMessage, a dict, a pydantic model or a ",
        ),
        (5, "returned int 5; expected"),
        (["Hi"], r"returned list \['Hi'\]; expected"),
        (b"Hi", "returned bytes"),
        (Answer, "returned ModelMetaclass"),
        (Note, r"returned type .*; expected text, .* or a dataclass"),
        ({"choices": []}, r"a whole completion; return its message: choices\[0\].message"),
        (Completion(), "a whole completion"),
        ({"messages": ["Hi"]}, "a whole conversation; return its last message"),
        ({"name": "f", "arguments": {}}, "a tool call outside of a message; return {'tool_calls'"),
        ({"type": "function", "function": {"name": "f"}}, "a tool call outside of a message"),
        ({"answer": object()}, "which cannot be written as JSON: .*; expected text"),
        (Note(object()), "which cannot be written as JSON"),
        ({"answer": b"\xff"}, "which cannot be written as JSON"),
        ("x" * 0, "empty reply: no text and no tool calls"),
        ("  \n", "empty reply"),
        ({}, "empty reply"),
        ({"content": None, "tool_calls": []}, "empty reply"),
        ({"content": []}, "empty reply"),
        (agent(None), "empty reply"),
        ({"content": 5}, "returned content int 5; expected a string"),
        ({"tool_calls": "f()"}, "returned tool_calls str 'f\\(\\)'; expected a list"),
        ({"tool_calls": {"name": "f"}}, "expected a list"),
        ({"tool_calls": ["f"]}, "returned tool call str 'f'; expected a name and arguments"),
        ({"tool_calls": [{"arguments": {}}]}, "expected a name and arguments"),
        ({"tool_calls": [{"name": None}]}, "expected a name and arguments"),
        ({"tool_calls": [{"function": "f"}]}, "expected a name and arguments"),
        ({"tool_calls": [None]}, "expected a name and arguments"),
        ({"tool_calls": [{"name": "f", "args": {"x": 1}}]}, "the key 'args' must be 'arguments'"),
        ({"tool_calls": [{"function": {"name": "f", "input": "{}"}}]}, "the key 'input' must be 'arguments'"),
        ({"content": "Hi", "cost": "much"}, "returned a bad cost"),
        ({"content": "Hi", "usage": 5}, "returned a bad usage"),
    ],
)
def test_invalid_reply_error_shows_the_expected_form(reply: Any, told: str) -> None:
    for side in ("agent", "user"):
        with pytest.raises(ParticipantError, match=told if side == "agent" else None) as caught:
            as_message(reply, side)  # type: ignore[arg-type]
        assert caught.value.side == side


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ({"content": [{"text": "Wait."}, {"type": "tool_use", "name": "f", "input": {}}]}, "of the type 'tool_use'"),
        ({"content": [{"type": "function_call", "name": "f"}]}, "of the type 'function_call'"),
        ({"content": "Wait.", "function_call": {"name": "f", "arguments": "{}"}}, "'function_call'"),
    ],
)
def test_a_call_in_another_format_is_not_lost(reply: Any, place: str) -> None:
    problem = f"{place}, where it would not be made; return {{'tool_calls': [...]}}"
    with pytest.raises(ParticipantError, match=re.escape(problem)):
        as_message(reply, "agent")


def test_what_is_shown_of_a_bad_reply_is_short() -> None:
    with pytest.raises(ParticipantError) as caught:
        as_message(list(range(1000)), "agent")
    assert len(str(caught.value)) < 200


def test_the_reply_itself_is_left_alone() -> None:
    reply = {"tool_calls": [{"function": {"name": "f", "arguments": '{"a": [1]}'}}]}
    as_message(reply, "agent")
    assert reply == {"tool_calls": [{"function": {"name": "f", "arguments": '{"a": [1]}'}}]}


def test_a_lone_surrogate_can_be_written_to_a_file() -> None:
    message = as_message({"content": "odd \ud800 text"}, "agent")
    assert (message.content or "").encode("utf-8")
    assert "odd" in (message.content or "")


# Streams


def in_pieces(*pieces: Any) -> Iterator[Any]:
    yield from pieces


async def slowly(*pieces: Any) -> AsyncIterator[Any]:
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


async def call_it(function: Any, *args: Any) -> Any:
    result = function(*args)
    return await result if asyncio.iscoroutine(result) else result


def read(reply: Any) -> Any:
    return asyncio.run(read_stream(reply, "agent", call_it))


@pytest.mark.parametrize("stream", [in_pieces, slowly, lambda *pieces: iter(pieces)])
def test_a_stream_of_text_is_joined(stream: Any) -> None:
    assert read(stream("Hel", "", "lo")) == "Hello"
    assert read(stream()) == ""


@pytest.mark.parametrize("stream", [in_pieces, slowly])
def test_a_stream_of_anything_else_is_an_error_and_is_closed(stream: Any) -> None:
    closed = []

    def closing() -> Iterator[Any]:
        try:
            yield from ("a", {"delta": "b"}, "c")
        finally:
            closed.append("sync")

    async def closing_async() -> AsyncIterator[Any]:
        try:
            for piece in ("a", {"delta": "b"}, "c"):
                yield piece
        finally:
            closed.append("async")

    with pytest.raises(ParticipantError, match=r"a stream with dict \{'delta': 'b'\}; expected pieces of text"):
        read(closing() if stream is in_pieces else closing_async())
    assert closed == ["sync" if stream is in_pieces else "async"]


@pytest.mark.parametrize("piece", ["", "x"])
def test_a_stream_that_does_not_end_is_cut_off(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "LONGEST_MESSAGE", 1000)

    async def endless() -> AsyncIterator[str]:
        while True:
            yield piece

    for stream in (iter(lambda: piece, None), endless()):
        with pytest.raises(ParticipantError, match="more than 1,000 characters"):
            read(stream)


@pytest.mark.parametrize("reply", ["Hi", {"content": "Hi"}, ["Hi"], Answer(), None, 5])
def test_other_replies_are_no_streams(reply: Any) -> None:
    assert read(reply) is reply
