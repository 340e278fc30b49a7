"""The attack of a trial: what it injects, and what is recorded of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attacks import ATTACK, Injection, Mode, NotAttacked, plan_attack
from ..errors import ConfigurationError
from ..models import FAULTS

if TYPE_CHECKING:
    from ..environment import Domain, Environment
    from ..models import Simulation, Task
    from .config import SimulationSettings


def make_injection(
    task: Task, domain: Domain, environment: Environment, settings: SimulationSettings, seed: int | None
) -> Injection | None:
    """Return the attack of a trial; None without one.

    Raises:
        AttackError: The attack raised an exception.
        ConfigurationError: It cannot be used on the task; a run has skipped the trial.
    """
    if settings.attack is None:
        return None
    mode = Mode(settings.solo, settings.policy, settings.retrieval)
    plan = plan_attack(settings.attack, task, domain, mode)
    if isinstance(plan, NotAttacked):
        raise ConfigurationError(f"task {task.id!r}: {plan.text}")
    return Injection(plan, domain.name, task.id, seed, environment)


async def note_attack(simulation: Simulation, injection: Injection) -> Exception | None:
    """Record what an attack did; return the error of it that has ended the trial without a verdict, if one did."""
    facts = await injection.facts(simulation.messages)
    simulation.info = (simulation.info or {}) | {ATTACK: facts.as_info()}
    if injection.fault is None or simulation.termination_reason in FAULTS:
        return None
    simulation.termination_reason = "infrastructure_error"
    simulation.error = str(injection.fault)
    return injection.fault
