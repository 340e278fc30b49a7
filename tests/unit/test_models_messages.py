from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from pytest_tau.models import (
    AssistantMessage,
    MultiToolMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    call_as_text,
    parse_messages,
    writable,
)

from .tiny import call, user


@pytest.mark.parametrize("token", ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"])
def test_a_user_ends_it_with_a_token_anywhere_in_a_text(token: str) -> None:
    assert user(token).stop_token == token
    assert user(f"Thanks, bye. {token}\n").stop_token == token
    assert user(token.lower()).stop_token is None


def test_the_first_kind_of_token_is_kept() -> None:
    assert user("###TRANSFER### ###STOP###").stop_token == "###STOP###"


def test_a_message_with_calls_never_ends_it() -> None:
    assert user("###STOP###", call("switch")).stop_token is None


@pytest.mark.parametrize("text", [None, "", "STOP", "## #STOP###", "stop"])
def test_texts_that_do_not_end_it(text: str | None) -> None:
    assert UserMessage(content=text).stop_token is None


@pytest.mark.parametrize(
    ("message", "calls", "speaks", "text"),
    [
        (AssistantMessage(content="Hello"), False, True, "Hello"),
        (AssistantMessage(content="  \n"), False, False, "  \n"),
        (AssistantMessage(), False, False, ""),
        (AssistantMessage(tool_calls=[]), False, False, ""),
        (AssistantMessage(tool_calls=[ToolCall(name="x")]), True, False, ""),
        (AssistantMessage(content="Wait", tool_calls=[ToolCall(name="x")]), True, True, "Wait"),
    ],
)
def test_text_and_calls(message: AssistantMessage, calls: bool, speaks: bool, text: str) -> None:
    assert (message.is_tool_call(), message.has_text_content(), message.text) == (calls, speaks, text)


def test_message_type_follows_the_role_and_unknown_fields_are_dropped() -> None:
    parsed = parse_messages(
        [
            {"role": "system", "content": "rules", "turn_idx": 0},
            {"role": "assistant", "content": "Hi", "audio": "…", "cost": 0.5},
            {"role": "user", "content": "Bye", "timestamp": "2025-01-01"},
            {"role": "user", "tool_calls": [{"id": "1", "name": "x", "requestor": "user", "extra": 1}]},
            {"role": "tool", "id": "1", "content": "done", "requestor": "user", "error": True},
        ]
    )
    assert [type(message) for message in parsed] == [
        SystemMessage,
        AssistantMessage,
        UserMessage,
        UserMessage,
        ToolMessage,
    ]
    assert "audio" not in parsed[1].model_dump()
    assert parsed[1].cost == 0.5
    assert parsed[3].tool_calls == [ToolCall(id="1", name="x", arguments={}, requestor="user")]
    assert parsed[4].error is True


def test_models_are_taken_as_they_are_and_mixed_with_json() -> None:
    models = [AssistantMessage(content="Hi"), user("Bye")]
    assert parse_messages(models)[0] is models[0]
    mixed = parse_messages([models[0], {"role": "user", "content": "Bye"}])
    assert mixed == models


def test_models_of_another_package_are_read_by_their_fields() -> None:
    class Theirs(BaseModel):
        role: str = "assistant"
        content: str = "Hi"
        is_audio: bool = False

    assert parse_messages([Theirs()]) == [AssistantMessage(content="Hi")]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "nobody", "content": "x"},
        {"content": "x"},
        {"role": "assistant", "tool_calls": [{"id": "1"}]},
        {"role": "assistant", "tool_calls": [{"name": "x", "arguments": "{}"}]},
        {"role": "tool", "content": "x", "requestor": "nobody"},
        {"role": "user", "content": 5},
        "text",
        None,
    ],
)
def test_what_is_no_message(message: Any) -> None:
    with pytest.raises(ValidationError):
        parse_messages([message])


def test_a_message_survives_json() -> None:
    message = AssistantMessage(content="Wait", tool_calls=[call("x", a=[1, {"b": None}])], usage={"tokens": 3})
    assert parse_messages([message.model_dump(mode="json")]) == [message]


def test_several_results_read_as_one_text() -> None:
    several = MultiToolMessage(tool_messages=[ToolMessage(content="a"), ToolMessage(), ToolMessage(content="b")])
    assert several.content == "a\n\nb"


def test_one_result_is_read_as_several_are() -> None:
    result = ToolMessage(content="a")
    assert result.tool_messages == [result]
    assert "tool_messages" not in result.model_dump()


def test_a_call_as_a_person_reads_it() -> None:
    assert call_as_text("refuel", {"line": "L1", "gb": 2.0, "to": None, "who": "Zoë"}) == (
        'refuel(line="L1", gb=2.0, to=null, who="Zoë")'
    )
    assert call_as_text("look", {}) == "look()"


def test_unencodable_text_is_escaped() -> None:
    assert writable("plain") == "plain"
    assert writable("Zoë 日本 🙂") == "Zoë 日本 🙂"
    assert writable("odd \ud800 Zoë") == "odd \\ud800 Zoë"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (
            AssistantMessage(
                content="Hi", turn_idx=3, timestamp="2026", usage={"tokens": 3}, raw_data={"a": 1}, cost=1
            ),
            "AssistantMessage(content='Hi', turn_idx=3, timestamp='2026')",
        ),
        (
            UserMessage(tool_calls=[ToolCall(id="c1", name="look", arguments={"a": 1}, requestor="user")]),
            "UserMessage(tool_calls=[ToolCall(name='look', arguments={'a': 1}, requestor='user', id='c1')])",
        ),
        (ToolMessage(content="no", error=True), "ToolMessage(content='no', error=True)"),
        (
            MultiToolMessage(tool_messages=[ToolMessage(content="a")]),
            "MultiToolMessage(tool_messages=[ToolMessage(content='a')])",
        ),
        (SystemMessage(), "SystemMessage()"),
        (ToolCall.model_construct(id="c1"), "ToolCall(id='c1')"),
    ],
)
def test_a_representation_has_what_was_said_and_called(shown: BaseModel, text: str) -> None:
    assert repr(shown) == text


def test_a_fault_is_stored_if_there_is_one() -> None:
    assert ToolMessage(content="a", fault="error").model_dump()["fault"] == "error"
    assert "fault" not in ToolMessage(content="a").model_dump()
