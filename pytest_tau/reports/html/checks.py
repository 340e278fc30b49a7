"""The checks of a simulation, each next to the message that met or broke it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...evaluation import components_of

if TYPE_CHECKING:
    from ...evaluation import Check, RewardComponent
    from ...evaluation.evidence import Evidence


def located_checks(evidence: Evidence) -> list[dict[str, Any]]:
    """Return every check that the verdict has, in the order of components, as the page shows it.

    Args:
        evidence: The simulation with its verdict, its calls next to the reference actions, and its state's history.
    """
    verdict = evidence.simulation.reward_info
    if verdict is None:
        return []
    return [
        _shown(check, component, gates=gates)
        for component in components_of(verdict)
        for gates in [component.gates(verdict)]
        for check in component.located(verdict, evidence)
    ]


def _shown(check: Check, component: RewardComponent, *, gates: bool) -> dict[str, Any]:
    return {
        "kind": component.name,
        "text": check.text,
        "met": check.met,
        "gates": gates,
        "message_idx": check.message_idx,
        "call": check.call,
        "note": check.note,
        "ofCall": check.of_call,
    }
