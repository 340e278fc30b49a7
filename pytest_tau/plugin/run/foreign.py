"""What is recorded of agents that are not built in: whether they call tools, and a model through this package."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...models import STOPS, AssistantMessage, ForeignAgent
from ...participants.clients import imported_clients

if TYPE_CHECKING:
    from ...chat import TrialModels
    from ...models import Simulation
    from ...participants import ParticipantSource


def note_foreign(simulation: Simulation, agent: ParticipantSource, models: TrialModels, *, is_costed: bool) -> None:
    """Record whether an agent that is not built in called a tool, and a model if calls are counted or recorded.

    Args:
        simulation: The simulation.
        agent: The source of its agent.
        models: The models that were called.
        is_costed: The run has a budget, or a gate on costs.
    """
    if not agent.is_foreign:
        return
    if simulation.termination_reason in STOPS and not _has_called(simulation):
        simulation.info = replace(simulation.info, silent_agent=agent.name)
    if (models.tape is not None or is_costed or simulation.model_usage) and _has_replied(simulation):
        seen = "agent" in models.ledger.asked
        clients = [] if seen else imported_clients(agent.target)
        simulation.info = replace(simulation.info, foreign_agent=ForeignAgent(agent.name, seen, clients))


def _has_called(simulation: Simulation) -> bool:
    """Return whether the agent has made a tool call."""
    return any(made.call.requestor == "assistant" for made in simulation.calls)


def _has_replied(simulation: Simulation) -> bool:
    """Return whether the agent has had a turn; a trial that ended in an error shows nothing about it."""
    replies = any(isinstance(message, AssistantMessage) for message in simulation.messages[1:])
    return simulation.outcome != "error" and (replies or simulation.termination_reason in {"agent_error", "timeout"})
