"""What tasks are made of: calls with gaps, faults, and the problems that faults add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_tau.models.messages import Requestor

    from ..models import LineStatus

#: GB that a task's user agrees to refuel, which is also the most that the policy allows a line.
REFUEL_GB = 2.0


@dataclass(frozen=True)
class Subject:
    """Whose phone is broken, and what the calls of a task need to know about them.

    Attributes:
        overdue_bill_id: The id of the bill that a fault may add.
        data_limit_gb: What the plan of the line includes.
        home: Where they are when not travelling, such as ``at home in Denver, CO``.
        abroad: Where they travel, such as ``abroad in Portugal``.
    """

    name: str
    phone_number: str
    customer_id: str
    line_id: str
    overdue_bill_id: str
    data_limit_gb: float
    home: str = "at home"
    abroad: str = "abroad"

    @property
    def over_limit_gb(self) -> float:
        """Just more data than the plan includes."""
        return round(self.data_limit_gb + 0.1, 1)

    @property
    def over_refuelled_limit_gb(self) -> float:
        """Just more data than the plan and the greatest refuelling include."""
        return round(self.data_limit_gb + REFUEL_GB + 0.1, 1)


class Slot(str):
    """The name of a subject's attribute, standing for its value among a call's arguments."""

    __slots__ = ()


@dataclass(frozen=True)
class Call:
    """A call of a toolkit function; its arguments may hold slots."""

    side: Requestor
    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)

    def bound(self, subject: Subject) -> dict[str, Any]:
        """The arguments for one subject."""
        slots = {key: getattr(subject, value) for key, value in self.arguments.items() if isinstance(value, Slot)}
        return {**self.arguments, **slots}


@dataclass(frozen=True)
class Statement(Call):
    """A call that must return true; the message tells what it means if it does not."""

    message: str | None = None


@dataclass(frozen=True, eq=False)
class Fault:
    """One thing that is wrong.

    Attributes:
        name: As the reference's ids have it.
        tag: As ours have it.
        summary: What is wrong, in words for the people who read tasks.
        start: The calls that break it.
        checks: What must hold right after those.
        fix: The calls that mend it, in order; none where the policy leaves no way.
        extra: What must hold at the end, beyond the goal.
        diagnosis: Ours: the call by which the policy finds out that there is no fix.
        line_status: Ours: the line's status at the end, where the fault concerns it.
        slows_only: Ours: data gets slow but still flows.
    """

    name: str
    tag: str
    summary: str
    start: tuple[Call, ...]
    checks: tuple[Statement, ...] = ()
    fix: tuple[Call, ...] = ()
    extra: tuple[Statement, ...] = ()
    diagnosis: Call | None = None
    line_status: LineStatus | None = None
    slows_only: bool = False

    @property
    def fixable(self) -> bool:
        """Whether the policy leaves a way to mend it."""
        return bool(self.fix)


@dataclass(frozen=True, eq=False)
class Intent:
    """A problem as the customer tells it.

    Attributes:
        name: As the reference's ids have it.
        tag: As ours have it.
        groups: Faults that can be behind it; at most one of a group at a time.
        core: The position from which the groups matter: one of these must be there.
        goal: What holds once it is solved.
        unsolved: What holds at the end where it cannot be solved.
    """

    name: str
    tag: str
    groups: tuple[tuple[Fault, ...], ...]
    core: int
    goal: tuple[Statement, ...]
    unsolved: tuple[Statement, ...]
