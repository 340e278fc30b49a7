from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import LLM, ChatReply, TrialModels
from pytest_tau.environment import Tool
from pytest_tau.errors import ConfigurationError, ContextWindowError, ModelError, ParticipantError, ReplayError
from pytest_tau.models import MultiToolMessage, ToolCall, ToolMessage
from pytest_tau.participants import DONE, LLMAgent, Prompting
from pytest_tau.participants.agents import EndpointAgent, LLMGuidedAgent, LLMGuidedAgentNoArgs, LLMSoloAgent

from .scripted_chat import GREETING, Chat, called, calls, context, converse, models
from .tiny import action, call, run, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Message
    from pytest_tau.participants import Participant


DONE_TOOL = Tool(DONE, "End the work.", {"type": "object", "properties": {}}, "generic", mutates=False)


class Script:
    """A user that says one text after the other."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts or ("Hello", "###STOP###"))

    async def respond(self, message: Any) -> Any:
        return user(self.texts.pop(0))

    def is_stop(self, message: Any) -> bool:
        return message.stop_token is not None


def answers(participant: Participant, *messages: Any) -> list[Any]:
    async def talk() -> list[Any]:
        return [await participant.respond(message) for message in messages]

    return run(talk())


def result(content: str, call_id: str = "") -> ToolMessage:
    return ToolMessage(id=call_id, content=content)


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


def ids(messages: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The ids of the calls and of the results in a request."""
    made = [made["id"] for message in messages for made in message.get("tool_calls") or []]
    return made, [message["tool_call_id"] for message in messages if message["role"] == "tool"]


# What the model is asked


def test_the_model_gets_the_policy_the_conversation_and_the_tools(domain: Domain) -> None:
    chat = Chat("Which one?", "Fine.")
    answers(LLMAgent(context(domain, "agent", chat)), user("Rename it"), user("The lamp"))
    first, second = chat.requests
    assert first.messages[0]["role"] == "system"
    assert "<policy>\nThe policy.\n</policy>" in first.messages[0]["content"]
    assert first.messages[1:] == [{"role": "assistant", "content": GREETING}, {"role": "user", "content": "Rename it"}]
    assert second.messages[:3] == first.messages
    assert second.messages[3:] == [
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "The lamp"},
    ]
    assert [tool["function"]["name"] for tool in first.tools][:2] == ["look", "rename"]
    assert (first.tool_choice, first.model, first.args) == ("auto", "m", {"seed": 7})


def test_reply_has_cost_usage_time_and_raw_answer(domain: Domain) -> None:
    (reply,) = answers(LLMAgent(context(domain, "agent", Chat(calls(called("count", by=2), content="Wait")))), user(""))
    assert (reply.content, reply.tool_calls) == ("Wait", [ToolCall(id="c1", name="count", arguments={"by": 2})])
    assert (reply.cost, reply.generation_time_seconds) == (0.5, 1.5)
    assert reply.usage == {"prompt_tokens": 5, "completion_tokens": 2, "cached_tokens": 0, "reasoning_tokens": 0}
    assert reply.raw_data == {"role": "assistant", "content": "Wait", "tool_calls": [called("count", by=2)]}


def test_an_unknown_price_and_unknown_usage_stay_unknown(domain: Domain) -> None:
    chat = Chat(ChatReply(message={"content": "Hi"}))
    (reply,) = answers(LLMAgent(context(domain, "agent", chat)), user("Hello"))
    assert (reply.cost, reply.usage) == (None, None)


def test_a_conversation_with_tools_goes_on_after_their_results(domain: Domain) -> None:
    chat = Chat(calls(called("count", "a"), called("count", "b")), calls(called("count", "c"), content="Wait"), "Done")
    conversation, ending = converse(domain, LLMAgent(context(domain, "agent", chat)), Script())
    assert ending.reason == "user_stop"
    assert [type(message).__name__[0] for message in conversation.messages] == list("AUATTATAU")
    last = chat.sent[-1]
    assert roles(last) == ["system", "assistant", "user", "assistant", "tool", "tool", "assistant", "tool"]
    assert ids(last) == (["a", "b", "c"], ["a", "b", "c"])
    assert [message["content"] for message in last[4:]] == ['"1"', '"2"', "Wait", '"3"']


def test_the_history_is_part_of_the_conversation(domain: Domain) -> None:
    told = [
        {"role": "user", "content": "Count"},
        {"role": "assistant", "tool_calls": [{"id": "", "name": "count", "arguments": {"by": 2}}]},
        {"role": "tool", "id": "", "content": "2"},
        {"role": "assistant", "content": "It is two."},
        {"role": "user", "tool_calls": [{"id": "u", "name": "switch", "arguments": {}, "requestor": "user"}]},
        {"role": "tool", "id": "u", "content": "on", "requestor": "user"},
    ]
    wanted = task(state={"message_history": told})
    chat = Chat("Bye")
    converse(domain, LLMAgent(context(domain, "agent", chat, wanted)), Script("Thanks", "###STOP###"), wanted)
    (sent,) = chat.sent
    assert roles(sent) == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert sent[2]["tool_calls"][0]["function"] == {"name": "count", "arguments": '{"by": 2}'}
    assert ids(sent) == (["tau_agent_call_1"], ["tau_agent_call_1"])
    assert (sent[4]["content"], sent[5]["content"]) == ("It is two.", "Thanks")


@pytest.mark.parametrize("answered", [False, True])
def test_a_history_that_ends_in_the_middle_of_calls(domain: Domain, *, answered: bool) -> None:
    told: list[dict[str, Any]] = [
        {"role": "user", "content": "Count"},
        {"role": "assistant", "tool_calls": [{"id": "x", "name": "count", "arguments": {}}] * 2},
        {"role": "tool", "id": "x", "content": '"1"'},
        {"role": "tool", "id": "x", "content": '"2"'},
    ]
    wanted = task(state={"message_history": told if answered else told[:2]})
    chat = Chat("Two.")
    _, ending = converse(domain, LLMAgent(context(domain, "agent", chat, wanted)), Script("###STOP###"), wanted)
    assert ending.reason == "user_stop"
    (sent,) = chat.sent
    assert roles(sent) == ["system", "user", "assistant", "tool", "tool"]
    assert ids(sent) == (["x", "tau_agent_call_1"], ["x", "tau_agent_call_1"])
    assert [message["content"] for message in sent[3:]] == ['"1"', '"2"']


# What the model said comes back to it


def test_the_model_s_own_messages_come_back_as_it_sent_them(domain: Domain) -> None:
    first = called("count", "c1", by=2)
    first["provider_specific_fields"] = {"thought_signature": "abc"}
    first["function"]["arguments"] = '{ "by":2 }'
    thoughts: dict[str, Any] = {
        "reasoning_content": "hm",
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "xyz"}],
    }
    chat = Chat(calls(first, **thoughts), {"content": "Two", "reasoning_content": "easy"}, "Bye")
    answers(LLMAgent(context(domain, "agent", chat)), user("Count"), result('"2"', "c1"), user("Thanks"))
    last = chat.sent[-1]
    assert last[3] == {"role": "assistant", "content": None, "tool_calls": [first], **thoughts}
    assert last[5] == {"role": "assistant", "content": "Two", "reasoning_content": "easy"}


def test_nothing_that_happens_to_a_reply_changes_what_the_model_is_shown(domain: Domain) -> None:
    chat = Chat(calls(called("count", "c1", by=2)), "Two")
    participant = LLMAgent(context(domain, "agent", chat))
    (reply,) = answers(participant, user("Count"))
    reply.tool_calls[0].arguments["by"] = 5
    reply.tool_calls[0].id = "else"
    reply.content = "changed"
    answers(participant, result("2", "else"))
    assert chat.sent[-1][3] == {"role": "assistant", **calls(called("count", "c1", by=2))}
    assert ids(chat.sent[-1]) == (["c1"], ["c1"])


@pytest.mark.parametrize(
    ("call_ids", "linked"),
    [
        ([None, None], ["tau_agent_call_1", "tau_agent_call_2"]),
        (["", "x"], ["tau_agent_call_1", "x"]),
        (["x", "x"], ["x", "tau_agent_call_1"]),
        (["tau_agent_call_1", None], ["tau_agent_call_1", "tau_agent_call_2"]),
        ([5, "x"], ["tau_agent_call_1", "x"]),
    ],
)
def test_calls_and_results_are_linked_whatever_ids_the_model_sends(
    domain: Domain, call_ids: list[Any], linked: list[str]
) -> None:
    one_message = calls(*(called("count", call_id) for call_id in call_ids))
    one_by_one = [calls(called("count", call_id)) for call_id in call_ids]
    for script in ([one_message], one_by_one):
        chat = Chat(*script, "Done")
        conversation, _ = converse(domain, LLMAgent(context(domain, "agent", chat)), Script())
        assert ids(chat.sent[-1]) == (linked, linked)
        told = [made.id for message in conversation.messages for made in getattr(message, "tool_calls", None) or []]
        results = [message.id for message in conversation.messages if isinstance(message, ToolMessage)]
        assert told == results == linked


def test_results_are_linked_in_order_where_somebody_else_numbers_the_calls(domain: Domain) -> None:
    chat = Chat(calls(called("count", "a"), called("look", "b")), "Done")
    results = MultiToolMessage(tool_messages=[result("1", "call_1"), result("2", "call_2")])
    answers(LLMAgent(context(domain, "agent", chat)), user("Go"), results)
    assert ids(chat.sent[-1]) == (["a", "b"], ["a", "b"])
    assert [message["content"] for message in chat.sent[-1][-2:]] == ["1", "2"]


# What models do wrong


@pytest.mark.parametrize("text", ['{"by": ', "[2]", '"two"', "5", "{by: 2}", "9" * 5000])
def test_arguments_that_are_no_object_are_answered_with_an_error_and_sent_back_as_none(
    domain: Domain, text: str
) -> None:
    chat = Chat(calls(called("count", "c1", text=text)), calls(called("count", "c2", by=2)), "Done")
    built = context(domain, "agent", chat)
    conversation, ending = converse(domain, LLMAgent(built), Script())
    assert ending.reason == "user_stop"
    assert conversation.messages[2].tool_calls == [ToolCall(id="c1", name="count", malformed=text)]  # type: ignore[union-attr]
    assert conversation.messages[2].raw_data["tool_calls"] == [called("count", "c1", text=text)]  # type: ignore[union-attr, index]
    kept, told = chat.sent[1][-2:]
    assert kept["tool_calls"][0]["function"] == {"name": "count", "arguments": "{}"}
    assert told["content"] == f"Error: arguments of 'count' must be a JSON object, got {text[:80]}"
    assert built.models is not None
    assert (built.models.ledger.usage["agent"].malformed_calls, built.models.ledger.usage["agent"].unknown_tools) == (
        1,
        0,
    )


@pytest.mark.parametrize(
    ("given", "kept"), [("", "{}"), (" ", "{}"), (None, "{}"), ({}, "{}"), ({"by": 2}, '{"by": 2}')]
)
def test_arguments_in_other_forms_are_understood_and_sent_back_as_text(domain: Domain, given: Any, kept: str) -> None:
    chat = Chat(calls(called("count", "c1", text=given)), "Done")
    built = context(domain, "agent", chat)
    (reply, _) = answers(LLMAgent(built), user("Count"), result("1"))
    assert reply.tool_calls == [ToolCall(id="c1", name="count", arguments=json.loads(kept))]
    assert chat.sent[-1][-2]["tool_calls"][0]["function"]["arguments"] == kept
    assert built.models is not None
    assert built.models.ledger.usage["agent"].malformed_calls == 0


def test_unknown_tools_are_answered_with_an_error_and_counted(domain: Domain) -> None:
    chat = Chat(calls(called("fly", "a"), called("switch", "b"), called("count", "c")), "Done")
    built = context(domain, "agent", chat)
    converse(domain, LLMAgent(built), Script())
    assert [message["content"] for message in chat.sent[-1][-3:]] == [
        "Error: Tool 'fly' not found.",
        "Error: Tool 'switch' not found.",
        '"1"',
    ]
    assert built.models is not None
    assert (built.models.ledger.usage["agent"].unknown_tools, built.models.ledger.usage["agent"].malformed_calls) == (
        2,
        0,
    )


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("", "m sent an empty reply: no text and no tool calls"),
        ({"content": None, "reasoning_content": "hm"}, "m sent an empty reply"),
        ({"content": " \n", "tool_calls": []}, "m sent an empty reply"),
        ({"content": 5}, "m sent content int 5; expected a string"),
        (calls({"id": "x", "type": "function"}), "m sent tool call .*; expected a name and arguments"),
        ({"tool_calls": {"name": "count"}}, "m sent tool_calls .*; expected a list"),
    ],
)
def test_a_message_that_is_nothing_is_the_agent_s_failure_and_is_not_asked_again(
    domain: Domain, sent: Any, told: str
) -> None:
    chat = Chat(sent, "Too late")
    with pytest.raises(ParticipantError, match=told) as raised:
        answers(LLMAgent(context(domain, "agent", chat)), user("Hello"))
    assert raised.value.side == "agent"
    assert len(chat.requests) == 1


def test_providers_reason_for_an_empty_message_is_reported(domain: Domain) -> None:
    chat = Chat(ChatReply(message={"content": None}, finish_reason="length"))
    conversation, ending = converse(domain, LLMAgent(context(domain, "agent", chat)), Script())
    assert ending.reason == "agent_error"
    assert "m sent an empty reply: no text and no tool calls (finish reason: length)" in (ending.error or "")
    assert len(conversation.messages) == 2


def test_unencodable_text_is_escaped_before_it_is_sent_back(domain: Domain) -> None:
    chat = Chat({"content": "odd \ud800", "reasoning_content": "\ud800"}, "Fine")
    (reply, _) = answers(LLMAgent(context(domain, "agent", chat)), user("Hello"), user("What?"))
    assert reply.content == "odd \\ud800"
    assert chat.sent[-1][3] == {"role": "assistant", "content": "odd \\ud800", "reasoning_content": "\\ud800"}


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ModelError("down", kind="unavailable"), "infrastructure_error"), (ReplayError("differs"), "unexpected_error")],
)
def test_model_error_gives_no_verdict(domain: Domain, error: Exception, reason: str) -> None:
    _, ending = converse(domain, LLMAgent(context(domain, "agent", Chat("Hi", error))), Script("Hello", "Well?"))
    assert ending.reason == reason
    assert str(error) in (ending.error or "")


# Alone


def alone(domain: Domain, chat: Chat | None, kind: type = LLMAgent, **fields: Any) -> Any:
    wanted = task(ticket="Count to two.")
    tools = [*domain.environment(wanted, solo=True).tools("assistant"), DONE_TOOL]
    return kind(context(domain, "agent", chat, wanted, **{"solo": True, "tools": tools} | fields)), wanted


@pytest.mark.parametrize("kind", [LLMAgent, LLMSoloAgent])
def test_an_agent_that_works_alone_gets_the_ticket_and_has_to_call_tools(domain: Domain, kind: type) -> None:
    chat = Chat(calls(called("count", "a", by=2)), calls(called("switch", "b")), calls(called(DONE, "c")))
    built, wanted = alone(domain, chat, kind)
    conversation, ending = converse(domain, built, None, wanted, solo=True)
    assert ending.reason == "agent_stop"
    assert [message.content for message in conversation.messages] == [None, '"2"', None, "on", "###STOP###"]
    assert {request.tool_choice for request in chat.requests} == {"required"}
    assert chat.sent[0][1:] == [{"role": "user", "content": "Count to two."}]
    assert "The policy of one who is alone." in chat.sent[0][0]["content"]
    assert "`done`" in chat.sent[0][0]["content"]
    assert roles(chat.sent[-1]) == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert chat.requests[0].tools[-1]["function"]["name"] == DONE


def test_an_agent_that_works_alone_and_talks_has_failed(domain: Domain) -> None:
    built, wanted = alone(domain, Chat("Which ticket?"))
    _, ending = converse(domain, built, None, wanted, solo=True)
    assert ending.reason == "agent_error"
    assert "must call a tool" in (ending.error or "")


def test_the_lone_agent_is_refused_where_there_is_a_user(domain: Domain) -> None:
    with pytest.raises(ConfigurationError, match="agent 'llm-solo' works without a user: add --tau-solo"):
        LLMSoloAgent(context(domain, "agent", Chat()))


# With the resolution steps

STEPS = task({"actions": [action("rename", item_id="lamp", name="Torch"), action("switch", "user")]}, task_id="guided")


@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        (
            LLMGuidedAgent,
            '1. rename(item_id="lamp", name="Torch")\n2. on the customer\'s side, ask them for it: switch()',
        ),
        (LLMGuidedAgentNoArgs, "1. rename\n2. on the customer's side, ask them for it: switch"),
    ],
)
def test_guided_agent_is_given_the_steps(domain: Domain, kind: type[LLMAgent], steps: str) -> None:
    chat = Chat("Hi", "Hi")
    answers(kind(context(domain, "agent", chat, STEPS)), user("Hello"))
    assert f"<steps>\n{steps}\n</steps>\n\n<policy>\nThe policy.\n</policy>" in chat.sent[0][0]["content"]
    own = Prompting(prompt="First {{steps}} then {{policy}}")
    answers(kind(context(domain, "agent", chat, STEPS, prompting=own)), user("Hello"))
    assert chat.sent[1][0]["content"] == f"First {steps} then The policy."


@pytest.mark.parametrize("kind", [LLMGuidedAgent, LLMGuidedAgentNoArgs])
def test_a_guided_agent_needs_steps_a_place_for_them_and_a_user(domain: Domain, kind: type[LLMAgent]) -> None:
    with pytest.raises(ConfigurationError, match="task 't' has no reference actions"):
        kind(context(domain, "agent", Chat()))
    with pytest.raises(ConfigurationError, match=r"the agent's prompt 'p.md' lacks \{\{steps\}\}"):
        kind(context(domain, "agent", Chat(), STEPS, prompting=Prompting(name="p.md", prompt="{{policy}}")))
    with pytest.raises(ConfigurationError, match=f"agent '{kind.name}' works with a user: remove --tau-solo"):
        alone(domain, Chat(), kind)


def test_an_agent_without_steps_refuses_a_prompt_that_has_them(domain: Domain) -> None:
    own = Prompting(name="p.md", prompt="{{policy}} {{steps}}")
    with pytest.raises(ConfigurationError, match=r"'p.md' has an unknown placeholder \{\{steps\}\}"):
        LLMAgent(context(domain, "agent", Chat(), prompting=own))


# Behind a URL


def test_endpoint_is_given_only_the_policy(domain: Domain) -> None:
    chat = Chat(calls(called("count")), "One.")
    conversation, ending = converse(domain, EndpointAgent(context(domain, "agent", chat)), Script())
    assert chat.sent[0][0] == {"role": "system", "content": "The policy."}
    assert chat.requests[0].tools
    assert (ending.reason, conversation.messages[-2].content) == ("user_stop", "One.")


@pytest.mark.parametrize("kind", ["rate_limit", "unavailable", "timeout", "bad_answer", "bad_request", "refused"])
def test_what_an_endpoint_s_server_does_wrong_counts_against_the_agent(domain: Domain, kind: Any) -> None:
    chat = Chat(ModelError("500 after 8 attempts", kind=kind))
    _, ending = converse(domain, EndpointAgent(context(domain, "agent", chat)), Script())
    assert ending.reason == "agent_error"
    assert ending.error == "ParticipantError: the agent's server failed: 500 after 8 attempts"


@pytest.mark.parametrize("kind", ["authentication", "unknown_model", "quota"])
def test_how_an_endpoint_is_called_is_not_its_fault(domain: Domain, kind: Any) -> None:
    chat = Chat(ModelError("OPENAI_API_KEY is wrong", kind=kind))
    _, ending = converse(domain, EndpointAgent(context(domain, "agent", chat)), Script())
    assert ending.reason == "infrastructure_error"
    assert ending.error
    assert ("environment variable TAU_AGENT_API_KEY (OPENAI" in ending.error) == (kind == "authentication")


def test_a_replay_that_differs_is_not_an_endpoint_s_fault(domain: Domain) -> None:
    _, ending = converse(domain, EndpointAgent(context(domain, "agent", Chat(ReplayError("differs")))), Script())
    assert ending.reason == "unexpected_error"


@pytest.mark.parametrize("kind", [LLMAgent, EndpointAgent])
def test_a_conversation_that_outgrows_the_model_is_the_agent_s_failure(domain: Domain, kind: type[LLMAgent]) -> None:
    chat = Chat(ContextWindowError("too long"))
    _, ending = converse(domain, kind(context(domain, "agent", chat)), Script())
    assert ending.reason == "context_window_exceeded"


# The context budget and the text protocol


def test_oldest_messages_are_omitted_beyond_the_budget_but_graded(domain: Domain) -> None:
    long = "word " * 150
    chat = Chat(calls(called("count", "a")), "One.", calls(called("count", "b")), "Two.")
    prompting = Prompting(prompt="{{policy}}", context=250)
    built = context(domain, "agent", chat, prompting=prompting, tools=[])
    conversation, ending = converse(domain, LLMAgent(built), Script(f"First {long}", f"Again {long}", "###STOP###"))
    assert ending.reason == "user_stop"
    assert [roles(sent) for sent in chat.sent] == [
        ["system", "assistant", "user"],
        ["system", "assistant", "user", "assistant", "tool"],
        ["system", "assistant", "tool", "assistant", "user"],
        ["system", "assistant", "tool", "assistant", "user", "assistant", "tool"],
    ]
    assert [ids(sent) for sent in chat.sent[2:]] == [(["a"], ["a"]), (["a", "b"], ["a", "b"])]
    assert len(conversation.messages) == 10


def test_a_message_beyond_the_budget_is_the_agent_s_failure(domain: Domain) -> None:
    prompting = Prompting(prompt="{{policy}}", context=300)
    participant = LLMAgent(context(domain, "agent", Chat(), prompting=prompting, tools=[]))
    _, ending = converse(domain, participant, Script("word " * 400))
    assert ending.reason == "context_window_exceeded"


def test_too_small_context_budget_is_reported_before_the_conversation(domain: Domain) -> None:
    with pytest.raises(ConfigurationError, match=r"the agent's context budget is too small .* budget of 300 tokens"):
        LLMAgent(context(domain, "agent", Chat(), prompting=Prompting(context=300)))
    LLMAgent(context(domain, "agent", Chat(), prompting=Prompting(context=3000)))


def test_a_model_without_function_calling_calls_tools_in_text(domain: Domain) -> None:
    written = 'Wait.\n```tool_call\n{"name": "count", "arguments": {"by": 2}}\n```'
    chat = Chat(written, "It is two.")
    built = context(domain, "agent", chat, prompting=Prompting(tool_calls="text"))
    conversation, ending = converse(domain, LLMAgent(built), Script())
    assert ending.reason == "user_stop"
    assert [message.content for message in conversation.messages[2:]] == ["Wait.", '"2"', "It is two.", "###STOP###"]
    assert all(not request.tools for request in chat.requests)
    assert roles(chat.sent[-1]) == ["system", "assistant", "user", "assistant", "user"]
    assert chat.sent[-1][3]["content"] == written
    assert '"2"' in chat.sent[-1][4]["content"]


# Building


@pytest.mark.parametrize("trial_models", [None, TrialModels(), models(user=Chat())])
def test_an_agent_without_a_model_is_refused(domain: Domain, trial_models: TrialModels | None) -> None:
    with pytest.raises(ConfigurationError, match=r"^agent 'llm' needs a model: add --tau-agent-llm MODEL$"):
        LLMAgent(context(domain, "agent", None, models=trial_models))


def test_two_trials_share_nothing(domain: Domain) -> None:
    chat = Chat("a", "b")
    llm = LLM("m", chat)
    for text in ("one", "two"):
        built = context(domain, "agent", None, models=TrialModels({"agent": llm}))
        answers(LLMAgent(built), user(text))
    assert [sent[-1]["content"] for sent in chat.sent] == ["one", "two"]
    assert [len(sent) for sent in chat.sent] == [3, 3]


def kinds(messages: list[Message]) -> list[str]:
    return [type(message).__name__ for message in messages]


def test_the_user_s_own_calls_are_not_shown_to_the_agent(domain: Domain) -> None:
    class Busy(Script):
        async def respond(self, message: Any) -> Any:
            text = self.texts.pop(0)
            return user("aside", call("switch")) if text == "switch" else user(text)

    chat = Chat("Switch it, please.", "Good.")
    conversation, _ = converse(
        domain, LLMAgent(context(domain, "agent", chat)), Busy("Hi", "switch", "It is on.", "###STOP###")
    )
    assert kinds(conversation.messages)[2:5] == ["AssistantMessage", "UserMessage", "ToolMessage"]
    assert [message["content"] for message in chat.sent[-1][2:]] == ["Hi", "Switch it, please.", "It is on."]
    assert conversation.messages[-2].content == "Good."
