"""Restoring trials: their simulation comes from the previous run, which this one continues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...chat import TrialModels
from ...errors import ConfigurationError
from ...runner.conditions import model_arguments, prompt_name
from ...runs.manifest_diff import diff_values
from ..context.run_state import require_context, run_state
from ..items import item_state, spec_of
from ..makers import SIDES, maker_of
from .setup import make_participant, make_trial, sources_of
from .trials import TrialFuture

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from ...participants import Side


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
    sides = [
        make_participant(side, item, spec) if _is_by_hook(side, item) else context.source(side, spec.config)
        for side in SIDES
    ]
    trial = TrialFuture(item, spec, make_trial(item, spec, simulation.trial, environment, models), *sides)
    state.trial = trial.restore(simulation)


def check_reuse(trial: TrialFuture, agent: Any, user: Any) -> None:
    """Check that a simulation of the previous run had the participants that hooks and fixtures make now.

    Args:
        trial: The trial; nothing is checked if it was run by this run.
        agent: The agent that is made now.
        user: The user.

    Raises:
        ConfigurationError: It had others; names both.
    """
    if trial.restored is None or not trial.restored.conditions:
        return
    sources = sources_of(require_context(trial.item.config), trial.spec, agent, user)
    now: dict[str, Any] = {side: source.name for side, source in zip(SIDES, sources, strict=True)}
    then: dict[str, Any] = {side: trial.restored.conditions.get(side) for side in SIDES}
    if differences := diff_values("", then, now):
        label = run_state(trial.item.config).paths.resume_label
        problem = "the earlier run had another participant; start a new run without"
        raise ConfigurationError("\n  ".join([f"{label}: {problem} {label}", *differences]))


def _is_by_hook(side: Side, item: pytest.Item) -> bool:
    return (maker_of(side, item) or "").startswith("hook")


def changed_conditions(item: pytest.Item, then: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the conditions of an item's trial that differ from those of the previous run, with both values.

    Only those are compared that settings and markers choose. A participant that a hook or a fixture makes is compared
    when it is made.

    Args:
        item: The item.
        then: The domain of its simulation in the previous run, and its conditions, if they are known.
    """
    spec, context = spec_of(item), require_context(item.config)
    assert spec is not None, "what can be restored has a task"
    found: dict[str, tuple[Any, Any]] = {"domain": (then["domain"], spec.domain.name)}
    if "agent" in then:
        sources = sources_of(context, spec, *(context.source(side, spec.config) for side in SIDES))
        by_settings = [side for side in SIDES if maker_of(side, item) is None]
        if "agent" not in by_settings and spec.config.user is None:
            by_settings = []  # the default user depends on the agent
        for side, source in zip(SIDES, sources, strict=True):
            if side in by_settings:
                found[side] = then.get(side), source.name
                if context.config.choice(side) is None:  # else the settings of the run have it
                    name = f"{side}_prompt"
                    found[name] = then.get(name), prompt_name(spec.config.simulation, side, source)
    if len(item.ihook.pytest_tau_make_model.get_hookimpls()) == 1:
        for role, model in then.get("models", {}).items():
            if (choice := spec.config.choice(role)) is not None:
                found[f"{role}_llm"] = model["name"], choice.name
                found[f"{role}_llm_args"] = model.get("args"), model_arguments(choice.args)
    return {name: values for name, values in found.items() if values[0] != values[1]}
