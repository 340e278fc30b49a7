"""What the core asks of capabilities about conversations in which both sides can speak at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import installed, stored_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..models import Message, Simulation
    from .views import Duplex, SubmittedRuns, Trajectory


def _duplexes() -> list[tuple[str, Duplex]]:
    """Return the objects for conversations in which both sides can speak at once, with the names of capabilities."""
    return [(capability.name, capability.duplex()) for capability in installed() if capability.duplex is not None]


def trajectory_of(duplex: Mapping[str, Any], header: Mapping[str, Any]) -> Trajectory | None:
    """Return the trajectory of a conversation in which both sides can speak at once; None if no capability has it.

    Args:
        duplex: ``Simulation.duplex``.
        header: The header of its file.

    Returns:
        Its facts are in their stored form, by the name of the capability.

    Raises:
        pydantic.ValidationError: It does not follow the format.
    """
    for name, of_capability in _duplexes():
        trajectory = of_capability.trajectory(duplex, header)
        if trajectory is not None:
            return trajectory._replace(facts={name: stored_facts(trajectory.facts)})
    return None


def judged_messages(simulation: Simulation) -> Sequence[Message]:
    """Return what a judge of statements reads of a simulation."""
    trajectory = None if simulation.duplex is None else trajectory_of(simulation.duplex, {})
    return simulation.messages if trajectory is None else trajectory.judged


def submitted_runs(runs: Sequence[Any]) -> SubmittedRuns | None:
    """Return what a capability makes of runs that are submitted; None if they are conversations in turns.

    Raises:
        ConfigurationError: They cannot be submitted.
    """
    submissions = (of_capability.submission(runs) for _, of_capability in _duplexes())
    return next((submission for submission in submissions if submission is not None), None)
