"""Agents on their own loop over each wire of the endpoint: live, recorded, and replayed by the other delivery."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.exhaustive

pytest.importorskip("aiohttp")
pytest.importorskip("openai")
pytest.importorskip("httpx")

HEAD = """
import json
import httpx
import openai
import pytest_tau

def results(trial, calls):
    tools = {tool.name: tool for tool in trial.tools}
    return [(call_id, tools[name].call(**arguments)) for call_id, name, arguments in calls]
"""
CHAT = """
@pytest_tau.own_loop
def it(trial):
    client = openai.OpenAI(base_url=trial.base_url, api_key=trial.api_key, max_retries=0)
    messages = [{"role": "system", "content": trial.policy}]
    tools = [tool.openai_schema for tool in trial.tools]

    def answer():
        asked = {"model": "tau", "messages": messages, "tools": tools}
        if not STREAMED:
            return client.chat.completions.create(**asked).choices[0].message
        with client.chat.completions.stream(**asked) as stream:
            return stream.get_final_completion().choices[0].message

    def run(text):
        messages.append({"role": "user", "content": text})
        while True:
            message = answer()
            # The client's helper for streams adds fields of its own to the message.
            calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
            sent = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
            messages.append({"role": "assistant", "content": message.content} | ({"tool_calls": sent} if sent else {}))
            if not message.tool_calls:
                return message.content
            for call_id, result in results(trial, [(i, n, json.loads(a)) for i, n, a in calls]):
                messages.append({"role": "tool", "tool_call_id": call_id, "content": result})

    run.close = client.close
    return run
"""
RESPONSES = """
@pytest_tau.own_loop
def it(trial):
    client = openai.OpenAI(base_url=trial.base_url, api_key=trial.api_key, max_retries=0)
    tools = [{"type": "function", "strict": False, **tool.openai_schema["function"]} for tool in trial.tools]
    latest = None

    def answer(given):
        asked = {"model": "tau", "input": given, "instructions": trial.policy, "tools": tools}
        asked |= {"previous_response_id": latest} if latest else {}
        if not STREAMED:
            return client.responses.create(**asked)
        with client.responses.stream(**asked) as stream:
            return stream.get_final_response()

    def run(text):
        nonlocal latest
        given = [{"role": "user", "content": text}]
        while True:
            response = answer(given)
            latest = response.id
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return response.output_text
            calls = [(call.call_id, call.name, json.loads(call.arguments)) for call in calls]
            given = [
                {"type": "function_call_output", "call_id": call_id, "output": result}
                for call_id, result in results(trial, calls)
            ]

    run.close = client.close
    return run
"""
MESSAGES = """
@pytest_tau.own_loop
def it(trial):
    client = httpx.Client(base_url=trial.anthropic_base_url, headers={"x-api-key": trial.api_key}, timeout=30)
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in trial.tools
    ]
    messages = []

    def answer():
        asked = {"model": "tau", "max_tokens": 500, "system": trial.policy, "messages": messages, "tools": tools}
        response = client.post("/v1/messages", json=asked | {"stream": STREAMED})
        response.raise_for_status()
        return joined(response.text) if STREAMED else response.json()["content"]

    def joined(text):
        blocks = []
        for line in text.splitlines():
            event = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
            if event.get("type") == "content_block_start":
                blocks.append(event["content_block"] | {"json": ""})
            elif event.get("type") == "content_block_delta":
                delta = event["delta"]
                blocks[-1]["text"] = blocks[-1].get("text", "") + delta.get("text", "")
                blocks[-1]["json"] += delta.get("partial_json", "")
        return [
            {"type": "text", "text": block["text"]} if block["type"] == "text" else
            {"type": "tool_use", "id": block["id"], "name": block["name"], "input": json.loads(block["json"] or "{}")}
            for block in blocks
        ]

    def run(text):
        messages.append({"role": "user", "content": text})
        while True:
            content = answer()
            messages.append({"role": "assistant", "content": content})
            calls = [(block["id"], block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
            if not calls:
                return "".join(block["text"] for block in content)
            messages.append({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": call_id, "content": result}
                for call_id, result in results(trial, calls)
            ]})

    run.close = client.close
    return run
"""
AGENTS = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}


def said(project):
    """The texts and calls of the latest run's conversation."""
    file = max(project.path.glob(".tau/runs/*/*.jsonl"), key=lambda one: one.stat().st_mtime_ns)
    [simulation] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert simulation["model_usage"]["agent"]["calls"] == 2
    return [
        (message["role"], message.get("content"), [call["name"] for call in message.get("tool_calls") or []])
        for message in simulation["messages"]
    ]


@pytest.mark.parametrize("recorded_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("wire", AGENTS)
def test_recorded_by_one_delivery_and_replayed_by_the_other(models, project, wire, recorded_streamed):
    models.run("--tau-agent", "llm").outcomes(passed=1)
    expected = said(project)
    source = HEAD + AGENTS[wire]
    for streamed, options in [
        (recorded_streamed, ["--tau-record", "all"]),
        (recorded_streamed, ["--tau-replay"]),
        (not recorded_streamed, ["--tau-replay"]),
    ]:
        project.write("parts.py", source.replace("STREAMED", str(streamed)))
        models.run("--tau-agent", "parts.py:it", *options).outcomes(passed=1)
        assert said(project) == expected
        assert ("agent" in models.calls()) == (options != ["--tau-replay"])
