"""Conversations of bundled tasks that several modules look at: each is played once in a process, for reading only.

The package is imported when it is needed, because every run of the tests imports this module.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation, Task


@functools.cache
def bundled(name: str) -> tuple[Domain, dict[str, Task]]:
    """Return a bundled domain and its tasks."""
    from pytest_tau import load_domain

    domain = load_domain(name)
    return domain, {task.id: task for task in domain.tasks(None)}


@functools.cache
def talk(name: str, task_id: str, agent: str) -> Simulation:
    """Return the conversation of an agent with gold, if it is gold itself, or else with the scripted user.

    Tasks that need a judge have one that agrees.
    """
    from pytest_tau import Evaluation, SimulationSettings, simulate
    from pytest_tau.evaluation import BUILT_IN_JUDGES

    domain, tasks = bundled(name)
    settings = SimulationSettings(evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))
    user = "gold" if agent == "gold" else "scripted"
    return simulate(tasks[task_id], domain=domain, agent=agent, user=user, seed=1, settings=settings)


def talks(name: str, agent: str) -> dict[str, Simulation]:
    """Return the conversation of each bundled task with an agent."""
    return {task_id: talk(name, task_id, agent) for task_id in bundled(name)[1]}
