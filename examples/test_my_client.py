"""Tests of an agent with a model client of its own: its requests, and how it handles faults.

    pytest examples/test_my_client.py

They need no model, no API key and no network: the model is a script behind a server on loopback. See
docs/model_server.md.
"""

import openai
import pytest

import pytest_tau
from pytest_tau.testing import Faults, ModelServer, RateLimited, ScriptedParticipant, TruncatedJSON, WrongSchema


class MyAgent:
    """The agent under test. In your project, import it instead."""

    def __init__(self, base_url):
        self.client = openai.OpenAI(base_url=base_url, api_key="any", max_retries=5)

    def __call__(self, messages, tools):
        reply = self.client.chat.completions.create(model="my-model", messages=messages, tools=tools)
        return reply.choices[0].message.model_dump(exclude_none=True)

    def stream(self, text):
        """Yield a reply in chunks as they arrive."""
        messages = [{"role": "user", "content": text}]
        stream = self.client.chat.completions.create(model="my-model", messages=messages, stream=True)
        for chunk in stream:
            yield chunk.choices[0].delta.content or ""

    def close(self):
        self.client.close()


def model(request):
    """Return the model's reply, a function of the request."""
    last = request["messages"][-1]
    if last["role"] == "tool":
        return f"Done: {last['content']}"
    if "chairs" in last["content"]:
        new = {"user_id": "user_1", "title": "Order new chairs"}
        return {"tool_calls": [{"function": {"name": "create_task", "arguments": new}}]}
    return "You are welcome."


def converse(server):
    """Run one trial of a task, with a scripted user."""
    domain = pytest_tau.load_domain("mock")
    task = next(task for task in domain.tasks() if task.id == "create-task")
    user = ScriptedParticipant(["I am user_1. Note, please: order new chairs.", "Thanks!", "###STOP###"])
    return pytest_tau.simulate(task, domain=domain, agent=MyAgent(server.base_url), user=user)


def test_the_agent_does_what_its_model_says():
    with ModelServer(model) as server:
        assert converse(server).reward == 1
    first = server.requests[0]
    assert first["messages"][0]["role"] == "system"
    assert "create_task" in [tool["function"]["name"] for tool in first["tools"]]


def test_the_agent_survives_a_fault_in_the_third_call():
    with ModelServer(model, faults={3: RateLimited(retry_after=0.05)}) as server:
        simulation = converse(server)
    assert simulation.reward == 1
    assert [made.call.name for made in simulation.calls] == ["create_task"]
    assert len(server.requests) == 4
    assert server.requests[2] == server.requests[3]


def test_faults_change_no_verdict():
    faults = Faults(rate=0.3, kinds=[RateLimited(retry_after=0.01)], seed=1)
    with ModelServer(model, faults=faults) as server:
        assert [converse(server).reward for _ in range(5)] == [1, 1, 1, 1, 1]
    assert server.served == 15
    assert len(server.requests) > server.served


@pytest.mark.parametrize("fault", [TruncatedJSON(), WrongSchema()])
def test_an_invalid_reply_fails_the_agent(fault):
    with ModelServer(lambda _request: fault) as server:
        assert converse(server).termination_reason == "agent_error"


def test_a_reply_is_streamed_in_chunks():
    with ModelServer(lambda _request: "It is on its way to you.") as server:
        agent = MyAgent(server.base_url)
        chunks = list(agent.stream("Where is my order?"))
        agent.close()
    assert "".join(chunks) == "It is on its way to you."
    assert len(chunks) > 2
    assert server.requests[0]["stream"] is True
