"""Attempts of a trial that were run and do not count: they are stored with the one that does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models import Simulation

#: The key of ``simulation.info`` for attempts that were run again, because of the protocol or of a capability: errors
#: and messages; for a capability also how they ended, their rewards and facts.
DISCARDED = "discarded_attempts"
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
    earlier = [entry for each in (*discarded, kept) for entry in (each.info or {}).get(DISCARDED, ())]
    kept.info = (kept.info or {}) | {DISCARDED: [*earlier, *map(_entry, discarded)]}
    kept.attempts = len(discarded) + 1
    kept.first_reward = first.reward if first is not None and first.outcome != "error" else None
    return kept


def _entry(simulation: Simulation) -> dict[str, Any]:
    return {
        "error": simulation.error,
        "messages": [message.model_dump(mode="json", exclude_none=True) for message in simulation.messages],
        "termination_reason": simulation.termination_reason,
        "stop_token": simulation.stop_token,
        "reward": simulation.reward if simulation.reward_info else None,
        "facts": simulation.facts,
    }
