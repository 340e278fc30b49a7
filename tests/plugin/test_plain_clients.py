"""Agents that call their model with a client of their own, which knows nothing of the trial."""

from __future__ import annotations

import json
import sys
import textwrap
import types
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_tau.capabilities.plain_clients.exchange import _Api, _reported
from pytest_tau.chat import ChatRequest
from pytest_tau.errors import UnknownPriceError
from pytest_tau.testing import (
    ConnectionReset,
    ContentFiltered,
    ContextWindowExceeded,
    ModelServer,
    RateLimited,
    ServerError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

AGENTS = """
import os
import aiohttp
import openai
import requests

URL = os.environ["MODEL_URL"]
client = openai.OpenAI(base_url=URL)
later = openai.AsyncOpenAI(base_url=URL)

def body(messages, **more):
    said = [{"role": each["role"], "content": each.get("content") or ""} for each in messages if each["role"] != "tool"]
    return {"model": "gpt-4.1", "messages": said, **more}

def reply(text):
    return {"tool_calls": [{"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}]} if text == "create" else text

def whole(messages, tools):
    return reply(client.chat.completions.create(**body(messages)).choices[0].message.content)

async def whole_async(messages, tools):
    return reply((await later.chat.completions.create(**body(messages))).choices[0].message.content)

def streamed(messages, tools):
    events = client.chat.completions.create(**body(messages, stream=True))
    return reply("".join(each.choices[0].delta.content or "" for each in events if each.choices))

async def streamed_async(messages, tools):
    events = await later.chat.completions.create(**body(messages, stream=True))
    return reply("".join([each.choices[0].delta.content or "" async for each in events if each.choices]))

async def blocking_in_async(messages, tools):
    return whole(messages, tools)

def responses(messages, tools):
    return reply(client.responses.create(model="gpt-4.1", input=body(messages)["messages"]).output_text)

def by_requests(messages, tools):
    found = requests.post(f"{URL}/chat/completions", json=body(messages))
    found.raise_for_status()
    return reply(found.json()["choices"][0]["message"]["content"])

async def by_aiohttp(messages, tools):
    async with aiohttp.ClientSession() as session, session.post(f"{URL}/chat/completions", json=body(messages)) as found:
        found.raise_for_status()
        return reply((await found.json())["choices"][0]["message"]["content"])
"""
NAMES = (
    *("whole", "whole_async", "streamed", "streamed_async", "blocking_in_async"),
    *("responses", "by_requests", "by_aiohttp"),
)
UNSEEN = "made no model call through pytest-tau"
KEY = "a-key-that-no-file-has"


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch, **keywords: object) -> Iterator[ModelServer]:
    """Serve a model that creates the task first, and then says that it is done."""

    def script(asked: dict[str, object]) -> str:
        messages = asked["messages"]
        assert isinstance(messages, list)
        return "Done." if len([each for each in messages if each["role"] == "assistant"]) > 1 else "create"

    with ModelServer(script, **keywords) as server:
        monkeypatch.setenv("MODEL_URL", server.base_url)
        yield server


@pytest.fixture
def run(project, a_task, monkeypatch):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("agents.py", AGENTS)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    # So that no run imports litellm, which has a list.
    project.write(
        "prices.toml", '["gpt-4.1"]\ninput = 2.0\noutput = 8.0\n["gpt-4.1-mini"]\ninput = 1.0\noutput = 4.0\n'
    )
    given = ("--tau-prices", "prices.toml", "--tau-agent")
    return lambda name, *args: project.run("mock/t.tau.json", *given, f"agents.py:{name}", *args)


@pytest.mark.parametrize("name", NAMES)
def test_the_calls_are_recorded_and_replayed_without_model_and_key(run, name, monkeypatch, project):
    with served(monkeypatch) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        first = run(name, "--tau-record")
        asked = server.requests
    first.outcomes(passed=1)
    assert len(asked) == 2
    first.line("tau: agent gpt-4.1: 2 calls, ")
    monkeypatch.delenv("OPENAI_API_KEY")
    second = run(name, "--tau-replay")
    second.outcomes(passed=1)
    second.line("tau: agent gpt-4.1: 2 calls, ", "all replayed")
    assert len(server.requests) == 2
    files = [each.read_bytes() for each in project.path.rglob("*") if each.is_file()]
    assert not any(KEY.encode() in each for each in files)


def test_a_request_that_differs_ends_the_replay(run, monkeypatch, project):
    with served(monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        run("whole", "--tau-record").outcomes(passed=1)
    project.write("agents.py", AGENTS.replace('"gpt-4.1", "messages"', '"gpt-4.1-mini", "messages"'))
    found = run("whole", "--tau-replay")
    found.outcomes(errors=1)
    found.line("call 1, of the agent, differs from the recorded one")


def test_a_client_that_tries_again_has_made_one_call(run, monkeypatch):
    with served(monkeypatch, faults={1: ServerError(), 2: RateLimited(0.01), 4: ConnectionReset()}) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = run("whole", "--tau-record")
        assert server.served == 2
    found.outcomes(passed=1)
    found.line("tau: agent gpt-4.1: 2 calls, ")
    run("whole", "--tau-replay").outcomes(passed=1)


def test_a_provider_that_is_down_is_not_the_fault_of_the_agent(run, monkeypatch):
    with served(monkeypatch, faults=dict.fromkeys(range(1, 20), ServerError(503))):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = run("by_requests")
    found.outcomes(errors=1)
    found.line("gpt-4.1: HTTP 503: The server had an error")


def test_a_wrong_request_is_the_fault_of_the_agent(run, monkeypatch):
    with served(monkeypatch, faults={1: ContentFiltered()}):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = run("whole")
    found.outcomes(failed=1)


def test_a_conversation_that_is_too_long_is_replayed(run, monkeypatch):
    with served(monkeypatch, faults={1: ContextWindowExceeded()}):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        run("whole", "--tau-record").outcomes(failed=1)
    found = run("whole", "--tau-replay")
    found.outcomes(failed=1)
    found.line("maximum context length is 8192 tokens")


def test_they_count_for_the_budget(run, monkeypatch, project):
    project.write("prices.toml", '["gpt-4.1"]\ninput = 1000000.0\noutput = 1000000.0\n')
    with served(monkeypatch) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = run("whole", "--tau-budget-per-trial", "0.5")
        assert len(server.requests) == 1
    found.line("the budget of the trial, $0.5, is spent")


@pytest.mark.parametrize("name", ["whole", "by_aiohttp"])
def test_a_model_without_a_price_is_not_called_with_a_budget(run, name, monkeypatch, project):
    project.write("prices.toml", '["gpt-other"]\ninput = 1.0\noutput = 1.0\n')
    monkeypatch.setattr("pytest_tau.integrations.litellm.prices.has_price", lambda _name: False)
    with served(monkeypatch) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = run(name, "--tau-budget", "0.01", "-rs")
        assert not server.requests
    found.outcomes(skipped=1)
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    found.line('(--tau-prices FILE) the line "gpt-4.1" = { input = 2.0, output = 8.0 }, in USD per million tokens')


@pytest.mark.parametrize(
    "values",
    [
        [{"usage": {"prompt_tokens": 3, "cost": 0.25}}],
        [{"usage": {"cost": 0}}, {"choices": [{}]}, {"response": {"usage": {"cost": 0.25}}}],
    ],
)
def test_the_cost_that_an_answer_has(values):
    assert _reported(values) == 0.25
    assert _reported([{"usage": None}, {"usage": {"cost": "free"}}, 3]) is None


def test_a_provider_that_reports_costs_needs_no_price():
    asked = ChatRequest(model="some/model", messages=[])
    _Api(None, {}, "https://openrouter.ai/api/v1/chat/completions").refuse_unpriced(asked)
    with pytest.raises(UnknownPriceError):
        _Api(None, {}, "127.0.0.1").refuse_unpriced(asked)


def test_off_by_an_option(run, monkeypatch):
    with served(monkeypatch) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = run("whole", "--tau-record", "--tau-plain-clients", "off")
        assert len(server.requests) == 2
    found.outcomes(passed=1)
    found.line(UNSEEN)


@pytest.mark.parametrize(
    "name", ["whole", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("whole_async", "by_requests"))]
)
@pytest.mark.parametrize(
    ("module", "function", "argument"),
    [("gevent.monkey", "is_module_patched", "threading"), ("eventlet.patcher", "is_monkey_patched", "thread")],
)
def test_replaced_threads_are_an_error_with_the_way_out(run, monkeypatch, name, module, function, argument):
    patching = types.ModuleType(module)
    setattr(patching, function, lambda asked: asked == argument)
    monkeypatch.setitem(sys.modules, module, patching)
    with served(monkeypatch) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = run(name)
        found.outcomes(errors=1)
        assert server.served == 0
        found.line(f"UnwatchedModelError: {module.split('.')[0]} has replaced the threads of Python")
        found.line("add --tau-plain-clients off")
        found.line("looks like the harness's fault: calls of the agent's client cannot be watched")
        run(name, "--tau-plain-clients", "off").outcomes(passed=1)


def test_a_thread_is_seen_with_a_copy_of_the_context_only(run, monkeypatch, project):
    pool = """
    from concurrent.futures import ThreadPoolExecutor
    from contextvars import copy_context

    pool = ThreadPoolExecutor(1)

    def pooled(messages, tools):
        return pool.submit(whole, messages, tools).result()

    def copied(messages, tools):
        return pool.submit(copy_context().run, whole, messages, tools).result()
    """
    project.write("agents.py", AGENTS + textwrap.dedent(pool))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with served(monkeypatch):
        found = run("pooled", "--tau-record")
        found.line(UNSEEN, "calls in a thread without the trial's context (ThreadPoolExecutor) are not seen")
        run("copied", "--tau-record").lacks(UNSEEN)


def test_clients_are_as_before_after_a_run_and_outside_of_trials(run, monkeypatch, project):
    import httpx

    before = httpx.HTTPTransport.handle_request
    project.write(
        "test_own.py",
        """
        import agents
        def test_own():
            assert agents.whole([{"role": "user", "content": "hello"}], []) is not None
        """,
    )
    with served(monkeypatch) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = run("whole", "test_own.py", "--tau-record")
        found.outcomes(passed=2)
        found.line("tau: agent gpt-4.1: 2 calls, ")
        assert len(server.requests) == 3
    assert httpx.HTTPTransport.handle_request is before


def test_the_tokens_of_each_api_are_counted():
    from pytest_tau.capabilities.plain_clients.exchange import Response, _reply_of

    def usage(body: object, kind: str = "application/json") -> tuple[int, int, int] | None:
        text = body if isinstance(body, str) else json.dumps(body)
        found = _reply_of(Response(200, kind, text.encode()), 0.0).usage
        return None if found is None else (found.prompt_tokens, found.completion_tokens, found.cached_tokens)

    details = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    assert usage({"usage": details}) == (9, 2, 4)
    assert usage({"usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 4}}) == (9, 2, 4)
    counted = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
    assert usage({"usageMetadata": counted}) == (9, 5, 0)
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "message_delta", "usage": {"output_tokens": 7}},
    ]
    assert usage("".join(f"data: {json.dumps(each)}\n\n" for each in events), "text/event-stream") == (9, 7, 0)
    assert usage({"choices": []}) is None
    assert usage("no JSON") is None
