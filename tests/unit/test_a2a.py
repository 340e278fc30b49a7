"""Agents behind an A2A address, against a fake server."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ConfigurationError, ModelError, ParticipantError
from pytest_tau.participants.programs.a2a import A2AAgent, check_server
from pytest_tau.participants.programs.a2a_protocol import Interface, card_url, chosen_interface

from .a2a_server import A2AServer

if TYPE_CHECKING:
    from collections.abc import Iterator

METADATA = {
    "mcp_url": "http://127.0.0.1:1/t/x/mcp",
    "base_url": "http://127.0.0.1:1/t/x/v1",
    "api_key": "x",
    "policy": "Be kind.",
}


class Trial(SimpleNamespace):
    """A trial, which keeps the error that ends it."""

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        super().__init__(**METADATA, bridge=SimpleNamespace(fail=self.failures.append))


@pytest.fixture(autouse=True)
def without_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAU_AGENT_API_KEY", raising=False)


@pytest.fixture(params=["0.3", "1.0"])
def server(request: pytest.FixtureRequest) -> Iterator[A2AServer]:
    """A server of each version."""
    server = A2AServer(request.param)
    yield server
    server.close()


def answers(server: A2AServer, *texts: str, trial: Trial | None = None) -> list[str]:
    """The answers to the texts of one trial."""
    trial = trial or Trial()

    async def converse() -> list[str]:
        agent = A2AAgent(f"a2a:{server.url}", trial)  # type: ignore[arg-type]
        try:
            return [await agent.run(text) for text in texts]
        finally:
            await agent.close()

    return asyncio.run(converse())


def failure(server: A2AServer) -> str:
    with pytest.raises(ParticipantError) as caught:
        answers(server, "Hi")
    assert caught.value.side == "agent"
    return str(caught.value)


def test_a_text_is_sent_and_answered(server: A2AServer) -> None:
    server.results.append(server.sent(server.message("Hello.", "How can I help?")))
    assert answers(server, "Hi") == ["Hello.\nHow can I help?"]
    (request,) = server.requests
    assert request["method"] == ("message/send" if server.legacy else "SendMessage")
    message = request["params"]["message"]
    assert message.pop("messageId")
    assert message == {
        "role": "user" if server.legacy else "ROLE_USER",
        "parts": [server.part("Hi")],
        "metadata": {"tau": METADATA},
        **({"kind": "message"} if server.legacy else {}),
    }
    blocking = {"blocking": True} if server.legacy else {}
    assert request["params"]["configuration"] == {"acceptedOutputModes": ["text/plain"], **blocking}
    assert server.versions == [server.version]


def test_the_conversation_is_one_context(server: A2AServer) -> None:
    server.results += [
        server.sent(server.message("Hello.")),
        server.sent(server.task("completed", artifacts=[server.artifact("Done.")])),
        server.sent(server.message("Bye.", contextId="c-2")),
        server.sent(server.message("Bye again.")),
    ]
    assert answers(server, "Hi", "Do it", "Bye", "Bye") == ["Hello.", "Done.", "Bye.", "Bye again."]
    messages = [request["params"]["message"] for request in server.requests]
    assert [message.get("contextId") for message in messages] == [None, "c-1", "c-1", "c-2"]
    assert not any("taskId" in message for message in messages), "a task that is done takes no messages"
    assert len({message["messageId"] for message in messages}) == 4


def test_a_task_that_asks_gets_the_next_text(server: A2AServer) -> None:
    server.results += [
        server.sent(server.task("input-required", "Which one?")),
        server.sent(server.task("completed", "ignored", artifacts=[server.artifact("a"), server.artifact("b", "c")])),
    ]
    assert answers(server, "Change it", "The blue one") == ["Which one?", "a\nb\nc"]
    assert server.requests[1]["params"]["message"]["taskId"] == "t-1"


def test_a_task_that_is_worked_on_is_asked_for(server: A2AServer) -> None:
    server.results += [
        server.sent(server.task("submitted")),
        server.task("working", "I am looking."),
        server.task("completed", "Found it."),
    ]
    assert answers(server, "Look") == ["Found it."]
    method = "tasks/get" if server.legacy else "GetTask"
    assert [(request["method"], request["params"]) for request in server.requests[1:]] == [(method, {"id": "t-1"})] * 2


def test_the_text_may_be_in_the_history_of_a_task(server: A2AServer) -> None:
    user = server.message("Look", role="user" if server.legacy else "ROLE_USER")
    history = [server.message("Looking."), server.message("Found."), user]
    server.results.append(server.sent(server.task("completed", history=history)))
    assert answers(server, "Look") == ["Found."]


@pytest.mark.parametrize("state", ["failed", "canceled", "rejected", "auth-required", "unknown"])
def test_a_task_without_an_answer_is_an_error(server: A2AServer, state: str) -> None:
    server.results.append(server.sent(server.task(state, "No\nway.")))
    assert failure(server) == f"a2a:{server.url}: the task is {state}: No way."


def test_an_error_is_shown(server: A2AServer) -> None:
    server.results.append({"error": {"code": -32009, "message": "Version not supported"}})
    text = failure(server)
    assert text.startswith(
        f"a2a:{server.url}: {'message/send' if server.legacy else 'SendMessage'} at {server.url}/rpc"
    )
    assert text.endswith(": error -32009: Version not supported")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ((500, b"Internal Server Error"), "HTTP 500: the answer is not JSON: Internal Server Error"),
        ((200, b""), "the answer is not JSON: (empty)"),
        ((404, b'{"detail": "no such path"}'), "HTTP 404: expected a message or a task"),
        ({"other": 1}, "expected a message or a task, got"),
    ],
)
def test_an_answer_that_cannot_be_read(server: A2AServer, result: Any, text: str) -> None:
    server.results.append(result)
    assert text in failure(server)


def test_an_answer_without_text(server: A2AServer) -> None:
    server.results.append(server.sent(server.message(parts=[{"kind": "data", "data": {"total": 3}}])))
    assert failure(server) == f"a2a:{server.url} answered without a text"


def test_a_server_that_ends_during_the_conversation(server: A2AServer) -> None:
    server.results.append(server.sent(server.message("Hello.")))

    async def converse() -> None:
        agent = A2AAgent(f"a2a:{server.url}", Trial())  # type: ignore[arg-type]
        assert await agent.run("Hi") == "Hello."
        await asyncio.to_thread(server.close)
        try:
            await agent.run("Bye")
        finally:
            await agent.close()

    with pytest.raises(ParticipantError, match=r"(message/send|SendMessage) at http://127\.0\.0\.1:\d+/rpc: "):
        asyncio.run(converse())


def test_a_server_is_checked(server: A2AServer) -> None:
    check_server(f"a2a:{server.url}")
    check_server(f"a2a:{server.url}/")
    check_server(f"a2a:{server.url}/.well-known/agent-card.json")
    assert server.requests == []


# Tasks that are not done at the end.


async def _begin(server: A2AServer, agent: A2AAgent) -> None:
    running = asyncio.ensure_future(agent.run("Look"))
    for _ in range(2):
        assert await asyncio.to_thread(server.asked.acquire, timeout=10)
    running.cancel()
    await asyncio.wait({running})
    await agent.close()


def test_a_task_that_is_worked_on_is_cancelled_at_the_end(server: A2AServer) -> None:
    server.results += [server.sent(server.task("submitted")), *[server.task("working")] * 2, server.task("canceled")]
    asyncio.run(_begin(server, A2AAgent(f"a2a:{server.url}", Trial())))  # type: ignore[arg-type]
    last = server.requests[-1]
    assert (last["method"], last["params"]) == ("tasks/cancel" if server.legacy else "CancelTask", {"id": "t-1"})


def test_a_task_that_waits_for_input_is_cancelled_at_the_end(server: A2AServer) -> None:
    error = {"error": {"code": -32002, "message": "Task cannot be canceled"}}
    server.results += [server.sent(server.task("input-required", "Which one?")), error]
    assert answers(server, "Change it") == ["Which one?"]
    assert server.requests[-1]["method"] == ("tasks/cancel" if server.legacy else "CancelTask")


def test_a_task_that_is_done_is_not_cancelled(server: A2AServer) -> None:
    server.results += [server.sent(server.task("submitted")), server.task("completed", "Done.")]
    assert answers(server, "Look") == ["Done."]
    assert len(server.requests) == 2


# Keys.

KEY = "a-key-of-the-agent"


def schemes(server: A2AServer, scheme: str) -> dict[str, Any]:
    """The part of a card about a scheme, which is required, in the words of the version."""
    if server.legacy:
        known = {"bearer": {"type": "http", "scheme": "bearer"}, "key": {"type": "apiKey", "in": "header"}}
        return {"securitySchemes": {"own": known[scheme] | {"name": "X-Own-Key"}}, "security": [{"own": []}]}
    known = {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}
    known["key"] = {"apiKeySecurityScheme": {"location": "header", "name": "X-Own-Key"}}
    required = [{"schemes": {"own": {"list": []}}}]
    return {"securitySchemes": {"own": known[scheme]}, "securityRequirements": required}


@pytest.mark.parametrize("scheme", ["bearer", "key", None])
def test_a_key_is_sent(server: A2AServer, scheme: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAU_AGENT_API_KEY", KEY)
    server.card |= schemes(server, scheme) if scheme else {}
    server.results.append(server.sent(server.message("Hello.")))
    assert answers(server, "Hi") == ["Hello."]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}", "the card, whose scheme is not known yet"
    sent = server.headers[1]
    assert (sent.get("Authorization"), sent.get("X-Own-Key")) == (
        (None, KEY) if scheme == "key" else (f"Bearer {KEY}", None)
    )


def test_no_key_is_sent_if_there_is_none(server: A2AServer) -> None:
    server.results.append(server.sent(server.message("Hello.")))
    answers(server, "Hi")
    assert not any("Authorization" in headers for headers in server.headers)


@pytest.mark.parametrize("scheme", ["bearer", "key"])
def test_a_card_that_requires_a_key(server: A2AServer, scheme: str) -> None:
    server.card |= schemes(server, scheme)
    text = "the agent card requires a key: set the environment variable TAU_AGENT_API_KEY"
    assert text in refusal(f"a2a:{server.url}")
    server.card |= {
        name: [{}, *server.card[name]] for name in ("security", "securityRequirements") if name in server.card
    }
    check_server(f"a2a:{server.url}")


def test_a_card_that_needs_a_key(server: A2AServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = ("Authorization", "Bearer another-key")
    assert refusal(f"a2a:{server.url}").endswith("(HTTP 401; if it needs a key, set TAU_AGENT_API_KEY)")
    monkeypatch.setenv("TAU_AGENT_API_KEY", KEY)
    text = refusal(f"a2a:{server.url}")
    assert text.endswith("(HTTP 401; it refuses the key of the environment variable TAU_AGENT_API_KEY)")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_redirect_is_followed(server: A2AServer, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAU_AGENT_API_KEY", KEY)
    other = A2AServer()
    server.redirect[method] = other.url
    expected = f"the server redirects to {other.url}, which is not followed: name that address"
    assert expected in (refusal(f"a2a:{server.url}") if method == "GET" else failure(server))
    assert other.headers == []
    other.close()


def test_a_card_that_names_another_host_gets_no_key_unless_told(
    server: A2AServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAU_AGENT_API_KEY", KEY)
    own = json.dumps(server.card)
    server.card = json.loads(own.replace("127.0.0.1", "localhost"))
    server.results += [server.sent(server.message("Hello."))] * 2
    answers(server, "Hi")
    assert [headers.get("Authorization") for headers in server.headers] == [f"Bearer {KEY}", None]
    server.card |= schemes(server, "bearer")
    text = refusal(f"a2a:{server.url}")
    assert "the agent card names another server, http://localhost:" in text
    assert text.endswith(
        "set the environment variable TAU_AGENT_API_KEY_HOSTS to localhost to send it the key of TAU_AGENT_API_KEY"
    )
    monkeypatch.setenv("TAU_AGENT_API_KEY_HOSTS", "other.example localhost")
    answers(server, "Hi")
    assert server.headers[-1]["Authorization"] == f"Bearer {KEY}"


def refused_key(server: A2AServer) -> str:
    trial = Trial()
    with pytest.raises(ModelError) as caught:
        answers(server, "Hi", trial=trial)
    assert trial.failures == [caught.value]
    assert caught.value.kind == "authentication"
    return str(caught.value)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("body", [b'{"detail": "no key"}', b'{"error": {"code": -32000, "message": "no key"}}', b""])
def test_a_refused_key_is_not_a_fault_of_the_agent(server: A2AServer, status: int, body: bytes) -> None:
    server.results.append((status, body))
    text = refused_key(server)
    assert f"HTTP {status}; if it needs a key, set TAU_AGENT_API_KEY: " in text


def test_a_key_that_is_refused_later_is_not_a_fault_of_the_agent(server: A2AServer) -> None:
    """The card, which was read when the run began, needs a key when the trial begins."""
    server.key = ("Authorization", "Bearer another-key")
    assert "(HTTP 401; if it needs a key, set TAU_AGENT_API_KEY)" in refused_key(server)


def test_a_refused_key_is_not_shown(server: A2AServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAU_AGENT_API_KEY", KEY)
    server.results.append((401, f"wrong key {KEY}".encode()))
    text = refused_key(server)
    assert KEY not in text
    assert "HTTP 401; it refuses the key of the environment variable TAU_AGENT_API_KEY: the answer is not JSON" in text


# Servers that cannot be used.


def refusal(spec: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        check_server(spec)
    assert str(caught.value).startswith(f"agent {spec!r}: ")
    return str(caught.value)


def test_a_server_that_is_down(server: A2AServer) -> None:
    server.close()
    assert "no A2A server can be reached there" in refusal(f"a2a:{server.url}")


@pytest.mark.parametrize(
    ("card", "text"),
    [
        (None, "there is no agent card at {url}/.well-known/agent-card.json (HTTP 404)"),
        (b"<html>", "the agent card at {url}/.well-known/agent-card.json cannot be read"),
        ([], "is not an agent card: it names no interface"),
        ({"name": "Fake"}, "is not an agent card: it names no interface"),
        (
            {"url": "http://127.0.0.1/", "protocolVersion": "0.2.5"},
            "the agent speaks JSONRPC 0.2; supported: JSON-RPC of A2A 1.x and 0.3",
        ),
        (
            {"supportedInterfaces": [{"url": "x", "protocolBinding": "JSONRPC", "protocolVersion": "2.0"}]},
            "the agent speaks JSONRPC 2.0; supported",
        ),
        (
            {"url": "http://127.0.0.1/", "protocolVersion": "0.3.0", "preferredTransport": "GRPC"},
            "the agent speaks GRPC 0.3; supported",
        ),
    ],
)
def test_a_server_that_cannot_be_spoken_to(server: A2AServer, card: Any, text: str) -> None:
    server.card = card
    assert text.format(url=server.url) in refusal(f"a2a:{server.url}")


@pytest.mark.parametrize("spec", ["a2a:", "a2a:localhost:9999", "a2a:ftp://x", "a2a:http://", "a2a:http://x:y"])
def test_an_address_that_is_no_url(spec: str) -> None:
    assert "expected the URL of an A2A server, such as a2a:http://127.0.0.1:9999" in refusal(spec)


def test_a_login_is_not_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_server("a2a:http://ada:hunter2@127.0.0.1:1")
    assert "hunter2" not in str(caught.value)


def test_the_card_is_below_the_url() -> None:
    assert card_url("a2a:http://host/agents/a") == "http://host/agents/a/.well-known/agent-card.json"


def test_the_newest_version_is_chosen() -> None:
    """A card may be that of both versions at the same time."""
    new = {"url": "/new", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "shop"}
    old = {"url": "/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
    card = {"url": "/legacy", "protocolVersion": "0.3.0", "supportedInterfaces": [old, new]}
    assert chosen_interface(card, "http://host/card.json") == Interface("http://host/new", "1.0", "shop")
    other = {"transport": "JSONRPC", "url": "http://other/"}
    card = {"url": "/g", "preferredTransport": "GRPC", "protocolVersion": "0.3.1", "additionalInterfaces": [other]}
    assert chosen_interface(card, "http://host/card.json") == Interface("http://other/", "0.3")
