"""The end of the recording of a trial's model calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ReplayError
from ..orchestrator import reason_of

if TYPE_CHECKING:
    from ..chat import Tape, TrialModels
    from ..models import Simulation
    from ..orchestrator import Clock


def end_recording(tape: Tape, models: TrialModels, simulation: Simulation, clock: Clock) -> None:
    """Keep the recording of a trial that has a verdict. One without must be made again, from the calls so far."""
    if simulation.outcome == "error":
        tape.abandon()
        return
    reason = simulation.termination_reason
    if models.keep_open:
        models.finish_args = (reason, simulation.error, clock.readings, reason == "timeout")
        return
    try:
        tape.finish(reason, simulation.error, clock.readings, timed_out=reason == "timeout")
    except (ReplayError, OSError) as error:
        simulation.termination_reason = reason_of(error)
        simulation.error = f"{type(error).__name__}: {error}"
        simulation.note_error_kind(type(error).__name__)
