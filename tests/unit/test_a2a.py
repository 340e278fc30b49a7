"""Agents behind an A2A address, against a fake server."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ConfigurationError, ModelError, ParticipantError
from pytest_tau.participants.programs import check_server, program_factory

from .a2a_server import A2AServer

pytest.importorskip("a2a", reason="needs a2a-sdk (a2a and dev extras)")

from a2a.client.card_resolver import parse_agent_card

from pytest_tau.integrations.a2a.card import card_url, choose_interface

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW = {"url": "/new", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "shop"}
OLD = {"url": "/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
OTHER = {"transport": "JSONRPC", "url": "http://other/"}
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


def agent_of(server: A2AServer, trial: Trial) -> Any:
    """The agent of a trial."""
    return program_factory(f"a2a:{server.url}", Path())(trial)


def answers(server: A2AServer, *texts: str, trial: Trial | None = None) -> list[str]:
    """The answers to the texts of one trial."""
    trial = trial or Trial()

    async def converse() -> list[str]:
        agent = agent_of(server, trial)
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
    shown = "unspecified" if state == "unknown" else state
    assert failure(server) == f"a2a:{server.url}: the task is {shown}: No way."


def test_an_error_is_shown(server: A2AServer) -> None:
    server.results.append({"error": {"code": -32009, "message": "Version not supported"}})
    assert failure(server) == (
        f"a2a:{server.url}: sending a message at {server.url}/rpc: error -32009: Version not supported"
    )


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ((500, b"Internal Server Error"), "HTTP 500: Internal Server Error"),
        ((200, b""), "the answer is not JSON: (empty)"),
        ((200, b"[" * 100_000), "the answer is not as the protocol says: maximum recursion depth exceeded"),
        ((200, b" " * (1 << 24) + b"{}"), "the answer has more than 16,777,216 bytes"),
        ((404, b'{"detail": "no such path"}'), 'HTTP 404: {"detail": "no such path"}'),
        ({"other": 1}, "Response has neither task nor message"),
    ],
)
def test_an_answer_that_cannot_be_read(server: A2AServer, result: Any, text: str) -> None:
    server.results.append(result)
    assert text in failure(server)


def test_the_limit_is_that_of_the_unpacked_answer(server: A2AServer) -> None:
    server.encoding = "gzip"
    server.results += [(200, gzip.compress(b" " * (1 << 24) + b"{}")), (200, gzip.compress(b"{}"))]
    assert "the answer has more than 16,777,216 bytes" in failure(server)
    assert "bytes" not in failure(server)


def test_an_answer_without_text(server: A2AServer) -> None:
    server.results.append(server.sent(server.message(parts=[{"kind": "data", "data": {"total": 3}}])))
    assert failure(server) == f"a2a:{server.url} answered without a text"


def test_a_server_that_ends_during_the_conversation(server: A2AServer) -> None:
    server.results.append(server.sent(server.message("Hello.")))

    async def converse() -> None:
        agent = agent_of(server, Trial())
        assert await agent.run("Hi") == "Hello."
        await asyncio.to_thread(server.close)
        try:
            await agent.run("Bye")
        finally:
            await agent.close()

    with pytest.raises(ParticipantError, match=r"sending a message at http://127\.0\.0\.1:\d+/rpc: Connection refused"):
        asyncio.run(converse())


def test_a_server_is_checked(server: A2AServer) -> None:
    check_server(f"a2a:{server.url}")
    check_server(f"a2a:{server.url}/")
    check_server(f"a2a:{server.url}/.well-known/agent-card.json")
    assert server.requests == []


# Tasks that are not done at the end.


async def _begin(server: A2AServer, agent: Any) -> None:
    running = asyncio.ensure_future(agent.run("Look"))
    for _ in range(2):
        assert await asyncio.to_thread(server.asked.acquire, timeout=10)
    running.cancel()
    await asyncio.wait({running})
    await agent.close()


def test_a_task_that_is_worked_on_is_cancelled_at_the_end(server: A2AServer) -> None:
    server.results += [server.sent(server.task("submitted")), *[server.task("working")] * 2, server.task("canceled")]
    asyncio.run(_begin(server, agent_of(server, Trial())))
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
    assert "(HTTP 401; if it needs a key, set TAU_AGENT_API_KEY: wrong key None)" in refusal(f"a2a:{server.url}")
    monkeypatch.setenv("TAU_AGENT_API_KEY", KEY)
    text = refusal(f"a2a:{server.url}")
    assert "(HTTP 401; it refuses the key of the environment variable TAU_AGENT_API_KEY: wrong key" in text
    assert KEY not in text


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
    assert f"HTTP {status}; if it needs a key, set TAU_AGENT_API_KEY" in text


def test_a_key_that_is_refused_later_is_not_a_fault_of_the_agent(server: A2AServer) -> None:
    """The card, which was read when the run began, needs a key when the trial begins."""
    server.key = ("Authorization", "Bearer another-key")
    assert "(HTTP 401; if it needs a key, set TAU_AGENT_API_KEY: " in refused_key(server)


def test_a_refused_key_is_not_shown(server: A2AServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAU_AGENT_API_KEY", KEY)
    server.results.append((401, f"wrong key {KEY}".encode()))
    text = refused_key(server)
    assert KEY not in text
    assert text.endswith("HTTP 401; it refuses the key of the environment variable TAU_AGENT_API_KEY: wrong key ***")


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
        (None, "there is no agent card at {url}/.well-known/agent-card.json (HTTP 404: nothing here)"),
        (b"<html>", "the agent card at {url}/.well-known/agent-card.json cannot be read"),
        ([], "agent-card.json cannot be read: the answer is not as the protocol says: Agent card must be"),
        ({"name": "Fake"}, "is not an agent card: it names no interface"),
        (
            {"url": "http://127.0.0.1/", "protocolVersion": "0.2.5"},
            "the agent speaks JSONRPC 0.2.5; supported: JSON-RPC of A2A 1.x and 0.3",
        ),
        (
            {"supportedInterfaces": [{"url": "x", "protocolBinding": "JSONRPC", "protocolVersion": "2.0"}]},
            "the agent speaks JSONRPC 2.0; supported",
        ),
        (
            {"url": "http://127.0.0.1/", "protocolVersion": "0.3.0", "preferredTransport": "GRPC"},
            "the agent speaks GRPC 0.3.0; supported",
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


@pytest.mark.parametrize(
    ("card", "interface"),
    [
        ({"supportedInterfaces": [OLD, NEW], "url": "/legacy"}, ("http://host/new", "1.0", "shop")),
        ({"supportedInterfaces": [{"url": "/x", "protocolBinding": "JSONRPC"}]}, ("http://host/x", "1.0", "")),
        ({"url": "/g", "preferredTransport": "GRPC", "additionalInterfaces": [OTHER]}, ("http://other/", "0.3.0", "")),
    ],
    ids=["both versions", "no version", "another interface"],
)
def test_the_newest_version_is_chosen(card: dict[str, Any], interface: tuple[str, str, str]) -> None:
    chosen = choose_interface(parse_agent_card(card), "http://host/card.json")
    assert (chosen.url, chosen.protocol_version, chosen.tenant) == interface


@pytest.mark.parametrize("server", ["1.0"], indirect=True)
def test_a_tenant_is_a_part_of_requests(server: A2AServer) -> None:
    server.card["supportedInterfaces"][1]["tenant"] = "shop"
    server.results.append(server.sent(server.message("Hello.")))
    answers(server, "Hi")
    assert server.requests[0]["params"]["tenant"] == "shop"


def test_proxies_and_logins_of_the_environment_are_not_used(
    server: A2AServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ada password hunter2\n", encoding="utf-8")
    for name, value in {"HTTP_PROXY": "http://127.0.0.1:9", "NETRC": str(tmp_path / "netrc")}.items():
        monkeypatch.setenv(name, value)
    server.results.append(server.sent(server.message("Hello.")))
    assert answers(server, "Hi") == ["Hello."]
    assert not any("Authorization" in headers for headers in server.headers)


def test_a_login_is_sent_and_not_logged(server: A2AServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    server.results.append(server.sent(server.message("Hello.")))
    login = f"a2a:{server.url.replace('//', '//ada:hunt%20er@')}"
    server.card = json.loads(json.dumps(server.card).replace("//", "//ada:hunt%20er@"))
    agent = program_factory(login, Path())(Trial())
    assert asyncio.run(agent.run("Hi")) == "Hello."
    assert [headers["Authorization"] for headers in server.headers] == ["Basic YWRhOmh1bnQgZXI="] * 2
    assert "hunt" not in caplog.text
