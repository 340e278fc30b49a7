"""The checks of the user of one trial, and what is done with a trial in which it makes a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...capability import Ruling, TrialStages
from ...models import UserMessage
from .checks import check_user
from .facts import UserFacts

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...capability import RunView, TrialView
    from ...environment import Domain
    from ...models import Simulation, Task
    from . import UserValiditySettings

#: A user that plays the reference actions makes them without being asked.
_OF_REFERENCE = ("unasked-action", "stop-before-request")


class UserStages(TrialStages):
    """Checks the user of a trial."""

    def __init__(self, view: TrialView) -> None:
        self._view, self._found = view, UserFacts()

    def graded(self, simulation: Simulation) -> UserFacts:
        """Return what the checks have found."""
        view = self._view
        excused = view.behaviour.excuses if view.behaviour else ()
        self._found = check_simulation(simulation, view.task, view.domain, excused)
        return self._found

    def ended(self, simulation: Simulation) -> Ruling | None:
        """Exclude a trial with a fault, or have it run again, if the settings have it so."""
        del simulation
        mode = self._view.settings.user_fault.mode
        if self._found.valid or mode == "count":
            return None
        return Ruling(f"fault of the user: {self._found.findings[0].text}", again=mode == "rerun")


def check_simulation(
    simulation: Simulation, task: Task, domain: Domain | None, excused: Collection[str] = ()
) -> UserFacts:
    """Return what the checks find in a simulation.

    Args:
        simulation: The simulation; one without a message of a user is not checked.
        task: The task.
        domain: The domain; without it, calls of the user's tools are not checked.
        excused: Names of checks that the persona of the user makes meaningless.
    """
    trial_messages = simulation.messages[len(task.message_history) :]
    if not any(isinstance(message, UserMessage) for message in trial_messages):
        return UserFacts()
    if "user" in simulation.info.saw_reference:
        excused = {*excused, *_OF_REFERENCE}
    # Of several right outcomes, the one that was reached says what the user had to ask for.
    verdict = simulation.reward_info
    right = task.of_outcome(verdict.compared_outcome if verdict else None)
    return check_user(right, simulation.messages, domain, excused)


def check_run(settings: UserValiditySettings, run: RunView) -> None:
    """Check that a run has a user whose faults can be avoided.

    Raises:
        ValueError: It has none.
    """
    mode, sides = settings.user_fault.mode, (run.agent, run.user)
    if mode == "rerun" and "human" in sides:
        raise ValueError("rerun: a trial that a person plays is not run again: use exclude")
    replayed = any(isinstance(side, str) and side.startswith("replay:") for side in sides)
    if mode != "count" and (replayed or run.solo):
        why = "a recording has the same user again" if replayed else "there is no user in solo mode"
        raise ValueError(f"{mode}: {why}: remove it, or use --tau-user-fault count")
