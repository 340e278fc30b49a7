"""The scenarios of the airline's tasks, one module for each subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .booking import BOOKING
from .cabin import CABINS
from .cancel import CANCELLING
from .change import CHANGING
from .compensation import COMPENSATION
from .extras import EXTRAS
from .payment import PAYING
from .questions import MIXED
from .several import SEVERAL
from .unchanged import KEEPING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.models.tasks import Task

#: In the order of the tasks.
SCENARIOS = (
    *CANCELLING,
    *KEEPING,
    *CHANGING,
    *CABINS,
    *EXTRAS,
    *BOOKING,
    *PAYING,
    *COMPENSATION,
    *MIXED,
    *SEVERAL,
)


def task_id_of(scenario: Callable[..., Task]) -> str:
    """Return the id of a scenario's task: ``cancel-fresh-booking``."""
    return scenario.__name__.replace("_", "-")
