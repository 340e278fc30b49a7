"""What a test item has of its trial: properties, the record and the usage for reports, and an exception behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...capability.calls import columns_of
from ...chat import Recorder
from ...participants.containment import participant_traceback
from ...plain import json
from ..items import item_state, set_properties
from .models import cassette_path, usage_facts
from .outcomes import record_of

if TYPE_CHECKING:
    import pytest

    from ...chat import TrialModels
    from ...models import Simulation
    from ...runner import Trial
    from ..items import TaskSpec

#: The participant that has broken off a conversation, by how it ended.
BY_PARTICIPANT = {"agent_error": "agent", "user_error": "user"}


def set_facts(item: pytest.Item, spec: TaskSpec, trial: Trial, simulation: Simulation, *, is_restored: bool) -> None:
    """Set the facts of a trial on its item, replacing those from before a rerun.

    Args:
        item: The item.
        spec: Task, domain and settings.
        trial: The trial.
        simulation: Its simulation.
        is_restored: The simulation is that of the previous run.
    """
    state, models = item_state(item), trial.models
    report = state.report
    report.usage, state.record = None, record_of(item, simulation)
    if simulation.model_usage:
        report.usage = usage_facts(spec, models, simulation.model_usage if is_restored else None)
    if isinstance(models.tape, Recorder):
        state.cassette = cassette_path(item, spec, trial.number)
    columns = columns_of(active.capability for active in spec.config.simulation.capabilities)
    values = {f"tau_{named.column.name}": named.value(simulation.facts) for named in columns if named.column.label}
    set_properties(
        item,
        tau_domain=spec.domain.name,
        tau_task=simulation.task_id,
        tau_trial=trial.number,
        tau_reward=simulation.reward,
        tau_outcome=simulation.outcome,
        tau_usage=json.dumps(report.usage) if report.usage else None,
        tau_restored=True if is_restored else None,
        **{name: value for name, value in values.items() if value != ""},
    )


def set_fault(item: pytest.Item, models: TrialModels, simulation: Simulation, fault: BaseException | None) -> None:
    """Set what the report and the debugger show of an exception of a participant.

    Args:
        item: The item.
        models: The models of the trial, whose keys are masked.
        simulation: The simulation.
        fault: The exception; None if there was none.
    """
    state = item_state(item)
    text = None if fault is None else participant_traceback(fault, models.arguments)
    side = BY_PARTICIPANT.get(simulation.termination_reason)
    state.traceback = None if text is None else (f"Traceback of the {side}", text)
    # Its frames keep what the participant has in memory alive.
    state.fault = fault if item.config.option.usepdb else None
