"""Restoring trials: their simulation comes from the previous run, which this one continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...chat import TrialModels
from ..context.run_state import require_context, run_state
from ..items import item_state, spec_of
from .trials import TrialFuture, TrialInputs

if TYPE_CHECKING:
    import pytest


def restore(item: pytest.Item) -> None:
    """Take the item's simulation from the previous run, if it has one that fits; the item reports it when it runs."""
    previous = run_state(item.config).previous
    simulation = previous.pop(item) if previous is not None else None
    if simulation is None:
        return
    spec, context, state = spec_of(item), require_context(item.config), item_state(item)
    assert spec is not None, "what was restored has a task"
    settings = spec.config.simulation
    # For tests that look at the final environment.
    environment = spec.domain.environment(
        spec.task, settings.solo, settings.policy, retrieval=settings.retrieval, replay_history=False
    )
    environment.replay(simulation.messages)
    environment.close()
    models = TrialModels({}, seed=context.seed(simulation.trial))
    sides = context.source("agent", spec.config), context.source("user", spec.config)
    inputs = TrialInputs(spec, simulation.trial, environment, models, *sides)
    state.prefetched, state.restored = TrialFuture(item, inputs, simulation), True
