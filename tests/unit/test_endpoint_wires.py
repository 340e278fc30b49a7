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


@pytest.mark.parametrize("whole", [True, False])
def test_unknown_tokens_are_zero_since_clients_add_them_up(client, whole):
    reply = text_reply("hello").model_copy(update={"usage": None})
    with serving(reply) as (_, address):
        chat, asked = client(address).chat.completions, {"model": "tau", "messages": [USER]}
        if whole:
            usage = chat.create(**asked).usage
        else:
            *_, last = chat.create(**asked, stream=True, stream_options={"include_usage": True})
            usage = last.usage
        answer = client(address).responses.create(model="tau", input="Hi")
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (0, 0, 0)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (0, 0)


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


# Responses

FUNCTION = {"type": "function", "name": "get_order", "description": "Get it.", "parameters": SCHEMA}
THOUGHT = call_reply(("get_order", "{}"), text=LOOK, reasoning_content="Hm, an order.")
RESULT = {"type": "function_call_output", "call_id": "call_get_order", "output": "It is lost."}


def test_response(client):
    with serving(CALLS) as (session, address):
        answer = client(address).responses.create(
            model="tau",
            input=USER["content"],
            instructions="Be kind.",
            tools=[FUNCTION],
            max_output_tokens=50,
            reasoning={"effort": "low"},
            text={"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}, "verbosity": "low"},
            store=False,
            include=["reasoning.encrypted_content"],
        )
    assert (answer.status, answer.output_text, answer.id) == ("completed", LOOK, "resp_0001")
    _, order, user = answer.output
    assert [(item.id, item.status) for item in answer.output] == [
        ("msg_0001", "completed"),
        ("fc_0001_0", "completed"),
        ("fc_0001_1", "completed"),
    ]
    assert (order.call_id, order.arguments, user.name) == ("call_get_order", '{"order": "W1"}', "get_user")
    assert answer.usage.input_tokens == 12
    [request] = session.requests
    assert request.messages == [{"role": "system", "content": "Be kind."}, USER]
    assert request.tools == [TOOL]
    assert request.response_format == {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    assert request.args == {"max_completion_tokens": 50, "reasoning_effort": "low", "verbosity": "low"}


def test_response_streamed_is_the_whole_one(client):
    with serving(THOUGHT) as (_, address):
        c = client(address)
        with c.responses.stream(model="tau", input="hi", tools=[FUNCTION]) as stream:
            events = list(stream)
            streamed = stream.get_final_response()
        whole = c.responses.create(model="tau", input="hi", tools=[FUNCTION])
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert {event.type for event in events} >= {
        "response.created",
        "response.reasoning_summary_text.delta",
        "response.output_text.delta",
        "response.function_call_arguments.done",
        "response.completed",
    }

    def plain(response):
        text = response.model_dump_json(exclude={"output": {"__all__": {"content": {"__all__": {"parsed"}}}}})
        return json.loads(text.replace("0001", "N").replace("0002", "N").replace('"parsed_arguments":null,', ""))

    left, right = plain(streamed), plain(whole)
    for item in left["output"]:
        item.pop("parsed_arguments", None)
    assert left == right


def test_every_event_of_a_stream_has_the_fields_of_openais_types():
    from openai.types.responses import ResponseStreamEvent
    from pydantic import TypeAdapter

    refusal = text_reply(None)
    refusal.message["refusal"] = "I must not."
    adapter = TypeAdapter(ResponseStreamEvent)
    for reply in (THOUGHT, refusal, text_reply("")):
        with serving(reply) as (_, address):
            sent = httpx.post(f"{address.base_url}/responses", json={"model": "tau", "input": "hi", "stream": True})
        blocks = sent.text.strip().split("\n\n")
        for block in blocks:
            name, data = block.split("\n")
            assert adapter.validate_json(data.removeprefix("data: ")).type == name.removeprefix("event: ")


def test_a_limit_of_tokens_makes_a_response_incomplete(client):
    with serving(text_reply("Well, this is", finish_reason="length")) as (_, address):
        answer = client(address).responses.create(model="tau", input="hi")
        kinds = [event.type for event in client(address).responses.create(model="tau", input="hi", stream=True)]
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert kinds[-1] == "response.incomplete"


def test_all_ways_to_go_on_ask_the_same(client):
    """The items sent back, references to them, and the id of the response give one request."""
    with serving(THOUGHT) as (session, address):
        c = client(address)
        first = c.responses.create(model="tau", input=[USER], tools=[FUNCTION])
        items = [item.model_dump(exclude_none=True) for item in first.output]
        references = [{"type": "item_reference", "id": item.id} for item in first.output]
        without_ids = [{name: item[name] for name in item if name != "id"} for item in items]
        for sent in (items, references, without_ids):
            c.responses.create(model="tau", input=[USER, *sent, RESULT], tools=[FUNCTION])
        last = c.responses.create(model="tau", previous_response_id=first.id, input=[RESULT], tools=[FUNCTION])
    _, *others = session.requests
    assert all(request == others[0] for request in others)
    assert others[0].messages == [
        USER,
        {
            "role": "assistant",
            "content": LOOK,
            "tool_calls": [
                {"id": "call_get_order", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}
            ],
            "reasoning_content": "Hm, an order.",
        },
        {"role": "tool", "tool_call_id": "call_get_order", "content": "It is lost."},
    ]
    assert last.previous_response_id == first.id


def test_a_response_of_another_trial_is_unknown(client):
    with serving(text_reply("hi")) as (_, one), serving(text_reply("hi")) as (_, other):
        first = client(one).responses.create(model="tau", input="hi")
        with pytest.raises(openai.BadRequestError, match="'resp_0001' is not a response of this trial"):
            client(other).responses.create(model="tau", previous_response_id=first.id, input="hi")


# Anthropic's messages


def anthropic(address, **fields):
    body = {"model": "tau", "max_tokens": 100, "messages": [USER], **fields}
    headers = {"x-api-key": address.api_key, "anthropic-version": "2023-06-01"}
    return httpx.post(f"{address.anthropic_base_url}/v1/messages?beta=true", json=body, headers=headers)


def test_anthropic_conversation():
    messages = [
        USER,
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm", "signature": "s"},
                {"type": "text", "text": LOOK, "cache_control": {"type": "ephemeral"}},
                {"type": "tool_use", "id": "c1", "name": "get_order", "input": {"order": "W1"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "Lost."}]},
                {"type": "text", "text": "And?"},
            ],
        },
    ]
    with serving(text_reply("Sorry.")) as (session, address):
        answer = anthropic(
            address,
            messages=messages,
            system=[{"type": "text", "text": "Be kind."}],
            tools=[{"name": "get_order", "description": "Get it.", "input_schema": SCHEMA}],
            tool_choice={"type": "any", "disable_parallel_tool_use": True},
            stop_sequences=["END"],
            temperature=0.1,
        ).json()
    assert answer == {
        "id": "msg_0001",
        "type": "message",
        "role": "assistant",
        "model": "tau",
        "content": [{"type": "text", "text": "Sorry."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 8,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 4,
            "output_tokens": 5,
        },
    }
    [request] = session.requests
    function = {"name": "get_order", "arguments": '{"order": "W1"}'}
    assert request.messages == [
        {"role": "system", "content": "Be kind."},
        USER,
        {
            "role": "assistant",
            "content": LOOK,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            "reasoning_content": "Hm",
            "thinking_blocks": [{"type": "thinking", "thinking": "Hm", "signature": "s"}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "Lost."},
        {"role": "user", "content": "And?"},
    ]
    assert (request.tools, request.tool_choice) == ([TOOL], "required")
    assert request.args == {
        "temperature": 0.1,
        "max_completion_tokens": 100,
        "stop": ["END"],
        "parallel_tool_calls": False,
    }


def events_of(text):
    """The events of Anthropic's stream, each checked for its name."""
    found = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert found[-1]["type"] == name.removeprefix("event: ")
    return found


def test_anthropic_stream_is_the_whole_message():
    with serving(call_reply(("get_order", '{"order": "W1"}'), text=LOOK, reasoning_content="Hm")) as (_, address):
        whole = anthropic(address).json()
        streamed = anthropic(address, stream=True)
    assert streamed.headers["Content-Type"] == "text/event-stream"
    start, *middle, delta, stop = events_of(streamed.text)
    message, pieces = start["message"], {}
    assert message["content"] == []
    for event in middle:
        if event["type"] == "content_block_start":
            message["content"].append(event["content_block"])
        elif event["type"] == "content_block_delta":
            change = event["delta"]
            field = {"text_delta": "text", "input_json_delta": "json", "thinking_delta": "thinking"}.get(change["type"])
            block = message["content"][event["index"]]
            if field == "json":
                pieces[event["index"]] = pieces.get(event["index"], "") + change["partial_json"]
            elif field:
                block[field] += change[field]
    for index, text in pieces.items():
        message["content"][index]["input"] = json.loads(text)
    message["stop_reason"] = delta["delta"]["stop_reason"]
    message["usage"] |= delta["usage"]
    assert stop == {"type": "message_stop"}
    assert message | {"id": "msg_0001"} == whole


def test_arguments_that_are_no_object_reach_the_agent():
    with serving(call_reply(("get_order", '{"order'))) as (_, address):
        [block] = anthropic(address).json()["content"]
    assert block["input"] == {"INVALID_JSON": '{"order'}


def test_the_errors_of_anthropics_wire():
    with serving(text_reply("hi")) as (_, address):
        answer = anthropic(address, mcp_servers=[{"url": "x"}])
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("mcp_servers: the provider would call these servers")
    assert answer.json()["type"] == "error"
