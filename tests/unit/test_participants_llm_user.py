from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import ChatReply
from pytest_tau.errors import ContextWindowError, ModelError, ParticipantError
from pytest_tau.models import AssistantMessage, ToolCall, ToolMessage, UserMessage
from pytest_tau.participants import LLMAgent, LLMUser, Prompting

from .scripted_chat import GREETING, Chat, called, calls, context, converse, models
from .tiny import agent, call, run, task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.participants import Incoming

OPENING = AssistantMessage(content=GREETING)


class Script:
    """An agent that replies with one entry after the other."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)

    async def respond(self, message: Incoming) -> Any:
        reply = self.replies.pop(0)
        return reply if isinstance(reply, AssistantMessage) else agent(reply)

    def is_stop(self, message: Any) -> bool:
        return False


def answers(participant: LLMUser, *messages: Any) -> list[Any]:
    async def talk() -> list[Any]:
        return [await participant.respond(message) for message in messages]

    return run(talk())


def plain(domain: Domain, chat: Chat | None, **fields: Any) -> Any:
    """What a user without tools is built from."""
    return context(domain, "user", chat, tools=[], **fields)


def test_the_model_plays_the_customer_of_the_scenario(domain: Domain) -> None:
    chat = Chat("I want a lamp.", "A red one.")
    (first, _) = answers(LLMUser(plain(domain, chat)), OPENING, agent("Which colour?"))
    assert isinstance(first, UserMessage)
    assert (first.content, first.cost, first.generation_time_seconds) == ("I want a lamp.", 0.5, 1.5)
    assert first.raw_data == {"role": "assistant", "content": "I want a lamp."}
    assert first.usage is not None
    system, *rest = chat.sent[-1]
    assert system["role"] == "system"
    assert "<scenario>\nInstructions:\n\tYou want something.\n</scenario>" in system["content"]
    assert rest == [
        {"role": "user", "content": GREETING},
        {"role": "assistant", "content": "I want a lamp."},
        {"role": "user", "content": "Which colour?"},
    ]
    assert (chat.requests[0].tools, chat.requests[0].tool_choice, chat.requests[0].args) == ([], None, {"seed": 7})


def test_prompt_of_a_user_with_tools_explains_them(domain: Domain) -> None:
    with_tools, without = Chat("Hi"), Chat("Hi")
    answers(LLMUser(context(domain, "user", with_tools)), OPENING)
    answers(LLMUser(plain(domain, without)), OPENING)
    assert [tool["function"]["name"] for tool in with_tools.requests[0].tools] == ["switch", "read_phone", "write_note"]
    assert with_tools.requests[0].tool_choice == "auto"
    assert "tool" in with_tools.sent[0][0]["content"]
    assert "tool" not in without.sent[0][0]["content"]


def test_a_user_sees_its_own_tool_traffic_and_no_other(domain: Domain) -> None:
    chat = Chat("Help", calls(called("switch", "u1"), content="One moment"), "It is on.", "###STOP###")
    built = context(domain, "user", chat)
    helper = Script(agent("looking", call("count")), "Switch it.", agent(call("count")), "Good?")
    conversation, ending = converse(domain, helper, LLMUser(built))
    assert (ending.reason, ending.stop_token) == ("user_stop", "###STOP###")
    assert [
        made.requestor for message in conversation.messages for made in getattr(message, "tool_calls", None) or []
    ] == [
        "assistant",
        "user",
        "assistant",
    ]
    assert chat.sent[-1][1:] == [
        {"role": "user", "content": GREETING},
        {"role": "assistant", "content": "Help"},
        {"role": "user", "content": "Switch it."},
        {"role": "assistant", "content": "One moment", "tool_calls": [called("switch", "u1")]},
        {"role": "tool", "tool_call_id": "u1", "content": "on"},
        {"role": "assistant", "content": "It is on."},
        {"role": "user", "content": "Good?"},
    ]


@pytest.mark.parametrize("token", ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"])
def test_a_stop_token_ends_the_conversation(domain: Domain, token: str) -> None:
    _, ending = converse(domain, Script(), LLMUser(plain(domain, Chat(f"Thanks! {token}"))))
    assert (ending.reason, ending.stop_token) == ("user_stop", token)


def test_stop_token_with_a_tool_call_does_not(domain: Domain) -> None:
    chat = Chat(calls(called("switch", "u1"), content="###STOP###"), "It is on. ###STOP###")
    conversation, ending = converse(domain, Script(), LLMUser(context(domain, "user", chat)))
    assert ending.reason == "user_stop"
    assert [message.content for message in conversation.messages[1:]] == ["###STOP###", "on", "It is on. ###STOP###"]


@pytest.mark.parametrize(
    "empty", [("",), ("", {"content": None}), ({"content": " \n", "tool_calls": []}, {"content": 5})]
)
def test_request_is_repeated_after_an_empty_message(domain: Domain, empty: tuple[Any, ...]) -> None:
    chat = Chat(*empty, "I want a lamp.", "Bye")
    built = plain(domain, chat)
    (reply, _) = answers(LLMUser(built), OPENING, agent("Here."))
    assert reply.content == "I want a lamp."
    assert all(request == chat.requests[0] for request in chat.requests[: len(empty) + 1])
    assert [message["role"] for message in chat.sent[-1]] == ["system", "user", "assistant", "user"]
    assert built.models is not None
    assert (built.models.ledger.usage["user"].calls, built.models.ledger.usage["user"].cost) == (
        len(empty) + 2,
        0.5 * (len(empty) + 2),
    )


def test_a_user_that_stays_empty_is_an_error_and_no_failure(domain: Domain) -> None:
    last = ChatReply(message={"content": None}, finish_reason="content_filter")
    chat = Chat("", "", last, "never asked")
    with pytest.raises(ParticipantError) as raised:
        answers(LLMUser(plain(domain, chat)), OPENING)
    assert raised.value.side == "user"
    assert str(raised.value) == (
        "m sent an empty reply: no text and no tool calls, the last of 3 times (finish reason: content_filter)"
    )
    assert len(chat.script) == 1
    _, ending = converse(domain, Script(), LLMUser(plain(domain, Chat("", "", ""))))
    assert ending.reason == "user_error"


REFUSAL = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}


@pytest.mark.parametrize(
    "refusal",
    [
        REFUSAL,
        {"role": "assistant", "content": "", "provider_specific_fields": REFUSAL},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": REFUSAL["refusal"]}]},
        ChatReply(message=REFUSAL | {"content": REFUSAL["refusal"], "refusal": None}, finish_reason="refusal"),
    ],
)
def test_a_refusal_of_the_user_s_model_is_not_said_to_the_agent(domain: Domain, refusal: Any) -> None:
    once = Chat(refusal, "Yes.")
    (reply,) = answers(LLMUser(plain(domain, once)), OPENING)
    assert (reply.content, len(once.sent)) == ("Yes.", 2)
    with pytest.raises(
        ParticipantError, match=r"sent a refusal of its model: 'I cannot help with that\.', the last of 3"
    ):
        answers(LLMUser(plain(domain, Chat(*[refusal] * 3))), OPENING)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("<think>I stop later: ###STOP###.</think>Yes, please.", "Yes, please."),
        ("I stop later: ###STOP###.</think>\n\nYes, please.", "Yes, please."),
        ('{"message": "Yes, please."}', "Yes, please."),
        ("<think>All done.</think>###STOP###", "###STOP###"),
    ],
)
def test_the_agent_is_sent_what_the_user_says_and_no_thoughts(domain: Domain, written: str, said: str) -> None:
    chat = Chat(written, "A red one.")
    user = LLMUser(plain(domain, chat))
    (reply, _) = answers(user, OPENING, agent("Which colour?"))
    assert reply.content == said
    assert user.is_stop(reply) is ("STOP" in said)
    # The model sees what it wrote itself.
    assert chat.sent[-1][2]["content"] == written


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that request.",
        "I\u2019m sorry, I can\u2019t assist with that.",
        "I cannot comply with this request.",
        "Sorry, but I'm unable to help with that kind of request.",
        "I can't continue this conversation.",
    ],
)
def test_the_words_with_which_models_refuse_are_not_said_to_the_agent(domain: Domain, text: str) -> None:
    (reply,) = answers(LLMUser(plain(domain, Chat(text, "Yes."))), OPENING)
    assert reply.content == "Yes."


@pytest.mark.parametrize("text", ["Sorry, I can't help with that.", "I can't continue without my phone.", "I cannot."])
def test_what_a_person_may_say_as_well_is_said_to_the_agent(domain: Domain, text: str) -> None:
    (reply,) = answers(LLMUser(plain(domain, Chat(text))), OPENING)
    assert reply.content == text


def test_a_user_that_only_thinks_is_asked_again(domain: Domain) -> None:
    chat = Chat("<think>Hm. ###STOP###</think>", "<think>Hm.", "Yes.")
    (reply,) = answers(LLMUser(plain(domain, chat)), OPENING)
    assert reply.content == "Yes."


def test_arguments_that_are_no_object_and_unknown_tools_are_counted_for_the_user(domain: Domain) -> None:
    chat = Chat(calls(called("switch", "u1", text="[")), calls(called("count", "u2")), "###STOP###")
    built = context(domain, "user", chat)
    conversation, ending = converse(domain, Script(), LLMUser(built))
    assert ending.reason == "user_stop"
    made = conversation.messages[1]
    assert isinstance(made, UserMessage)
    assert made.tool_calls == [ToolCall(id="u1", name="switch", malformed="[", requestor="user")]
    results = [message for message in conversation.messages if isinstance(message, ToolMessage)]
    assert [(message.requestor, message.error) for message in results] == [("user", True), ("user", True)]
    assert built.models is not None
    assert (built.models.ledger.usage["user"].malformed_calls, built.models.ledger.usage["user"].unknown_tools) == (
        1,
        1,
    )


def test_the_history_is_part_of_the_conversation(domain: Domain) -> None:
    told = [
        {"role": "user", "content": "Help"},
        {"role": "assistant", "tool_calls": [{"id": "a", "name": "count", "arguments": {}}]},
        {"role": "tool", "id": "a", "content": "1"},
        {"role": "assistant", "content": "Switch it."},
        {"role": "user", "tool_calls": [{"id": "", "name": "switch", "arguments": {}, "requestor": "user"}]},
    ]
    wanted = task(state={"message_history": told})
    chat = Chat("###STOP###")
    _, ending = converse(domain, Script(), LLMUser(context(domain, "user", chat, wanted)), wanted)
    assert ending.reason == "user_stop"
    (sent,) = chat.sent
    assert [message["role"] for message in sent] == ["system", "assistant", "user", "assistant", "tool"]
    assert sent[3]["tool_calls"][0]["id"] == sent[4]["tool_call_id"] == "tau_user_call_1"


@pytest.mark.parametrize("error", [ModelError("down"), ContextWindowError("too long")])
def test_model_error_gives_no_verdict(domain: Domain, error: Exception) -> None:
    _, ending = converse(domain, Script(), LLMUser(plain(domain, Chat(error))))
    assert ending.reason == "infrastructure_error"


def test_both_sides_by_models_in_one_conversation(domain: Domain) -> None:
    helping = Chat(calls(called("rename", "x", item_id="lamp", name="Torch")), "It is called Torch now.")
    asking = Chat("Call the lamp Torch, please.", "###STOP###")
    trial = models(agent=helping, user=asking)
    sides = [context(domain, side, None, models=trial) for side in ("agent", "user")]
    conversation, ending = converse(domain, LLMAgent(sides[0]), LLMUser(sides[1]))
    assert ending.reason == "user_stop"
    assert [message.role for message in conversation.messages] == [
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert {role: usage.calls for role, usage in trial.ledger.usage.items()} == {"user": 2, "agent": 2}


# Prompts and building


def test_prompts_of_the_run_replace_the_defaults(domain: Domain) -> None:
    prompting = Prompting(prompt="plain {{scenario}}", tools_prompt="tools {{scenario}}")
    chats = Chat("Hi"), Chat("Hi")
    answers(LLMUser(context(domain, "user", chats[0], prompting=prompting)), OPENING)
    answers(LLMUser(plain(domain, chats[1], prompting=prompting)), OPENING)
    scenario = "Instructions:\n\tYou want something."
    assert [chat.sent[0][0]["content"] for chat in chats] == [f"tools {scenario}", f"plain {scenario}"]
