"""Attempts of a trial that were run and do not count: they are stored with the one that does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..models import DiscardedAttempt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models import Simulation

#: The difference of the seeds of two attempts. Source: τ²-bench v1.0.1, hallucination retries.
SEED_STEP = 1000


def with_discarded(kept: Simulation, discarded: Sequence[Simulation], first: Simulation | None) -> Simulation:
    """Return a simulation with the attempts that capabilities have discarded in its ``info``.

    Args:
        kept: The attempt that counts.
        discarded: The others.
        first: The first attempt, which is what a run without reruns would have had.
    """
    if not discarded:
        return kept
    by_protocol = [attempt for simulation in (*discarded, kept) for attempt in simulation.info.discarded_attempts]
    kept.info = replace(kept.info, discarded_attempts=[*by_protocol, *map(_attempt, discarded)])
    kept.attempts = len(discarded) + 1
    kept.first_reward = first.reward if first is not None and first.outcome != "error" else None
    return kept


def unusable_attempt(simulation: Simulation) -> DiscardedAttempt:
    """Return an attempt that ended by a reply that cannot be used, as it is stored."""
    messages = [message.model_dump(mode="json", exclude_none=True) for message in simulation.messages]
    return DiscardedAttempt(simulation.error, messages)


def _attempt(simulation: Simulation) -> DiscardedAttempt:
    return replace(
        unusable_attempt(simulation),
        termination_reason=simulation.termination_reason,
        stop_token=simulation.stop_token,
        reward=simulation.reward if simulation.reward_info else None,
        facts=simulation.facts,
    )
