"""The endpoint as clients of OpenAI's and Anthropic's see it."""

from __future__ import annotations

import json

import httpx
import openai
import pytest

from .endpoint_session import call_reply, serving, text_reply

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
TOOL = {"type": "function", "function": {"name": "get_order", "description": "Get it.", "parameters": SCHEMA}}
USER = {"role": "user", "content": "Where is it?"}
LOOK = "Let me look this up, please."
CALLS = call_reply(("get_order", '{"order": "W1"}'), ("get_user", "{}"), text=LOOK)


@pytest.fixture
def client():
    made = []

    def make(address):
        made.append(openai.OpenAI(base_url=address.base_url, api_key=address.api_key))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_chat_completion(client):
    with serving(CALLS) as (session, address):
        answer = client(address).chat.completions.create(
            model="tau", messages=[USER], tools=[TOOL], temperature=0.5, tool_choice="auto"
        )
    [choice] = answer.choices
    assert (choice.message.content, choice.finish_reason) == (LOOK, "tool_calls")
    assert [(c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls] == [
        ("call_get_order", "get_order", '{"order": "W1"}'),
        ("call_get_user", "get_user", "{}"),
    ]
    assert (answer.id, answer.usage.prompt_tokens, answer.usage.prompt_tokens_details.cached_tokens) == (
        "chatcmpl-0001",
        12,
        4,
    )
    [request] = session.requests
    assert (request.model, request.messages, request.tools) == ("tau", [USER], [TOOL])
    assert (request.args, request.tool_choice) == ({"temperature": 0.5}, "auto")


def test_chat_completion_streamed(client):
    with serving(CALLS) as (session, address):
        helper = client(address).chat.completions.stream(
            model="tau", messages=[USER], tools=[TOOL], stream_options={"include_usage": True}
        )
        with helper as stream:
            kinds = {event.type for event in stream}
            answer = stream.get_final_completion()
    assert answer.choices[0].message.content == LOOK
    assert [c.function.arguments for c in answer.choices[0].message.tool_calls] == ['{"order": "W1"}', "{}"]
    assert answer.usage.completion_tokens == 5
    assert "content.delta" in kinds
    assert session.requests[0].args == {}  # how an answer is delivered is no argument


def test_a_stream_and_a_whole_answer_ask_for_the_same(client):
    with serving(text_reply("hello")) as (session, address):
        c = client(address)
        c.chat.completions.create(model="tau", messages=[USER])
        list(c.chat.completions.create(model="tau", messages=[USER], stream=True))
    assert session.requests[0] == session.requests[1]


def test_models(client):
    with serving(text_reply("hello")) as (_, address):
        assert [model.id for model in client(address).models.list()] == ["tau"]


def test_anthropic_message():
    with serving(CALLS) as (session, address):
        body = {"model": "tau", "max_tokens": 100, "messages": [USER]}
        answer = httpx.post(f"{address.anthropic_base_url}/v1/messages", json=body).json()
    assert answer["stop_reason"] == "tool_use"
    assert [block["type"] for block in answer["content"]] == ["text", "tool_use", "tool_use"]
    assert answer["content"][1]["input"] == {"order": "W1"}
    assert session.requests[0].args == {"max_completion_tokens": 100}
    json.dumps(answer)
