from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel

from pytest_tau.chat import Identity, Player, Recorder, TrialModels, attribute_calls
from pytest_tau.errors import ConfigurationError
from pytest_tau.integrations.litellm import Completion, acompletion, completion
from pytest_tau.integrations.litellm.client import load
from pytest_tau.testing import ModelServer

from .tiny import run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.chat import Role

pytestmark = pytest.mark.usefixtures("no_model_environment")
HELLO = [{"role": "user", "content": "Hello"}]
CALL = {"id": "call_0", "type": "function", "function": {"name": "look", "arguments": '{"item_id": "lamp"}'}}
LOOKS = {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "The lamp."}


def in_trial(models: TrialModels, role: Role, **kwargs: Any) -> Completion:
    """What a participant's call gives."""

    async def participant() -> Completion:
        with attribute_calls(models, role):
            return await acompletion(**kwargs)

    return run(participant())


# What it answers


def test_the_answer_reads_like_litellms() -> None:
    with ModelServer(lambda _: LOOKS) as server:
        answer = run(acompletion("openai/scripted", HELLO, api_base=server.base_url))
    message = answer.choices[0].message
    assert (message.content, message.role, message.function_call) == (None, "assistant", None)
    assert message.tool_calls is not None
    assert message.tool_calls[0].id == "call_0"
    assert message.tool_calls[0].function.name == "look"
    assert message.tool_calls[0].function.arguments == '{"item_id": "lamp"}'
    assert message.reasoning_content == "The lamp."  # type: ignore[attr-defined]
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
    assert (message.get("reasoning_content"), message.get("nothing"), "nothing" in message) == (
        "The lamp.",
        None,
        False,
    )
    with pytest.raises(KeyError):
        message["nothing"]
    assert (answer.model, answer.object, answer.choices[0].finish_reason) == (
        "scripted",
        "chat.completion",
        "tool_calls",
    )
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0
    assert answer.model_dump()["choices"][0]["message"] == {**LOOKS, "function_call": None}
    assert answer._hidden_params == {"response_cost": None}


def test_a_known_price_is_where_litellm_has_it() -> None:
    with ModelServer(lambda _: "Hi") as server:
        answer = completion("openai/gpt-4.1-mini", HELLO, api_base=server.base_url)
    usage = answer.usage
    assert answer._hidden_params["response_cost"] == pytest.approx(
        (usage.prompt_tokens * 0.4 + usage.completion_tokens * 1.6) / 1e6
    )


def test_outside_of_trials_both_are_plain_calls_and_one_blocks_wherever_it_is() -> None:
    with ModelServer(lambda _: "Hi") as server:
        answers = [
            completion("openai/scripted", HELLO, api_base=server.base_url),
            run(acompletion(model="openai/scripted", messages=HELLO, api_base=server.base_url)),
        ]

        async def blocking() -> Completion:
            return completion("openai/scripted", HELLO, api_base=server.base_url)

        answers.append(run(blocking()))
    assert [answer.choices[0].message.content for answer in answers] == ["Hi"] * 3


def test_arguments_reach_the_server_as_with_litellm() -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    choice = {"type": "function", "function": {"name": "look"}}
    with ModelServer(lambda _: "Hi") as server:
        common: dict[str, Any] = {"api_base": server.base_url, "tools": tools}
        completion(
            "openai/scripted", HELLO, **common, tool_choice=choice, temperature=0.5, stop=None, stream=False, n=1
        )
        completion("openai/scripted", HELLO, **common, tool_choice="required", response_format={"type": "json_object"})
    first, second = server.requests
    assert first == {
        "model": "scripted",
        "messages": HELLO,
        "tools": tools,
        "tool_choice": choice,
        "temperature": 0.5,
    }
    assert (second["tool_choice"], second["response_format"]) == ("required", {"type": "json_object"})


def test_messages_of_earlier_answers_may_be_passed_as_they_are() -> None:
    with ModelServer(lambda _: LOOKS) as server:
        answer = completion("openai/scripted", HELLO, api_base=server.base_url)
        message = answer.choices[0].message
        others = [
            {"role": "assistant", "content": "Looking.", "tool_calls": message.tool_calls},
            load().Message(content="Looking.", role="assistant", tool_calls=[CALL]),
            ChatCompletionMessage.model_validate({"role": "assistant", "content": "Looking.", "tool_calls": [CALL]}),
        ]
        completion("openai/scripted", [*HELLO, message, *others], api_base=server.base_url)
    sent = server.requests[1]["messages"]
    assert sent[1] == {key: value for key, value in LOOKS.items() if value is not None}
    for each in sent[2:]:
        assert (each["role"], each["content"], each["tool_calls"]) == ("assistant", "Looking.", [CALL])


# In a trial


def test_in_a_trial_a_call_is_tallied_recorded_and_replayed_to_the_byte(tmp_path: Path) -> None:
    path, whose = tmp_path / "c.cassette", Identity("tiny", "lamp", 0, 7)
    recorder = Recorder(path, whose)
    models = TrialModels(tape=recorder)
    with ModelServer(lambda _: LOOKS) as server:
        kwargs = {"model": "openai/scripted", "messages": HELLO, "api_base": server.base_url, "temperature": 0.5}
        first = in_trial(models, "agent", **kwargs)
        in_trial(models, "user", **kwargs)
    recorder.finish("user_stop", None, [])
    assert {role: usage.calls for role, usage in models.ledger.usage.items()} == {"agent": 1, "user": 1}
    assert models.ledger.usage["agent"].prompt_tokens == first.usage.prompt_tokens > 0
    assert '"role": "agent", "model": "openai/scripted", "args": {"temperature": 0.5}' in path.read_text()

    # The server is gone.
    replayed = TrialModels(tape=Player(path, whose))
    assert in_trial(replayed, "agent", **kwargs).model_dump_json() == first.model_dump_json()
    assert replayed.ledger.usage["agent"] == models.ledger.usage["agent"]


def test_the_blocking_function_waits_on_the_trials_loop_in_a_thread() -> None:
    models = TrialModels()

    async def trial(server: ModelServer) -> Completion:
        models.run_on(asyncio.get_running_loop())
        with attribute_calls(models, "agent"):
            return await asyncio.to_thread(completion, "openai/scripted", HELLO, api_base=server.base_url)

    with ModelServer(lambda _: "Hi") as server:
        assert run(trial(server)).choices[0].message.content == "Hi"
    assert models.ledger.usage["agent"].calls == 1


def test_the_blocking_function_does_not_stop_the_trials_loop() -> None:
    async def trial() -> None:
        with attribute_calls(TrialModels(), "agent"):
            completion("openai/scripted", HELLO)

    with pytest.raises(RuntimeError, match="would block the event loop"):
        run(trial())


class Schema(BaseModel):
    text: str


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"stream": True}, "streaming is not supported"),
        ({"n": 3}, "only one answer is requested per call"),
        ({"response_format": Schema}, "response_format: expected a JSON schema"),
        ({"client": object()}, "argument 'client' .object. cannot be recorded"),
    ],
)
def test_what_cannot_be_recorded_is_refused(kwargs: dict[str, Any], words: str) -> None:
    models = TrialModels()
    with pytest.raises(ConfigurationError, match=words):
        in_trial(models, "agent", model="openai/scripted", messages=HELLO, **kwargs)
    assert not models.ledger.usage


def test_a_replay_needs_neither_litellm_nor_a_network() -> None:
    code = """
import asyncio, socket, sys
sys.modules["litellm"] = sys.modules["tenacity"] = None
def no_network(*args, **kwargs): raise AssertionError("a socket")
from pytest_tau.chat import ChatReply, TrialModels, attribute_calls
from pytest_tau.integrations.litellm import acompletion, completion
class Player:
    async def answer(self, role, request, ask):
        return ChatReply(message={"role": "assistant", "content": request.messages[0]["content"]})
async def trial():
    socket.socket.connect = no_network
    with attribute_calls(TrialModels(tape=Player()), "agent"):
        answer = await acompletion("openai/gpt-4.1", [{"role": "user", "content": "async"}])
        print(answer.choices[0].message.content, answer.usage.total_tokens)
asyncio.run(trial())
with attribute_calls(TrialModels(tape=Player()), "agent"):
    print(completion("openai/gpt-4.1", [{"role": "user", "content": "sync"}]).choices[0]["message"]["content"])
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.stdout + done.stderr).splitlines() == ["async 0", "sync"]
