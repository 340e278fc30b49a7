"""Trainers' own interfaces with a stub policy: a conversation earns what it earns in a test run.

``scripts/check-frameworks`` runs this file where the packages are installed: openenv-core, verifiers, gepa.
"""

from __future__ import annotations

import asyncio
import runpy
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def next_action(policy: str, messages: list[dict[str, Any]]) -> dict[str, Any] | str:
    return "It is done." if messages[-1]["role"] == "tool" or len(messages) > 4 else action_of(policy)


def reward_in_a_test(policy: str) -> float:
    """The reward of the same conversation in a trial."""

    def agent(messages: list[dict[str, Any]], tools: Any) -> dict[str, Any] | str:
        return next_action(policy, messages)

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


@pytest.fixture
def verifiers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., dict[str, Any]]]:
    """A function that plays episodes of the example's taskset for each policy, and returns their traces."""
    vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed")
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "verifiers"))
    monkeypatch.setenv("STUB_KEY", "none")

    def play(episodes: int, **seat: Any) -> dict[str, Any]:
        given = {"taskset": {"id": "tau_domain"}, "agent": {"runtime": {"type": "subprocess"}, **seat}}
        env = vf.load_environment(vf.resolve_env_config(given))
        assert [task.key for task in env.taskset] == [task.id for task in MOCK.tasks()]
        (task,) = env.taskset.include(ids=[TASK.id])
        slots = {policy: env.slots(task, episodes) for policy in POLICIES}

        async def run() -> None:
            client = vf.EvalClientConfig(base_url=server.base_url, api_key_var="STUB_KEY")
            contexts = {policy: vf.ModelContext(model=policy, client=client) for policy in POLICIES}
            async with env.serving():
                await asyncio.gather(
                    *(env.run_slot(slot, contexts[policy]) for policy, planned in slots.items() for slot in planned)
                )

        asyncio.run(run())
        return {policy: [trace for slot in planned for trace in slot.traces] for policy, planned in slots.items()}

    with ModelServer(lambda request: next_action(request["model"], request["messages"])) as server:
        yield play


def test_verifiers_gives_the_reward_of_a_test(verifiers: Callable[..., dict[str, Any]]) -> None:
    for policy, traces in verifiers(100).items():
        assert [trace.errors for trace in traces] == [[]] * 100
        # One branch: what the model is given later begins with what it was given before.
        assert {(trace.reward, trace.num_branches) for trace in traces} == {(reward_in_a_test(policy), 1)}


def test_a_limit_of_verifiers_ends_the_conversation(verifiers: Callable[..., dict[str, Any]]) -> None:
    (trace,) = verifiers(1, max_turns=1)["right"]
    assert (trace.ok, trace.stop_condition, trace.reward) == (True, "max_turns", 0.0)


def test_gepa_finds_a_prompt_whose_gain_on_other_tasks_is_beyond_chance(tmp_path: Path) -> None:
    pytest.importorskip("gepa", reason="gepa is not installed")
    shutil.copytree(ROOT / "examples" / "gepa", tmp_path, dirs_exist_ok=True)

    def run(*command: str, status: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    shown = (ROOT / "docs" / "training.md").read_text(encoding="utf-8").partition("$ python optimize.py\n...\n")[2]
    optimized, _, compared = shown.partition("\n$ pytest")
    assert run("optimize.py").splitlines()[-1] == optimized
    suite = ["-m", "pytest", "-q", "-p", "no:randomly"]
    run(*suite, "--tau-agent-prompt=before.md", "--tau-run-name=before", status=1)
    run(*suite, "--tau-agent-prompt=after.md", "--tau-run-name=after")
    printed = run("-c", "import sys; from pytest_tau.cli import main; sys.exit(main())", "compare", "before", "after")
    assert printed.startswith(compared.partition("after compared")[2].partition("...")[0], len("after compared"))
    assert "a significant gain" in printed
    # Nothing that was learned from is among the tasks that the gain is measured on.
    shop = pytest_tau.load_domain("retail")
    learned_from = {task.id for task in shop.tasks(split="train")}
    assert not learned_from & {task.id for task in shop.tasks(split="test")}
