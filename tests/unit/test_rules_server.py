"""The rules agent as a model: conversations over HTTP that are equal to those of ``--tau-agent rules``."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.errors import ConfigurationError
from pytest_tau.testing import rules_server

if TYPE_CHECKING:
    from pytest_tau import Simulation
    from pytest_tau.testing import ModelServer


def post(server: ModelServer, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> Any:
    body = {"model": "tau", "messages": messages, "tools": tools or []}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["choices"][0]["message"]


def said(simulation: Simulation) -> list[dict[str, Any]]:
    """What is compared: everything of the messages but times, costs, and the ids of calls."""
    kept = ("role", "content", "requestor", "error")
    return [
        {name: value for name, value in message.model_dump().items() if name in kept}
        | {"calls": [(call.name, call.arguments) for call in getattr(message, "tool_calls", None) or []]}
        for message in simulation.messages
    ]


@pytest.mark.parametrize(
    "name", ["retail", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("telecom", "airline"))]
)
def test_conversations_are_those_of_the_rules_agent(name: str) -> None:
    domain = pytest_tau.load_domain(name)
    split = "small" if "small" in domain.splits else "base"
    with rules_server(name) as server:
        for task in domain.tasks(split)[:12]:
            served = pytest_tau.simulate(task, domain=domain, agent=lambda *sent: post(server, *sent), user="scripted")
            direct = pytest_tau.simulate(task, domain=domain, agent="rules", user="scripted")
            assert said(served) == said(direct), task.id
            assert served.reward_info == direct.reward_info, task.id
            assert served.reward == 1, task.id
    assert server.errors == []


def test_an_answer_is_a_function_of_the_request() -> None:
    first = [{"role": "user", "content": "Where is my order? My email is nobody@example.com."}]
    with rules_server("retail") as server:
        asked = post(server, first)
        (call,) = asked["tool_calls"]
        failed = {"role": "tool", "tool_call_id": call["id"], "content": "Error: user not found"}
        assert call["function"]["name"] == "find_user_id_by_email"
        again = post(server, [*first, asked, failed])
        assert "name and your zip code" in again["content"]
        assert post(server, first) == asked
        assert post(server, [*first, asked, failed]) == again


def test_content_may_be_a_list_of_parts() -> None:
    with rules_server("retail") as server:
        text = "My email is nobody@example.com."
        whole = post(server, [{"role": "user", "content": text}])
        parts = [{"type": "text", "text": text[:10]}, {"type": "text", "text": text[10:]}]
        assert post(server, [{"role": "user", "content": parts}]) == whole


def test_the_notice_is_that_of_the_policy_in_the_request() -> None:
    policy = "Transfer them, then say `PLEASE WAIT, SOMEBODY COMES TO YOU.`"
    unknown = [{"role": "user", "content": "Hello"}] * 4
    with rules_server("telecom") as server:
        transfer = post(server, [{"role": "system", "content": policy}, *unknown])
        result = {"role": "tool", "tool_call_id": transfer["tool_calls"][0]["id"], "content": "Transfer successful"}
        answer = post(server, [{"role": "developer", "content": policy}, *unknown, transfer, result])
    assert answer["content"] == "PLEASE WAIT, SOMEBODY COMES TO YOU."


def test_texts_are_calls_where_only_a_tool_can_answer() -> None:
    tool = {"type": "function", "function": {"name": "final_answer", "parameters": {"type": "object"}}}
    with rules_server("retail") as server:
        (call,) = post(server, [{"role": "user", "content": "New task:\nHello"}], [tool])["tool_calls"]
        assert call["function"]["name"] == "final_answer"
        answer = json.loads(call["function"]["arguments"])["answer"]
        assert "may I have your email address" in answer
        seen = "Calling tools:\n" + str([{"function": {"name": "final_answer"}}])
        joined = f"Observation:\n{answer}\nNew task:\nMy email is nobody@example.com."
        turns = [("user", "New task:\nHello"), ("assistant", seen), ("user", joined)]
        (call,) = post(server, [{"role": role, "content": text} for role, text in turns], [tool])["tool_calls"]
        assert call["function"]["name"] == "find_user_id_by_email"
        seen = "Calling tools:\n" + str([{"function": {"name": "find_user_id_by_email"}}])
        turns += [("assistant", seen), ("user", "Observation:\nError: user not found")]
        (call,) = post(server, [{"role": role, "content": text} for role, text in turns], [tool])["tool_calls"]
        assert "zip code" in json.loads(call["function"]["arguments"])["answer"]


def test_results_may_be_wrapped_as_google_s_kit_does() -> None:
    turns = [{"role": "user", "content": "My email is nobody@example.com."}]
    with rules_server("retail") as server:
        turns.append(post(server, turns))
        results = ['Error: user "x" not found', json.dumps({"result": 'Error: user "x" not found'})]
        plain, wrapped = (post(server, [*turns, {"role": "tool", "content": each}]) for each in results)
    assert wrapped == plain
    assert "zip code" in plain["content"]


@pytest.mark.parametrize("inner", ['Error: user "x" not found', '{"user_id": "x"}'])
def test_results_that_are_wrapped_otherwise_are_refused(inner: str) -> None:
    turns = [{"role": "user", "content": "My email is nobody@example.com."}]
    with rules_server("retail") as server:
        turns.append(post(server, turns))
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(server, [*turns, {"role": "tool", "content": json.dumps({"output": inner})}])
        refused.value.close()
    assert "wrapped the result of a tool as {'output': TEXT}" in str(server.errors[0])


def test_a_request_without_a_user_is_refused() -> None:
    with rules_server("retail") as server:
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(server, [{"role": "system", "content": "A policy"}])
        assert refused.value.code == 500
        refused.value.close()
    assert "nothing to answer" in str(server.errors[0])


def test_a_domain_without_a_rules_agent_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'rules': the domain has no agent of this name"):
        rules_server("mock")
    with pytest.raises(ConfigurationError, match="unknown domain 'retial'"):
        rules_server("retial")


def test_options_are_those_of_the_model_server() -> None:
    with rules_server(pytest_tau.load_domain("retail"), api_key="secret") as server:
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(server, [{"role": "user", "content": "Hello"}])
        assert refused.value.code == 401
        refused.value.close()
