"""What is known of a trial whose tools failed on purpose, and how it is reported."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, computed_field

from ...models import Requestor  # noqa: TC001 - pydantic reads it
from ...text import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...capability import Measured
    from ...models import Simulation

#: The calls that the report of a failure names.
_MOST = 5


class Struck(BaseModel):
    """A call that met a fault: the number of its message, its tool, its side, and the kind of the fault."""

    message_idx: int
    tool: str
    requestor: Requestor
    kind: str


class ToolFaultFacts(BaseModel):
    """The faults of a trial.

    Attributes:
        rules: The rules of the run.
        calls: The number of calls.
        faults: The calls that met a fault.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    rules: list[str]
    calls: int
    faults: list[Struck] = []

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents it
    @property
    def count(self) -> int:
        """The number of calls that met a fault."""
        return len(self.faults)


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield the line of the summary: how many calls met a fault, and how the trials fared that met one.

    A trial without a verdict counts for the faults, and not for the shares that passed.
    """
    kinds = Counter(fault.kind for trial in trials for fault in trial.facts.faults)
    calls = sum(trial.facts.calls for trial in trials)
    struck = [trial for trial in trials if trial.facts.faults]
    listing = f" ({', '.join(f'{number} {kind}' for kind, number in kinds.most_common())})" if kinds else ""
    met = f"{kinds.total()} of {plural(calls, 'call')} met a fault{listing}"
    parts = [f"{met}, in {len(struck)} of {plural(len(trials), 'trial')}"]
    parts += _passed(struck, "with a fault") + _passed(
        [trial for trial in trials if not trial.facts.faults], "without one"
    )
    yield "; ".join(parts)


def _passed(trials: Sequence[Measured], which: str) -> list[str]:
    graded = [trial.record for trial in trials if trial.record.outcome != "error"]
    return [f"{sum(record.passed for record in graded)} of {len(graded)} {which} passed"] if graded else []


def failure(facts: ToolFaultFacts, _simulation: Simulation) -> Iterator[str]:
    """Yield the line of the report of a failed trial: the calls that met a fault."""
    calls = [f"message {fault.message_idx} {fault.tool} ({fault.kind})" for fault in facts.faults]
    if calls:
        yield listed(calls, _MOST)
