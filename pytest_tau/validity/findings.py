"""What a check of the simulated user reports, and how a simulation stores it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..models import USER_VALIDITY

if TYPE_CHECKING:
    from ..models import Simulation


@dataclass(frozen=True)
class Finding:
    """A fault of the simulated user.

    Attributes:
        check: The name of the check.
        message_idx: The number of the user's message, from 0.
        evidence: What was said or done, and why it is a fault.
    """

    check: str
    message_idx: int
    evidence: str

    @property
    def text(self) -> str:
        """Return the finding as a line of text."""
        return f"{self.check}, message {self.message_idx}: {self.evidence}"


@dataclass(frozen=True)
class UserValidity:
    """What the checks have found in a simulation.

    Attributes:
        findings: The faults, in the order of the conversation.
        excused: The checks that were not made, because the persona of the user makes such a fault on purpose.
        excluded: Whether the trial is excluded from rates.
        attempts: The number of attempts that were run, those that were discarded included.
        first_reward: The reward of the first attempt, if there were several.
        problem: Why the checks could not be made; empty if they were.
    """

    findings: tuple[Finding, ...] = ()
    excused: tuple[str, ...] = ()
    excluded: bool = False
    attempts: int = 1
    first_reward: float | None = None
    problem: str = field(default="")

    @property
    def valid(self) -> bool:
        """Return whether the user made no fault."""
        return not self.findings

    @property
    def checks(self) -> tuple[str, ...]:
        """Return the names of the checks that have found something, each once."""
        return tuple(dict.fromkeys(each.check for each in self.findings))

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of ``simulation.info``, without what has its default."""
        entry: dict[str, Any] = {"findings": [vars(each) for each in self.findings]}
        entry |= {"excused": list(self.excused)} if self.excused else {}
        entry |= {"excluded": True} if self.excluded else {}
        entry |= {"attempts": self.attempts} if self.attempts > 1 else {}
        entry |= {"first_reward": self.first_reward} if self.first_reward is not None else {}
        return entry | ({"problem": self.problem} if self.problem else {})

    @classmethod
    def of(cls, simulation: Simulation) -> UserValidity | None:
        """Return what a simulation has stored; None if it was not checked."""
        return cls.from_entry((simulation.info or {}).get(USER_VALIDITY))

    @classmethod
    def from_entry(cls, entry: Any) -> UserValidity | None:
        """Return an entry of ``simulation.info``; None if there is none that can be read."""
        if not isinstance(entry, dict) or not isinstance(entry.get("findings"), list):
            return None
        found = [_finding(each) for each in entry["findings"]]
        excused, attempts, first = entry.get("excused"), entry.get("attempts"), entry.get("first_reward")
        return cls(
            tuple(each for each in found if each is not None),
            tuple(map(str, excused)) if isinstance(excused, list) else (),
            excluded=entry.get("excluded") is True,
            attempts=attempts if isinstance(attempts, int) else 1,
            first_reward=float(first) if isinstance(first, int | float) else None,
            problem=str(entry.get("problem") or ""),
        )


def _finding(entry: Any) -> Finding | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("check"), str):
        return None
    at = entry.get("message_idx")
    return Finding(entry["check"], at if isinstance(at, int) else -1, str(entry.get("evidence", "")))
