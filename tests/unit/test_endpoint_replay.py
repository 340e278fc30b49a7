"""Calls through the endpoint are recorded and replayed: whole or streamed, by one client or another."""

from __future__ import annotations

import json

import openai
import pytest

from pytest_tau.chat import LLM, ChatRequest, Identity, Player, Recorder, TrialModels
from pytest_tau.endpoint import close_session, open_session
from pytest_tau.integrations.openai_api import OpenAIServer
from pytest_tau.testing import ModelServer

from .endpoint_session import ScriptedSession

WHOSE = Identity("tiny", "lamp", 0, 7, {})
TOOL = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}


def script(request):
    last = request["messages"][-1]
    if last["role"] == "tool":
        return f"It is {last['content']}."
    return {"content": "I look.", "tool_calls": [{"function": {"name": "look", "arguments": {"at": "lamp"}}}]}


class TapedSession(ScriptedSession):
    """A trial whose calls are recorded or replayed."""

    def __init__(self, tape, base_url):
        super().__init__()
        self._llm = LLM("openai/m", OpenAIServer(attempts=1), {"base_url": base_url})
        self.models = TrialModels({"agent": self._llm}, tape)

    async def complete(self, request):
        asked = ChatRequest(
            model="openai/m", messages=request.messages, tools=request.tools, args={**self._llm.args, **request.args}
        )
        return await self.models.call("agent", asked, self._llm.chat)


def by_chat(client, *, stream):
    """A conversation of openai's client over chat completions; returns its messages."""
    messages = [{"role": "user", "content": "Is it on?"}]
    asked = {"model": "tau", "messages": messages, "tools": [{"type": "function", "function": TOOL}]}
    for _ in range(2):
        if stream:
            with client.chat.completions.stream(**asked) as events:
                message = events.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(**asked).choices[0].message
        calls = [
            {"id": call.id, "type": "function", "function": {"name": "look", "arguments": call.function.arguments}}
            for call in message.tool_calls or []
        ]
        messages.append({"role": "assistant", "content": message.content} | ({"tool_calls": calls} if calls else {}))
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": "on"} for call in calls]
    return messages


def by_responses(client, *, stream):
    """The same conversation over Responses; returns its texts."""
    items, texts, previous = [{"role": "user", "content": "Is it on?"}], [], openai.omit
    for _ in range(2):
        asked = {
            "model": "tau",
            "input": items,
            "previous_response_id": previous,
            "tools": [{"type": "function", **TOOL}],
        }
        if stream:
            with client.responses.stream(**asked) as events:
                answer = events.get_final_response()
        else:
            answer = client.responses.create(**asked)
        previous = answer.id
        texts.append(answer.output_text)
        calls = [item for item in answer.output if item.type == "function_call"]
        items = [{"type": "function_call_output", "call_id": call.call_id, "output": "on"} for call in calls]
    return texts


def converse(tape, base_url, conversation, *, stream):
    session = TapedSession(tape, base_url)
    address = open_session(session)
    try:
        with openai.OpenAI(base_url=address.base_url, api_key=address.api_key) as client:
            found = conversation(client, stream=stream)
        tape.finish("agent_stop", None, [])
        return found, address, session.models
    finally:
        close_session(address)
        session.stop()


@pytest.mark.exhaustive
@pytest.mark.parametrize("conversation", [by_chat, by_responses])
@pytest.mark.parametrize("recorded", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("replayed", [False, True], ids=["whole", "streamed"])
def test_recorded_and_replayed_with_the_server_closed(tmp_path, conversation, recorded, replayed):
    path = tmp_path / "lamp.cassette"
    with ModelServer(script) as server:
        recorder = Recorder(path, WHOSE, fresh=True)
        first, address, models = converse(recorder, server.base_url, conversation, stream=recorded)
    assert len(server.requests) == models.ledger.usage["agent"].calls == 2
    assert not any("stream" in request for request in server.requests)
    assert address.api_key not in path.read_text(encoding="utf-8")
    assert str(server.base_url) not in path.read_text(encoding="utf-8")
    second, _, models = converse(Player(path, WHOSE), server.base_url, conversation, stream=replayed)
    assert second == first
    assert models.ledger.usage["agent"].calls == 2


@pytest.mark.exhaustive
def test_a_recording_of_one_format_is_one_of_the_other(tmp_path):
    path = tmp_path / "lamp.cassette"
    with ModelServer(script) as server:
        messages, _, _ = converse(Recorder(path, WHOSE, fresh=True), server.base_url, by_chat, stream=False)
    texts, _, _ = converse(Player(path, WHOSE), server.base_url, by_responses, stream=True)
    assert texts == [message["content"] for message in messages if message["role"] == "assistant"]


def test_a_replay_that_differs_is_not_retried(tmp_path):
    path = tmp_path / "lamp.cassette"
    with ModelServer(script) as server:
        converse(Recorder(path, WHOSE, fresh=True), server.base_url, by_chat, stream=False)
    asked = []

    def other(client, *, stream):
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(model="tau", messages=[{"role": "user", "content": "Is it off?"}])
        asked.append(caught.value)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        converse(Player(path, WHOSE), server.base_url, other, stream=False)
    [error] = asked
    assert (error.status_code, error.type) == (424, "replay_error")
    assert "Is it off?" in error.message
    assert json.loads(error.response.content)["error"]["message"] == error.body["message"]
