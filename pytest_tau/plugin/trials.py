"""One trial inside a test item: hooks around it, its results into the report and onto the disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ..chat import Player, Recorder
from ..participants import ParticipantSource, load_source
from ..runner import Trial
from .active import Case, active_of

if TYPE_CHECKING:
    import pytest

    from ..chat import TrialModels
    from ..environment import Environment
    from ..models import Simulation
    from ..participants import Side


class Setting(NamedTuple):
    """Where a trial takes place.

    Attributes:
        case: Task, domain and settings.
        trial: Which repetition of the task.
        environment: The databases and tools.
        models: The models that are called.
    """

    case: Case
    trial: int
    environment: Environment
    models: TrialModels


def run_trial(item: pytest.Item, setting: Setting, agent: Any, user: Any) -> Simulation:
    """Run and grade one trial on the run's event loop; keep it, and tell the hooks.

    Args:
        item: The test item.
        setting: Where it takes place.
        agent: What plays the agent: one of the three forms, or a source of them.
        user: What plays the user.
    """
    active = active_of(item.config)
    case, number = setting.case, setting.trial
    settings, task = case.config.simulation, case.task

    def source(side: Side, target: Any) -> ParticipantSource:
        if isinstance(target, ParticipantSource):
            return target
        return load_source(target, side, case.config.folder)

    trial = Trial(task, case.domain, setting.environment, settings, number, active.seed(number))
    trial.models = setting.models
    trial.on_message = lambda message: item.ihook.pytest_tau_message(item=item, message=message)
    item.ihook.pytest_tau_simulation_started(item=item, task=task, trial=number)
    simulation = active.run(trial.run(source("agent", agent), source("user", user)))
    _keep(item, setting, simulation)
    item.ihook.pytest_tau_simulation_finished(item=item, simulation=simulation)
    return simulation


def _keep(item: pytest.Item, setting: Setting, simulation: Simulation) -> None:
    """Everything that was paid for, before anything else can fail."""
    active, tape = active_of(item.config), setting.models.tape
    replayed = isinstance(tape, Player)
    item.user_properties += [
        ("tau_domain", setting.case.domain.name),
        ("tau_task", simulation.task_id),
        ("tau_trial", setting.trial),
        ("tau_reward", simulation.reward),
        ("tau_outcome", simulation.outcome),
    ]
    if simulation.replay_differences:
        item.user_properties.append(("tau_replay_differences", len(simulation.replay_differences)))
    if simulation.model_usage:
        usage = {role: used.model_dump(mode="json") for role, used in simulation.model_usage.items()}
        item.user_properties.append(("tau_usage", json.dumps({"replayed": replayed, "roles": usage})))
        if not replayed:
            # Calls that an interrupted recording had left were paid for then.
            saved = tape.saved if isinstance(tape, Recorder) else 0.0
            active.budget.spend(sum(used.known_cost for used in simulation.model_usage.values()) - saved)
        problem = active.run_log.keep(setting.case.domain.name, simulation)
        item.user_properties.append(("tau_results_problem", problem) if problem else ("tau_results", True))
