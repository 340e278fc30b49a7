"""The near misses of a run: which passed trials have omitted something before a change, and in which message."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ...capability import Detail, Finding, PageBlock, PageItem, TrialStages
from ...text import one_line, plural
from .omissions import Omission, omissions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...capability import Measured, TrialView
    from ...models import Simulation

#: Trials that the terminal shows without -v, and characters of a task's id.
_TRIALS, _ID = 3, 80


class NearMissFacts(BaseModel):
    """What a trial that passed has omitted before its changes.

    Attributes:
        near_miss: 1 if it has omitted something, else 0.
        omitted: What, each with how often: ``confirmed (2); read (1)``.
        omissions: Each omission, in the order of messages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    near_miss: float
    omitted: str
    omissions: tuple[Omission, ...]

    @classmethod
    def of(cls, omissions: Sequence[Omission]) -> NearMissFacts:
        """Return the facts of a trial with these omissions."""
        number = Counter(omission.omitted for omission in omissions)
        omitted = "; ".join(f"{name} ({many})" for name, many in number.items())
        return cls(near_miss=float(bool(omissions)), omitted=omitted, omissions=tuple(omissions))


class NearMissStages(TrialStages):
    """Looks for omissions in a trial that passed."""

    def __init__(self, view: TrialView) -> None:
        self._view = view

    def graded(self, simulation: Simulation) -> NearMissFacts | None:
        """Return what a trial that passed has omitted; None for any other."""
        view = self._view
        solo = simulation.info.solo
        omissions = omissions_of(simulation, view.task, view.domain, environment=view.environment, solo=solo)
        return None if omissions is None else NearMissFacts.of(omissions)


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield how many of the passed trials are near misses, and what each has omitted in which message."""
    passed = [trial for trial in trials if trial.record.ran]
    near = [trial for trial in passed if trial.facts.omissions]
    if not near:
        return
    kinds = in_words(trial.facts for trial in near)
    more = " (-v shows all)" if len(near) > _TRIALS else ""
    yield Finding(f"{len(near)} of {plural(len(passed), 'passed trial')} right for the wrong reason: {kinds}{more}")
    for number, trial in enumerate(near):
        first, *others = trial.facts.omissions
        further = f" (and {len(others)} more)" if others else ""
        line = f"  {one_line(trial.record.task_id, _ID)}[trial-{trial.record.trial}]: {first.short()}{further}"
        yield Finding(line) if number < _TRIALS else Detail(line)


def in_words(near: Iterable[NearMissFacts]) -> str:
    """Return in how many trials each thing was omitted: ``not confirmed 2, not read 1``."""
    kinds = Counter(kind for facts in near for kind in {omission.omitted for omission in facts.omissions})
    return ", ".join(
        f"not {kind} {number}" for kind, number in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def failure(facts: NearMissFacts, _simulation: Simulation) -> Iterator[str]:
    """Yield each omission of a trial that passed."""
    yield from (omission.line() for omission in facts.omissions)


def page(facts: NearMissFacts, _simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the omissions, each at its message."""
    if facts.omissions:
        items = [
            PageItem(omission.evidence, f"not {omission.omitted}", omission.call, omission.message_idx, met=False)
            for omission in facts.omissions
        ]
        yield PageBlock("Right for the wrong reason", items=items, place="box")
