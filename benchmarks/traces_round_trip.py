"""Counts the tasks that come back from their traces: ``python -m benchmarks.traces_round_trip [DOMAIN …]``.

Each bundled task is played by the agent by rules, its conversation is written as a trace, read, and made into a task.
Gold, noop, the agent by rules and the saboteurs must have the verdicts on it that they have on the first.
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_tau import load_domain, simulate
from pytest_tau.capabilities.traces.reading import Conversation, read_traces
from pytest_tau.capabilities.traces.reading.stored import Simulations
from pytest_tau.capabilities.traces.tasks.make import Choices, make_task
from pytest_tau.capabilities.traces.tasks.proof import SABOTEURS
from pytest_tau.capabilities.traces.writing.otlp import request_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau import Domain, Simulation, Task

DOMAINS = ("airline", "retail", "telecom")


@functools.cache
def bundled(name: str) -> tuple[Domain, dict[str, Task]]:
    """Return a bundled domain, and its tasks whose verdict needs no judge."""
    domain = load_domain(name)
    return domain, {task.id: task for task in domain.tasks("base") if not task.needs_judge}


def round_trip(name: str, ids: Sequence[str], folder: Path) -> list[tuple[Simulation, Simulation]]:
    """Return the conversations of the agent by rules, each with what comes back from its trace."""
    domain, tasks = bundled(name)
    played = {
        task_id: simulate(tasks[task_id], domain=domain, agent="rules", user="scripted", seed=1) for task_id in ids
    }
    lines = [
        json.dumps(request_of(each, "run", name, f"{name}::{task_id}[trial-0]")) for task_id, each in played.items()
    ]
    file = folder / "traces.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    (folder / "spans").mkdir()
    back = {}
    for found in read_traces([file], folder / "spans"):
        if not isinstance(found, Conversation):
            raise TypeError(str(found))
        simulation = Simulations([]).simulation(found)
        back[simulation.task_id] = simulation
    return [(played[task_id], back[task_id]) for task_id in ids]


def essence(simulation: Simulation) -> list[Any]:
    """Return what a trace has to keep of a conversation."""
    aside = {"timestamp", "turn_idx", "raw_data", "misunderstanding"}
    messages = [message.model_dump(mode="json", exclude=aside) for message in simulation.messages]
    return [*messages, simulation.termination_reason, simulation.seed]


def verdicts(name: str, task: Task) -> dict[str, str]:
    """Return the verdict of each agent on a task."""
    agents = {"gold": "gold", "noop": None, "rules": "scripted", **{f"saboteur:{k}": "scripted" for k in SABOTEURS}}
    domain = bundled(name)[0]
    return {
        agent: simulate(task, domain=domain, agent=agent, user=user, seed=1).outcome for agent, user in agents.items()
    }


def differing(name: str, ids: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return the tasks that do not come back with the same verdicts, each with why."""
    domain, tasks = bundled(name)
    found: dict[str, Any] = {}
    for played, back in round_trip(name, ids, folder):
        made = make_task(back, domain, Choices(), {})
        if essence(back) != essence(played):
            found[played.task_id] = "the conversation is another one"
        elif made.task is None:
            found[played.task_id] = made.refused
        elif (now := verdicts(name, made.task)) != (then := verdicts(name, tasks[played.task_id])):
            found[played.task_id] = {agent: (then[agent], now[agent]) for agent in now if now[agent] != then[agent]}
    return found


def main(names: Sequence[str]) -> None:
    """Print how many tasks of each domain come back with the same verdicts, and why the others do not."""
    for name in names or DOMAINS:
        ids = [*bundled(name)[1]]
        with tempfile.TemporaryDirectory() as folder:
            found = differing(name, ids, Path(folder))
        print(f"{name}: {len(ids) - len(found)} of {len(ids)} tasks")
        for task_id, why in found.items():
            print(f"  {task_id}: {why}")


if __name__ == "__main__":
    main(sys.argv[1:])
