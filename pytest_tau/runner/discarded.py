"""Attempts of a trial that were run and do not count: they are stored with the one that does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..models import USER_VALIDITY
from ..validity import UserValidity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models import Simulation

#: The key of ``simulation.info`` for attempts that were run again, because of the protocol or of a fault of the user,
#: each with its error and messages; those with a fault of the user also with how they ended, their reward and findings.
DISCARDED = "discarded_attempts"
#: The difference of the seeds of two attempts. Source: τ²-bench v1.0.1, hallucination retries.
SEED_STEP = 1000


def with_discarded(kept: Simulation, discarded: Sequence[Simulation], first: Simulation | None) -> Simulation:
    """Return a simulation with the attempts that were discarded because of faults of the user in its ``info``.

    Args:
        kept: The attempt that counts.
        discarded: The others.
        first: The first attempt, which is what a run without reruns would have had.
    """
    if not discarded:
        return kept
    info = dict(kept.info or {})
    earlier = [entry for each in (*discarded, kept) for entry in (each.info or {}).get(DISCARDED, ())]
    validity = UserValidity.of(kept) or UserValidity()
    entry = validity.as_dict() | {"attempts": len(discarded) + 1}
    entry |= {"first_reward": first.reward} if first is not None and first.outcome != "error" else {}
    info |= {DISCARDED: [*earlier, *map(_entry, discarded)], USER_VALIDITY: entry}
    kept.info = info
    return kept


def _entry(simulation: Simulation) -> dict[str, Any]:
    return {
        "error": simulation.error,
        "messages": [message.model_dump(mode="json", exclude_none=True) for message in simulation.messages],
        "termination_reason": simulation.termination_reason,
        "stop_token": simulation.stop_token,
        "reward": simulation.reward if simulation.reward_info else None,
        USER_VALIDITY: (simulation.info or {}).get(USER_VALIDITY),
    }
