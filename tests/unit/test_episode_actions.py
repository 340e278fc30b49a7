"""How the actions of an episode are read: texts, calls in several notations, and what cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_tau.episodes import ActionReader
from pytest_tau.errors import EpisodeError
from pytest_tau.models import AssistantMessage, ToolCall, UserMessage

TOOLS = {"look": ("item_id",), "rename": ("item_id", "name"), "count": ("by",)}
AGENT = ActionReader("agent", TOOLS)
USER = ActionReader("user", {"switch": ()})


def read(action: Any) -> Any:
    return AGENT.read(action).read_as


def problem_of(action: Any, reader: ActionReader = AGENT) -> str:
    (call,) = reader.read(action).message.tool_calls or []
    assert call.malformed is not None
    assert call.problem is not None
    return call.problem


LOOK = {"name": "look", "arguments": {"item_id": "lamp"}}


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "look", "arguments": {"item_id": "lamp"}}',
        '  [{"name": "look", "arguments": {"item_id": "lamp"}}]\n',
        '{"name": "look", "arguments": "{\\"item_id\\": \\"lamp\\"}"}',
        '{"id": "c1", "type": "function", "function": {"name": "look", "arguments": {"item_id": "lamp"}}}',
        '{"name": "look", "arguments": {"item_id": "lamp"}, "requestor": "assistant"}',
        '{"role": "assistant", "content": null, "tool_calls": [{"name": "look", "arguments": {"item_id": "lamp"}}]}',
        'look(item_id="lamp")',
        "look(item_id='lamp')",
        "look(item_id=lamp)",
        'look(\n    item_id="lamp",\n)',
        '[look(item_id="lamp")]',
        '```json\n{"name": "look", "arguments": {"item_id": "lamp"}}\n```',
        '```\nlook(item_id="lamp")\n```',
        '```python\nlook(\n  item_id="lamp"\n)\n```\n',
    ],
)
def test_a_call_is_read_in_every_notation(text: str) -> None:
    assert read(text) == [LOOK]


def test_several_calls_are_read_from_one_text() -> None:
    expected = [LOOK, {"name": "count", "arguments": {"by": 2}}]
    assert read(json.dumps(expected)) == expected
    assert read('look(item_id="lamp")\ncount(by=2)') == expected
    assert read('[look(item_id="lamp"), count(by=2)]') == expected


def test_text_around_a_fenced_block_stays_the_message_s_text() -> None:
    message, read_as = AGENT.read('I look it up.\n```json\n{"name": "look", "arguments": {"item_id": "lamp"}}\n```')
    assert message.content == "I look it up."
    assert read_as == [LOOK]


@pytest.mark.parametrize(
    "text",
    [
        "Hello",
        "Sure (yes)",
        "Sure(yes)",
        "Sure(yes), I can",
        "look (I mean it)",
        "look(item_id='lamp') is what I called.",
        "I called look(item_id='lamp')",
        '{"answer": 42}',
        '{"name": "Bob", "age": 3}',
        "[1, 2]",
        "{not JSON",
        "```\ntwo\n```\n```\nblocks\n```",
        "Two lines.\n\nThe second.",
    ],
)
def test_everything_else_is_a_text_and_stays_as_it_is(text: str) -> None:
    message, read_as = AGENT.read(text)
    assert (message.content, message.tool_calls) == (text, None)
    assert read_as == "text"


def test_values_are_literals() -> None:
    text = "count(by=[-1, 2.5, True, null, {'a': (None, false)}], note='it\\'s \\d', status=pending)"
    assert read(text) == [
        {
            "name": "count",
            "arguments": {
                "by": [-1, 2.5, True, None, {"a": [None, False]}],
                "note": "it's \\d",
                "status": "pending",
            },
        }
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("look('lamp')", "'look' takes named arguments only, got 'lamp'; write look(item_id=...)"),
        ("look_up('lamp')", "unknown tool 'look_up'; did you mean 'look'? (known: count, look, rename)"),
        ("look(**{'item_id': 1})", "'look' takes named arguments only, got **{'item_id': 1}; write argument=value"),
        ("look(item_id=open('x'))", "argument 'item_id' of 'look' is open('x'): expected a string, a number"),
        ("look(item_id=1e999)", "argument 'item_id' of 'look' is inf"),
        ("look(item_id={1: 2})", "argument 'item_id' of 'look' has a key that is not a string"),
        ("look(item_id=b'lamp')", "argument 'item_id' of 'look' is b'lamp'"),
        ('look(item_id="lamp"', "the call of 'look' cannot be read: '(' was never closed"),
        ("look(item_id=lamp lamp)", "the call of 'look' cannot be read: "),
        ("look(item_id=1, item_id=2)", "argument 'item_id' of 'look' is given more than once"),
        ('{"name": "look", "arguments": {"item_id": ', "the call of 'look' is not valid JSON"),
        ('{"name": "look", "arguments": [1]}', "arguments of 'look' must be a JSON object, got list [1]"),
        ('{"name": "look", "arguments": "{"}', "arguments of 'look' are not valid JSON"),
        ('{"name": "look", "parameters": {}}', "the call of 'look' has the unknown key 'parameters'"),
        ('{"name": "look", "arguments": {}, "requestor": "user"}', "the requestor 'user' is the other side"),
        ("", "an empty reply"),
        ("   \n", "an empty reply"),
    ],
)
def test_what_cannot_be_read_is_a_call_with_the_problem(text: str, problem: str) -> None:
    assert problem in problem_of(text)


def test_only_the_unreadable_part_of_a_list_has_a_problem() -> None:
    first, second = read('[{"name": "look", "arguments": {"item_id": "lamp"}}, 7]')
    assert first == LOOK
    assert second["problem"] == "expected an object with name and arguments, got int 7"


@pytest.mark.parametrize("depth", [60, 100_000])
def test_deeply_nested_texts_are_not_parsed(depth: int) -> None:
    text = f"look(item_id={'[' * depth}{']' * depth})"
    assert "cannot be read" in problem_of(text)


def test_texts_of_any_size_and_any_characters_are_read() -> None:
    assert "more than 100,000 characters" in problem_of(f"look(item_id='{'x' * 200_000}')")
    assert read("a" * 500_000) == "text"
    assert read("look(item_id='\\ud800')") == [{"name": "look", "arguments": {"item_id": "\\ud800"}}]
    assert read("look(item_id='\0')") is not None


def test_messages_of_any_size_and_shape_are_answered() -> None:
    circular: dict[str, Any] = {"content": None}
    circular["tool_calls"] = [{"name": "look", "arguments": circular}]
    assert AGENT.read(circular).message.tool_calls
    assert "more than 1,000,000 characters" in problem_of({"content": "x" * 2_000_000})
    assert "more than 1,000,000 characters" in problem_of("x" * 2_000_000)
    (call,) = AGENT.read("x" * 2_000_000).message.tool_calls or []
    assert len(call.malformed or "") == 10_000
    assert "tool call dict {(1, 2): 3}" in problem_of({"tool_calls": [{(1, 2): 3}]})


def test_nothing_is_executed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is print('x')" in problem_of("look(item_id=print('x'))")
    assert capsys.readouterr().out == ""


def test_a_call_of_an_unknown_tool_stays_a_call_for_the_environment_to_refuse() -> None:
    assert read('lok(item_id="lamp")') == [{"name": "lok", "arguments": {"item_id": "lamp"}}]
    assert read('{"name": "lok", "arguments": {}}') == [{"name": "lok", "arguments": {}}]


def test_json_without_arguments_is_a_call_of_a_known_tool() -> None:
    assert read('{"name": "count"}') == [{"name": "count", "arguments": {}}]


def test_done_is_the_agent_s_stop_unless_there_is_a_tool_of_that_name() -> None:
    for text in ("done()", '{"name": "done", "arguments": {}}'):
        message, read_as = AGENT.read(text)
        assert (message.content, message.tool_calls) == ("###STOP###", None)
        assert read_as == [{"name": "done", "arguments": {}}]
    assert read("done(x=1)") == [{"name": "done", "arguments": {"x": 1}}]
    for reader in (ActionReader("agent", {"done": ()}), ActionReader("agent", {}, solo=True), USER):
        (call,) = reader.read("done()").message.tool_calls or []
        assert call.name == "done"


def test_messages_are_taken_as_they_are() -> None:
    said = {"role": "assistant", "content": 'look(item_id="lamp")'}
    assert AGENT.read(said).message.content == 'look(item_id="lamp")'
    sent = {"id": "c7", "type": "function", "function": {"name": "look", "arguments": '{"item_id": "lamp"}'}}
    (call,) = AGENT.read({"content": None, "tool_calls": [sent]}).message.tool_calls or []
    assert (call.id, call.name, call.arguments, call.requestor) == ("c7", "look", {"item_id": "lamp"}, "assistant")
    assert read(AssistantMessage(tool_calls=[ToolCall(name="look", arguments={"item_id": "lamp"})])) == [LOOK]
    (mine,) = USER.read(UserMessage(tool_calls=[ToolCall(name="switch")])).message.tool_calls or []
    assert (mine.requestor, mine.malformed) == ("user", None)
    assert USER.read({"role": "assistant", "content": "Hi"}) == USER.read({"role": "user", "content": "Hi"})


def test_arguments_of_a_message_that_are_no_json_are_a_problem() -> None:
    broken = {"function": {"name": "look", "arguments": "{"}}
    assert read({"tool_calls": [broken]}) == [{"name": "look", "problem": "the arguments are not a JSON object: {"}]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"content": 7}, "content int 7; expected a string"),
        ({"content": None}, "an empty reply"),
        ({"tool_calls": "look"}, "tool_calls str 'look'; expected a list"),
        ({"tool_calls": [{"name": 7}]}, "tool call dict {'name': 7}; expected a name and arguments"),
        ({"tool_calls": [{"name": "look", "requestor": "user"}]}, "the requestor 'user' is the other side"),
    ],
)
def test_a_message_that_cannot_be_used_is_answered_by_its_problem(message: dict[str, Any], problem: str) -> None:
    assert problem in problem_of(message)


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (None, "an action is a text or a message as a dict, got None"),
        (7, "got int 7"),
        (["look"], "got list"),
        ({}, "a message as a dict has 'content' or 'tool_calls', got the keys none"),
        ({"role": "user", "content": "Hi"}, "you play the agent, so a message cannot have the role 'user'"),
        (UserMessage(content="Hi"), "you play the agent"),
        ({"role": "system", "content": "Hi"}, "the role 'system'"),
    ],
)
def test_what_is_no_action_raises(action: Any, problem: str) -> None:
    with pytest.raises(EpisodeError, match=problem):
        AGENT.read(action)
