"""What a test item has of its trial: properties, the record and the usage for reports, and an exception behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...capability.calls import columns_of
from ...participants.containment import participant_traceback
from ...plain import json
from ...text import printable
from ..items import item_state, set_properties
from .models import usage_of
from .outcomes import record_of
from .trials import BY_PARTICIPANT

if TYPE_CHECKING:
    from ...models import Simulation
    from ..items import StartedTrial
    from .trials import TrialFuture


def set_facts(future: TrialFuture, simulation: Simulation) -> None:
    """Set the facts of a trial on its item, replacing those from before a rerun.

    Args:
        future: The trial.
        simulation: Its simulation.
    """
    item, spec, state = future.item, future.spec, item_state(future.item)
    report, restored = state.report, future.restored
    state.record, report.usage, report.results_problem = record_of(item, simulation), None, future.results_problem
    if simulation.model_usage:
        report.usage = usage_of(spec, future.trial.models, restored.model_usage if restored else None)
    columns = columns_of(active.capability for active in spec.config.simulation.capabilities)
    values = {f"tau_{named.column.name}": named.value(simulation.facts) for named in columns if named.column.label}
    set_properties(
        item,
        tau_domain=spec.domain.name,
        tau_task=simulation.task_id,
        tau_trial=future.trial.number,
        tau_reward=simulation.reward,
        tau_outcome=simulation.outcome,
        tau_usage=json.dumps(report.usage.as_dict()) if report.usage else None,
        tau_restored=True if restored else None,
        **{name: value for name, value in values.items() if value != ""},
    )


def fault_section(trial: StartedTrial, simulation: Simulation) -> list[tuple[str, str]]:
    """Return the section of a report about the exception of a participant, once: an error of the teardown has its own.

    Args:
        trial: The trial.
        simulation: Its simulation.
    """
    fault, trial.fault = trial.fault, None
    text = None if fault is None else participant_traceback(fault, trial.trial.models.arguments)
    side = BY_PARTICIPANT.get(simulation.termination_reason, "participant")
    return [(f"Traceback of the {side}", printable(text))] if text is not None else []
