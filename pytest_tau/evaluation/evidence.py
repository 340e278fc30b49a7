"""Facts about a conversation by which a component finds the message that decided each of its checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models import Call, Difference, Simulation
    from .grading import Grading

RowKind: TypeAlias = Literal["matched", "differs", "missing", "extra"]


class Row(NamedTuple):
    """A reference action and the call next to it, by their positions.

    Attributes:
        kind: ``differs`` for a call of the same name that has other arguments and matches no other action.
        action: None for a call that no reference action asks for.
        call: None for an action that was not made.
        arguments: Names of the arguments that differ.
    """

    kind: RowKind
    action: int | None
    call: int | None
    arguments: tuple[str, ...] = ()


class StateChange(NamedTuple):
    """One place that a call changed.

    Attributes:
        side: Whose database: ``agent`` or ``user``.
        path: Record and field, as ``orders/#W2378156/status``.
        before: The value as JSON text; None if the place did not exist.
        after: The value as JSON text; None if the place no longer exists.
    """

    side: str
    path: str
    before: str | None
    after: str | None


class Turned(NamedTuple):
    """The final truth of a statement about the state, and the call that decided it; None if it never changed."""

    holds: bool
    call: int | None

    def call_for(self, met: bool) -> int | None:
        """Return the deciding call, if the replay resulted in the stored verdict."""
        return self.call if self.holds == met else None


@dataclass
class StateHistory:
    """The effects of a conversation on the databases.

    Attributes:
        changes: By the position of a call among all calls, the places that it changed.
        database: When the state became equal to the reference's, or ceased to be; None if there is no reference.
        assertions: The same for each of the task's assertions.
        differences: Where the final state differs from the reference's; empty if the verdict lists that.
        note: Why changes are missing, if some are.
    """

    changes: dict[int, list[StateChange]] = field(default_factory=dict)
    database: Turned | None = None
    assertions: list[Turned] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    note: str | None = None


@dataclass(frozen=True)
class Evidence:
    """A graded conversation, replayed and aligned with the reference.

    Attributes:
        simulation: The conversation.
        calls: Its calls with their results, in order.
        rows: Its calls next to the reference actions.
        history: Its effects on the databases.
        grading: The profile that it was graded with.
    """

    simulation: Simulation
    calls: Sequence[Call]
    rows: Sequence[Row]
    history: StateHistory
    grading: Grading
