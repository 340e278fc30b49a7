"""The exceptions that end the test of a trial that did not pass: the agent failed, or something else broke."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ...diagnosis import verdict
from ...errors import TauError
from ...models import FAULTS
from ...validity import UserValidity

if TYPE_CHECKING:
    from ...models import Simulation


class TrialFailed(AssertionError):  # noqa: N818 - it is the test's assertion
    """The agent did not pass."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        error = simulation.error if simulation.termination_reason == "agent_error" else None
        super().__init__(f"agent: {error.splitlines()[0]}" if error else verdict(simulation))


def skip_excluded(simulation: Simulation) -> None:
    """Skip the test of a trial that is excluded from rates because of a fault of the simulated user."""
    found = UserValidity.of(simulation)
    if found is not None and found.excluded and simulation.outcome != "error":
        pytest.skip(f"excluded, fault of the user: {found.findings[0].text}")


class HarnessError(TauError):
    """The user, the model, the judge or the harness broke; the agent has no verdict."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        lines = (simulation.error or "not graded").strip().splitlines()
        # The last line of a traceback names the exception.
        line = lines[-1 if simulation.termination_reason == "unexpected_error" else 0]
        kind = simulation.termination_reason if simulation.termination_reason in FAULTS else "not graded"
        super().__init__(f"{kind}: {line}")
