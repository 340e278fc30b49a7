"""Trainers' own interfaces with a stub policy: a conversation earns what it earns in a test run.

``pip install openenv-core uvicorn`` into an environment of its own, and run this file with ``--exhaustive`` there.
"""

from __future__ import annotations

import asyncio
import runpy
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]
MOCK = pytest_tau.load_domain("mock")
(TASK,) = [task for task in MOCK.tasks() if task.id == "create-task"]
#: What the policies do first; then they say that it is done.
POLICIES = {
    "right": {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Order new chairs"}},
    "wrong": {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Order new tables"}},
    "unknown": {"name": "create_tasks", "arguments": {}},
}


def action_of(policy: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": POLICIES[policy]}]}


def reward_in_a_test(policy: str) -> float:
    """The reward of the same conversation in a trial."""

    def agent(messages: list[dict[str, Any]], tools: Any) -> dict[str, Any] | str:
        return "It is done." if messages[-1]["role"] == "tool" or len(messages) > 4 else action_of(policy)

    return pytest_tau.simulate(TASK, domain=MOCK, agent=agent).reward


class Counted(pytest_tau.Episode):
    """An episode that counts those that were closed."""

    closed = 0

    async def close(self) -> None:
        Counted.closed += 1
        await super().close()


@pytest.fixture
def openenv(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the example's server."""
    pytest.importorskip("openenv.core", reason="openenv-core is not installed")
    uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    monkeypatch.setattr(pytest_tau, "Episode", Counted)
    app = runpy.run_path(str(ROOT / "examples" / "openenv" / "server.py"))["app"]
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.05)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def test_openenv_gives_the_reward_of_a_test(openenv: str) -> None:
    client = pytest.importorskip("openenv.core.generic_client").GenericEnvClient

    async def play(policy: str, seed: int) -> float:
        async with client(base_url=openenv) as environment:
            result = await environment.reset(task=TASK.id, seed=seed)
            assert [message["role"] for message in result.observation["messages"]] == ["system", "assistant", "user"]
            result = await environment.step({"action": action_of(policy)})
            while not result.done:
                result = await environment.step({"action": "It is done."})
            return float(result.reward)

    async def leave() -> None:
        async with client(base_url=openenv) as environment:
            await environment.reset(task=TASK.id)

    async def many() -> dict[str, set[float]]:
        rewards = await asyncio.gather(*(play(policy, seed) for policy in POLICIES for seed in range(50)))
        return {policy: set(rewards[first * 50 : first * 50 + 50]) for first, policy in enumerate(POLICIES)}

    assert asyncio.run(many()) == {policy: {reward_in_a_test(policy)} for policy in POLICIES}
    asyncio.run(leave())
    deadline = time.monotonic() + 20
    while Counted.closed < 151 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert Counted.closed == 151  # also the one whose client has left in the middle
