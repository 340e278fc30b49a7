"""τ-bench's strategies: actions in text, thoughts, examples, checked replies of the user."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat.action_text import Action, action_protocol, in_text, read_action, read_strictly
from pytest_tau.chat.spoken_part import split_thought
from pytest_tau.errors import ConfigurationError, ParticipantError
from pytest_tau.models import ToolMessage, UserMessage
from pytest_tau.participants import Prompting
from pytest_tau.participants.agents import (
    ActAgent,
    FewShotAgent,
    LLMAgent,
    ReactAgent,
    ReactUser,
    ReflectionUser,
    VerifyUser,
)
from pytest_tau.participants.agents.examples import drawn_examples, leak_warning, read_examples

from .scripted_chat import Chat, called, calls, context, converse
from .tiny import run, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

LOOK = '{"name": "look", "arguments": {"item_id": "lamp"}}'
SAY = '{"name": "respond", "arguments": {"content": "Hello."}}'


@pytest.mark.parametrize(
    ("text", "action"),
    [
        (f"Action:\n{LOOK}", Action(None, "look", '{"item_id": "lamp"}')),
        (f"Action:\n{SAY}", Action("Hello.")),
        (f"Thought:\nI look.\nAction:\n{LOOK}", Action(None, "look", '{"item_id": "lamp"}', "I look.")),
        (f"Action: no\nAction:\n```json\n{LOOK}\n```", Action(None, "look", '{"item_id": "lamp"}', "Action: no")),
        (f"Action:\n{LOOK}\nThat is it.", Action(None, "look", '{"item_id": "lamp"}')),
        (f"Action:\n{LOOK}\n{SAY}", Action(None, "look", '{"item_id": "lamp"}')),
        (f"Action:\n{SAY}\nThought: not for the user", Action("Hello.")),
        (f"Action:\n{LOOK}\nAPI output: made up\nAction:\n{SAY}", Action(None, "look", '{"item_id": "lamp"}')),
        (LOOK, Action(None, "look", '{"item_id": "lamp"}')),
        ("Good morning.", Action("Good morning.")),
        ("Action:\nGood morning.\nThought: well", Action("Good morning.")),
        ('Action:\n{"name": "look"}', Action(None, "look", "{}")),
        (
            f"I take the Action: now.\n  Action: {LOOK}",
            Action(None, "look", '{"item_id": "lamp"}', "I take the Action: now."),
        ),
        ("Do you want this Action: yes or no?", Action("Do you want this Action: yes or no?")),
    ],
)
def test_actions_are_read(text: str, action: Action) -> None:
    assert read_action(text) == action


NO_ACTION = (
    'no action: write a line that begins with \'Action:\', and after it a JSON object with "name" and "arguments"'
)
MALFORMED = {
    "Thought: I wonder.": NO_ACTION,
    f"Thought: I take Action: {LOOK}": NO_ACTION,
    "Thought: x\nAction:": NO_ACTION,
    "Action:\n[1, 2]": 'the action must be a JSON object with "name" and "arguments", got a list',
    'Action:\n{"city": "Oslo"}': '"name" of the action must be the name of a tool, got null',
    'Action:\n{"name": "look", ': "the action is not valid JSON: it is not complete",
    'Action:\n{"name": "look", "arguments": "lamp"}': '"arguments" of the action must be a JSON object, got "lamp"',
    'Action:\n{"name": "look", "input": {}}': 'the action has the unknown key "input": expected a JSON object with "name" and '
    '"arguments"',
    'Action:\n{"name": "respond", "arguments": {}}': "'respond' needs the argument 'content', a text that is not empty",
    'Action:\n{"name": "respond", "arguments": {"content": " "}}': "'respond' needs the argument 'content', a text that is "
    "not empty",
}


@pytest.mark.parametrize("text", MALFORMED)
def test_a_wrong_form_is_answered_with_what_is_wrong_with_it(domain: Domain, text: str) -> None:
    action = read_action(text)
    assert (action.said, action.name, action.problem) == (None, "action", MALFORMED[text])
    agent, chat = act(domain, ActAgent, text, f"Action:\n{SAY}")
    (call,) = answer(agent, UserMessage(content="Hello?")).tool_calls
    result = domain.environment(task()).answer(call)
    assert (result.content, result.error) == (f"Error: {MALFORMED[text]}", True)
    answer(agent, result)
    assert [each["content"] for each in chat.sent[-1][-2:]] == [text, f"API output: Error: {MALFORMED[text]}"]


def test_a_thought_alone_is_no_empty_reply(domain: Domain) -> None:
    alone = {"role": "assistant", "content": None, "reasoning_content": "I wonder."}
    agent, chat = act(domain, ReactAgent, alone, f"Action:\n{SAY}")
    (call,) = answer(agent, UserMessage(content="Hello?")).tool_calls
    result = domain.environment(task()).answer(call)
    assert result.content == f"Error: {NO_ACTION}"
    answer(agent, result)
    assert chat.sent[-1][-2]["content"] == "Thought:\nI wonder."
    strict, _ = act(domain, ReactAgent, alone, text_protocol="tau1")
    with pytest.raises(ParticipantError, match="empty reply"):
        answer(strict, UserMessage(content="Hello?"))


def test_thoughts_are_never_said() -> None:
    for text in (
        "Thought: secret",
        f"Thought: secret\nAction:\n{SAY}",
        f"{SAY}\nThought: secret",
        "Hi\nThought: secret",
    ):
        assert "secret" not in (read_action(text).said or "")


@pytest.mark.parametrize(
    ("text", "action"),
    [
        (f"Action:\n{LOOK}", Action(None, "look", '{"item_id": "lamp"}')),
        (f"Action:\n```json\n{LOOK}\n```", Action(f"```json\n{LOOK}\n```")),
        (f"Action:\n{LOOK}\nThat is it.", Action(f"{LOOK}\nThat is it.")),
        (f"Thought:\nI speak.\nAction:\n{SAY}", Action("Hello.", thought="I speak.")),
        ("Hi", Action("Hi")),
        (f"I take the Action: {LOOK}", Action(None, "look", '{"item_id": "lamp"}', "I take the")),
        ('Action: {"name": "look", "arguments": {}, "why": "x"}', Action(None, "look", "{}")),
        ('Action: {"name": "respond", "arguments": {"content": ""}}', Action("")),
        ("Thought: x\nAction:\n", Action("", thought="x")),
    ],
)
def test_the_rules_of_the_first_benchmark(text: str, action: Action) -> None:
    assert read_strictly(text) == action


@pytest.mark.parametrize(
    "text",
    [
        *("Action: [1]", "Action: 3", 'Action: {"city": "Oslo"}', 'Action: {"name": "look"}'),
        *('Action: {"name": "look", "arguments": 1}', 'Action: {"name": "respond", "arguments": {}}'),
    ],
)
def test_by_these_rules_json_of_another_shape_is_an_error(text: str) -> None:
    with pytest.raises(ParticipantError, match=r"\(--tau-agent-text-protocol tau1\)"):
        read_strictly(text)


def test_by_these_rules_an_empty_text_is_said(domain: Domain) -> None:
    empty = 'Action: {"name": "respond", "arguments": {"content": ""}}'
    agent, chat = act(domain, ActAgent, empty, f"Action:\n{SAY}", text_protocol="tau1")
    user = Chat("Hello", "Are you there?", "###STOP###")
    from pytest_tau.participants.agents import LLMUser

    conversation, ending = converse(domain, agent, LLMUser(context(domain, "user", user)))
    assert ending.reason == "user_stop"
    assert [message.content for message in conversation.messages if message.role == "assistant"][-2:] == ["", "Hello."]
    assert chat.sent[-1][-2]["content"] == empty


def test_without_a_user_there_is_nobody_to_respond_to() -> None:
    assert read_action(f"Action:\n{SAY}", speaks=False).name == "respond"
    assert read_action("Good morning.", speaks=False).name == "action"
    alone = action_protocol([], thought=False, speaks=False)
    assert "respond" not in alone
    assert "{{" not in alone
    assert "Thought:" not in alone


def act(domain: Domain, kind: Any, *replies: str, **prompting: Any) -> tuple[Any, Chat]:
    chat = Chat(*replies)
    agent = kind(context(domain, "agent", chat, prompting=Prompting(**prompting)))
    return agent, chat


def answer(participant: Any, message: Any) -> Any:
    return run(participant.respond(message))


def test_an_agent_acts_without_function_calling(domain: Domain) -> None:
    agent, chat = act(domain, ReactAgent, f"Thought: Look first.\nAction:\n{LOOK}", f"Thought: Done.\nAction:\n{SAY}")
    reply = answer(agent, UserMessage(content="What does the lamp cost?"))
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("look", {"item_id": "lamp"})]
    assert reply.raw_data["thought"] == "Look first."
    reply = answer(agent, ToolMessage(id=reply.tool_calls[0].id, content='{"price": 1}'))
    assert (reply.content, reply.tool_calls, reply.raw_data["thought"]) == ("Hello.", None, "Done.")
    assert [request.tools for request in chat.requests] == [[], []]
    *_, last = chat.sent
    assert [each["role"] for each in last] == ["system", "assistant", "user", "assistant", "user"]
    assert last[3]["content"] == f"Thought: Look first.\nAction:\n{LOOK}"
    assert last[4]["content"] == 'API output: {"price": 1}'
    assert '"name": "look"' in last[0]["content"]
    assert all(set(each) == {"role", "content"} for each in last)


def test_the_thought_is_asked_for_by_react_only(domain: Domain) -> None:
    for kind, expected in ((ActAgent, False), (ReactAgent, True)):
        agent, chat = act(domain, kind, f"Action:\n{SAY}")
        answer(agent, UserMessage(content="Hi"))
        assert ("Thought:" in chat.sent[0][0]["content"]) == expected


def test_an_action_may_be_in_a_list_of_parts(domain: Domain) -> None:
    chat = Chat({"content": [{"type": "text", "text": f"Action:\n{LOOK}"}]})
    reply = answer(ReactAgent(context(domain, "agent", chat)), UserMessage(content="Hi"))
    assert [call.name for call in reply.tool_calls] == ["look"]


def test_alone_an_agent_has_done_and_no_respond(domain: Domain) -> None:
    wanted = task(ticket="Look at the lamp.")
    chat = Chat(f"Action:\n{LOOK}")
    agent = ActAgent(context(domain, "agent", chat, wanted, solo=True))
    reply = answer(agent, UserMessage(content="Look at the lamp."))
    assert [call.name for call in reply.tool_calls] == ["look"]
    assert "respond" not in chat.sent[0][0]["content"]


def test_a_history_that_others_wrote_is_shown_as_actions() -> None:
    history = [
        {"role": "system", "content": "s"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": None, **calls(called("look", item_id="lamp"))},
        {"role": "tool", "content": "one"},
        {"role": "user", "content": "two"},
    ]
    assert [each["content"] for each in in_text(history)[1:]] == [
        'Action:\n{"name": "respond", "arguments": {"content": "Hi"}}',
        "Look",
        f"Action:\n{LOOK}",
        "API output: one\ntwo",
    ]


# One call


def test_only_the_first_call_of_a_message_is_made_and_remembered(domain: Domain) -> None:
    two = calls(called("look", "a", item_id="lamp"), called("look", "b", item_id="sofa"))
    agent, chat = act(domain, LLMAgent, two, "Done.", one_call=True)  # type: ignore[arg-type]
    reply = answer(agent, UserMessage(content="Hi"))
    assert [call.id for call in reply.tool_calls] == ["a"]
    answer(agent, ToolMessage(id="a", content="one"))
    assert [call["id"] for call in chat.sent[1][3]["tool_calls"]] == ["a"]


# Few-shot


def lines(path: Path, *entries: Any) -> Path:
    path.write_text("\n".join(json.dumps(each) for each in entries), encoding="utf-8")
    return path


def test_examples_are_drawn_by_the_seed(domain: Domain, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "e.jsonl",
        *({"messages_display": f"user: {number}", "task_id": f"t{number}"} for number in range(20)),
    )
    first = drawn_examples(file, 5, "t3", 1)
    assert len(set(first)) == 5
    assert drawn_examples(file, 5, "t3", 1) == first
    assert drawn_examples(file, 5, "t3", 2) != first
    assert all("user: 3" not in drawn_examples(file, 19, "t3", seed) for seed in range(5))
    assert len(drawn_examples(file, 50, "t3", 1)) == 19
    assert drawn_examples(file, 5, "t4", 1) != first  # drawn for each task


def test_examples_are_part_of_the_system_message(domain: Domain, tmp_path: Path) -> None:
    file = lines(tmp_path / "e.jsonl", {"messages_display": "user: Hello\nassistant: Yes?"})
    agent, chat = act(domain, FewShotAgent, "Hi", examples=file)
    answer(agent, UserMessage(content="Hi"))
    assert chat.sent[0][0]["content"].endswith("Example 1:\nuser: Hello\nassistant: Yes?")
    with pytest.raises(ConfigurationError, match="--tau-agent-examples"):
        act(domain, FewShotAgent, "Hi")


def test_a_stored_run_is_read_without_what_the_agent_does_not_see(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "user", "tool_calls": [{"name": "switch", "requestor": "user"}]},
        {"role": "tool", "content": "on", "requestor": "user"},
        {"role": "assistant", "tool_calls": [{"name": "look", "arguments": {"item_id": "lamp"}}]},
        {"role": "tool", "content": "1"},
    ]
    passed = {"task_id": "a", "messages": messages, "reward_info": {"reward": 1.0}}
    lines(tmp_path / "simulations.jsonl", passed, {**passed, "task_id": "b", "reward_info": {"reward": 0.0}})
    (example,) = read_examples(tmp_path)
    assert example == ("a", 'user: Hi\nassistant: look({"item_id": "lamp"})\ntool: 1')
    assert "1 task of this run (a)" in str(leak_warning(tmp_path, {"a", "c"}))
    assert leak_warning(tmp_path, {"b"}) is None
    with pytest.raises(ConfigurationError, match="every example is of the task 'a'"):
        drawn_examples(tmp_path, 5, "a", 1)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[]", "line 1: expected a JSON object"),
        ("{", "line 1: expected a JSON object"),
        ('{"text": "x"}', "line 1: expected 'messages_display'"),
        ("", "has no examples"),
        ('{"messages": [{"role": "nobody"}], "reward_info": {"reward": 1}}', "line 1: its messages cannot be read"),
    ],
)
def test_examples_that_cannot_be_read(tmp_path: Path, content: str, problem: str) -> None:
    file = tmp_path / "e.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=problem):
        read_examples(file)


# Users


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Thought: I am Ada.\nUser Response: Hello", ("I am Ada.", "Hello")),
        ("Thought:\nI end it? ###STOP###\nUser Response:\nNo", ("I end it? ###STOP###", "No")),
        ("**Thought:** a\n**User Response:** b", ("a", "b")),
        ("User Response: b", ("", "b")),
        ("Thought: only", ("only", "")),
        ("Hello", ("", "Hello")),
    ],
)
def test_a_thought_is_split_from_the_response(text: str, parts: tuple[str, str]) -> None:
    assert split_thought(text) == parts


def user(domain: Domain, kind: Any, *replies: str, **prompting: Any) -> tuple[Any, Chat]:
    chat = Chat(*replies)
    return kind(context(domain, "user", chat, prompting=Prompting(**prompting))), chat


def test_a_user_that_thinks_sends_the_response_only(domain: Domain) -> None:
    first = "Thought: ###STOP### later.\nUser Response: I am Ada."
    it, chat = user(domain, ReactUser, first, "Thought: no more\nUser Response: ###STOP###")
    reply = answer(it, _agent("Who are you?"))
    assert (reply.content, reply.raw_data["thought"]) == ("I am Ada.", "###STOP### later.")
    assert reply.stop_token is None
    assert answer(it, _agent("Bye")).stop_token == "###STOP###"
    assert first in [each["content"] for each in chat.sent[1]]  # in its own form


def test_a_thought_without_a_response_is_asked_for_again(domain: Domain) -> None:
    it, chat = user(domain, ReactUser, "Thought: well", "Thought: a\nUser Response: b")
    assert answer(it, _agent("Hi")).content == "b"
    assert len(chat.requests) == 2


def _agent(text: str) -> Any:
    from pytest_tau.models import AssistantMessage

    return AssistantMessage(content=text)


def test_a_refused_message_is_not_remembered(domain: Domain) -> None:
    it, chat = user(
        domain, VerifyUser, "My id is 99.", "Made up.\nVerdict: false", "My id is 4.", "Verdict: true", "Yes.", "true"
    )
    reply = answer(it, _agent("Your id?"))
    assert reply.content == "My id is 4."
    assert reply.raw_data["rejected"] == [{"content": "My id is 99.", "reason": "Made up.\nVerdict: false"}]
    assert "My id is 99." in chat.sent[1][0]["content"]
    assert "Agent: Your id?" in chat.sent[1][0]["content"]
    answer(it, _agent("Really?"))
    assert not any("99" in str(each["content"]) for each in chat.sent[4])
    assert len(chat.requests) == 6


def test_the_last_attempt_is_sent_and_remembered(domain: Domain) -> None:
    it, chat = user(domain, VerifyUser, "a", "false", "b", "false", "c", "d", "true")
    assert answer(it, _agent("Hi")).content == "c"  # the third is not checked: it is sent in any case
    assert len(chat.requests) == 5
    answer(it, _agent("Go on"))
    assert [each["content"] for each in chat.sent[5] if each["role"] == "assistant"] == ["c"]


def test_the_number_of_attempts_is_a_setting(domain: Domain) -> None:
    it, chat = user(domain, VerifyUser, "a", attempts=1)
    assert answer(it, _agent("Hi")).content == "a"
    assert len(chat.requests) == 1


def test_a_check_without_a_verdict_accepts(domain: Domain) -> None:
    it, _ = user(domain, VerifyUser, "a", "I cannot tell.")
    assert answer(it, _agent("Hi")).content == "a"


def test_reflection_asks_what_was_wrong_before_the_next_attempt(domain: Domain) -> None:
    it, chat = user(
        domain, ReflectionUser, "My id is 99.", "Verdict: false", "The id is 4.", "My id is 4.", "Yes", "true"
    )
    reply = answer(it, _agent("Your id?"))
    assert reply.content == "My id is 4."
    assert reply.raw_data["rejected"][0]["reflection"] == "The id is 4."
    assert "The id is 4." in chat.sent[3][-1]["content"]
    answer(it, _agent("Really?"))
    texts = [each["content"] for each in chat.sent[4]]
    assert "My id is 4." in texts
    assert not any("99" in str(text) or "The id is 4." in str(text) for text in texts)


def test_each_attempt_and_check_is_counted_as_the_users(domain: Domain) -> None:
    chat = Chat("a", "false", "b", "true")
    given = context(domain, "user", chat)
    assert answer(VerifyUser(given), _agent("Hi")).content == "b"
    assert given.models is not None
    usage = given.models.ledger.usage["user"]
    assert (usage.calls, usage.known_cost) == (4, 2.0)


def test_messages_with_calls_are_not_checked(domain: Domain) -> None:
    it, chat = user(domain, VerifyUser, calls(called("switch")))  # type: ignore[arg-type]
    assert [call.name for call in answer(it, _agent("Switch it on")).tool_calls] == ["switch"]
    assert len(chat.requests) == 1


def test_the_report_has_thoughts_of_messages(tmp_path: Path) -> None:
    from pytest_tau.models import AssistantMessage, Simulation
    from pytest_tau.reports.html.capability_blocks import ShownBlocks
    from pytest_tau.reports.html.conversation import conversation
    from pytest_tau.reports.html.environment_changes import StateHistories

    messages = [
        AssistantMessage(content=str(raw), raw_data=raw) for raw in ({"thought": "I look."}, {"thought": 3}, None)
    ]
    found = Simulation(id="a", task_id="a", termination_reason="user_stop", messages=messages)
    blocks = ShownBlocks([], tmp_path)
    shown = conversation(found, [], None, "there is no domain", StateHistories(), blocks)["messages"]
    assert [each.get("thought") for each in shown] == ["I look.", None, None]
