"""Building blocks of tasks: calls with placeholders, faults, and the problems to which faults add up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_tau.models.tasks import EnvAssertion

from ..constants import MAX_REFUEL_GB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_tau.models.messages import Requestor

    from ..models import LineStatus


@dataclass(frozen=True)
class Subject:
    """The customer whose phone is broken, with the values that the calls of a task need.

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
        """Return slightly more data than the plan includes."""
        return round(self.data_limit_gb + 0.1, 1)

    @property
    def over_refuelled_limit_gb(self) -> float:
        """Return slightly more data than the plan and the greatest refuelling include."""
        return round(self.data_limit_gb + MAX_REFUEL_GB + 0.1, 1)


class Slot(str):
    """The name of a subject's attribute, standing for its value among a call's arguments."""

    __slots__ = ()


@dataclass(frozen=True)
class Call:
    """A call of a toolkit function; its arguments may contain slots."""

    side: Requestor
    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)

    def bound(self, subject: Subject) -> dict[str, Any]:
        """Return the arguments for one subject."""
        slots = {key: getattr(subject, value) for key, value in self.arguments.items() if isinstance(value, Slot)}
        return {**self.arguments, **slots}


@dataclass(frozen=True)
class Statement(Call):
    """A call that must return true; the message says what it means if it does not."""

    message: str | None = None

    def env_assertion(self, subject: Subject) -> EnvAssertion:
        """Return the statement about one subject in the task format."""
        return EnvAssertion(
            env_type=self.side, func_name=self.name, arguments=self.bound(subject), message=self.message
        )


@dataclass(frozen=True, eq=False)
class Fault:
    """One thing that is wrong.

    Attributes:
        name: The name in the reference's ids.
        tag: The name in ours.
        summary: The defect in words, for people who read tasks.
        start: The calls that introduce it.
        checks: Statements that are true right after those.
        fix: The calls that repair it, in order; none if the policy leaves no way.
        extra: Statements that must be true at the end, in addition to the goal.
        diagnosis: Ours: the call by which the policy finds out that there is no fix.
        line_status: Ours: the line's status at the end, if the fault concerns it.
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
        """Return whether the policy leaves a way to repair it."""
        return bool(self.fix)


@dataclass(frozen=True, eq=False)
class Intent:
    """A problem as the customer reports it.

    Attributes:
        name: The name in the reference's ids.
        tag: The name in ours.
        groups: Faults that can be behind it; at most one of a group at a time.
        core: The index of the first group that can cause the problem: a fault of these groups must be present.
        goal: Statements that are true once it is solved.
        unsolved: Statements that are true at the end if it cannot be solved.
    """

    name: str
    tag: str
    groups: tuple[tuple[Fault, ...], ...]
    core: int
    goal: tuple[Statement, ...]
    unsolved: tuple[Statement, ...]
