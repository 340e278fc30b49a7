"""A conversation that a model really had, replayed on today's environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]


@pytest.fixture(scope="module")
def file(shared: Path) -> Path:
    return shared / "traces" / "telecom_real_run.json"


@pytest.fixture(scope="module")
def trace(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def domain(official_data: Path) -> Domain:
    return pytest_tau.load_domain("telecom", data_dir=official_data)


@pytest.fixture(scope="module")
def task(domain: Domain, trace: dict[str, Any]) -> Any:
    (found,) = [task for task in domain.tasks(None) if task.id == trace["task_id"]]
    return found


def test_a_replay_ends_as_the_recording_did(domain: Domain, task: Any, file: Path, trace: dict[str, Any]) -> None:
    simulation = pytest_tau.simulate(task, domain=domain, agent=f"replay:{file}")
    assert (simulation.reward, simulation.termination_reason) == (1.0, trace["termination_reason"])
    # Two results near the recording's end are abbreviated with an ellipsis; every other one is verbatim.
    assert len(simulation.replay_differences) == 2, simulation.replay_differences
    assert all("…" in text or "..." in text for text in simulation.replay_differences)
    assert [message.role for message in simulation.messages] == [message["role"] for message in trace["messages"]]


def test_the_verdict_is_the_recorded_one(domain: Domain, task: Any, trace: dict[str, Any]) -> None:
    reward = pytest_tau.evaluate(task, trace["messages"], termination_reason=trace["termination_reason"], domain=domain)
    assert reward.reward == trace["reward"] == 1.0


def test_without_its_last_repair_it_fails(domain: Domain, task: Any, trace: dict[str, Any]) -> None:
    """The verdict follows from the calls: without the user's writing calls nothing is repaired."""
    spoken = [message for message in trace["messages"] if not message.get("tool_calls") and message["role"] != "tool"]
    reward = pytest_tau.evaluate(task, spoken, termination_reason=trace["termination_reason"], domain=domain)
    assert reward.reward == 0.0
    assert not all(check.met for check in reward.env_assertions or [])
