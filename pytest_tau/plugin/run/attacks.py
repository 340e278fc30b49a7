"""Tasks that an attack cannot be used on: their trials under this attack are skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import AttackError
from ..items import item_state, spec_of

if TYPE_CHECKING:
    import pytest

    from ..items import TaskSpec


def not_attacked(spec: TaskSpec) -> str | None:
    """Return why the attack of a task's settings cannot be used on it; None if it can, or there is no attack.

    Raises:
        TaskFormatError: The initial state of the task cannot be applied.
    """
    settings = spec.config.simulation
    if settings.attack is None:
        return None
    from ...attacks import Mode, NotAttacked, plan_attack

    try:
        plan = plan_attack(
            settings.attack, spec.task, spec.domain, Mode(settings.solo, settings.policy, settings.retrieval)
        )
    except AttackError:
        return None  # the trial reports it
    return plan.text if isinstance(plan, NotAttacked) else None


def is_not_attacked(item: pytest.Item) -> bool:
    """Return whether the item's trial is under an attack that cannot be used on its task; record the reason."""
    spec, state = spec_of(item), item_state(item)
    if spec is None or spec.config.simulation.attack is None or state.restored:
        return False
    reason = state.report.not_attacked = not_attacked(spec)
    return reason is not None
