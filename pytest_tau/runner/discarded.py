"""Attempts of a trial that were run and do not count: they are stored with the one that does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..models import DiscardedAttempt

if TYPE_CHECKING:
    from ..models import Simulation

#: The difference of the seeds of two attempts. Source: τ²-bench v1.0.1, hallucination retries.
SEED_STEP = 1000


@dataclass
class Attempts:
    """The attempts of a trial, without those that the protocol has discarded.

    Attributes:
        kept: The one that counts so far.
        first: The first one, which is what a run without reruns would have had.
        discarded: The others.
    """

    kept: Simulation | None = None
    first: Simulation | None = None
    discarded: list[Simulation] = field(default_factory=list)

    @property
    def number(self) -> int:
        """Return how many attempts there were."""
        return len(self.discarded) + (self.kept is not None)

    def add(self, simulation: Simulation) -> None:
        """Add an attempt, which counts instead of the one before, unless it has ended in an error."""
        if self.kept is None:
            self.first = self.kept = simulation
        elif simulation.outcome == "error":
            self.discarded.append(simulation)
        else:
            self.discarded.append(self.kept)
            self.kept = simulation

    def result(self) -> Simulation:
        """Return the attempt that counts, with those that do not in its ``info``."""
        kept, first, discarded = self.kept, self.first, self.discarded
        assert kept is not None, "there is at least one attempt"
        if not discarded:
            return kept
        by_protocol = [attempt for simulation in (*discarded, kept) for attempt in simulation.info.discarded_attempts]
        kept.info = replace(kept.info, discarded_attempts=[*by_protocol, *map(_attempt, discarded)])
        kept.attempts = self.number
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
