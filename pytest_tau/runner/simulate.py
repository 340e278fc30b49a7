"""Running one trial without pytest."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..participants import load_source
from .config import SimulationSettings, default_user
from .trial import Trial

if TYPE_CHECKING:
    from ..environment import Domain
    from ..models import Simulation, Task


def simulate(
    task: Task,
    *,
    domain: Domain,
    agent: Any = "gold",
    user: Any = None,
    trial: int = 0,
    seed: int | None = None,
    settings: SimulationSettings | None = None,
) -> Simulation:
    """Run one trial and grade it.

    Args:
        task: What is to be done.
        domain: Where.
        agent: A built-in name, ``replay:FILE``, ``module:attribute``, or an object of one of the forms of agents.
        user: Likewise; by default what goes with the agent.
        trial: Which repetition of the task this is.
        seed: The trial's seed, handed to the participants.
        settings: Limits, grading, solo mode, policy, models.

    Raises:
        ConfigurationError: An agent or a user that cannot be used.
        TaskFormatError: The task does not fit the domain.
    """
    return asyncio.run(
        asimulate(task, domain=domain, agent=agent, user=user, trial=trial, seed=seed, settings=settings)
    )


async def asimulate(
    task: Task,
    *,
    domain: Domain,
    agent: Any = "gold",
    user: Any = None,
    trial: int = 0,
    seed: int | None = None,
    settings: SimulationSettings | None = None,
) -> Simulation:
    """Like ``simulate``, inside a running event loop."""
    settings = settings or SimulationSettings()
    user = default_user(agent, solo=settings.solo, llm="user" in settings.llms) if user is None else user
    sources = {"agent": load_source(agent, "agent"), "user": load_source(user, "user")}
    environment = domain.environment(task, solo=settings.solo, policy=settings.policy)

    return await Trial(task, domain, environment, settings, trial, seed).run(sources["agent"], sources["user"])
