"""The checks of the user of one trial: what is stored with its simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..models import USER_VALIDITY, UserMessage
from .checks import check_user

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..environment import Domain
    from ..models import Simulation, Task
    from .findings import UserValidity

#: A user that plays the reference actions makes them without being asked.
_OF_REFERENCE = ("unasked-action", "stop-before-request")


def check_simulation(
    simulation: Simulation, task: Task, domain: Domain | None, excused: Collection[str] = (), *, exclude: bool = False
) -> UserValidity | None:
    """Check the user of a simulation and store what was found in ``simulation.info``.

    Args:
        simulation: The simulation; one without a message of a user is not checked.
        task: The task.
        domain: The domain; without it, calls of the user's tools are not checked.
        excused: Names of checks that the persona of the user makes meaningless.
        exclude: Whether a trial with a fault is excluded from rates.

    Returns:
        What was found; None if it was not checked.
    """
    own = simulation.messages[len(task.message_history) :]
    if not any(isinstance(message, UserMessage) for message in own):
        return None
    if "user" in simulation.saw_reference:
        excused = {*excused, *_OF_REFERENCE}
    found = check_user(task, simulation.messages, domain, excused)
    found = replace(found, excluded=exclude and not found.valid)
    if not found.valid or found.problem:
        store(simulation, found)
    return found


def store(simulation: Simulation, validity: UserValidity) -> None:
    """Store what was found in ``simulation.info``."""
    simulation.info = {**(simulation.info or {}), USER_VALIDITY: validity.as_dict()}
