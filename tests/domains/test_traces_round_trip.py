"""From a run to traces, back, and into tasks: the same conversations, and tasks with the verdicts of those before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from talks import bundled, talk

import pytest_tau
from pytest_tau.capabilities.traces.reading import Conversation, read_traces
from pytest_tau.capabilities.traces.reading.stored import Simulations
from pytest_tau.capabilities.traces.tasks.make import Choices, make_task
from pytest_tau.capabilities.traces.tasks.proof import SABOTEURS
from pytest_tau.capabilities.traces.writing.otlp import request_of

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.models import Simulation, Task

DOMAINS = ("airline", "retail", "telecom")
#: The share of tasks that must come back with the same verdicts.
GOAL = 0.95
#: Tasks of the quick tier: with writes and a phrase, refused and asked otherwise, handed over, on the user's device.
SAMPLE = {
    "airline": ["book-cheapest-one-way", "transfer-email-after-bag"],
    "retail": ["cancel-every-pending", "where-is-my-refund"],
    "telecom": ["service.airplane+apn", "data.vpn+quota+roam-line"],
}


def round_trip(name: str, ids: list[str], folder: Path) -> list[tuple[Simulation, Simulation]]:
    """Return the conversations of the agents by rules, each with what comes back from its trace."""
    played = {task_id: talk(name, task_id, "rules") for task_id in ids}
    lines = [
        json.dumps(request_of(each, "run", name, f"{name}::{task_id}[trial-0]")) for task_id, each in played.items()
    ]
    file = folder / "traces.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    (folder / "spans").mkdir()
    back = {}
    for found in read_traces([file], folder / "spans"):
        assert isinstance(found, Conversation), str(found)
        simulation = Simulations([]).simulation(found)
        back[simulation.task_id] = simulation
    return [(played[task_id], back[task_id]) for task_id in ids]


def essence(simulation: Simulation) -> list[dict[str, Any]]:
    aside = {"timestamp", "turn_idx", "raw_data", "misunderstanding"}
    return [message.model_dump(mode="json", exclude=aside) for message in simulation.messages]


def verdicts(name: str, task: Task) -> dict[str, str]:
    agents = {"gold": "gold", "noop": None, "rules": "scripted", **{f"saboteur:{k}": "scripted" for k in SABOTEURS}}
    domain = bundled(name)[0]
    return {
        agent: pytest_tau.simulate(task, domain=domain, agent=agent, user=user, seed=1).outcome
        for agent, user in agents.items()
    }


def differing(name: str, ids: list[str], folder: Path) -> dict[str, Any]:
    """Return the tasks that do not come back with the same verdicts, each with why."""
    domain, tasks = bundled(name)
    found: dict[str, Any] = {}
    for played, back in round_trip(name, ids, folder):
        assert essence(back) == essence(played)
        assert (back.termination_reason, back.seed) == (played.termination_reason, played.seed)
        made = make_task(back, domain, Choices(), {})
        if made.task is None:
            found[played.task_id] = made.refused
        elif (now := verdicts(name, made.task)) != (then := verdicts(name, tasks[played.task_id])):
            found[played.task_id] = {agent: (then[agent], now[agent]) for agent in now if now[agent] != then[agent]}
    return found


@pytest.mark.parametrize("name", DOMAINS)
def test_a_sample_comes_back_with_the_same_verdicts(name: str, tmp_path: Path) -> None:
    assert differing(name, SAMPLE[name], tmp_path) == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", DOMAINS)
def test_nearly_all_tasks_come_back_with_the_same_verdicts(name: str, tmp_path: Path) -> None:
    ids = [task.id for task in bundled(name)[0].tasks("base") if not task.needs_judge]
    found = differing(name, ids, tmp_path)
    assert len(found) <= (1 - GOAL) * len(ids), found
