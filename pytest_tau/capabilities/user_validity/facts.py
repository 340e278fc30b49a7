"""What the checks of a simulated user have found in a trial, and the report of a failure."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, computed_field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Simulation


#: The names of the two checks of what the scripted user has recorded of itself.
NOT_UNDERSTOOD, GAVE_UP = "not-understood", "gave-up"


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
        """The finding as a line of text."""
        return f"{self.check}, message {self.message_idx}: {self.evidence}"


class UserFacts(BaseModel):
    """What the checks have found in a trial.

    Attributes:
        findings: The faults, in the order of the conversation.
        excused: The checks that were not made, because the persona of the user makes such a fault on purpose.
        unchecked: Why checks could not be made; empty if they were.
        lost: The messages that the scripted user did not understand, whoever is at fault.
        gave_up: Whether it gave up.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    findings: tuple[Finding, ...] = ()
    excused: tuple[str, ...] = ()
    unchecked: str = ""
    lost: int = Field(default=0, exclude_if=operator.not_)
    gave_up: bool = Field(default=False, exclude_if=operator.not_)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents it
    @property
    def valid(self) -> float:
        """1 if the user made no fault, else 0."""
        return float(not self.findings)

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents it
    @property
    def faults(self) -> str:
        """The names of the checks that have found something, each once."""
        return "; ".join(self.checks)

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of the checks that have found something, each once."""
        return tuple(dict.fromkeys(finding.check for finding in self.findings))


def failure(facts: UserFacts, simulation: Simulation) -> Iterator[str]:
    """Yield the faults, but for those that the report itself begins with."""
    told = (NOT_UNDERSTOOD, GAVE_UP) if simulation.outcome == "failed" else ()
    yield from (finding.text for finding in facts.findings if finding.check not in told)
    if facts.unchecked:
        yield f"the user could not be checked: {facts.unchecked}"
