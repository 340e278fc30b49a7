"""One trial inside a test item: hooks around it, its results into the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..participants import ParticipantSource, load_source
from ..runner import Trial
from .active import Case, active_of

if TYPE_CHECKING:
    import pytest

    from ..environment import Environment
    from ..models import Simulation
    from ..participants import Side


def run_trial(
    item: pytest.Item, case: Case, number: int, environment: Environment, agent: Any, user: Any
) -> Simulation:
    """Run and grade one trial on the run's event loop; tell the hooks.

    Args:
        item: The test item.
        case: Task, domain and settings.
        number: Which repetition of the task.
        environment: Where the conversation takes place.
        agent: What plays the agent: one of the three forms, or a source of them.
        user: What plays the user.
    """
    active = active_of(item.config)
    settings, task, seed = case.config.simulation, case.task, active.seed(number)

    def source(side: Side, target: Any) -> ParticipantSource:
        if isinstance(target, ParticipantSource):
            return target
        return load_source(target, side, case.config.folder)

    trial = Trial(task, case.domain, environment, settings, number, seed)
    trial.on_message = lambda message: item.ihook.pytest_tau_message(item=item, message=message)
    item.ihook.pytest_tau_simulation_started(item=item, task=task, trial=number)
    simulation = active.run(trial.run(source("agent", agent), source("user", user)))
    item.user_properties += [
        ("tau_domain", case.domain.name),
        ("tau_task", task.id),
        ("tau_trial", number),
        ("tau_reward", simulation.reward),
        ("tau_outcome", simulation.outcome),
    ]
    if simulation.replay_differences:
        item.user_properties.append(("tau_replay_differences", len(simulation.replay_differences)))
    item.ihook.pytest_tau_simulation_finished(item=item, simulation=simulation)
    return simulation
