"""The bundled domains by model, over real HTTP: run, recorded, replayed without a network, and with every fault."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.integrations.litellm.client import load
from pytest_tau.testing import (
    ConnectionReset,
    Faults,
    MalformedBody,
    ModelServer,
    RateLimited,
    ServerError,
    Stall,
    TruncatedJSON,
    WrongSchema,
)

from .reference_script import CONFTEST, ReferenceScript

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.exhaustive

load()

ARGS = json.dumps({"temperature": 0.0, "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6})
MODELS = ("--tau-agent-llm", "openai/scripted", "--tau-user-llm", "openai/scripted")
MODELS += ("--tau-agent-llm-args", ARGS, "--tau-user-llm-args", ARGS)
DOMAINS = ("mock", "airline", "retail", "telecom")


@pytest.fixture(scope="module")
def calm() -> dict[tuple[str, str], Any]:
    """Conversations without faults, by domain and task, with gold as agent and user."""
    found = {}
    for name in DOMAINS:
        domain = pytest_tau.load_domain(name)
        for task in domain.tasks("base"):
            found[name, task.id] = pytest_tau.simulate(task, domain=domain, agent="gold")
    return found


@pytest.fixture(scope="module")
def script(calm: dict[tuple[str, str], Any]) -> ReferenceScript:
    script = ReferenceScript()
    for name in DOMAINS:
        domain = pytest_tau.load_domain(name)
        for task in domain.tasks("base"):
            script.learn(domain, task, calm[name, task.id])
    return script


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(CONFTEST)
    return pytester


def run(project: pytest.Pytester, *args: str) -> pytest.RunResult:
    others = ("anyio", "hypothesispytest", "syrupy", "faker", "cacheprovider", "asyncio", "rerunfailures")
    return project.runpytest_inprocess("--assert=plain", *(f"-pno:{name}" for name in others), "-q", *MODELS, *args)


def kept(project: pytest.Pytester) -> Iterator[bytes]:
    """The files of simulations so far, oldest first."""
    for file in sorted(project.path.glob(".tau/runs/*/*.jsonl"), key=lambda file: file.stat().st_mtime_ns):
        yield file.read_bytes()


def cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in this process reaches any server."""

    def refuse(*args: Any) -> None:
        raise AssertionError(f"a replayed run opens a connection to {args[1:]}")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("name", DOMAINS)
def test_base_tasks_pass_and_replay_to_the_byte(
    name: str, script: ReferenceScript, project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-seen")
    monkeypatch.setenv("LITELLM_SHARE", "8")
    with ModelServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        recorded = run(project, "--tau-domain", name, "--tau-record=all")
    assert not server.errors
    tasks = len(pytest_tau.load_domain(name).tasks("base"))
    recorded.assert_outcomes(passed=tasks)
    recorded.stdout.fnmatch_lines(["tau: models together: * calls, * tokens sent, * received,*"])
    assert len(server.requests) == server.served
    cut_off(monkeypatch)
    monkeypatch.delenv("OPENAI_API_KEY")
    replayed = run(project, "--tau-domain", name, "--tau-replay")
    replayed.assert_outcomes(passed=tasks)
    # Conversations are kept as they end, which is in another order each time.
    first, second = (sorted(file.splitlines()) for file in kept(project))
    assert first == second
    assert len(first) == tasks
    for line in first:
        simulation = json.loads(line)
        assert simulation["agent_cost"] > 0
        assert simulation["user_cost"] > 0
    assert b"sk-not" not in b"".join(file.read_bytes() for file in project.path.rglob("*") if file.is_file())


#: The faults of a run.
FAULTS = {
    "refusals": (RateLimited(retry_after=0.01), ServerError(), ConnectionReset()),
    "bad-bodies": (MalformedBody(), TruncatedJSON(), WrongSchema()),
    "stalls": (Stall(),),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_faults_in_every_fifth_call_change_nothing(
    kind: str,
    script: ReferenceScript,
    calm: dict[tuple[str, str], Any],
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-seen")
    monkeypatch.setenv("CALL_TIMEOUT", "1.5" if kind == "stalls" else "30")
    number = "2" if kind == "stalls" else "8"
    faults = Faults(rate=0.2, kinds=FAULTS[kind], seed=5)
    with ModelServer(script, faults=faults) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        result = run(project, "--tau-domain", ",".join(DOMAINS), "--tau-num-tasks", number)
    result.assert_outcomes(passed=4 * int(number))
    assert len(server.requests) > server.served
    assert {*map(faults.get, range(len(server.requests)))} == {None, *FAULTS[kind]}, "a fault has not occurred"
    (text,) = kept(project)
    for line in text.splitlines():
        simulation = json.loads(line)
        expected = calm[simulation["domain"], simulation["task_id"]]
        made = [
            (call["name"], call["arguments"])
            for message in simulation["messages"]
            for call in message.get("tool_calls") or []
        ]
        assert made == [(call.call.name, call.call.arguments) for call in expected.calls]
        assert simulation["reward_info"]["reward"] == 1.0
        assert [message.get("content") for message in simulation["messages"]] == [
            message.content for message in expected.messages
        ]
