"""The rules of the domain's policy, checked in a trial that has just ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...capability.views import TrialStages
from ...policy import report_of

if TYPE_CHECKING:
    from ...capability.views import TrialView
    from ...models import Simulation


class PolicyStages(TrialStages):
    """Checks the rules in a trial."""

    def __init__(self, view: TrialView) -> None:
        self._view = view

    def graded(self, simulation: Simulation) -> dict[str, Any] | None:
        """Return what the rules have found, and the numbers of the columns; None without rules or a conversation."""
        view = self._view
        found = report_of(simulation, view.task, view.domain, environment=view.environment, agent=view.agent)
        if found is None:
            return None
        broken = "; ".join(f"{name} ({number})" for name, number in found.counts.items())
        return found.as_dict() | {
            "broken": broken,
            "kept": {name: float(name not in found.counts) for name in found.checked},
        }
