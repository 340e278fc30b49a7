"""A trial that continues a stored conversation: its beginning, and what is known of it afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from ... import Beginning
from ...capability import TrialStages
from ...environment import same_reply, same_result
from ...models import AssistantMessage, UserMessage, clone
from .turns import check_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...capability import TrialView
    from ...models import Message, Simulation

#: Differences that are recorded of one trial.
_MOST_DIFFERENCES = 10


class ForkFacts(BaseModel):
    """What a trial continues.

    Attributes:
        run: The name of the stored run.
        simulation: The id of the stored conversation.
        trial: The number of its trial.
        seed: Its seed.
        outcome: Its outcome.
        message: The number of the first new message.
        restored: How each side got the messages before: ``history``, ``replay``, or ``none`` if it takes no history.
        differences: What differs from the stored conversation before that message.
        repeats: Whether nothing new was said, by the same seed.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    run: str
    simulation: str
    trial: int
    seed: int | None
    outcome: str
    message: int
    restored: dict[str, str] = {}
    differences: list[str] = []
    repeats: bool = False


class Turn(NamedTuple):
    """A message from which a conversation is continued: the variant of a task.

    Attributes:
        run: The name of the stored run.
        stored: The stored conversation.
        number: The number of the message.
        restore: How participants get the messages before, by side.
    """

    run: str
    stored: Simulation
    number: int
    restore: Mapping[str, Literal["history", "replay"]]


class ForkStages(TrialStages):
    """The beginning of one trial."""

    def __init__(self, view: TrialView) -> None:
        self._turn: Turn | None = view.variant
        self._task = view.task
        self._beginning: Beginning | None = None

    def beginning(self) -> Beginning | None:
        """Return the messages before the turn.

        Raises:
            ConfigurationError: The message is not one of the agent or the user.
        """
        if self._turn is None:
            return None
        run, stored, number, restore = self._turn
        check_turn(stored, number, run, self._task)
        self._beginning = Beginning(clone(stored.messages[:number]), restore)
        return self._beginning

    def graded(self, simulation: Simulation) -> ForkFacts | None:
        """Return what the trial continues, and whether it only repeats it: it has the same seed and messages."""
        if self._turn is None or self._beginning is None:
            return None
        stored, beginning = self._turn.stored, self._beginning
        same_seed = simulation.seed is not None and simulation.seed == stored.seed
        return ForkFacts(
            run=self._turn.run,
            simulation=stored.id,
            trial=stored.trial,
            seed=stored.seed,
            outcome=stored.outcome,
            message=self._turn.number,
            restored=beginning.ways,
            differences=_shortened(beginning.differences),
            repeats=same_seed and _are_same(simulation.messages, stored.messages),
        )


def origin(facts: ForkFacts, _simulation: Simulation) -> Iterator[str]:
    """Yield the conversation that is continued."""
    yield f"continues trial {facts.trial} of {facts.run} from message {facts.message} on"


def _are_same(now: Sequence[Message], before: Sequence[Message]) -> bool:
    return len(now) == len(before) and all(map(_is_same, now, before))


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, AssistantMessage | UserMessage):
        return one.role == other.role and same_reply(other, one)
    same: bool = one.role == other.role and same_result(one.content or "", getattr(other, "content", "") or "")
    return same


def _shortened(differences: Sequence[str]) -> list[str]:
    more = len(differences) - _MOST_DIFFERENCES
    return [*differences[:_MOST_DIFFERENCES], *([f"and {more} more"] if more > 0 else [])]
