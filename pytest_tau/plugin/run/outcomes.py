"""The exceptions that end the test of a trial that did not pass: the agent failed, or something else broke."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from ...diagnosis import in_brief, verdict
from ...errors import TauError
from ...models import FAULTS
from ...participants.containment import raised_by
from ...runs.make_record import make_record
from ...text import error_line
from ..context.run_state import require_context
from ..items import item_state, spec_of

if TYPE_CHECKING:
    from ...models import Simulation
    from ...runs.record import TrialRecord

_Failure = TypeVar("_Failure", bound=BaseException)


class TrialFailed(AssertionError):  # noqa: N818 - it is the test's assertion
    """The agent did not pass."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        super().__init__(in_brief(simulation) or verdict(simulation))


def result_of(item: pytest.Item, simulation: Simulation) -> Simulation:
    """Return the simulation of an item, which is also that of its reports.

    Raises:
        HarnessError: Anything but the agent failed.
        pytest.skip.Exception: The trial is excluded from rates.
    """
    __tracebackhide__ = True
    item_state(item).simulation = simulation
    if simulation.outcome == "error":
        raise at_fault(item, HarnessError(simulation))
    if simulation.excluded is not None:
        pytest.skip(f"excluded, {simulation.excluded}")
    return simulation


def record_of(item: pytest.Item, simulation: Simulation) -> TrialRecord:
    """Return the record of the simulation of an item."""
    spec = spec_of(item)
    assert spec is not None, "what has run has a task"
    return make_record(
        simulation,
        spec.task,
        spec.domain.name,
        item.nodeid,
        restored=item_state(item).is_restored,
        evaluators=require_context(item.config).evaluators,
    )


def at_fault(item: pytest.Item, failure: _Failure) -> _Failure:
    """Return the failure of an item, with ``--pdb`` with the traceback of the participant's exception behind it."""
    trial = item_state(item).trial
    fault = trial.fault if trial is not None and item.config.option.usepdb else None
    return failure if fault is None else failure.with_traceback(raised_by(fault).__traceback__)


class HarnessError(TauError):
    """The user, the model, the judge or the harness broke; the agent has no verdict."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        kind = simulation.termination_reason if simulation.termination_reason in FAULTS else "not graded"
        super().__init__(f"{kind}: {error_line(simulation.error or 'not graded')}")
